// Reduction of the states of a warp and of a block by shuffles.
#pragma once
#include "reduce.cuh"

const int WARP = 32;

const unsigned WHOLE_WARP = 0xffffffffu;

// The state of the lane whose index differs in bit `by`; shuffles move a state in 32-bit words.
template <typename State>
__device__ __forceinline__ State of_partner(const State& mine, int by)
{
    static_assert(sizeof(State) % 4 == 0, "a state must be a multiple of 4 bytes");
    State other;
    unsigned words[sizeof(State) / 4];
    memcpy(words, &mine, sizeof(State));
#pragma unroll
    for (int k = 0; k < sizeof(State) / 4; ++k) words[k] = __shfl_xor_sync(WHOLE_WARP, words[k], by);
    memcpy(&other, words, sizeof(State));
    return other;
}

// Every lane gets the combined state of its warp. Large states stay a loop: these instructions run once or twice, and
// would have to be fetched first.
template <typename State>
__device__ __forceinline__ State warp_total(State mine)
{
#pragma unroll (sizeof(State) > 16 ? 1 : 5)
    for (int s = WARP / 2; s > 0; s /= 2) mine = mine.combine(of_partner(mine, s));
    return mine;
}

// Thread 0 gets the combined state of its block of whole warps; `scratch` has an element per warp.
template <typename State>
__device__ __forceinline__ State block_state(State mine, State* scratch)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    mine = warp_total(mine);
    if (lane == 0) scratch[warp] = mine;
    __syncthreads();
    if (warp > 0) return mine;
    mine = State::none();
    if (lane < warps) mine = scratch[lane];
    return warp_total(mine);
}
