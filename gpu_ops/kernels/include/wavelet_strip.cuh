// Strips of an image or a signal in shared memory, for kernels that make the coefficients of level 1 once more instead
// of keeping them. A strip begins with a coefficient; its samples lie around it, those beyond the edges by the border.
//
// TAPS, BORDER and THREADS, the threads of a block, are constants, so all loops over taps are unrolled and a window of
// rows is registers. A row of a strip begins LEAD samples before the first one that it needs, at a multiple of four, so
// that four samples move at once; the plan makes all strips begin so.
// SHIFTED says that samples come from a circular shift, and that results are added to a sum.
#pragma once

#include "wavelet_sample.cuh"
#include "wavelet_shrink.cuh"
#include "wavelet_tile.cuh"

constexpr int HALF = TAPS / 2;
constexpr int REACH = BORDER == 0 ? HALF - 1 : TAPS - 2; // as reach_of
constexpr int ODD = REACH % 2;                           // pairs of samples begin at odd places

struct __align__(16) Quad {
    T v[4];
};

struct __align__(2 * sizeof(T)) Pair {
    T v[2];
};

// Four samples as they lie in memory.
struct __align__(4 * sizeof(S) > 16 ? 16 : 4 * sizeof(S)) Four {
    S v[4];
};

extern __shared__ __align__(16) unsigned char memory[];

// Rows of an image, or the row of a signal; and the channel that a block takes of each.
struct Extent {
    Index rows, columns;
    int channels, channel;
};

// What becomes of samples before and after: `down` and `right` is the circular shift, `first` begins the sum over the
// shifts, `last` ends it with the mean of `count`.
struct Shift {
    Index down, right;
    int first, last;
    T count;
};

__host__ __device__ constexpr int lead_of(int place) { return (place % 4 + 4) % 4; }
__host__ __device__ constexpr int whole(int count, int of) { return (count + of - 1) / of; }

__device__ __forceinline__ Index unshifted(Index i, Index by, Index n) { return i < by ? i - by + n : i - by; }

__device__ __forceinline__ bool aligned(const void* place, const Extent& e)
{
    return !SHIFTED && e.channels == 1 && e.columns % 4 == 0 && (size_t)place % sizeof(Four) == 0;
}

// ROWS rows of the samples around COEFS coefficients, which a block fetches into registers and puts into shared memory.
template <int ROWS, int COEFS, int LEAD>
struct Strip {
    static constexpr int LENGTH = whole(LEAD + 2 * COEFS + TAPS - 2, 4) * 4;
    static constexpr int FETCHES = whole(ROWS * LENGTH / 4, THREADS);

    T next[4 * FETCHES];

    // Rows `from` to `to` of those that begin with row `top`, from column `left` on; the first `needed` samples of each.
    __device__ __forceinline__ void fetch(
        const S* x, const Extent& e, const Shift& shift, Index top, Index left, int from, int to, int needed)
    {
        to = min(to, ROWS);
        if (aligned(x, e) && left >= 0 && left + LENGTH <= e.columns) {
#pragma unroll
            for (int j = 0; j < FETCHES; ++j) {
                const int item = threadIdx.x + j * THREADS, r = item / (LENGTH / 4), q = item % (LENGTH / 4);
                Four four = {};
                if (r >= from && r < to) four = *(const Four*)(x + inside(top + r, e.rows) * e.columns + left + 4 * q);
                for (int i = 0; i < 4; ++i) next[4 * j + i] = (T)four.v[i];
            }
            return;
        }
#pragma unroll
        for (int j = 0; j < 4 * FETCHES; ++j) {
            const int item = threadIdx.x + j * THREADS, r = item / LENGTH, c = item % LENGTH;
            next[j] = 0;
            if (r >= from && r < to && c < needed) next[j] = (T)x[place(e, shift, top + r, left + c)];
        }
    }

    __device__ __forceinline__ void put(T* rows, const S* x, const Extent& e, Index left) const
    {
        if (aligned(x, e) && left >= 0 && left + LENGTH <= e.columns) {
#pragma unroll
            for (int j = 0; j < FETCHES; ++j) {
                const int item = threadIdx.x + j * THREADS;
                if (item < ROWS * LENGTH / 4)
                    ((Quad*)rows)[item] = {next[4 * j], next[4 * j + 1], next[4 * j + 2], next[4 * j + 3]};
            }
            return;
        }
#pragma unroll
        for (int j = 0; j < 4 * FETCHES; ++j) {
            const int item = threadIdx.x + j * THREADS;
            if (item < ROWS * LENGTH) rows[item] = next[j];
        }
    }

    __device__ __forceinline__ static Index place(const Extent& e, const Shift& shift, Index row, Index column)
    {
        row = inside(row, e.rows), column = inside(column, e.columns);
#if SHIFTED
        row = unshifted(row, shift.down, e.rows), column = unshifted(column, shift.right, e.columns);
#endif
        return (row * e.columns + column) * e.channels + e.channel;
    }
};

// Two coefficients of each half, from 2 * `pair` on, of the row of samples that begins LEAD before the first.
template <int LEAD>
__device__ __forceinline__ void split_pair(const T* row, int pair, Pair& low, Pair& high)
{
    constexpr int QUADS = whole(LEAD + TAPS + 2, 4);
    T v[4 * QUADS];
#pragma unroll
    for (int q = 0; q < QUADS; ++q) {
        const Quad quad = ((const Quad*)row)[pair + q];
        for (int i = 0; i < 4; ++i) v[4 * q + i] = quad.v[i];
    }
    low = {}, high = {};
#pragma unroll
    for (int t = 0; t < TAPS; ++t) {
        for (int i = 0; i < 2; ++i) {
            low.v[i] += bank[LOW_THERE + t] * v[LEAD + 2 * i + t];
            high.v[i] += bank[HIGH_THERE + t] * v[LEAD + 2 * i + t];
        }
    }
}

// `count` values of shared memory from an even place on, two at once.
template <int COUNT>
__device__ __forceinline__ void in_pairs(const T* from, T* v)
{
#pragma unroll
    for (int p = 0; p < COUNT / 2; ++p) {
        const Pair pair = ((const Pair*)from)[p];
        v[2 * p] = pair.v[0], v[2 * p + 1] = pair.v[1];
    }
    if (COUNT % 2) v[COUNT - 1] = from[COUNT - 1];
}

// Four samples from coefficient 2 * `place` of both halves on; sample 0 is the first that has all it needs.
__device__ __forceinline__ void join_four(const T* low, const T* high, int place, T* out)
{
    constexpr int COUNT = HALF + 1 + ODD;
    T lows[COUNT], highs[COUNT];
    in_pairs<COUNT>(low + 2 * place, lows);
    in_pairs<COUNT>(high + 2 * place, highs);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        out[i] = 0;
        for (int p = 0; p < HALF; ++p) {
            const int k = (i + ODD) / 2 + HALF - 1 - p, t = (i + ODD) % 2 + 2 * p;
            out[i] += bank[LOW_BACK + t] * lows[k];
            out[i] += bank[HIGH_BACK + t] * highs[k];
        }
    }
}

// Four samples of a row from `column` on, which is a multiple of four, as far as the row goes. A sum of shifts goes to
// where the samples came from.
__device__ __forceinline__ void store_four(
    const T* v, T* sum, S* out, const Extent& e, const Shift& shift, Index row, Index column)
{
    if (aligned(out, e)) {
        Four four;
        for (int i = 0; i < 4; ++i) four.v[i] = sample_of(v[i]);
        if (column < e.columns) ((Four*)out)[row * (e.columns / 4) + column / 4] = four;
        return;
    }
    for (int i = 0; i < 4 && column + i < e.columns; ++i) {
#if SHIFTED
        const Index line = unshifted(row, shift.down, e.rows) * e.columns;
        const Index at = (line + unshifted(column + i, shift.right, e.columns)) * e.channels + e.channel;
        const T total = shift.first ? v[i] : sum[at] + v[i];
        if (shift.last) out[at] = sample_of(total / shift.count);
        else sum[at] = total;
#else
        out[(row * e.columns + column + i) * e.channels + e.channel] = sample_of(v[i]);
#endif
    }
}

// Two neighbouring coefficients of a band of `half` from k on, which is even: at once where that is possible.
__device__ __forceinline__ void store_pair(const Pair& pair, T* band, Index k, Index half, const Extent& e)
{
    if (e.channels == 1 && k + 1 < half) {
        ((Pair*)band)[k / 2] = pair;
        return;
    }
    for (int i = 0; i < 2 && k + i < half; ++i) band[(k + i) * e.channels + e.channel] = pair.v[i];
}
