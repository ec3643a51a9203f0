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
// Spreads are joined as plain sums around the mean that lane 0 has, with one division, where states joined in pairs would
// divide in each of five steps. Lane 0 has seen as many samples as any other, so that its mean is no worse than theirs.
struct Around {
    double n, off, squares;
    __device__ __forceinline__ Around(const Spread& spread, double middle)
    {
        const double apart = spread.mean - middle;
        n = spread.n, off = n * apart, squares = spread.squares + off * apart;
    }
    __device__ __forceinline__ Around(double n, double off, double squares) : n(n), off(off), squares(squares) {}
    __device__ __forceinline__ Around() {}
    __device__ __forceinline__ Around join(const Around& b) const { return {n + b.n, off + b.off, squares + b.squares}; }
    __device__ __forceinline__ Spread spread(double middle) const
    {
        if (n == 0) return Spread::none();
        const double apart = off / n, rest = squares - off * apart;
        return {n, middle + apart, rest < 0 ? 0 : rest};  // NaN stays NaN
    }
};

__device__ __forceinline__ double mean_of_lane_0(const Spread& mine) { return __shfl_sync(WHOLE_WARP, mine.mean, 0); }

__device__ __forceinline__ Spread warp_total(const Spread& mine)
{
    const double middle = mean_of_lane_0(mine);
    return warp_total(Around(mine, middle)).spread(middle);
}

struct Plain {
    Sum sum;
    Least least;
    Most most;
    Around around;
    __device__ __forceinline__ Plain join(const Plain& b) const
    {
        return {sum.join(b.sum), least.join(b.least), most.join(b.most), around.join(b.around)};
    }
};

__device__ __forceinline__ Every warp_total(const Every& mine)
{
    const double middle = mean_of_lane_0(mine.spread);
    const Plain all = warp_total(Plain{mine.sum, mine.least, mine.most, Around(mine.spread, middle)});
    return {all.sum, all.least, all.most, all.around.spread(middle)};
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
