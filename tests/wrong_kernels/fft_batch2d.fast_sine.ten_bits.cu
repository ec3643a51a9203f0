// Wrong on purpose: twiddles keep ten bits behind the point
#include "fft_stockham.cuh"

// Half a turn at most: beyond, the functions lose their accuracy.
struct FastSine {
    float angle;

    __device__ __forceinline__ C operator()(int k) const
    {
        C w;
        __sincosf((float)k * angle, &w.y, &w.x);
        w.x = __int_as_float(__float_as_int(w.x) & 0xffffe000);
        w.y = __int_as_float(__float_as_int(w.y) & 0xffffe000);
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
