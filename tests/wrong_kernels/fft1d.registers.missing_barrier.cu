// Wrong on purpose: no barriers between the stores of a stage and the loads of the next
#define __syncthreads()
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
