// What:    radix-2 Fourier transform of a line in one launch, one block per line, in shared memory
// Idea:    all stages exchange their points through shared memory with a barrier between them, so global memory is read
//          and written once instead of once per stage. A line too long for shared memory is n1 * n2 points in two
//          launches: first n2 lines of n1 points with stride n2, whose results k are multiplied by the twiddle factors
//          W^(m k) as they are stored, then n1 lines of n2 points, stored with stride n1
// Shapes:  x, y complex, addressed by line_begin; table (1 << bits - 1); long_table (1 << long_bits - 1)
// Launch:  grid (lines), any block; shared (1 << bits) complex numbers
// Traffic: 1 complex number read and 1 written per point, twice for long lines; columns use few bytes of each sector
// Source:  S2
#include "fft_shared.cuh"

extern __shared__ __align__(16) unsigned char memory[];

// The index of a line's first point. Lines are counted along inner, then middle, then outer; inner neighbours are
// contiguous.
__device__ __forceinline__ long long line_begin(
    long long line, long long inner, long long middle, long long middle_stride, long long outer_stride)
{
    const long long group = line / inner;
    const long long outer = group / middle;
    return (line - group * inner) + (group - outer * middle) * middle_stride + outer * outer_stride;
}

// Result k is multiplied by the twiddle factor W^(m k) of 2^long_bits points, m the line's index along middle; none
// where long_bits is 0.
extern "C" __global__ void fft_shared_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ long_table,
    int bits, int long_bits, int inverse, long long inner, long long middle, long long outer_stride,
    long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    C* line = (C*)memory;
    const int n = 1 << bits;
    const C* from = x + line_begin(blockIdx.x, inner, middle, x_middle, outer_stride);
    for (int k = threadIdx.x; k < n; k += blockDim.x) line[reversed(k, bits)] = from[k * x_step];
    stages_from_reversed(line, table, bits, inverse);
    __syncthreads();

    C* to = y + line_begin(blockIdx.x, inner, middle, y_middle, outer_stride);
    const long long m = blockIdx.x / inner % middle;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        C z = line[k];
        if (long_bits) {
            const long long exponent = m * k, half = 1LL << (long_bits - 1);
            const C w = conjugate_if(long_table[exponent & (half - 1)], inverse);
            z = exponent & half ? times(z, complex_of(-w.x, -w.y)) : times(z, w);
        }
        to[k * y_step] = z;
    }
}
