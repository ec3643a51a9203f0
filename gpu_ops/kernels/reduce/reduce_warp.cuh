// The states of a warp and of a block joined by shuffles.
#pragma once
#include "reduce.cuh"

const int WARP = 32;

const unsigned WHOLE_WARP = 0xffffffffu;

// The state of the lane whose number differs by the bit `by`; a state is passed on in words of 32 bits.
template <typename State>
__device__ __forceinline__ State of_partner(const State& mine, int by)
{
    static_assert(sizeof(State) % 4 == 0, "a state has whole words");
    State other;
    unsigned words[sizeof(State) / 4];
    memcpy(words, &mine, sizeof(State));
#pragma unroll
    for (int k = 0; k < sizeof(State) / 4; ++k) words[k] = __shfl_xor_sync(WHOLE_WARP, words[k], by);
    memcpy(&other, words, sizeof(State));
    return other;
}

// Every lane gets the state of its warp. Large states stay a loop: these instructions run once or twice, and have to be
// fetched first.
template <typename State>
__device__ __forceinline__ State warp_total(State mine)
{
#pragma unroll (sizeof(State) > 16 ? 1 : 5)
    for (int s = WARP / 2; s > 0; s /= 2) mine = mine.join(of_partner(mine, s));
    return mine;
}

// Thread 0 gets the state of its block of whole warps; `room` has a place for each warp.
template <typename State>
__device__ __forceinline__ State block_state(State mine, State* room)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    mine = warp_total(mine);
    if (lane == 0) room[warp] = mine;
    __syncthreads();
    if (warp > 0) return mine;
    mine = State::none();
    if (lane < warps) mine = room[lane];
    return warp_total(mine);
}
