// What:    histogram of each warp in shared memory, with tags instead of atomics
// Idea:    the lanes of a warp share one set of counts. Each writes the incremented count with its lane number as a tag
//          in the top five bits and reads it back: the lane whose tag remains has counted, the others retry. So a warp
//          takes as many rounds as samples fall into its most frequent bin
// Shapes:  x (pixels, step), of which the first `colours` are counted, or their luminance; counts (histograms, bins);
//          outside (3, histograms); bounds (bins + 1)
// Launch:  grid ceil(pixels / (block * each)), any block of whole warps; a thread's pixels are one block apart; 32 * each
//          samples of a warp stay below 2^27, what a count holds below its tag; shared bins + 1 bounds, rounded up to 16
//          bytes, and histograms * (bins + 3) counts per warp
// Traffic: 1 sample read per sample; bins + 1 bounds read and up to bins + 3 atomic additions per block and histogram
// Source:  S3
#include "histogram_block.cuh"

const unsigned COUNT = 0x07ffffffu;

// Increments `own[slot]` once for every lane that is `waiting`. All lanes of the warp take part. Since Volta the lanes
// of a warp need not run in lockstep, so every step of the exchange ends with __syncwarp.
__device__ __forceinline__ void count_tagged(volatile unsigned* own, int slot, bool waiting)
{
    const unsigned tag = (threadIdx.x & 31u) << 27;
    while (__any_sync(0xffffffffu, waiting)) {
        unsigned mine = 0;
        if (waiting) mine = tag | ((own[slot] & COUNT) + 1);
        __syncwarp();
        if (waiting) own[slot] = mine;
        __syncwarp();
        if (waiting && own[slot] == mine) waiting = false;
        __syncwarp();
    }
}

extern "C" __global__ void histogram_tagged(
    const T* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ outside,
    const Bound* __restrict__ bounds, long long pixels, int step, int colours, int grey, int each, int bins, REAL low,
    REAL scale)
{
    const int histograms = grey ? 1 : colours, slots = bins + 3, all = histograms * slots, warps = blockDim.x / 32;
    const Bound* own_bounds = copy_bounds(bounds, bins);
    unsigned* sets = (unsigned*)(memory + bounds_bytes(bins));
    for (int n = threadIdx.x; n < warps * all; n += blockDim.x) sets[n] = 0;
    __syncthreads();

    unsigned* own = sets + threadIdx.x / 32 * all;
    const long long begin = (long long)blockIdx.x * blockDim.x * each + threadIdx.x;
    for (int j = 0; j < each; ++j) {
        const long long i = begin + (long long)j * blockDim.x;
        for (int h = 0; h < histograms; ++h) {
            const bool inside = i < pixels;
            int slot = 0;
            if (inside) slot = h * slots + slot_of(counted(x + i * step, h, grey), own_bounds, bins, low, scale);
            count_tagged(own, slot, inside);
        }
    }
    __syncthreads();

    for (int n = threadIdx.x; n < all; n += blockDim.x) {
        unsigned sum = 0;
        for (int warp = 0; warp < warps; ++warp) sum += sets[warp * all + n] & COUNT;
        if (sum > 0) atomicAdd(count_at(counts, outside, n, bins, histograms), sum);
    }
}
