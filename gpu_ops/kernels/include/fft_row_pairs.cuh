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
struct Rows {
    long long upper;
    int apart;
    bool inside, both;

    __device__ __forceinline__ Rows(long long pair, long long pairs, int apart, int height)
        : upper(pair + pair / apart * apart), apart(apart), inside(pair < pairs), both(inside && upper + apart < height)
    {
    }

    // The index of a sample of the upper row, and how much further that of the lower one is.
    __device__ __forceinline__ long long place(int k) const { return (upper * LENGTH + k) * gridDim.y + blockIdx.y; }
    __device__ __forceinline__ long long distance() const { return (long long)apart * LENGTH * gridDim.y; }
};

// A column of the half spectrum: number `first` of pair 0, and whether it is its own opposite column.
struct Column {
    C* first;
    int pitch;
    bool inside, alone;

    __device__ __forceinline__ C* pair(int p) const { return first + (long long)p * (2 * pitch); }
};

// Separates the rows of the pairs of a column: a thread's points of FIRST.
__device__ __forceinline__ void load_column(C (&v)[butterflies<FIRST>()][FIRST], const Column& column, int t)
{
    constexpr int apart = N / FIRST;
#pragma unroll
    for (int c = 0; c < butterflies<FIRST>(); ++c) {
        const int j = t + c * T;
        const bool read = column.inside && exists<FIRST>(j);
#pragma unroll
        for (int r = 0; r < FIRST; r += 2) {
            const int row = j + r * apart;
            C upper = complex_of(0, 0), lower = upper;
            if (read && (!CHIRPED || row < LENGTH)) {
                const C* from = column.pair(j + r / 2 * apart);
                const C a = from[0], b = column.alone ? a : from[column.pitch];
                upper = complex_of((R)0.5 * (a.x + b.x), (R)0.5 * (a.y - b.y));
                if (!CHIRPED || row + apart < LENGTH)
                    lower = complex_of((R)0.5 * (a.y + b.y), (R)0.5 * (b.x - a.x));
            }
            v[c][r] = upper;
            if (r + 1 < FIRST) v[c][r + 1] = lower;
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
            if (CHIRPED && row >= LENGTH) continue;
            const C upper = scaled(swapped(v[c][r]), factor);
            C lower = complex_of(0, 0);
            if (r + 1 < FIRST && (!CHIRPED || row + apart < LENGTH)) lower = scaled(swapped(v[c][r + 1]), factor);
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
        if (k < LENGTH) pair[place_of(k, LENGTH, pitch)] = z;
    });
}

__device__ __forceinline__ void load_pair_swapped(
    C (&v)[butterflies<FIRST>()][FIRST], const C* __restrict__ pair, int pitch, int t, bool inside)
{
    each_point<FIRST>(v, t, [&](C& z, int k) {
        if (inside && k < LENGTH) z = swapped(pair[place_of(k, LENGTH, pitch)]);
    });
}

// Results whose parts are swapped as the samples of a pair of rows.
template <typename Sample>
__device__ __forceinline__ void store_rows_swapped(
    C (&v)[butterflies<ENDING>()][ENDING], Sample* __restrict__ out, const Rows& rows, int t)
{
    each_point<ENDING>(v, t, [&](C& z, int k) {
        if (k >= LENGTH) return;
        Sample* to = out + rows.place(k);
        *to = sample_from<Sample>(z.y);
        if (rows.both) to[rows.distance()] = sample_from<Sample>(z.x);
    });
}
