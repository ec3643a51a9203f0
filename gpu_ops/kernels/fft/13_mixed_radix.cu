// What:    the Fourier transforms of lines of any length whose prime factors are 13 at most
// Idea:    other lengths than powers of two took Bluestein's method, which is two transforms of a line twice to four
//          times as long. Here stages have radices 2 to 16, also 3, 5, 7, 11, 13 and products of them, and all strides
//          are known when the kernel is compiled, so that no lane divides. Threads without a butterfly of a stage wait
//          for it
// Shapes:  x samples or complex, y complex, anywhere: see Where; table (N); half_turns (N + 1); low and high: see
//          Turns
// Launch:  grid over the lines, blocks of LINE_THREADS a line times LINES lines; shared PARTS real numbers a point
// Traffic: 1 complex number read and 1 written a point; Bluestein took 6 to 12 of each
// Source:  S2
#include "fft_lines.cuh"

extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_mixed_radix_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ half_turns,
    const C* __restrict__ low, const C* __restrict__ high, unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    transform_lines<RADICES>(
        x, y, table, half_turns, low, high, lines, Where{inner, middle, x_outer, x_middle, x_step},
        Where{inner, middle, y_outer, y_middle, y_step});
}
