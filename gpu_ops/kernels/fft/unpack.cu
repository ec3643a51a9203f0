// What:    the spectrum of real samples whose pairs were transformed as complex numbers, by lines too long for a block
// Idea:    bins k and n - k are made of the same two numbers: one thread makes both, and each number is read once.
//          Twiddle factors are products of two from small tables, which stay in the cache
// Shapes:  z (lines, n) complex, y (lines, stride) has the n + 1 bins of 2 n samples; low (2^LOW_BITS) the first
//          exp(-pi i k / n), high every 2^LOW_BITS-th of them
// Launch:  1D grid over lines * (n / 2 + 1), any block
// Traffic: 1 complex number read and 1 written per bin
// Source:  S2
#include "fft_radix.cuh"
#include "overlapped_launch.cuh"

extern "C" __global__ void fft_unpack(
    const C* z, C* __restrict__ y, const C* __restrict__ low, const C* __restrict__ high, long long count, long long n,
    long long stride)
{
    overlap_launches();
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    const long long own = n / 2 + 1;
    const long long line = count == own ? 0 : t / own, k = t - line * own;  // one long line needs no division
    const C one = load_after_wait(z + (line * n + k)), other = load_after_wait(z + (line * n + (k ? n - k : 0)));
    const C even = complex_of((one.x + other.x) / 2, (one.y - other.y) / 2);
    const C turn = product(high[k >> LOW_BITS], low[k & ((1 << LOW_BITS) - 1)]);
    const C odd = product(complex_of((one.y + other.y) / 2, (other.x - one.x) / 2), turn);
    y[line * stride + k] = plus(even, odd);
    y[line * stride + n - k] = complex_of(even.x - odd.x, odd.y - even.y);
}
