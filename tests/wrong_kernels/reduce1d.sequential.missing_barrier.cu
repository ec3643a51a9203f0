// Wrong on purpose: no barrier between the steps of the fan-in, so that a warp joins what another has not written
#include "reduce.cuh"

extern "C" __global__ void reduce_sequential(
    const In* __restrict__ x, Total* __restrict__ partial, Figure* __restrict__ figures, long long n, long long all)
{
    Part* part = (Part*)memory;
    const int t = threadIdx.x;
    const long long i = (long long)blockIdx.x * blockDim.x + t;
    part[t] = read_or_none(x, i, n);
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] = part[t].join(part[t + s]);
    }
    if (t == 0) give(part[0], partial, figures, all);
}
