// Shared by the scans: the types of values, the addresses of the values of a line, and scans of warps and blocks by
// shuffles.
//
// SAMPLE is the type T of x, RESULT the type R of y and of the totals of tiles, ACCUMULATOR the type A of sums within a
// tile: the floating type itself, or unsigned int for integers, which 65536 values of 16 bits cannot overflow.
//
// Nothing is subtracted, so NaN and infinity affect only the sums that contain them: an exclusive sum is the inclusive
// one of the value before.
#pragma once

typedef SAMPLE T;
typedef RESULT R;
typedef ACCUMULATOR A;

const unsigned int WHOLE_WARP = 0xffffffffu;

// The index of the first of a line's n values; `step` lines are interleaved, so value k is k * step after the first.
__device__ __forceinline__ long long line_begin(unsigned int line, long long n, int step)
{
    const unsigned int group = line / step;
    return (long long)group * n * step + (line - group * step);
}

// Inclusive warp scan, in five steps: n log n additions, but without a barrier or shared memory.
template <typename Value>
__device__ __forceinline__ Value warp_scan(Value value, int lane)
{
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const Value other = __shfl_up_sync(WHOLE_WARP, value, d);
        if (lane >= d) value += other;
    }
    return value;
}

// The value of the lane before; 0 for lane 0.
template <typename Value>
__device__ __forceinline__ Value lane_before(Value value, int lane)
{
    const Value other = __shfl_up_sync(WHOLE_WARP, value, 1);
    return lane > 0 ? other : (Value)0;
}

// The sum over the warp, in every lane.
template <typename Value>
__device__ __forceinline__ Value warp_total(Value value)
{
    #pragma unroll
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(WHOLE_WARP, value, d);
    return value;
}

// The sum of the totals of the warps before this one; *all receives the sum over all warps. Every warp scans the totals
// redundantly. `totals` has an element for each warp of a block of whole warps; a barrier must precede its next use.
template <typename Value>
__device__ __forceinline__ Value warps_before(Value total, Value* totals, int lane, Value* all)
{
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (lane == 0) totals[warp] = total;
    __syncthreads();
    const Value through = warp_scan(lane < warps ? totals[lane] : (Value)0, lane);
    const Value before = __shfl_sync(WHOLE_WARP, through, warp > 0 ? warp - 1 : 0);
    *all = __shfl_sync(WHOLE_WARP, through, 31);
    return warp > 0 ? before : (Value)0;
}
