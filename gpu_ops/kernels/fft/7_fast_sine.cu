// What:    the whole Fourier transform of a line in one launch, twiddles computed by the special function units
// Idea:    a table is memory traffic, and __sincosf is a few instructions of units that are idle otherwise. It is good
//          to about 2^-21 of 1 between -pi and pi, a few units in the last place of a float's twiddle, and the result
//          is less exact by as much; doubles have nothing of the kind
// Shapes:  x, y complex, anywhere: see Layout; turns (1 << turn_bits - 1)
// Launch:  grid over the lines, blocks (threads a line, lines), a thread POINTS points, at most THREADS in all; shared
//          two planes of `plane` real numbers for each line of a block
// Traffic: 1 complex number read and 1 written a point, twice for long lines; twiddles by the special function units
// Source:  S2
#include "fft_stockham.cuh"

// Half a turn at most: beyond, the functions lose their accuracy.
struct FastSine {
    float angle;

    __device__ __forceinline__ C operator()(int k) const
    {
        C w;
        __sincosf((float)k * angle, &w.y, &w.x);
        return w;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS) fft_fast_sine_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ turns,
    long long lines, int plane, int bits, int turn_bits, int inverse, long long inner, long long middle,
    long long apart_outer, long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    transform_lines<false, GapsOfSpan>(
        x, y, turns, FastSine{-6.28318530717958647692f / (1 << bits)}, lines, plane, bits, turn_bits, inverse,
        Layout{inner, middle, apart_outer}, x_middle, x_step, y_middle, y_step);
}
