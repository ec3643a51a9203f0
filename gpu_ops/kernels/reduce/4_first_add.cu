// What:    sum, extremes, mean or variance of each channel, one segment of samples per block
// Idea:    first add during load: half of the threads of a fan-in only load. Here each thread combines two samples
//          while it loads, so half as many blocks do the work, and no thread is idle in the first step
// Shapes:  x (n, channels), samples or states; partial (blocks, channels), or for a single block results (rows,
//          channels)
// Launch:  grid (ceil(n / (2 block)), channels), block a power of two; shared one state per thread; launched again on
//          the partial states until one block is left
// Traffic: 1 sample read per sample; 1 state written and read again per block
// Source:  S3
#include "reduce.cuh"

extern "C" __global__ void reduce_first_add(
    const In* __restrict__ x, Total* __restrict__ partial, Result* __restrict__ results, long long n, long long all)
{
    Part* part = (Part*)memory;
    const int t = threadIdx.x;
    const long long i = (long long)blockIdx.x * 2 * blockDim.x + t;
    Part mine = read_or_none(x, i, n);
    if (i + blockDim.x < n) mine = mine.combine(read(x, i + blockDim.x));
    part[t] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] = part[t].combine(part[t + s]);
        __syncthreads();
    }
    if (t == 0) store_state(part[0], partial, results, all);
}
