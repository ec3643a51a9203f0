// What:    sum, extremes, mean or variance of each channel, with a chosen number of threads
// Idea:    P threads first combine n / P samples each, serially, and only their P states go through the fan-in: nearly
//          all of the work needs no synchronisation
// Shapes:  x (n, channels), samples or states; partial (blocks, channels), or for a single block results (rows,
//          channels)
// Launch:  grid (P / block, channels), block a power of two; shared one state per thread; launched again on the partial
//          states of several blocks
// Traffic: 1 sample read per sample; 1 state written and read again per block
// Source:  S3
#include "reduce.cuh"

extern "C" __global__ void reduce_two_phase(
    const In* __restrict__ x, Total* __restrict__ partial, Result* __restrict__ results, long long n, long long all)
{
    Part* part = (Part*)memory;
    const int t = threadIdx.x;
    const long long threads = (long long)gridDim.x * blockDim.x;
    Part mine = Part::none();
    // Thread p loads samples p, p + P, p + 2 P ...: neighbouring lanes read neighbouring samples.
    for (long long i = (long long)blockIdx.x * blockDim.x + t; i < n; i += threads) mine = mine.combine(read(x, i));
    part[t] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] = part[t].combine(part[t + s]);
        __syncthreads();
    }
    if (t == 0) store_state(part[0], partial, results, all);
}
