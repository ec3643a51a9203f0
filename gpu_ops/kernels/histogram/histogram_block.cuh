// Shared by the histogram kernels that count in shared memory.
#pragma once
#include "histogram_after.cuh"

extern __shared__ __align__(16) unsigned char memory[];

// Bytes of the bounds at the start of shared memory; the counts follow them.
__device__ __forceinline__ int bounds_bytes(int bins)
{
    return ((bins + 1) * (int)sizeof(Bound) + 15) & ~15;
}

// The block's copy of the bounds; it may be read after a barrier.
__device__ __forceinline__ const Bound* copy_bounds(const Bound* __restrict__ bounds, int bins)
{
    Bound* own = (Bound*)memory;
    for (int k = threadIdx.x; k <= bins; k += blockDim.x) own[k] = bounds[k];
    return own;
}

// The address in global memory of slot `slot` of all histograms, bins + 3 of each.
__device__ __forceinline__ unsigned* count_at(unsigned* counts, unsigned* outside, int slot, int bins, int histograms)
{
    const int h = slot / (bins + 3), k = slot - h * (bins + 3);
    return k < bins ? counts + h * bins + k : outside + (k - bins) * histograms + h;
}
