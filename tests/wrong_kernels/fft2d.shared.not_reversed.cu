// Wrong on purpose: the points are not put into reversed order
#include "fft_shared.cuh"

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
    for (int k = threadIdx.x; k < n; k += blockDim.x) line[k] = from[k * x_step];
    stages_from_reversed(line, table, bits, inverse);
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
