// What:    the Fourier transforms of lines, as fast as global memory allows
// Idea:    all that came before in one: mixed radices in registers, neighbouring columns, real samples in pairs, long
//          lines in two parts. Samples are converted as they are loaded, so no pass goes before; of powers of two,
//          exchanges have no gaps but an exclusive or, which keeps stores and loads free of bank conflicts; twiddles
//          come from two look-ups a butterfly, whose powers and products make the others
// Shapes:  x samples or complex, y complex, anywhere: see Where; table (N); half_turns (N + 1); low and high: see
//          Turns
// Launch:  grid over the lines, blocks of LINE_THREADS a line times LINES lines; shared PARTS real numbers a point
// Traffic: 1 number read and 1 written a point and axis, nothing else
// Source:  S2
#include "fft_tile.cuh"

#if TILED
// Tiles that fit a block: rows and columns in one launch, so that each number is read once and written once in all.
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_fast_tiles(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, unsigned int across, long long row,
    long long wide, long long apart, long long step)
{
    transform_tile<RADICES>(x, y, table, across, row, wide, apart, step);
}
#else
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_fast_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ half_turns,
    const C* __restrict__ low, const C* __restrict__ high, unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    transform_lines<RADICES>(
        x, y, table, half_turns, low, high, lines, Where{inner, middle, x_outer, x_middle, x_step},
        Where{inner, middle, y_outer, y_middle, y_step});
}
#endif
