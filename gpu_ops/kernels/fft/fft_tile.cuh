// A tile of N rows of N complex numbers by one block: its rows, one pass through shared memory, its columns. LINES is
// N.
#pragma once
#include "fft_lines.cuh"

// Where rows leave their results for the columns: rows lie one after the other, and those that one request stores have
// banks of their own by an exclusive or, as do columns side by side.
__device__ __forceinline__ int place_in_tile(int row, int column)
{
    if constexpr (POWERS_OF_TWO) return ITEM * (row * N + (column ^ (row * T & BANKS & N - 1)));
    return ITEM * (row * N + column);
}

// What the rows' last stage leaves becomes the points of the columns' first one.
template <int FIRST, int... REST>
struct Columns {
    C* __restrict__ y;
    const C* __restrict__ table;
    long long step;

    template <int RAD>
    __device__ __forceinline__ void operator()(C (&v)[butterflies<RAD>()][RAD], Lane now) const
    {
        const Lane then = lane_of<ALONG_LINES>();
        C w[butterflies<FIRST>()][FIRST];
#pragma unroll
        for (int pass = 0; pass < PASSES; ++pass) {
            __syncthreads();
#pragma unroll
            for (int c = 0; c < butterflies<RAD>(); ++c) {
                const int j = now.t + c * T;
                if (!has<RAD>(j)) continue;
#pragma unroll
                for (int r = 0; r < RAD; ++r) put(place_in_tile(now.line, j + r * (N / RAD)), v[c][r], pass);
            }
            __syncthreads();
#pragma unroll
            for (int c = 0; c < butterflies<FIRST>(); ++c) {
                const int j = then.t + c * T;
                if (!has<FIRST>(j)) continue;
#pragma unroll
                for (int r = 0; r < FIRST; ++r) get(place_in_tile(j + r * (N / FIRST), then.line), w[c][r], pass);
            }
        }
        __syncthreads();
        const Store store{y, table, Turns{table, table}, 0, LINES, Where{LINES, 1, 0, 0, step}};
        stages<Along<ALONG_LINES, ALONG_LINES>, 1, FIRST, REST...>(w, then, table, store);
    }
};

// Tiles are counted across, then down; a row of a tile begins `row` values after the one before in x, `step` numbers in
// y.
template <int RAD, int... REST>
__device__ __forceinline__ void transform_tile(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, unsigned int across, long long row,
    long long wide, long long apart, long long step)
{
    const unsigned int down = blockIdx.x / across, right = blockIdx.x % across;
    const Lane lane = lane_of<ALONG_POINTS>();
    C v[butterflies<RAD>()][RAD];
    load_points<RAD>(v, x, (down * (long long)N + lane.line) * row + right * wide, apart, lane.t, true);
    const Columns<RAD, REST...> columns{y + down * (long long)N * step + (long long)right * N, table, step};
    stages<Along<ALONG_POINTS, ALONG_POINTS>, 1, RAD, REST...>(v, lane, table, columns);
}
