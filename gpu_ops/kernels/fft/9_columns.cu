// What:    the Fourier transforms of the columns of images, several neighbouring columns a block
// Idea:    a column's points lie a row apart, and 8 bytes of each sector of 32 are used. So a block takes 4 columns,
//          whose points fill a sector, or 16, which fill a line of the cache: lanes run across columns, and the
//          exchanges between stages keep the columns side by side
// Shapes:  x samples or complex, y complex, anywhere: see Where; table (N); half_turns (N + 1); low and high: see
//          Turns
// Launch:  grid over the lines, blocks of LINE_THREADS a line times LINES lines; shared PARTS real numbers a point
// Traffic: 1 complex number read and 1 written a point and axis, in whole sectors
// Source:  S2
#include "fft_lines.cuh"

extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_columns_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ half_turns,
    const C* __restrict__ low, const C* __restrict__ high, unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    transform_lines<RADICES>(
        x, y, table, half_turns, low, high, lines, Where{inner, middle, x_outer, x_middle, x_step},
        Where{inner, middle, y_outer, y_middle, y_step});
}
