// The spans of an axis that a block with several levels needs: level by level, borders included.
#pragma once

#include "wavelet_tile.cuh"

// The positions (first + u) % n of an axis of n, for u < count: they wrap around the ends of a periodic axis.
struct Span {
    Index first;
    int count;
};

// The number of coefficients of a level of n samples.
__device__ __forceinline__ Index half_of(Index n, int taps)
{
#if BORDER == 0
    return (n + 1) / 2;
#else
    return (n + taps - 1) / 2;
#endif
}

__device__ __forceinline__ Index position_at(const Span& span, int u, Index n)
{
    const Index i = span.first + u;
    return i < n ? i : i - n;
}

// The index of position i of an axis of n in a span that contains it.
__device__ __forceinline__ int index_in(const Span& span, Index i, Index n)
{
    const Index u = i - span.first;
    return (int)(u < 0 ? u + n : u);
}

// The span of samples, of n, that a span of coefficients depends on. The border maps those beyond the ends to some
// inside.
__device__ __forceinline__ Span samples_for(const Span& of, Index n, int taps)
{
    const Index begin = 2 * of.first - reach_of(taps), length = 2 * (Index)of.count - 2 + taps;
#if BORDER == 0
    const Index ring = n + (n & 1);  // position n of an odd axis repeats its last sample
    if (length >= ring) return {0, (int)n};
    const Index first = around(begin, ring);
    if (first == n) return {n - 1, (int)length};
    return {first, (int)length - (int)((n & 1) && first + length > n)};
#else
    const Index end = begin + length, mirrored = 2 * n - end;
    const Index low = begin < mirrored ? begin : mirrored, high = end > -begin ? end : -begin;
    const Index first = low < 0 ? 0 : low;
    return {first, (int)((high < n ? high : n) - first)};
#endif
}

// The span of coefficients that a span of the n samples of an axis depends on.
__device__ __forceinline__ Span coefficients_for(const Span& of, Index n, int taps)
{
    const Index first = first_needed(of.first, taps);
#if BORDER == 0
    const Index half = half_of(n, taps), passed = (n & 1) && of.first + of.count > n;  // the repeated last sample
    const Index count = ((of.first + of.count + passed - 1 + reach_of(taps)) >> 1) + 1 - first;
    if (count >= half) return {0, (int)half};
    return {around(first, half), (int)count};
#else
    return {first, (int)(((of.first + of.count - 1 + reach_of(taps)) >> 1) + 1 - first)};
#endif
}

// Coefficient k, low and high, of an axis of n samples, of which a tile has a span, with the stride `stride`.
__device__ __forceinline__ void make_pair(
    const T* tile, int stride, const Span& span, Index n, Index k, int taps, T* low, T* high)
{
    const Index first = 2 * k - reach_of(taps), u = first - span.first;
    T l = 0, h = 0;
    if (first >= 0 && first + taps <= n && u >= 0 && u + taps <= span.count) {
        const T* at = tile + (int)u * stride;
        for (int t = 0; t < taps; ++t) {
            const T value = at[t * stride];
            l += bank[LOW_FORWARD + t] * value;
            h += bank[HIGH_FORWARD + t] * value;
        }
    } else {
#pragma unroll 1  // few threads run this, and all others need the registers
        for (int t = 0; t < taps; ++t) {
            const T value = tile[index_in(span, inside(first + t, n), n) * stride];
            l += bank[LOW_FORWARD + t] * value;
            h += bank[HIGH_FORWARD + t] * value;
        }
    }
    *low = l;
    *high = h;
}

// Sample i from the coefficients, of `half`, of which two tiles have a span.
__device__ __forceinline__ T make_sample(
    const T* low, const T* high, int stride, const Span& span, Index half, Index i, int taps)
{
    const Index u = first_needed(i, taps) - span.first;
    if (u >= 0 && u + taps / 2 <= span.count) return gather(low, high, stride, i, span.first, taps);
    const Index last = i + reach_of(taps);
    T sum = 0;
#pragma unroll 1
    for (int t = (int)(last & 1); t < taps; t += 2) {
        const int k = index_in(span, coefficient((last - t) / 2, half), half) * stride;
        sum += bank[LOW_INVERSE + t] * low[k];
        sum += bank[HIGH_INVERSE + t] * high[k];
    }
    return sum;
}
