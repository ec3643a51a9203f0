// What:    sum, extremes, mean or variance of each channel, one segment of samples per block
// Idea:    interleaved addressing without divergence: the first threads do the work of each step, so whole warps are
//          active or idle; but their elements are 2 s apart, and up to eight lanes of a warp conflict in one bank
// Shapes:  x (n, channels), samples or states; partial (blocks, channels), or for a single block results (rows,
//          channels)
// Launch:  grid (ceil(n / block), channels), block a power of two; shared one state per thread; launched again on the
//          partial states until one block is left
// Traffic: 1 sample read per sample; 1 state written and read again per block
// Source:  S3
#include "reduce.cuh"

extern "C" __global__ void reduce_strided(
    const In* __restrict__ x, Total* __restrict__ partial, Result* __restrict__ results, long long n, long long all)
{
    Part* part = (Part*)memory;
    const int t = threadIdx.x;
    const long long i = (long long)blockIdx.x * blockDim.x + t;
    part[t] = read_or_none(x, i, n);
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        const int index = 2 * s * t;
        if (index < blockDim.x) part[index] = part[index].combine(part[index + s]);
        __syncthreads();
    }
    if (t == 0) store_state(part[0], partial, results, all);
}
