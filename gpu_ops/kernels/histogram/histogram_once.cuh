// The end of a histogram in one launch: every block adds its counts to sums in global memory, and the last block to
// finish writes the outputs.
//
// The sums and the ticket are zero before the launch, and zero again after it, so no step has to clear them.
#pragma once
#include "histogram_block.cuh"
#include "last_block.cuh"

// A sum that other blocks added to; the access bypasses the L1 cache and resets it to zero.
__device__ __forceinline__ unsigned take(unsigned* sum)
{
    return atomicExch(sum, 0u);
}

// counts and outside from sums (histograms, 256), one per byte value. The values of a bin are contiguous, so a thread
// adds those of its bins; values outside all bins are below the first bound or not below the last.
__device__ __forceinline__ void give_levels(
    unsigned* sums, unsigned* __restrict__ counts, unsigned* __restrict__ outside, const Bound* __restrict__ bounds,
    int bins, int histograms)
{
    __shared__ unsigned levels[256];
    for (int h = 0; h < histograms; ++h) {
        for (int level = threadIdx.x; level < 256; level += blockDim.x) levels[level] = take(sums + h * 256 + level);
        __syncthreads();
        for (int k = threadIdx.x; k < bins + 3; k += blockDim.x) {
            const int from = k == bins ? 0 : k < bins ? (int)bounds[k] : k == bins + 1 ? (int)bounds[bins] : 256;
            const int to = k == bins ? (int)bounds[0] : k < bins ? (int)bounds[k + 1] : 256;
            unsigned sum = 0;
            for (int level = max(from, 0); level < min(to, 256); ++level) sum += levels[level];
            *count_at(counts, outside, h * (bins + 3) + k, bins, histograms) = sum;
        }
        __syncthreads();
    }
}
