// Wrong on purpose: a thread adds its samples in float, which drops the last digits of integers and of doubles
#include "reduce.cuh"

extern "C" __global__ void reduce_two_phase(
    const In* __restrict__ x, Total* __restrict__ partial, Figure* __restrict__ figures, long long n, long long all)
{
    Part* part = (Part*)memory;
    const int t = threadIdx.x;
    const long long threads = (long long)gridDim.x * blockDim.x;
    Part mine = Part::none();
#if FIRST && (STATISTIC == 0 || STATISTIC == 3)
    float sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + t; i < n; i += threads) sum += (float)x[i * gridDim.y + blockIdx.y];
    mine.value = sum;
#else
    for (long long i = (long long)blockIdx.x * blockDim.x + t; i < n; i += threads) mine = mine.join(read(x, i));
#endif
    part[t] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] = part[t].join(part[t + s]);
        __syncthreads();
    }
    if (t == 0) give(part[0], partial, figures, all);
}
