// What:    Fourier transforms of lines, limited by global memory bandwidth
// Idea:    all ideas before in one kernel: mixed radices up to 32 in registers, neighbouring columns, packed real
//          samples, four-step long lines; samples are converted as they are loaded. New are square tiles that fit a
//          block: rows, one exchange, columns, so that each number is read and written only once; 128-bit accesses; and
//          1 or 2 twiddle factors loaded per butterfly, the others being their powers. For powers of two an
//          exclusive-or swizzle replaces the padding and avoids the bank conflicts of stores and of loads
// Shapes:  x samples or complex, y complex, addressed by Layout; table (N): exp(-2 pi i k / N); split_table (N + 1):
//          exp(-pi i k / N); low and high: see LongTwiddles
// Launch:  grid over the lines, blocks of LINE_THREADS per line times LINES lines; tiles: grid over the tiles, LINES is
//          N; shared PARTS real numbers per point
// Traffic: 1 number read and 1 written per point and axis, for tiles per point
// Source:  S2
#include "fft_four_step.cuh"
#include "fft_pairs.cuh"
#include "overlapped_launch.cuh"

struct alignas(2 * sizeof(C)) TwoNumbers {
    C first, second;
};

// A number of x, which the launch ahead has written where numbers are complex.
__device__ __forceinline__ C point_at(const void* x, long long index)
{
    if constexpr (NUMBERS != COMPLEX_NUMBERS) return number_at(x, index);
    else if constexpr (WIDTH > 32) return load_after_wait((const C*)x + index);
    else return complex_of(load_after_wait((const R*)x + 2 * index), load_after_wait((const R*)x + 2 * index + 1));
}

// Two of them, in as few accesses as possible.
__device__ __forceinline__ TwoNumbers two_numbers_at(const void* from)
{
    if constexpr (sizeof(R) == 8) return {load_after_wait((const C*)from), load_after_wait((const C*)from + 1)};
    const float4 four = load_after_wait((const float4*)from);
    return {complex_of(four.x, four.y), complex_of(four.z, four.w)};
}

// Loads the points of the first stage; those of lines beyond the last one are zero. WIDTH 128: butterflies j and j + 1
// load their points of equal r in one access.
__device__ __forceinline__ void load_first(
    C (&v)[butterflies<FIRST>()][FIRST], const void* x, long long begin, long long stride, int t,
    bool inside)
{
#pragma unroll
    for (int c = 0; c < butterflies<FIRST>(); c += WIDTH == 128 ? 2 : 1) {
        const int j = butterfly_of<1, FIRST>(t, c);
        const bool read = inside && exists<FIRST>(j);
        long long index = begin + j * stride;
#pragma unroll
        for (int r = 0; r < FIRST; ++r, index += N / FIRST * stride) {
            if constexpr (WIDTH == 128) {
                const TwoNumbers two = read ? two_numbers_at((const SAMPLE*)x + index) : TwoNumbers{};
                v[c][r] = two.first;
                v[c + 1][r] = two.second;
            } else {
                v[c][r] = read ? point_at(x, index) : complex_of(0, 0);
            }
        }
    }
}

// Stores the points of the last stage, which are in natural order.
__device__ __forceinline__ void store_last(
    C (&v)[butterflies<LAST>()][LAST], C* __restrict__ begin, long long stride, int t)
{
#pragma unroll
    for (int c = 0; c < butterflies<LAST>(); c += WIDTH == 128 ? 2 : 1) {
        const int j = butterfly_of<N / LAST, LAST>(t, c);
        if (!exists<LAST>(j)) continue;
        C* own = begin + j * stride;
#pragma unroll
        for (int r = 0; r < LAST; ++r, own += N / LAST * stride) {
            if constexpr (WIDTH == 128) {
                *(TwoNumbers*)own = TwoNumbers{v[c][r], v[c + 1][r]};
            } else if (ENDS == WHOLE || j + r * (N / LAST) <= N / 2) {
                if constexpr (WIDTH > 32) *own = v[c][r];
                else ((R*)own)[0] = v[c][r].x, ((R*)own)[1] = v[c][r].y;
            }
        }
    }
}

#if TILED
// A tile in shared memory is row-major. The exclusive or maps the rows that one request stores, and the neighbouring
// columns that one request loads, to different banks.
__device__ __forceinline__ int address_in_tile(int row, int column)
{
    if constexpr (POWERS_OF_TWO) return ITEM * (row * N + (column ^ (row * T & BANKS & N - 1)));
    return ITEM * (row * N + column);
}

// Tiles are counted across, then down. A row of a tile starts `row` samples after the one before in x, `y_row` numbers
// in y; neighbouring tiles are `x_tile` samples apart, the points of a row `x_step`.
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_fast_tiles(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, unsigned int across, long long row,
    long long x_tile, long long x_step, long long y_row)
{
    const unsigned int down = blockIdx.x / across, right = blockIdx.x % across;
    const Lane of_row = lane_of<ALONG_POINTS>();
    C v[butterflies<FIRST>()][FIRST];
    load_first(v, x, (down * (long long)N + of_row.line) * row + right * x_tile, x_step, of_row.t, true);

    typedef Along<ALONG_POINTS, ALONG_POINTS> AlongRows;
    typedef Along<ALONG_LINES, ALONG_LINES> AcrossColumns;
    stages<AlongRows, 1, RADICES>(v, of_row, table, [&](C (&v)[butterflies<LAST>()][LAST], Lane) {
        // Rows are stored and columns are loaded by lanes across the columns: the results of the rows are the points of
        // the columns.
        const Lane of_column = lane_of<ALONG_LINES>();
        C w[butterflies<FIRST>()][FIRST];
#pragma unroll
        for (int pass = 0; pass < PASSES; ++pass) {
            __syncthreads();
#pragma unroll
            for (int c = 0; c < butterflies<LAST>(); ++c) {
                const int j = of_row.t + c * T;
                if (!exists<LAST>(j)) continue;
#pragma unroll
                for (int r = 0; r < LAST; ++r)
                    store_shared(address_in_tile(of_row.line, j + r * (N / LAST)), v[c][r], pass);
            }
            __syncthreads();
#pragma unroll
            for (int c = 0; c < butterflies<FIRST>(); ++c) {
                const int j = of_column.t + c * T;
                if (!exists<FIRST>(j)) continue;
#pragma unroll
                for (int r = 0; r < FIRST; ++r)
                    load_shared(address_in_tile(j + r * (N / FIRST), of_column.line), w[c][r], pass);
            }
        }
        __syncthreads();
        C* tile = y + down * (long long)N * y_row + (long long)right * N;
        const Layout columns{LINES, 1, 0, 0, y_row};
        stages<AcrossColumns, 1, RADICES>(w, of_column, table, [&](C (&w)[butterflies<LAST>()][LAST], Lane lane) {
            const unsigned int column = lane.line;
            C* begin = tile + columns.begin(column);
            if (column < LINES) store_last(w, begin, columns.point_stride, lane.t);
        });
    });
}
#else
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_fast_lines(
    const void* x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ split_table,
    const C* __restrict__ low, const C* __restrict__ high, unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    overlap_launches();
    const Layout from{inner, middle, x_outer, x_middle, x_step}, to{inner, middle, y_outer, y_middle, y_step};
    const Lane lane = lane_of<LANES_IN>();
    const unsigned int first_line = blockIdx.x * LINES, x_line = first_line + lane.line;
    C v[butterflies<FIRST>()][FIRST];
    load_first(v, x, from.begin(x_line), from.point_stride, lane.t, x_line < lines);
    stages<Along<LANES_IN, LANES_OUT>, 1, RADICES>(v, lane, table, [&](C (&v)[butterflies<LAST>()][LAST], Lane lane) {
        const unsigned int y_line = first_line + lane.line;
        const bool stored = y_line < lines;
        if (TWIDDLED) multiply_by_long_twiddles<LAST>(v, lane.t, to.along_middle(y_line), LongTwiddles{low, high});
        C* begin = y + to.begin(y_line);
        if constexpr (ENDS == UNPACKED) split_pairs<LAST>(v, lane, stored, begin, to.point_stride, split_table);
        else if (stored) store_last(v, begin, to.point_stride, lane.t);
    });
}
#endif
