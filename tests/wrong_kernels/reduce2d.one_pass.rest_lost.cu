// Wrong on purpose: the samples that fill no read of 16 bytes are lost
#include "reduce_fast.cuh"

const int EACH = 16 / sizeof(T);

// What is read once leaves the second-level cache first, which keeps it for states and instructions.
__device__ __forceinline__ void ask(uint4 (&read)[CHANNELS], const uint4* place)
{
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) read[c] = __ldcs(place + c);
}

extern "C" __global__ void __launch_bounds__(THREADS, THREADS_AT_ONCE / THREADS) reduce_one_pass(
    const T* __restrict__ x, Total* partial, Figure* __restrict__ figures, unsigned* ticket, long long n)
{
    const unsigned threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    // Channels follow one another, so as many reads as there are channels hold whole samples. A channel has 2^32 samples at
    // most, so that 32 bits count them.
    const unsigned groups = (unsigned)(n / EACH), rounds = groups / (threads * LOADS);
    const unsigned left = groups - rounds * (threads * LOADS); // of the last round, which is not whole
    const uint4* place = (const uint4*)x + (size_t)thread * CHANNELS;
    Share shares[CHANNELS];
    uint4 reads[LOADS][CHANNELS] = {};
#pragma unroll
    for (int k = 0; k < LOADS; ++k)
        if (k * threads + thread < groups) ask(reads[k], place + (size_t)threads * (k * CHANNELS));
    start(shares, (const T*)reads[0], x, thread, groups, n);
    for (unsigned r = 1; r < rounds; ++r) {
        place += (size_t)threads * (LOADS * CHANNELS);
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            take(shares, reads[k]);
            ask(reads[k], place + (size_t)threads * (k * CHANNELS));
        }
    }
    if (rounds > 0) {
        place += (size_t)threads * (LOADS * CHANNELS);
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            take(shares, reads[k]);
            if (k * threads + thread < left) ask(reads[k], place + (size_t)threads * (k * CHANNELS));
        }
    }
#pragma unroll
    for (int k = 0; k < LOADS; ++k)
        if (k * threads + thread < left) take(shares, reads[k]);
    const long long rest = n;
    if (rest < n)
#pragma unroll
        for (int c = 0; c < CHANNELS; ++c) shares[c].add(x[rest * CHANNELS + c]);

    // First the block's own state of each channel, then, in one block, that of all blocks. This stays one loop, for
    // instructions that have not run yet must be fetched first.
#pragma unroll 1
    for (int step = 0; step < 2 * CHANNELS; ++step) {
        const bool own = step < CHANNELS;
        const int channel = own ? step : step - CHANNELS;
        Part mine = Part::none();
        if (own) {
#pragma unroll
            for (int c = 0; c < CHANNELS; ++c)
                if (c == channel) mine = shares[c].state();
        } else {
            for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
                const Total state = fresh(partial + (size_t)block * CHANNELS + channel);
                mine = block == threadIdx.x ? state : mine.join(state);
            }
        }
        mine = block_state(mine, (Part*)memory);
        if (threadIdx.x == 0) {
            if (own) partial[(size_t)blockIdx.x * CHANNELS + channel] = mine;
            else write_figures(mine, n, figures + channel, CHANNELS);
        }
        if (step != CHANNELS - 1) __syncthreads();
        else if (!comes_last(ticket)) return;
    }
}
