// Wrong on purpose: sums of bytes are kept in bytes, which overflow with the second sample; others stay as they are
#include "reduce_warp.cuh"

extern "C" __global__ void reduce_warp_shuffle(
    const In* __restrict__ x, Total* __restrict__ partial, Figure* __restrict__ figures, long long n, long long all)
{
    const long long threads = (long long)gridDim.x * blockDim.x;
    Part mine = Part::none();
#if FIRST && INTEGER && (STATISTIC == 0 || STATISTIC == 3)
    T sum = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        sum += x[i * gridDim.y + blockIdx.y];
    mine.value = sum;
#else
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) mine = mine.join(read(x, i));
#endif
    mine = block_state(mine, (Part*)memory);
    if (threadIdx.x == 0) give(mine, partial, figures, all);
}
