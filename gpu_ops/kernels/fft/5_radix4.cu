// What:    the whole Fourier transform of a line in one launch, four points a butterfly
// Idea:    two stages of radix 2 are one of radix 4 in registers: half as many exchanges through shared memory and
//          barriers, and a quarter fewer products with twiddles. A last stage of radix 2 remains where bits is odd
// Shapes:  x, y complex, anywhere: see Layout; table (1 << bits - 1); turns (1 << turn_bits - 1)
// Launch:  grid over the lines, blocks (threads a line, lines), a thread POINTS points, at most THREADS in all; shared
//          two planes of `plane` real numbers for each line of a block
// Traffic: 1 complex number read and 1 written a point, twice for long lines; twiddles from the caches
// Source:  S2
#include "fft_stockham.cuh"

extern "C" __global__ void __launch_bounds__(THREADS) fft_radix4_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ turns,
    long long lines, int plane, int bits, int turn_bits, int inverse, long long inner, long long middle,
    long long apart_outer, long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    transform_lines<true, GapsOfSpan>(
        x, y, turns, TableInGlobal{table}, lines, plane, bits, turn_bits, inverse, Layout{inner, middle, apart_outer},
        x_middle, x_step, y_middle, y_step);
}
