// Radix-2 stages over a line of 2^bits points in shared memory, by all threads of a block. A butterfly reads and writes
// the same two points, so a stage works in place and needs one barrier. Callers synchronise before they access the
// line; the first stage begins with a barrier.
#pragma once
#include "fft.cuh"

__device__ __forceinline__ unsigned int reversed(unsigned int i, int bits)
{
    return bits ? __brev(i) >> (32 - bits) : 0;
}

// Decimation in time, from bit-reversed to natural order: spans 1, 2, 4 ... points; the second point is multiplied by
// the twiddle factor, then the sum and the difference replace both.
__device__ __forceinline__ void stages_from_reversed(C* line, const C* __restrict__ table, int bits, int inverse)
{
    for (int stage = 0; stage < bits; ++stage) {
        const int span = 1 << stage;
        __syncthreads();
        for (int b = threadIdx.x; b < 1 << (bits - 1); b += blockDim.x) {
            const int k = b & (span - 1);
            const int i = 2 * b - k;
            const C u = line[i];
            const C v = times(line[i + span], conjugate_if(table[k << (bits - 1 - stage)], inverse));
            line[i] = plus(u, v);
            line[i + span] = minus(u, v);
        }
    }
}

// Decimation in frequency, from natural to bit-reversed order: spans n / 2, n / 4 ... 1; the sum and the difference
// replace both, then the second is multiplied by the twiddle factor.
__device__ __forceinline__ void stages_to_reversed(C* line, const C* __restrict__ table, int bits, int inverse)
{
    for (int stage = bits - 1; stage >= 0; --stage) {
        const int span = 1 << stage;
        __syncthreads();
        for (int b = threadIdx.x; b < 1 << (bits - 1); b += blockDim.x) {
            const int k = b & (span - 1);
            const int i = 2 * b - k;
            const C u = line[i];
            const C v = line[i + span];
            line[i] = plus(u, v);
            line[i + span] = times(minus(u, v), conjugate_if(table[k << (bits - 1 - stage)], inverse));
        }
    }
}
