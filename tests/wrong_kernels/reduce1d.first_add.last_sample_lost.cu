// Wrong on purpose: the second sample of a thread must lie before the last one, which nobody adds
#include "reduce.cuh"

extern "C" __global__ void reduce_first_add(
    const In* __restrict__ x, Total* __restrict__ partial, Figure* __restrict__ figures, long long n, long long all)
{
    Part* part = (Part*)memory;
    const int t = threadIdx.x;
    const long long i = (long long)blockIdx.x * 2 * blockDim.x + t;
    Part mine = read_or_none(x, i, n);
    if (i + blockDim.x < n - 1) mine = mine.join(read(x, i + blockDim.x));
    part[t] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] = part[t].join(part[t + s]);
        __syncthreads();
    }
    if (t == 0) give(part[0], partial, figures, all);
}
