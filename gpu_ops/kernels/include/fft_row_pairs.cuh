// Real images whose rows were transformed in pairs: two rows are the real and the imaginary part of one complex line,
// and a transform along columns separates them where it loads its points. The rows of a pair are APART rows apart, the
// distance of two points of a butterfly of the columns: a thread needs both, from the same two numbers. Pair p has rows
// p + p / APART * APART and, where the image has it, APART rows further.
//
// A pair takes 2 * pitch complex numbers: points 0 ... width / 2 from its beginning, and points width - 1, width - 2 ...
// from pitch + 1 on, so that neighbouring columns have neighbouring numbers, and so have their opposite ones.
#pragma once
#include "fft_any_length.cuh"
#include "fft_samples.cuh"

// Where the pair has point k of a row.
__device__ __forceinline__ int place_of(int k, int width, int pitch) { return 2 * k <= width ? k : pitch + width - k; }

// The rows of a pair in an image of `height` rows of LENGTH pixels and gridDim.y channels, of which block y has one.
// Lines beyond the last pair load that one.
struct Rows {
    bool inside;
    long long pair, upper;
    int apart;
    bool both;

    __device__ __forceinline__ Rows(long long line, long long pairs, int apart, int height)
        : inside(line < pairs), pair(inside ? line : pairs - 1), upper(pair + pair / apart * apart), apart(apart),
          both(upper + apart < height)
    {
    }

    // The index of a sample of the upper row, and how much further that of the lower one is.
    __device__ __forceinline__ long long place(int k) const { return (upper * LENGTH + k) * gridDim.y + blockIdx.y; }
    __device__ __forceinline__ long long distance() const { return both ? (long long)apart * LENGTH * gridDim.y : 0; }
    // The pair's spectrum.
    __device__ __forceinline__ C* of(C* z, long long pairs, int pitch) const
    {
        return z + (blockIdx.y * pairs + pair) * (2 * pitch);
    }
};

// A column of the half spectrum: its number of pair 0, and how much further that of the opposite column is. Lines beyond
// the last column load that one.
struct Column {
    bool inside;
    int index, opposite;
    bool alone;  // it is its own opposite column
    int pitch;
    C* first;

    __device__ __forceinline__ Column(C* z, int line, int width, int pitch, long long pairs)
        : inside(line <= width / 2), index(inside ? line : width / 2), opposite(width - index),
          alone(index == 0 || index == opposite), pitch(pitch), first(z + blockIdx.y * pairs * (2 * pitch) + index)
    {
    }
    __device__ __forceinline__ C* pair(int p) const { return first + (long long)p * (2 * pitch); }
};

// Separates the rows of the pairs of a column: a thread's points of FIRST.
__device__ __forceinline__ void load_column(C (&v)[butterflies<FIRST>()][FIRST], const Column& column, int t)
{
    constexpr int apart = N / FIRST;
    const int opposite = column.alone ? 0 : column.pitch;
#pragma unroll
    for (int c = 0; c < butterflies<FIRST>(); ++c) {
        const int j = t + c * T;
#pragma unroll
        for (int r = 0; r < FIRST; r += 2) {
            const int row = j + r * apart;
            const bool read = exists<FIRST>(j) && has_point(row);
            const C* const from = column.pair(read ? j + r / 2 * apart : 0);
            const C a = from[0], b = from[opposite];
            const C upper = complex_of((R)0.5 * (a.x + b.x), (R)0.5 * (a.y - b.y));
            const C lower = complex_of((R)0.5 * (a.y + b.y), (R)0.5 * (b.x - a.x));
            v[c][r] = read ? upper : complex_of(0, 0);
            if (r + 1 < FIRST) v[c][r + 1] = read && has_point(row + apart) ? lower : complex_of(0, 0);
        }
    }
}

// The opposite of load_column: joins the rows of pairs, of results whose parts are swapped, times a factor.
__device__ __forceinline__ void store_column(C (&v)[butterflies<FIRST>()][FIRST], const Column& column, int t, R factor)
{
    constexpr int apart = N / FIRST;
    if (!column.inside) return;
#pragma unroll
    for (int c = 0; c < butterflies<FIRST>(); ++c) {
        const int j = t + c * T;
        if (!exists<FIRST>(j)) continue;
#pragma unroll
        for (int r = 0; r < FIRST; r += 2) {
            const int row = j + r * apart;
            if (!has_point(row)) continue;
            const C upper = scaled(swapped(v[c][r]), factor);
            C lower = complex_of(0, 0);
            if (r + 1 < FIRST && has_point(row + apart)) lower = scaled(swapped(v[c][r + 1]), factor);
            C* to = column.pair(j + r / 2 * apart);
            to[0] = complex_of(upper.x - lower.y, upper.y + lower.x);
            if (!column.alone) to[column.pitch] = complex_of(upper.x + lower.y, lower.x - upper.y);
        }
    }
}

// The points of a pair's line, or its results, between the thread's registers and memory from `pair` on.
__device__ __forceinline__ void store_pair(C (&v)[butterflies<ENDING>()][ENDING], C* __restrict__ pair, int pitch, int t)
{
    each_point<ENDING>(v, t, [&](C& z, int k) {
        if (has_point(k)) pair[place_of(k, LENGTH, pitch)] = z;
    });
}

__device__ __forceinline__ void load_pair_swapped(
    C (&v)[butterflies<FIRST>()][FIRST], const C* __restrict__ pair, int pitch, int t)
{
    each_point<FIRST>(v, t, [&](C& z, int k) {
        const C point = pair[has_point(k) ? place_of(k, LENGTH, pitch) : 0];
        z = has_point(k) ? swapped(point) : complex_of(0, 0);
    });
}

// Results whose parts are swapped as the samples of a pair of rows.
template <typename Sample>
__device__ __forceinline__ void store_rows_swapped(
    C (&v)[butterflies<ENDING>()][ENDING], Sample* __restrict__ out, const Rows& rows, int t)
{
    each_point<ENDING>(v, t, [&](C& z, int k) {
        if (!has_point(k)) return;
        Sample* to = out + rows.place(k);
        *to = sample_from<Sample>(z.y);
        if (rows.both) to[rows.distance()] = sample_from<Sample>(z.x);
    });
}
