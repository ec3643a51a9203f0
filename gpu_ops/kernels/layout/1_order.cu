// What:    scale and offset of a signal, y = gain x + offset, one value per thread
// Idea:    coalesced access: lane k of a warp reads word k, so the 32 lanes read 128 contiguous bytes, which are 4
//          sectors
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block
// Traffic: 1 value read and 1 written per element
// Source:  S0

typedef SAMPLE T;

extern "C" __global__ void layout_order(
    const T* __restrict__ x, T* __restrict__ y, long long n, T gain, T offset)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fma(gain, x[i], offset);
}
