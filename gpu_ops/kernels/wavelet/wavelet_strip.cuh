// Strips of an image or a signal in shared memory, for kernels that recompute the coefficients of level 1 instead of
// storing them. A strip starts with a coefficient; its samples include the halo, those beyond the edges by the border.
//
// TAPS, BORDER and THREADS, the threads of a block, are constants, so all loops over taps are unrolled and a window of
// rows is in registers. A row of a strip starts LEAD samples before the first one that it needs, at a multiple of
// eight: four samples are moved at once, and floats as whole sectors. SHIFTED says that samples are circularly shifted,
// and that results are added to a sum.
#pragma once

#include "wavelet_sample.cuh"
#include "wavelet_shrink.cuh"
#include "wavelet_tile.cuh"

constexpr int HALF = TAPS / 2;
constexpr int REACH = BORDER == 0 ? HALF - 1 : TAPS - 2; // as reach_of
constexpr int ODD = REACH % 2;                           // pairs of samples start at odd positions

// How often loops over taps are unrolled: windows of many doubles leave registers for one iteration at a time.
constexpr int AT_ONCE = TAPS * sizeof(T) > 230 ? 1 : TAPS;

struct __align__(16) Quad {
    T v[4];
};

struct __align__(2 * sizeof(T)) Pair {
    T v[2];
};

// Four contiguous samples.
struct __align__(4 * sizeof(S) > 16 ? 16 : 4 * sizeof(S)) Four {
    S v[4];
};

extern __shared__ __align__(16) unsigned char memory[];

// A position along an axis: an image has fewer than 2^31 rows and columns.
#if IMAGE
typedef int Along;
#else
typedef Index Along;
#endif

// The extent of an image, or of a signal as one row; and the channel that a block processes.
struct Extent {
    Along rows, columns;
    int channels, channel;
};

// Circular shifts: `down` and `right` is the shift, `first` starts the sum over the shifts, `last` ends it with the
// mean of `count`.
struct Shift {
    Along down, right;
    int first, last;
    T count;
};

__host__ __device__ constexpr int lead_of(int index) { return (index % 8 + 8) % 8; }
__host__ __device__ constexpr int whole(int count, int of) { return (count + of - 1) / of; }

__device__ __forceinline__ Along unshifted(Along i, Along by, Along n) { return i < by ? i - by + n : i - by; }

__device__ __forceinline__ bool aligned(const void* address, const Extent& e)
{
    return !SHIFTED && e.channels == 1 && e.columns % 4 == 0 && (size_t)address % sizeof(Four) == 0;
}

// As inside() and clamped(), for positions not far beyond the ends: without a division.
__device__ __forceinline__ Along near(Along i, Along n)
{
#if BORDER == 0
    const Along period = n + (n & 1);
    while (i < 0) i += period;
    while (i >= period) i -= period;
    return min(i, n - 1);
#else
    while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return i;
#endif
}

__device__ __forceinline__ Along near_clamped(Along k, Along half)
{
#if BORDER == 0
    while (k < 0) k += half;
    while (k >= half) k -= half;
    return k;
#else
    return min(max(k, (Along)0), half - 1);
#endif
}

// ROWS rows of the samples of COEFS coefficients with their halo, which a block loads into registers and stores to
// shared memory: four at once where they are inside the image and aligned, else a thread has columns of its own.
template <int ROWS, int COEFS, int LEAD>
struct Strip {
    static constexpr int LENGTH = whole(LEAD + 2 * COEFS + TAPS - 2, 8) * 8;
    static constexpr int FOURS = LENGTH / 4;
    static constexpr int FETCHES = whole(ROWS * FOURS, THREADS);
    static constexpr int OWN = whole(LENGTH, THREADS);

    const S* x;
    Extent e;
    Shift shift;
    Along left;
    bool fours;
    Along own[OWN]; // the positions of its columns in a row, or -1
    T next[4 * FETCHES > ROWS * OWN ? 4 * FETCHES : ROWS * OWN];

    // The strip that starts with column `left`; `needed` samples of a row are used.
    __device__ __forceinline__ Strip(const S* x, const Extent& e, const Shift& shift, Along left, Along needed)
        : x(x), e(e), shift(shift), left(left), fours(aligned(x, e) && left >= 0 && left + LENGTH <= e.columns)
    {
#pragma unroll
        for (int i = 0; i < OWN; ++i) {
            const int c = threadIdx.x + i * THREADS;
            own[i] = -1;
            if (!fours && c < LENGTH && c < needed) {
                Along column = near(left + c, e.columns);
                if (SHIFTED) column = unshifted(column, shift.right, e.columns);
                own[i] = column * e.channels + e.channel;
            }
        }
    }

    // Rows `from` to `to` of those that start with row `top`; 0 for the others.
    __device__ __forceinline__ void fetch(Along top, int from, int to)
    {
        to = min(to, ROWS);
        if (fours) {
#pragma unroll
            for (int j = 0; j < FETCHES; ++j) {
                const int item = threadIdx.x + j * THREADS, r = item / FOURS;
                Four four = {};
                if (r >= from && r < to) four = ((const Four*)(x + line(top + r) + left))[item % FOURS];
                for (int i = 0; i < 4; ++i) next[4 * j + i] = (T)four.v[i];
            }
            return;
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const Index at = r >= from && r < to ? line(top + r) : 0;
            for (int i = 0; i < OWN; ++i)
                next[r * OWN + i] = r >= from && r < to && own[i] >= 0 ? (T)x[at + own[i]] : 0;
        }
    }

    __device__ __forceinline__ void put(T* rows) const
    {
        if (fours) {
#pragma unroll
            for (int j = 0; j < FETCHES; ++j) {
                const int item = threadIdx.x + j * THREADS;
                if (item < ROWS * FOURS)
                    ((Quad*)rows)[item] = {next[4 * j], next[4 * j + 1], next[4 * j + 2], next[4 * j + 3]};
            }
            return;
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            for (int i = 0; i < OWN; ++i) {
                const int c = threadIdx.x + i * THREADS;
                if (c < LENGTH) rows[r * LENGTH + c] = next[r * OWN + i];
            }
        }
    }

    // The address of the source row of this one.
    __device__ __forceinline__ Index line(Along row) const
    {
        row = near(row, e.rows);
        if (SHIFTED) row = unshifted(row, shift.down, e.rows);
        return (Index)row * e.columns * e.channels;
    }
};

// Two low and two high coefficients, from 2 * `pair` on, of the row of samples that starts LEAD before the first.
template <int LEAD>
__device__ __forceinline__ void split_pair(const T* row, int pair, Pair& low, Pair& high)
{
    constexpr int QUADS = whole(LEAD % 4 + TAPS + 2, 4);
    low = {}, high = {};
#pragma unroll AT_ONCE
    for (int q = 0; q < QUADS; ++q) {
        const Quad quad = ((const Quad*)row)[LEAD / 4 + pair + q];
        for (int i = 0; i < 4; ++i) {
            for (int k = 0; k < 2; ++k) {
                const int t = 4 * q + i - LEAD % 4 - 2 * k;
                if (t < 0 || t >= TAPS) continue;
                low.v[k] += bank[LOW_FORWARD + t] * quad.v[i];
                high.v[k] += bank[HIGH_FORWARD + t] * quad.v[i];
            }
        }
    }
}

// The contribution of coefficient k, low and high, to four samples; the first of them depends on coefficients 0 to HALF
// - 1.
__device__ __forceinline__ void give(T low, T high, int k, T* out)
{
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int p = (i + ODD) / 2 + HALF - 1 - k, t = (i + ODD) % 2 + 2 * p;
        if (p < 0 || p >= HALF) continue;
        out[i] += bank[LOW_INVERSE + t] * low;
        out[i] += bank[HIGH_INVERSE + t] * high;
    }
}

// Four samples from low and high coefficients 2 * `index` on; sample 0 is the first one with complete coefficients.
__device__ __forceinline__ void join_four(const T* low, const T* high, int index, T* out)
{
    constexpr int COUNT = HALF + 1 + ODD;
    for (int i = 0; i < 4; ++i) out[i] = 0;
#pragma unroll AT_ONCE
    for (int q = 0; q < COUNT / 2; ++q) {
        const Pair lows = ((const Pair*)low)[index + q], highs = ((const Pair*)high)[index + q];
        for (int j = 0; j < 2; ++j) give(lows.v[j], highs.v[j], 2 * q + j, out);
    }
    if (COUNT % 2) give(low[2 * index + COUNT - 1], high[2 * index + COUNT - 1], COUNT - 1, out);
}

// Four samples of an aligned row from `column` on, which is a multiple of four.
__device__ __forceinline__ void store_four(const T* v, S* out, const Extent& e, Along row, Along column)
{
    Four four;
    for (int i = 0; i < 4; ++i) four.v[i] = sample_of(v[i]);
    ((Four*)out)[(Index)row * (e.columns / 4) + column / 4] = four;
}

// Stores one sample; a sum of shifts is stored at the unshifted position.
__device__ __forceinline__ void store_one(
    T v, T* sum, S* out, const Extent& e, const Shift& shift, Along row, Along column)
{
#if SHIFTED
    const Index line = (Index)unshifted(row, shift.down, e.rows) * e.columns;
    const Index at = (line + unshifted(column, shift.right, e.columns)) * e.channels + e.channel;
    const T total = shift.first ? v : sum[at] + v;
    if (shift.last) out[at] = sample_of(total / shift.count);
    else sum[at] = total;
#else
    out[((Index)row * e.columns + column) * e.channels + e.channel] = sample_of(v);
#endif
}

// Two neighbouring coefficients of a band of `half` from k on, which is even: in one access where that is possible.
__device__ __forceinline__ void store_pair(const Pair& pair, T* band, Index k, Index half, const Extent& e)
{
    if (e.channels == 1 && k + 1 < half) {
        ((Pair*)band)[k / 2] = pair;
        return;
    }
    for (int i = 0; i < 2 && k + i < half; ++i) band[(k + i) * e.channels + e.channel] = pair.v[i];
}
