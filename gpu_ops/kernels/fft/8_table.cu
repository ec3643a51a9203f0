// What:    the whole Fourier transform of a line in one launch, twiddles from a table in constant memory
// Idea:    constant memory gives one word a clock to all lanes that ask for it, and needs no room in the cache of
//          global memory; but lanes of different twiddles wait for each other, so it pays only in the first stages,
//          where few differ. With half the points of a line, 64 KB set the longest one
// Shapes:  x, y complex, anywhere: see Layout; twiddle_table (1 << bits - 1); turns (1 << turn_bits - 1)
// Launch:  grid over the lines, blocks (threads a line, lines), a thread POINTS points, at most THREADS in all; shared
//          two planes of `plane` real numbers for each line of a block
// Traffic: 1 complex number read and 1 written a point, twice for long lines; twiddles from constant memory
// Source:  S2
#include "fft_stockham.cuh"

__constant__ C twiddle_table[TABLE];

struct TableInConstant {
    __device__ __forceinline__ C operator()(int k) const { return twiddle_table[k]; }
};

extern "C" __global__ void __launch_bounds__(THREADS) fft_table_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ turns,
    long long lines, int plane, int bits, int turn_bits, int inverse, long long inner, long long middle,
    long long apart_outer, long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    transform_lines<false, GapsOfSpan>(
        x, y, turns, TableInConstant{}, lines, plane, bits, turn_bits, inverse, Layout{inner, middle, apart_outer},
        x_middle, x_step, y_middle, y_step);
}
