// The states of a warp and of a block joined by shuffles.
#pragma once
#include "reduce.cuh"

const int WARP = 32;

// The state that the lane `by` places further has; a state is passed on in words of 32 bits.
__device__ __forceinline__ Part shifted(const Part& mine, int by)
{
    static_assert(sizeof(Part) % 4 == 0, "a state has whole words");
    Part other;
    unsigned words[sizeof(Part) / 4];
    memcpy(words, &mine, sizeof(Part));
#pragma unroll
    for (int k = 0; k < sizeof(Part) / 4; ++k) words[k] = __shfl_down_sync(0xffffffffu, words[k], by);
    memcpy(&other, words, sizeof(Part));
    return other;
}

// Lane 0 gets the state of its warp.
__device__ __forceinline__ Part warp_total(Part mine)
{
#pragma unroll (sizeof(Part) > 16 ? 1 : 5)
    for (int s = WARP / 2; s > 0; s /= 2) mine = mine.join(shifted(mine, s));
    return mine;
}

// Thread 0 gets the state of its block of whole warps; `room` has a place for each warp.
__device__ __forceinline__ Part block_state(Part mine, Part* room)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    mine = warp_total(mine);
    if (lane == 0) room[warp] = mine;
    __syncthreads();
    if (warp > 0) return mine;
    mine = Part::none();
    if (lane < warps) mine = room[lane];
    return warp_total(mine);
}
