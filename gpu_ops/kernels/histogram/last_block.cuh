// Finds the last block of a launch to finish, which combines the results of the others.
#pragma once

// Whether this block is the last one to arrive. What the others wrote before is visible to it.
__device__ __forceinline__ bool is_last_block(unsigned* ticket)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last) __threadfence();
    return last;
}
