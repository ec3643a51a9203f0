// What the kernels of transforms in batches read and store of their lines.
#pragma once
#include "fft_lines.cuh"

enum { COMPLEX_NUMBERS, PAIRS, SINGLES };  // NUMBERS, what x contains: complex numbers, pairs of samples, or samples
enum { WHOLE, HALF, UNPACKED };            // ENDS, what is stored: all points, the first half, or the bins of 2 N samples

struct alignas(PAIR_ALIGNED ? 2 * sizeof(SAMPLE) : sizeof(SAMPLE)) Pair {
    SAMPLE re, im;
};

// Loads a number of x. The index counts samples, or complex numbers where x contains those.
__device__ __forceinline__ C number_at(const void* __restrict__ x, long long index)
{
    if constexpr (NUMBERS == COMPLEX_NUMBERS && WIDTH > 32) return ((const C*)x)[index];
    if constexpr (NUMBERS == COMPLEX_NUMBERS) return complex_of(((const R*)x)[2 * index], ((const R*)x)[2 * index + 1]);
    if constexpr (NUMBERS == SINGLES) return complex_of((R)((const SAMPLE*)x)[index], 0);
    if constexpr (NUMBERS == PAIRS && WIDTH == 32)
        return complex_of((R)((const SAMPLE*)x)[index], (R)((const SAMPLE*)x)[index + 1]);
    const Pair pair = *(const Pair*)((const SAMPLE*)x + index);
    return complex_of((R)pair.re, (R)pair.im);
}
