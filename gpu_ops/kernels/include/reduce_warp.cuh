// The states of a warp and of a block joined by shuffles.
#pragma once
#include "reduce.cuh"

const int WARP = 32;

const unsigned WHOLE_WARP = 0xffffffffu;

// The state that the lane `by` places further has; a state is passed on in words of 32 bits.
template <typename State>
__device__ __forceinline__ State shifted(const State& mine, int by)
{
    static_assert(sizeof(State) % 4 == 0, "a state has whole words");
    State other;
    unsigned words[sizeof(State) / 4];
    memcpy(words, &mine, sizeof(State));
#pragma unroll
    for (int k = 0; k < sizeof(State) / 4; ++k) words[k] = __shfl_down_sync(WHOLE_WARP, words[k], by);
    memcpy(&other, words, sizeof(State));
    return other;
}

// Lane 0 gets the state of its warp.
template <typename State>
__device__ __forceinline__ State warp_total(State mine)
{
#pragma unroll
    for (int s = WARP / 2; s > 0; s /= 2) mine = mine.join(shifted(mine, s));
    return mine;
}

#if !INTEGER
__device__ __forceinline__ double sum_of_warp(double value)
{
#pragma unroll
    for (int s = WARP / 2; s > 0; s /= 2) value += __shfl_xor_sync(WHOLE_WARP, value, s);
    return value;
}

// Two rounds of plain sums, with one division, where joining states in pairs would divide in each of five steps: first the
// mean of all, then what each state has around it.
__device__ __forceinline__ Spread warp_total(Spread mine)
{
    const double n = sum_of_warp(mine.n), sum = sum_of_warp(mine.n * mine.mean);
    const double mean = n > 0 ? sum / n : 0, apart = mine.mean - mean;
    return {n, mean, sum_of_warp(mine.squares + mine.n * apart * apart)};
}
#endif

__device__ __forceinline__ Every warp_total(const Every& mine)
{
    return {warp_total(mine.sum), warp_total(mine.least), warp_total(mine.most), warp_total(mine.spread)};
}

// Thread 0 gets the state of its block of whole warps, of which lane 0 has the state of each; `room` has a place for each.
__device__ __forceinline__ Part state_of_warps(Part mine, Part* room)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    if (lane == 0) room[warp] = mine;
    __syncthreads();
    if (warp > 0) return mine;
    mine = Part::none();
    if (lane < warps) mine = room[lane];
    return warp_total(mine);
}

// The same of the states of all threads.
__device__ __forceinline__ Part block_state(const Part& mine, Part* room) { return state_of_warps(warp_total(mine), room); }
