// What:    the whole Fourier transform of a line in one launch, 8 or 16 points a butterfly
// Idea:    what 3 or 4 stages did through shared memory stays in a thread's registers, and what the last stage leaves
//          is in order as it is and goes straight to global memory: 4096 = 16 * 16 * 16 points are exchanged twice,
//          where radix 2 did so twelve times. A last stage of radix 2, 4 or 8 does what remains of other powers of two
// Shapes:  x, y complex, anywhere: see Layout; table (1 << bits - 1); turns (1 << turn_bits - 1)
// Launch:  grid over the lines, blocks (threads a line, lines), a thread POINTS points, at most THREADS in all; shared
//          two planes of `plane` real numbers for each line of a block
// Traffic: 1 complex number read and 1 written a point, twice for long lines; twiddles from the caches
// Source:  S2
#include "fft_stockham.cuh"

extern "C" __global__ void __launch_bounds__(THREADS) fft_registers_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ turns,
    long long lines, int plane, int bits, int turn_bits, int inverse, long long inner, long long middle,
    long long apart_outer, long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    transform_lines<false, GapsOfSpan>(
        x, y, turns, TableInGlobal{table}, lines, plane, bits, turn_bits, inverse, Layout{inner, middle, apart_outer},
        x_middle, x_step, y_middle, y_step);
}
