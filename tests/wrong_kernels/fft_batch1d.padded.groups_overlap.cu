// Wrong on purpose: groups of points overlap in shared memory
#include "fft_stockham.cuh"

// Groups begin a span apart instead of a group and a span.
struct GapsTooSmall {
    __device__ __forceinline__ static int place(int point, int done, int radix_bits)
    {
        return (point & ((1 << (done + radix_bits)) - 1)) + (point >> (done + radix_bits) << done);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS) fft_padded_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ turns,
    long long lines, int plane, int bits, int turn_bits, int inverse, long long inner, long long middle,
    long long apart_outer, long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    transform_lines<true, GapsTooSmall>(
        x, y, turns, TableInGlobal{table}, lines, plane, bits, turn_bits, inverse, Layout{inner, middle, apart_outer},
        x_middle, x_step, y_middle, y_step);
}
