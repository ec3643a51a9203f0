// What:    histogram with atomics in shared memory, one histogram per warp
// Idea:    privatisation per warp: atomics again, on counts that only one warp adds to, so lanes contend only within
//          their warp
// Shapes:  x (pixels, step), of which the first `colours` are counted, or their luminance; counts (histograms, bins);
//          outside (3, histograms); bounds (bins + 1)
// Launch:  grid ceil(pixels / (block * each)), any block of whole warps; a thread's pixels are one block apart; shared
//          bins + 1 bounds, rounded up to 16 bytes, and histograms * (bins + 3) counts per warp
// Traffic: 1 sample read per sample; bins + 1 bounds read and up to bins + 3 atomic additions per block and histogram
// Source:  S3
#include "histogram_block.cuh"

extern "C" __global__ void histogram_warp(
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
        if (i >= pixels) break;
        for (int h = 0; h < histograms; ++h)
            atomicAdd(own + h * slots + slot_of(counted(x + i * step, h, grey), own_bounds, bins, low, scale), 1u);
    }
    __syncthreads();

    for (int n = threadIdx.x; n < all; n += blockDim.x) {
        unsigned sum = 0;
        for (int warp = 0; warp < warps; ++warp) sum += sets[warp * all + n];
        if (sum > 0) atomicAdd(count_at(counts, outside, n, bins, histograms), sum);
    }
}
