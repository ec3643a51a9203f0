// What:    an image without some of its frequencies, in three launches (rows, columns and product, rows) or five
// Idea:    fft_mask_fused on the fast transform, and real images as half as many complex numbers. Two rows are one complex
//          line; the launch over columns separates them as it loads, transforms, multiplies, transforms back with the
//          radices in reverse order, which needs no exchange in between, and stores pairs of rows in the same memory.
//          Columns beyond width / 2 are the conjugates of others. Radices up to 16 with prime factors up to 13;
//          convolutions with a chirp of other lengths stay in registers and shared memory. Columns of which a block does
//          not hold eight take two launches more, so that more neighbours fill whole sectors
// Shapes:  x, out (height, width, channels); z (channels, pairs, 2, pitch) complex, see fft_row_pairs.cuh; mask (height,
//          pitch), its first width / 2 + 1 columns; magnitude (height, width, channels); tables: see Tables
// Launch:  rows: grid (groups of LINES pairs, channels), columns: grid (groups of LINES columns, channels, parts);
//          LINE_THREADS per line; shared PARTS real numbers per point
// Traffic: 1 sample read, 1/2 complex number written, read and written again, 1/2 value of the mask read and 1 magnitude
//          written, 1/2 complex number read and 1 sample written per point
// Source:  S2
constexpr int WIDTH = 64, LOOKUPS = 1;
#include "fft_row_pairs.cuh"

#if COLUMNS
typedef Along<ALONG_LINES, ALONG_LINES> AcrossColumns;

#if COLUMNS == FIRST_PART || COLUMNS == LAST_PART
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_mask_fast_parts(
    C* z, const C* __restrict__ circle, const C* __restrict__ chirp, const C* __restrict__ spectrum,
    const C* __restrict__ turns, int width, int pitch, long long pairs, R factor)
{
    overlap_launches();
    const Lane lane = lane_of<ALONG_LINES>();
    const int rows = gridDim.z, row = blockIdx.z;
    const Column column{z, (int)blockIdx.x * LINES + lane.line, width, pitch, pairs, rows, row};
    const Tables tables{circle, chirp, spectrum};
    if constexpr (COLUMNS == FIRST_PART) first_part<AcrossColumns>(column, lane, tables, turns);
    else last_part<AcrossColumns>(column, lane, tables, factor);
}
#else
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_mask_fast_columns(
    C* z, const C* __restrict__ circle, const C* __restrict__ chirp, const C* __restrict__ spectrum,
    const C* __restrict__ turns, const R* __restrict__ mask, R* __restrict__ magnitude, int width, int pitch,
    long long pairs, int apart, R factor)
{
    overlap_launches();
    const Lane lane = lane_of<ALONG_LINES>();
    const int height = rows_of_column(), channels = gridDim.y;
    const Column column{z, (int)blockIdx.x * LINES + lane.line, width, pitch, pairs, COLUMNS == SECOND_PART ? N : 1};
    const Tables tables{circle, chirp, spectrum};
    C v[butterflies<FIRST>()][FIRST] = {};
    load_points(v, column, lane.t, apart);
    transform<AcrossColumns>(v, lane, tables, [&](C (&v)[butterflies<ENDING>()][ENDING], Lane lane) {
        each_point<ENDING>(v, lane.t, [&](C& point, int k) {
            point = swapped(scaled(point, mask[(long long)(has_point(k) ? row_of(k) : 0) * pitch + column.index]));
        });
        each_point<ENDING>(v, lane.t, [&](C point, int k) {
            if (!column.inside || !has_point(k)) return;
            const int row = row_of(k);
            R* const size = magnitude + blockIdx.y;
            const R here = hypot(point.x, point.y) * factor;
            size[((long long)row * width + column.index) * channels] = here;
            if (!column.alone) size[((long long)(row ? height - row : 0) * width + column.opposite) * channels] = here;
        });
        transform_again<AcrossColumns>(v, lane, tables, [&](C (&v)[butterflies<FIRST>()][FIRST], Lane lane) {
            store_points(v, column, lane.t, apart, turns, factor);
        });
    });
}
#endif
#else
typedef Along<ALONG_POINTS, ALONG_POINTS> AlongRows;
typedef SAMPLE Sample;

#if INVERSE
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_mask_fast_inverse(
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
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_mask_fast_rows(
    const Sample* __restrict__ x, C* __restrict__ z, const C* __restrict__ circle, const C* __restrict__ chirp,
    const C* __restrict__ spectrum, int height, int pitch, long long pairs, int apart)
{
    overlap_launches();
    const Lane lane = lane_of<ALONG_POINTS>();
    const Rows rows{(long long)blockIdx.x * LINES + lane.line, pairs, apart, height};
    C v[butterflies<FIRST>()][FIRST] = {};
    each_point<FIRST>(v, lane.t, [&](C& point, int k) {
        const Sample* const from = x + rows.place(has_point(k) ? k : 0);
        const Sample upper = from[0], lower = from[rows.distance()];
        if (has_point(k)) point = complex_of((R)upper, rows.both ? (R)lower : 0);
    });
    const Tables tables{circle, chirp, spectrum};
    transform<AlongRows>(v, lane, tables, [&](C (&v)[butterflies<ENDING>()][ENDING], Lane lane) {
        if (rows.inside) store_pair(v, rows.of(z, pairs, pitch), pitch, lane.t);
    });
}
#endif
#endif
