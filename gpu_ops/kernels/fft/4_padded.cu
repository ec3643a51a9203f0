// What:    the whole Fourier transform of a line in one launch, without bank conflicts where stages store
// Idea:    gaps grow with the stage: 1 << done points stay free after every RADIX << done, as many as neighbouring
//          lanes have in a row, so the lanes beyond find banks of their own in every stage. Of one point, only the
//          first stage has that
// Shapes:  x, y complex, anywhere: see Layout; table (1 << bits - 1); turns (1 << turn_bits - 1)
// Launch:  grid over the lines, blocks (threads a line, lines), a thread POINTS points, at most THREADS in all; shared
//          two planes of `plane` real numbers for each line of a block
// Traffic: 1 complex number read and 1 written a point, twice for long lines; twiddles from the caches
// Source:  S2
#include "fft_stockham.cuh"

extern "C" __global__ void __launch_bounds__(THREADS) fft_padded_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ turns,
    long long lines, int plane, int bits, int turn_bits, int inverse, long long inner, long long middle,
    long long apart_outer, long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    transform_lines<true, GapsOfSpan>(
        x, y, turns, TableInGlobal{table}, lines, plane, bits, turn_bits, inverse, Layout{inner, middle, apart_outer},
        x_middle, x_step, y_middle, y_step);
}
