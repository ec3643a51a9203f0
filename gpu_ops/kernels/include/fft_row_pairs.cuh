// Real images whose rows were transformed in pairs: two rows are the real and the imaginary part of one complex line,
// and a transform along columns separates them where it loads its points. The rows of a pair are APART rows apart, the
// distance of two points of a butterfly of the columns: a thread needs both, from the same two numbers. Pair p has rows
// p + p / APART * APART and, where the image has it, APART rows further.
//
// A pair takes 2 * pitch complex numbers: points 0 ... width / 2 from its beginning, and points width - 1, width - 2 ...
// from pitch + 1 on, so that neighbouring columns have neighbouring numbers, and so have their opposite ones.
//
// Columns of many rows take two launches more: COLUMNS says what a kernel does of them. A column in parts is a matrix
// whose element (a, b) is row b + n2 a: the first launch transforms the n1 points of each b, the second one the n2 points
// of each k1, whose results are rows k1 + n1 k2, and, where columns are transformed back, a last one those of each b again.
#pragma once
#define WHOLE_COLUMNS 1
#define FIRST_PART 2
#define SECOND_PART 3
#define LAST_PART 4
#include "fft_any_length.cuh"
#include "fft_samples.cuh"
#include "overlapped_launch.cuh"

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
    int pitch, rows;  // a column in two parts takes every so manieth row, from row `row` on
    C* first;

    __device__ __forceinline__ Column(
        C* z, int line, int width, int pitch, long long pairs, int rows = 1, int row = 0)
        : inside(line <= width / 2), index(inside ? line : width / 2), opposite(width - index),
          alone(index == 0 || index == opposite), pitch(pitch), rows(rows),
          first(z + (blockIdx.y * pairs + row) * (2 * pitch) + index)
    {
    }
    __device__ __forceinline__ C* pair(int p) const { return first + (long long)p * rows * (2 * pitch); }
    // Where the number of point k is, of points whose first butterfly has them `apart` points apart.
    __device__ __forceinline__ C* place(int k, int apart) const
    {
        const int r = k / apart;
        return pair(k - (r + 1) / 2 * apart) + r % 2 * pitch;
    }
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
            const C a = load_after_wait(from), b = load_after_wait(from + opposite);
            const C upper = complex_of((R)0.5 * (a.x + b.x), (R)0.5 * (a.y - b.y));
            const C lower = complex_of((R)0.5 * (a.y + b.y), (R)0.5 * (b.x - a.x));
            v[c][r] = read ? upper : complex_of(0, 0);
            if (r + 1 < FIRST) v[c][r + 1] = read && has_point(row + apart) ? lower : complex_of(0, 0);
        }
    }
}

// The opposite of load_column: combines the rows of pairs, from results with swapped parts, times a factor.
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

// The first of two parts of columns: every gridDim.z-th row from row blockIdx.z on; results are multiplied by the twiddle
// factors of the column and stored where the points were. `turns` has the factors of all its rows.
template <typename Lanes>
__device__ __forceinline__ void first_part(
    const Column& column, Lane lane, const Tables& tables, const C* __restrict__ turns)
{
    C v[butterflies<FIRST>()][FIRST];
    load_column(v, column, lane.t);
    transform<Lanes>(v, lane, tables, [&](C (&v)[butterflies<ENDING>()][ENDING], Lane lane) {
        each_point<ENDING>(v, lane.t, [&](C point, int k) {
            if (column.inside) *column.place(k, N / FIRST) = product(point, turns[blockIdx.z * k]);
        });
    });
}

// The opposite of first_part, of points that are multiplied already and whose parts are swapped.
template <typename Lanes>
__device__ __forceinline__ void last_part(const Column& column, Lane lane, const Tables& tables, R factor)
{
    C v[butterflies<ENDING>()][ENDING] = {};
    each_point<ENDING>(v, lane.t, [&](C& point, int k) { point = load_after_wait(column.place(k, N / FIRST)); });
    transform_again<Lanes>(v, lane, tables, [&](C (&v)[butterflies<FIRST>()][FIRST], Lane lane) {
        store_column(v, column, lane.t, factor);
    });
}

// The row of result k of a column, and the number of rows of a column.
__device__ __forceinline__ int row_of(int k) { return COLUMNS == SECOND_PART ? blockIdx.z + gridDim.z * k : k; }
__device__ __forceinline__ int rows_of_column() { return COLUMNS == SECOND_PART ? gridDim.z * N : LENGTH; }

// Points of columns, whole or of the second part, for which the rows of a pair are `apart` rows apart.
__device__ __forceinline__ void load_points(C (&v)[butterflies<FIRST>()][FIRST], const Column& column, int t, int apart)
{
    if constexpr (COLUMNS == SECOND_PART) {
        const C* const from = column.place(blockIdx.z, apart / N);
        each_point<FIRST>(v, t, [&](C& point, int b) { point = load_after_wait(from + (long long)b * (2 * column.pitch)); });
    } else {
        load_column(v, column, t);
    }
}

// And back, of results whose parts are swapped.
__device__ __forceinline__ void store_points(
    C (&v)[butterflies<FIRST>()][FIRST], const Column& column, int t, int apart, const C* __restrict__ turns, R factor)
{
    if constexpr (COLUMNS == SECOND_PART) {
        C* const to = column.place(blockIdx.z, apart / N);
        each_point<FIRST>(v, t, [&](C point, int b) {
            if (column.inside) to[(long long)b * (2 * column.pitch)] = product(point, turns[blockIdx.z * b]);
        });
    } else {
        store_column(v, column, t, factor);
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
        const C point = load_after_wait(pair + (has_point(k) ? place_of(k, LENGTH, pitch) : 0));
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
