// What:    the whole radix-2 Fourier transform of a line in one launch, a block a line, in shared memory
// Idea:    all stages exchange their points through shared memory with a barrier between them, so global memory is read
//          once and written once instead of once a stage. A line too long for shared memory is n1 * n2 points in two
//          launches: n2 lines of n1 points that lie n2 apart, whose results are turned by W^(m k) as they are stored,
//          and then n1 lines of n2 points, whose results are stored n1 apart
// Shapes:  x, y complex, anywhere: see line_begin; table (1 << bits - 1); turns (1 << turn_bits - 1)
// Launch:  grid (lines), any block; shared (1 << bits) complex numbers
// Traffic: 1 complex number read and 1 written a point, twice for long lines; columns use few bytes of each sector
// Source:  S2
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
    for (int k = threadIdx.x; k < n; k += blockDim.x) line[reversed(k, bits)] = from[k * x_step];
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
