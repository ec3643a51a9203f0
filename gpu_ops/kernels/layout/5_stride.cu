// What:    a scaled and shifted signal, `stride` neighbouring values a thread
// Idea:    a thread takes neighbours in turn, as on a CPU, so that the lanes lie `stride` words apart: from a stride of 8
//          on, each lane has a sector of its own, of which it uses one word in eight
// Shapes:  x, y (n)
// Launch:  grid ceil(n / (block * stride)), any 1D block
// Traffic: 1 value read and 1 written an element; caches may keep the rest of a sector for the next turn
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
