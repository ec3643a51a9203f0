// What:    scale and offset of a signal, in which two lanes of each half-warp swap their values
// Idea:    permuted access: lanes 4 and 5 swap positions. The order within a sector costs nothing today; compute
//          capability 1.0 required lane k at word k, and otherwise issued one transaction per lane
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), a 1D block of a multiple of 4 threads
// Traffic: 1 value read and 1 written per element
// Source:  S0

typedef SAMPLE T;

extern "C" __global__ void layout_swapped(
    const T* __restrict__ x, T* __restrict__ y, long long n, T gain, T offset)
{
    const int j = (threadIdx.x & 14) == 4 ? threadIdx.x ^ 1 : threadIdx.x;
    const long long i = (long long)blockIdx.x * blockDim.x + j;
    if (i < n) y[i] = fma(gain, x[i], offset);
}
