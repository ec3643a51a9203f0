// What:    a scaled and shifted signal, y = gain x + offset, one value a thread
// Idea:    lane k of a warp reads word k: 32 lanes ask for 128 bytes that lie side by side, which is 4 sectors
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block
// Traffic: 1 value read and 1 written an element
// Source:  S0

typedef SAMPLE T;

extern "C" __global__ void layout_order(
    const T* __restrict__ x, T* __restrict__ y, long long n, T gain, T offset)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fma(gain, x[i], offset);
}
