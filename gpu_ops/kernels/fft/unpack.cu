// What:    the spectrum of real samples whose pairs were transformed as complex numbers, by lines too long for a block
// Idea:    bins k and n - k are made of the same two numbers: one thread makes both, and each number is read once
// Shapes:  z (lines, n) complex, y (lines, stride) has the n + 1 bins of 2 n samples; split_table (n + 1): exp(-pi i k /
//          n)
// Launch:  1D grid over lines * (n / 2 + 1), any block
// Traffic: 1 complex number read and 1 written per bin, and half a twiddle factor
// Source:  S2
#include "early_launch.cuh"
#include "fft_radix.cuh"

extern "C" __global__ void fft_unpack(
    const C* z, C* __restrict__ y, const C* __restrict__ split_table, long long count, long long n,
    long long stride)
{
    overlap_launches();
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    const long long line = t / (n / 2 + 1), k = t - line * (n / 2 + 1);
    const C one = z[line * n + k], other = z[line * n + (k ? n - k : 0)];
    const C even = complex_of((one.x + other.x) / 2, (one.y - other.y) / 2);
    const C odd = product(complex_of((one.y + other.y) / 2, (other.x - one.x) / 2), split_table[k]);
    y[line * stride + k] = plus(even, odd);
    y[line * stride + n - k] = complex_of(even.x - odd.x, odd.y - even.y);
}
