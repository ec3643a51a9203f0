// What:    sum, extremes, mean or variance of each channel, in one launch
// Idea:    few persistent blocks read 16 bytes per load with several loads in flight: each load is replaced by the next
//          as soon as its samples are consumed. Bytes are added four at a time; squares are relative to the mean of a
//          warp's first samples, which needs no division. The last block to finish combines the states of all blocks,
//          always in the same order, with the instructions that combined its own and are therefore in the instruction
//          cache
// Shapes:  x (n, CHANNELS); partial (blocks, CHANNELS) states; results (rows, CHANNELS); ticket (1), zero before and
//          after a launch
// Launch:  any grid, block of THREADS, whole warps; shared one state per warp
// Traffic: 1 sample read per sample; 1 state written and read again per block and channel
// Source:  own
#include "reduce_fast.cuh"

const int EACH = 16 / sizeof(T);

// Data that is read once is evicted first from the L2 cache, which keeps states and instructions.
__device__ __forceinline__ void load_vectors(uint4 (&read)[CHANNELS], const uint4* address)
{
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) read[c] = __ldcs(address + c);
}

extern "C" __global__ void __launch_bounds__(THREADS, THREADS_AT_ONCE / THREADS) reduce_one_pass(
    const T* __restrict__ x, Total* partial, Result* __restrict__ results, unsigned* ticket, long long n)
{
    const unsigned threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    // Channels are interleaved, so as many loads as there are channels contain whole samples. A channel has at most
    // 2^32 samples, so 32 bits count them.
    const unsigned groups = (unsigned)(n / EACH), rounds = groups / (threads * LOADS);
    const unsigned left = groups - rounds * (threads * LOADS); // in the last round, which is incomplete
    const uint4* address = (const uint4*)x + (size_t)thread * CHANNELS;
    Share shares[CHANNELS];
    uint4 reads[LOADS][CHANNELS] = {};
#pragma unroll
    for (int k = 0; k < LOADS; ++k)
        if (k * threads + thread < groups) load_vectors(reads[k], address + (size_t)threads * (k * CHANNELS));
    start(shares, (const T*)reads[0], x, thread, groups, n);
    for (unsigned r = 1; r < rounds; ++r) {
        address += (size_t)threads * (LOADS * CHANNELS);
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            take(shares, reads[k]);
            load_vectors(reads[k], address + (size_t)threads * (k * CHANNELS));
        }
    }
    if (rounds > 0) {
        address += (size_t)threads * (LOADS * CHANNELS);
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            take(shares, reads[k]);
            if (k * threads + thread < left) load_vectors(reads[k], address + (size_t)threads * (k * CHANNELS));
        }
    }
#pragma unroll
    for (int k = 0; k < LOADS; ++k)
        if (k * threads + thread < left) take(shares, reads[k]);
    const long long rest = (long long)groups * EACH + thread; // samples that do not fill a load
    if (rest < n)
#pragma unroll
        for (int c = 0; c < CHANNELS; ++c) shares[c].add(x[rest * CHANNELS + c]);

    // First the block's own state of each channel, then, in the last block, those of all blocks. This stays a loop:
    // instructions that have not run yet would have to be fetched first.
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
                mine = block == threadIdx.x ? state : mine.combine(state);
            }
        }
        mine = block_state(mine, (Part*)memory);
        if (threadIdx.x == 0) {
            if (own) partial[(size_t)blockIdx.x * CHANNELS + channel] = mine;
            else write_results(mine, n, results + channel, CHANNELS);
        }
        if (step != CHANNELS - 1) __syncthreads();
        else if (!is_last_block(ticket)) return;
    }
}
