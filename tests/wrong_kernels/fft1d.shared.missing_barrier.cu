// Wrong on purpose: a barrier before the first stage, and none between the stages
#include "fft_shared.cuh"

__device__ __forceinline__ void stages_without_barrier(C* line, const C* __restrict__ table, int bits, int inverse)
{
    __syncthreads();
    for (int stage = 0; stage < bits; ++stage) {
        const int span = 1 << stage;
        for (int b = threadIdx.x; b < 1 << (bits - 1); b += blockDim.x) {
            const int k = b & (span - 1);
            const int i = 2 * b - k;
            const C u = line[i];
            const C v = times(line[i + span], turned(table[k << (bits - 1 - stage)], inverse));
            line[i] = plus(u, v);
            line[i + span] = minus(u, v);
        }
    }
}

extern __shared__ __align__(16) unsigned char memory[];

// A line's first point. Lines are counted along inner, then middle, then outer; inner neighbours lie side by side.
__device__ __forceinline__ long long line_begin(
    long long line, long long inner, long long middle, long long apart_middle, long long apart_outer)
{
    const long long group = line / inner;
    const long long outer = group / middle;
    return (line - group * inner) + (group - outer * middle) * apart_middle + outer * apart_outer;
}

// The store of a point k turns it by W^(m k) of 2^turn_bits points, m its line's place along middle; 0: it does not.
extern "C" __global__ void fft_shared_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ turns,
    int bits, int turn_bits, int inverse, long long inner, long long middle, long long apart_outer,
    long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    C* line = (C*)memory;
    const int n = 1 << bits;
    const C* from = x + line_begin(blockIdx.x, inner, middle, x_middle, apart_outer);
    for (int k = threadIdx.x; k < n; k += blockDim.x) line[reversed(k, bits)] = from[k * x_step];
    stages_without_barrier(line, table, bits, inverse);
    __syncthreads();

    C* to = y + line_begin(blockIdx.x, inner, middle, y_middle, apart_outer);
    const long long m = blockIdx.x / inner % middle;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        C z = line[k];
        if (turn_bits) {
            const long long turn = m * k, half = 1LL << (turn_bits - 1);
            const C w = turned(turns[turn & (half - 1)], inverse);
            z = turn & half ? times(z, complex_of(-w.x, -w.y)) : times(z, w);
        }
        to[k * y_step] = z;
    }
}
