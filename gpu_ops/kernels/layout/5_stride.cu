// What:    scale and offset of a signal, `stride` neighbouring values per thread
// Idea:    strided access: a thread loops over neighbouring values, as on a CPU, so the lanes are `stride` words apart.
//          From a stride of 8 on, each lane touches a sector of its own and uses one word in eight of it
// Shapes:  x, y (n)
// Launch:  grid ceil(n / (block * stride)), any 1D block
// Traffic: 1 value read and 1 written per element; caches may hold the rest of a sector until the next iteration
// Source:  S0

typedef SAMPLE T;

extern "C" __global__ void layout_stride(
    const T* __restrict__ x, T* __restrict__ y, long long n, T gain, T offset, int stride)
{
    const long long first = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * stride;
    for (int k = 0; k < stride; ++k) {
        if (first + k < n) y[first + k] = fma(gain, x[first + k], offset);
    }
}
