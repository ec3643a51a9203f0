// A histogram in one launch whose blocks add to the outputs directly: the first block to arrive clears them while all
// count, and a block adds its counts once they are clear. No block waits for the last one, and no step clears anything.
#pragma once
#include "histogram_block.cuh"

// Synchronisation between the blocks of a launch. All values are zero before a launch, and zero again after it.
struct Tickets {
    unsigned clear, arrived, left;
};

// For the first warp of a block, early: the first block to arrive clears counts and outside. `ticket`, of thread 0, is
// the number of blocks that arrived before.
__device__ __forceinline__ void clear_if_first(
    Tickets* tickets, unsigned ticket, unsigned* counts, unsigned* outside, int bins, int histograms)
{
    if (threadIdx.x >= 32 || __shfl_sync(~0u, ticket, 0) != 0) return;
    for (int k = threadIdx.x; k < histograms * (bins + 3); k += 32) *count_at(counts, outside, k, bins, histograms) = 0;
    __syncwarp();
    if (threadIdx.x > 0) return;
    __threadfence();
    atomicExch(&tickets->clear, 1u);
}

// Whether the outputs are clear. Once a thread has seen it, the block may add to them after a barrier.
__device__ __forceinline__ bool is_clear(const Tickets* tickets)
{
    unsigned clear;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(clear) : "l"(&tickets->clear) : "memory");
    return clear != 0;
}

// For one thread of a block that has seen that the outputs are clear; the last one resets all to zero.
__device__ __forceinline__ void leave(Tickets* tickets)
{
    if (atomicInc(&tickets->left, gridDim.x - 1) == gridDim.x - 1) atomicExch(&tickets->clear, 0u);
}
