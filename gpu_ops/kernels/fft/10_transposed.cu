// What:    the Fourier transforms of rows, whose results are stored as columns
// Idea:    the other way to whole sectors: a block of several rows passes the last exchange through shared memory with
//          lanes along the points and leaves it with lanes across the rows, so that what was a row is stored as a
//          column; the second launch reads rows again and turns the image back
// Shapes:  x samples or complex, y complex, anywhere: see Where; table (N); half_turns (N + 1); low and high: see
//          Turns
// Launch:  grid over the lines, blocks of LINE_THREADS a line times LINES lines; shared PARTS real numbers a point
// Traffic: 1 complex number read and 1 written a point and axis; stores fill sectors from 4 rows a block on
// Source:  S2
#include "fft_lines.cuh"

extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_transposed_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ half_turns,
    const C* __restrict__ low, const C* __restrict__ high, unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    transform_lines<RADICES>(
        x, y, table, half_turns, low, high, lines, Where{inner, middle, x_outer, x_middle, x_step},
        Where{inner, middle, y_outer, y_middle, y_step});
}
