// What:    a scaled and shifted signal, in which two lanes of every half of a warp take each other's value
// Idea:    lanes 4 and 5 change places. Today the order within a sector costs nothing; the first GPUs wanted lane k at
//          word k, and sent each of the lanes alone
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), a 1D block of a multiple of 4 threads
// Traffic: 1 value read and 1 written an element
// Source:  S0

typedef SAMPLE T;

extern "C" __global__ void layout_swapped(
    const T* __restrict__ x, T* __restrict__ y, long long n, T gain, T offset)
{
    const int j = (threadIdx.x & 14) == 4 ? threadIdx.x ^ 1 : threadIdx.x;
    const long long i = (long long)blockIdx.x * blockDim.x + j;
    if (i < n) y[i] = fma(gain, x[i], offset);
}
