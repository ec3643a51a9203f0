// What:    a scaled and shifted signal whose warps begin a few words after a line of 128 bytes
// Idea:    the same order, but the first lane does not begin at a sector: 32 words lie in 5 sectors instead of 4. The
//          first GPUs sent each of the lanes alone for it
// Shapes:  x, y (n)
// Launch:  grid ceil((n + back) / block), any 1D block; thread `back` takes the first value
// Traffic: 1 value read and 1 written an element
// Source:  S0

typedef SAMPLE T;

extern "C" __global__ void layout_shifted(
    const T* __restrict__ x, T* __restrict__ y, long long n, T gain, T offset, int back)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x - back;
    if (i >= 0 && i < n) y[i] = fma(gain, x[i], offset);
}
