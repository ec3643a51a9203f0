// What:    the whole Fourier transform of a line in one launch, with the gaps in shared memory that the source names
// Idea:    a thread has RADIX points or more in registers and puts the results of a stage where the next one looks for
//          them (Stockham): nothing is reversed, and all lanes read in order. They store RADIX or more apart, which
//          bank conflicts make slow; so a point stays free after every RADIX << done, done the stages' bits so far.
//          That clears the conflicts of the first stage alone, and costs lanes that read in order some; with GAP 0 no
//          point stays free
// Shapes:  x, y complex, anywhere: see Layout; table (1 << bits - 1); turns (1 << turn_bits - 1)
// Launch:  grid over the lines, blocks (threads a line, lines), a thread POINTS points, at most THREADS in all; shared
//          two planes of `plane` real numbers for each line of a block
// Traffic: 1 complex number read and 1 written a point, twice for long lines; twiddles from the caches
// Source:  S2
#include "fft_stockham.cuh"

// GAP points stay free after every RADIX << done.
struct GapsOfOne {
    __device__ __forceinline__ static int place(int point, int done, int radix_bits)
    {
        return point + (point >> (done + radix_bits)) * GAP;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS) fft_padded_text_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ turns,
    long long lines, int plane, int bits, int turn_bits, int inverse, long long inner, long long middle,
    long long apart_outer, long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    transform_lines<true, GapsOfOne>(
        x, y, turns, TableInGlobal{table}, lines, plane, bits, turn_bits, inverse, Layout{inner, middle, apart_outer},
        x_middle, x_step, y_middle, y_step);
}
