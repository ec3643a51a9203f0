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

#if !INTEGER
// Spreads are joined in two rounds of plain sums with one division, where states joined in pairs would divide in each of
// five steps: first all numbers and sums, and so the mean; then what each state has around that.
struct Weights {
    double n, sum;
    __device__ __forceinline__ Weights join(Weights b) const { return {n + b.n, sum + b.sum}; }
};

struct Squares {
    double value;
    __device__ __forceinline__ Squares join(Squares b) const { return {value + b.value}; }
};

__device__ __forceinline__ Weights weights_of(const Spread& spread) { return {spread.n, spread.n * spread.mean}; }

__device__ __forceinline__ Spread around_mean(const Spread& mine, Weights all)
{
    const double mean = all.n > 0 ? all.sum / all.n : 0, apart = mine.mean - mean;
    return {all.n, mean, warp_total(Squares{mine.squares + mine.n * apart * apart}).value};
}

__device__ __forceinline__ Spread warp_total(const Spread& mine) { return around_mean(mine, warp_total(weights_of(mine))); }

struct Plain {
    Sum sum;
    Least least;
    Most most;
    Weights weights;
    __device__ __forceinline__ Plain join(const Plain& b) const
    {
        return {sum.join(b.sum), least.join(b.least), most.join(b.most), weights.join(b.weights)};
    }
};

__device__ __forceinline__ Every warp_total(const Every& mine)
{
    const Plain all = warp_total(Plain{mine.sum, mine.least, mine.most, weights_of(mine.spread)});
    return {all.sum, all.least, all.most, around_mean(mine.spread, all.weights)};
}
#endif

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
