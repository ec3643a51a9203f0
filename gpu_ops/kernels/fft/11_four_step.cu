// What:    the Fourier transforms of lines longer than shared memory, in two parts
// Idea:    point b + n2 a of a line: n2 neighbouring lines of n1 points, n2 apart, several a block as with columns;
//          their results are turned by W^(b k), from two small tables instead of one of n points; then n1 lines of n2
//          points side by side, stored n1 apart by lanes across lines. Transform, turn, transform, transpose: four
//          steps, two launches
// Shapes:  x samples or complex, y complex, anywhere: see Where; table (N); half_turns (N + 1); low and high: see
//          Turns
// Launch:  grid over the lines, blocks of LINE_THREADS a line times LINES lines; shared PARTS real numbers a point
// Traffic: 2 complex numbers read and 2 written a point, in whole sectors
// Source:  S2
#include "fft_lines.cuh"

extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_four_step_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ half_turns,
    const C* __restrict__ low, const C* __restrict__ high, unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    transform_lines<RADICES>(
        x, y, table, half_turns, low, high, lines, Where{inner, middle, x_outer, x_middle, x_step},
        Where{inner, middle, y_outer, y_middle, y_step});
}
