// Wrong on purpose: every block reads what the first one reads
#include "reduce.cuh"

extern "C" __global__ void reduce_adjacent(
    const In* __restrict__ x, Total* __restrict__ partial, Figure* __restrict__ figures, long long n, long long all)
{
    Part* part = (Part*)memory;
    const int t = threadIdx.x;
    const long long i = t;
    part[t] = read_or_none(x, i, n);
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) part[t] = part[t].join(part[t + s]);
        __syncthreads();
    }
    if (t == 0) give(part[0], partial, figures, all);
}
