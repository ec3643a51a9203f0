// What:    the Fourier transform of a real image of any extents, and what is asked of it, in two launches or three
// Idea:    15_spectrum for other results, for channels and for all extents. Means and windows are part of the first
//          load, magnitudes, levels, densities and the shift of zero frequency part of the last store. Two rows are one
//          complex line; the launch over columns separates them as it loads, instead of an exchange after the rows, and
//          stores each result at its frequency and at the opposite one. Radices up to 16 with prime factors up to 13;
//          other lengths are convolutions with a chirp that stay in registers and shared memory. The round trip
//          transforms columns back at once, with the radices in reverse order, and stores them where it loaded them.
//          Columns of which a block does not hold eight take two launches, so that more neighbours fill whole sectors
// Shapes:  x (height, width, channels); z (channels, pairs, 2, pitch) complex, see fft_row_pairs.cuh; out (height, width,
//          channels), RESULT says of what; window_y (height), window_x (width), means (channels); tables: see Tables
// Launch:  rows: grid (groups of LINES pairs, channels), columns: grid (groups of LINES columns, channels, parts);
//          LINE_THREADS per line; shared PARTS real numbers per point
// Traffic: 1 sample read, 1/2 complex number written and read (twice for columns in parts), 1 result written per point
// Source:  S2
constexpr int WIDTH = 64, LOOKUPS = 1;
#include "fft_level.cuh"
#include "fft_row_pairs.cuh"

#if COLUMNS
enum { SPECTRUM, MAGNITUDE, LEVEL, DENSITY, ROUND_TRIP };  // RESULT

typedef Along<ALONG_LINES, ALONG_LINES> AcrossColumns;

// What is stored of a complex number.
template <int OF>
__device__ __forceinline__ auto result_of(C z, R factor, R least)
{
    if constexpr (OF == MAGNITUDE) return hypot(z.x, z.y) * factor;
    else if constexpr (OF == LEVEL) return level_of(z, factor, least);
    else if constexpr (OF == DENSITY) return (z.x * z.x + z.y * z.y) * factor;
    else return z;
}
typedef decltype(result_of<RESULT>(C(), 0, 0)) Result;

__device__ __forceinline__ C opposite_of(C z) { return complex_of(z.x, -z.y); }
__device__ __forceinline__ R opposite_of(R z) { return z; }

#if COLUMNS == FIRST_PART
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_image_first(
    C* z, const C* __restrict__ circle, const C* __restrict__ chirp, const C* __restrict__ spectrum,
    const C* __restrict__ turns, int width, int pitch, long long pairs)
{
    overlap_launches();
    const Lane lane = lane_of<ALONG_LINES>();
    const int rows = gridDim.z, row = blockIdx.z;
    const Column column{z, (int)blockIdx.x * LINES + lane.line, width, pitch, pairs, rows, row};
    first_part<AcrossColumns>(column, lane, Tables{circle, chirp, spectrum}, turns);
}
#else
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_image_columns(
    C* z, const C* __restrict__ circle, const C* __restrict__ chirp, const C* __restrict__ spectrum,
    Result* __restrict__ out, int width, int pitch, long long pairs, int apart, int down, int right, R factor, R least)
{
    overlap_launches();
    const Lane lane = lane_of<ALONG_LINES>();
    const int height = rows_of_column(), channels = gridDim.y;
    const Column column{z, (int)blockIdx.x * LINES + lane.line, width, pitch, pairs, COLUMNS == SECOND_PART ? N : 1};
    const Tables tables{circle, chirp, spectrum};
    C v[butterflies<FIRST>()][FIRST] = {};
    load_points(v, column, lane.t, apart);
    transform<AcrossColumns>(v, lane, tables, [&](C (&v)[butterflies<ENDING>()][ENDING], Lane lane) {
        if constexpr (RESULT == ROUND_TRIP) {
            each_point<ENDING>(v, lane.t, [&](C& point, int) { point = swapped(point); });
            transform_again<AcrossColumns>(v, lane, tables, [&](C (&v)[butterflies<FIRST>()][FIRST], Lane lane) {
                store_column(v, column, lane.t, factor);
            });
        } else if (column.inside) {
            const int x = column.index + right, here = x < width ? x : x - width;
            const int other_x = column.opposite + right, there = other_x < width ? other_x : other_x - width;
            each_point<ENDING>(v, lane.t, [&](C point, int k) {
                if (!has_point(k)) return;
                const int y = row_of(k) + down, other_y = height - row_of(k) + down;
                const Result result = result_of<RESULT>(point, factor, least);
                const long long upper = y < height ? y : y - height;
                const long long lower = other_y < height ? other_y : other_y - height;
                Result* const own = out + (upper * width + here) * channels + blockIdx.y;
                Result* const other = out + (lower * width + there) * channels + blockIdx.y;
                *own = result;
                *(column.alone ? own : other) = column.alone ? result : opposite_of(result);
            });
        }
    });
}
#endif
#else
typedef Along<ALONG_POINTS, ALONG_POINTS> AlongRows;
typedef SAMPLE Sample;

#if INVERSE
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_image_inverse(
    const C* z, Sample* __restrict__ out, const C* __restrict__ circle, const C* __restrict__ chirp,
    const C* __restrict__ spectrum, int height, int pitch, long long pairs, int apart)
{
    overlap_launches();
    const Lane lane = lane_of<ALONG_POINTS>();
    const Rows rows{(long long)blockIdx.x * LINES + lane.line, pairs, apart, height};
    C v[butterflies<FIRST>()][FIRST] = {};
    load_pair_swapped(v, rows.of((C*)z, pairs, pitch), pitch, lane.t);
    const Tables tables{circle, chirp, spectrum};
    transform<AlongRows>(v, lane, tables, [&](C (&v)[butterflies<ENDING>()][ENDING], Lane lane) {
        if (rows.inside) store_rows_swapped(v, out, rows, lane.t);
    });
}
#else
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_image_rows(
    const Sample* __restrict__ x, C* __restrict__ z, const C* __restrict__ circle, const C* __restrict__ chirp,
    const C* __restrict__ spectrum, int height, int pitch, long long pairs, int apart, const R* __restrict__ window_y,
    const R* __restrict__ window_x, const double* __restrict__ means)
{
    overlap_launches();
    const Lane lane = lane_of<ALONG_POINTS>();
    const Rows rows{(long long)blockIdx.x * LINES + lane.line, pairs, apart, height};
    const R above = WINDOWED ? window_y[rows.upper] : 1;
    const R below = WINDOWED && rows.both ? window_y[rows.upper + apart] : 1;
    C v[butterflies<FIRST>()][FIRST] = {};
    each_point<FIRST>(v, lane.t, [&](C& point, int k) {
        const int inside = has_point(k) ? k : 0;
        const Sample* const from = x + rows.place(inside);
        const Sample upper = from[0], lower = from[rows.distance()];
        const R weight = WINDOWED ? window_x[inside] : 1;
        if (!has_point(k)) return;
        point.x = less_mean(upper, means + blockIdx.y, DETREND) * (above * weight);
        if (rows.both) point.y = less_mean(lower, means + blockIdx.y, DETREND) * (below * weight);
    });
    const Tables tables{circle, chirp, spectrum};
    transform<AlongRows>(v, lane, tables, [&](C (&v)[butterflies<ENDING>()][ENDING], Lane lane) {
        if (rows.inside) store_pair(v, rows.of(z, pairs, pitch), pitch, lane.t);
    });
}
#endif
#endif
