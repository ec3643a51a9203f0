// What:    sum, extremes, mean or variance of each channel, all of them in one pass and one launch
// Idea:    few blocks stay and take 16 bytes a read, several reads under way at once; bytes are added four at a time; squares
//          are taken around a thread's first sample, which costs no division. The block that ends last joins the states of
//          all blocks, always in one order
// Shapes:  x (n, CHANNELS); partial (blocks, CHANNELS) states; figures (columns, CHANNELS); ticket (1), zero before and
//          after a launch
// Launch:  any grid, block of whole warps; shared one state a warp
// Traffic: 1 sample read a sample, 1 state written and read again a block and channel
// Source:  own
#include "reduce_fast.cuh"

const int EACH = 16 / sizeof(T);

extern "C" __global__ void reduce_one_pass(
    const T* __restrict__ x, Total* partial, Figure* __restrict__ figures, unsigned* ticket, long long n)
{
    const long long threads = (long long)gridDim.x * blockDim.x;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    // Channels follow one another, so as many reads as there are channels hold whole samples.
    const long long groups = n / EACH;
    Share shares[CHANNELS];
    for (long long g = thread; g < groups; g += LOADS * threads) {
        uint4 reads[LOADS][CHANNELS];
#pragma unroll
        for (int k = 0; k < LOADS; ++k)
#pragma unroll
            for (int c = 0; c < CHANNELS; ++c)
                if (g + k * threads < groups) reads[k][c] = ((const uint4*)x)[(g + k * threads) * CHANNELS + c];
#pragma unroll
        for (int k = 0; k < LOADS; ++k)
            if (g + k * threads < groups) take(shares, reads[k]);
    }
    for (long long i = groups * EACH + thread; i < n; i += threads)
#pragma unroll
        for (int c = 0; c < CHANNELS; ++c) shares[c].add(x[i * CHANNELS + c]);

#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
        const Part mine = block_state(shares[c].state(), (Part*)memory);
        if (threadIdx.x == 0) partial[(long long)blockIdx.x * CHANNELS + c] = mine;
        __syncthreads();
    }
    if (!comes_last(ticket)) return;
    for (int c = 0; c < CHANNELS; ++c) {
        Part mine = Part::none();
        for (int block = threadIdx.x; block < gridDim.x; block += blockDim.x)
            mine = mine.join(fresh(partial + (long long)block * CHANNELS + c));
        mine = block_state(mine, (Part*)memory);
        if (threadIdx.x == 0) write_figures(mine, n, figures + c, CHANNELS);
        __syncthreads();
    }
}
