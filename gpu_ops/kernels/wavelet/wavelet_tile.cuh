// One level of the wavelet transform on tiles in shared memory: sums over taps in constant memory.
#pragma once

#include "wavelet.cuh"

#define MOST_TAPS 64
#define LOW_FORWARD 0
#define HIGH_FORWARD MOST_TAPS
#define LOW_INVERSE (2 * MOST_TAPS)
#define HIGH_INVERSE (3 * MOST_TAPS)

// Low and high forward, reversed, then low and high inverse.
__constant__ T bank[4 * MOST_TAPS];

// The coefficient that a tile stores for k: with the symmetric border no sample needs one beyond the ends.
__device__ __forceinline__ Index clamped(Index k, Index half)
{
#if BORDER == 0
    return around(k, half);
#else
    return k < 0 ? 0 : k < half ? k : half - 1;
#endif
}

// The first coefficient that contributes to sample i.
__device__ __forceinline__ Index first_needed(Index i, int taps) { return ((i + reach_of(taps)) >> 1) - taps / 2 + 1; }

// The dot product of taps values of a tile, with stride `stride`, and the taps from `of` on.
__device__ __forceinline__ T product(const T* tile, int stride, int of, int taps)
{
    T sum = 0;
    for (int t = 0; t < taps; ++t) sum += bank[of + t] * tile[t * stride];
    return sum;
}

// Sample i from the coefficients of two tiles, which start with coefficient `first`.
__device__ __forceinline__ T gather(const T* low, const T* high, int stride, Index i, Index first, int taps)
{
    const Index last = i + reach_of(taps);
    T sum = 0;
    for (int t = (int)(last & 1); t < taps; t += 2) {
        const int k = (int)((last - t) / 2 - first) * stride;
        sum += bank[LOW_INVERSE + t] * low[k];
        sum += bank[HIGH_INVERSE + t] * high[k];
    }
    return sum;
}
