// What:    sum, extremes, mean or variance of each channel, with as many blocks as the GPU runs at once
// Idea:    warp shuffles: the lanes of a warp combine their states in registers, without shared memory and barriers;
//          warps exchange theirs once, through shared memory
// Shapes:  x (n, channels), samples or states; partial (blocks, channels), or for a single block results (rows,
//          channels)
// Launch:  grid (at most ceil(n / (block * each)), channels), block a power of two, whole warps; shared one state per
//          warp; launched again on the partial states of several blocks
// Traffic: 1 sample read per sample; 1 state written and read again per block
// Source:  S3
#include "reduce_warp.cuh"

extern "C" __global__ void reduce_warp_shuffle(
    const In* __restrict__ x, Total* __restrict__ partial, Result* __restrict__ results, long long n, long long all)
{
    const long long threads = (long long)gridDim.x * blockDim.x;
    Part mine = Part::none();
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) mine = mine.combine(read(x, i));
    mine = block_state(mine, (Part*)memory);
    if (threadIdx.x == 0) store_state(mine, partial, results, all);
}
