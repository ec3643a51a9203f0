// A tile of a signal with all levels of its transform in shared memory, independent of other tiles: samples are loaded
// with a halo for all levels.
//
// The window of a level is the approximation that the next level needs. The part of it that the samples of the tile
// need is `wanted`; details are computed for that part only. With the symmetric border coefficients beyond the ends are
// those inside, mirrored; a periodic signal must have an even number at every level, and then they continue.
#pragma once

#include "wavelet_strip.cuh"

#define MOST_LEVELS 16

constexpr int SPARE = 8; // zeros after a window, which vectors of four also read

// The offsets in shared memory of the windows of level 0, 1, ..., and from MOST_LEVELS on of the details.
__constant__ int indices[2 * MOST_LEVELS];

struct Span {
    Index from, to;
};

struct Spans {
    Span wanted[MOST_LEVELS], window[MOST_LEVELS], made[MOST_LEVELS];
    Index extents[MOST_LEVELS];
};

__device__ __forceinline__ Index first_coefficient(Index sample) { return ((sample + REACH) >> 1) - HALF + 1; }

// By one thread: the spans of all levels, starting from the samples that the tile computes.
__device__ __forceinline__ void find_spans(Spans& spans, Index begin, Index end, Index n, int levels)
{
    spans.wanted[0] = {begin, end};
    spans.extents[0] = n;
    for (int level = 1; level <= levels; ++level) {
        const Span below = spans.wanted[level - 1];
        const Index fours = (below.to - below.from + 3) / 4 * 4;
        Index from = first_coefficient(below.from) & ~(Index)1;
        if (first_coefficient(from) & 1) from -= 2; // so the next level's first one is even, for loads in pairs
        spans.wanted[level] = {from, ((below.from + fours - 1 + REACH) >> 1) + 1};
        spans.extents[level] = BORDER == 0 ? spans.extents[level - 1] / 2 : (spans.extents[level - 1] + TAPS - 1) / 2;
    }
    spans.window[levels] = spans.wanted[levels];
    for (int level = levels; level >= 1; --level) {
        Span made = spans.window[level];
        if (BORDER == 1) made = {max(made.from, (Index)0), min(made.to, spans.extents[level])};
        spans.made[level] = made;
        spans.window[level - 1] = {2 * made.from - REACH, 2 * (made.to - 1) - REACH + TAPS};
    }
}

// Loads the samples of the window, so that lanes start with whole sectors.
__device__ __forceinline__ void fetch_window(T* window, const S* x, const Extent& e, const Shift& shift, Span span)
{
    const int count = (int)(span.to - span.from), before = (int)(span.from & 7);
    const bool inner = span.from >= 0 && span.to + SPARE <= e.columns;
#pragma unroll 4
    for (int start = -before; start < count + SPARE; start += THREADS) {
        const int i = start + (int)threadIdx.x;
        if (i < 0 || i >= count + SPARE) continue;
        Index at = span.from + i;
        if (!inner) at = near(at, e.columns);
        if (SHIFTED) at = unshifted(at, shift.right, e.columns);
        window[i] = i < count ? (T)x[at * e.channels + e.channel] : 0;
    }
}

// From the window of a level's samples to that of its approximation, and its thresholded details.
__device__ __forceinline__ void split_level(T* tile, const Spans& spans, int level, bool last, T threshold, int how)
{
    const Span made = spans.made[level], window = spans.window[level], wanted = spans.wanted[level];
    const Index extent = spans.extents[level];
    T* low = tile + indices[level];
    T* high = tile + indices[MOST_LEVELS + level];
    const int count = (int)(made.to - made.from), into = (int)(made.from - window.from);
    const int before = (int)(wanted.from - made.from), details = (int)(wanted.to - wanted.from);
    for (int c = 2 * threadIdx.x; c < count; c += 2 * THREADS) {
        Pair lows, highs;
        split_pair<0>(tile + indices[level - 1], c / 2, lows, highs);
        const bool at_once = into % 2 == 0 && c + 1 < count;
        if (at_once) *(Pair*)(low + into + c) = lows;
        for (int i = 0; i < 2 && c + i < count; ++i) {
            if (!at_once) low[into + c + i] = lows.v[i];
            const int k = c + i - before;
            if (k >= 0 && k < details) high[k] = shrunk(highs.v[i], threshold, how);
        }
    }
    for (int i = threadIdx.x; i < SPARE; i += THREADS) low[window.to - window.from + i] = 0;
    __syncthreads();
#if BORDER == 1
    for (Index k = wanted.from + threadIdx.x; k < wanted.to; k += THREADS)
        if (k < made.from || k >= made.to) high[k - wanted.from] = 0;
    for (Index k = window.from + threadIdx.x; k < window.to; k += THREADS)
        if (k < made.from || k >= made.to) low[k - window.from] = last ? 0 : low[near(k, extent) - window.from];
    __syncthreads();
#endif
}

// Four samples of a level from 4 * `four` on among those that are wanted.
__device__ __forceinline__ void join_wanted(const T* tile, const Spans& spans, int level, int four, T* out)
{
    const int first = (int)(first_coefficient(spans.wanted[level - 1].from) - spans.wanted[level].from);
    const T* low = tile + indices[level] + first;
    const T* high = tile + indices[MOST_LEVELS + level] + first;
    if (first % 2 == 0) {
        join_four(low, high, four, out);
        return;
    }
    for (int i = 0; i < 4; ++i) out[i] = 0;
#pragma unroll AT_ONCE
    for (int k = 0; k < HALF + 1 + ODD; ++k) give(low[2 * four + k], high[2 * four + k], k, out);
}
