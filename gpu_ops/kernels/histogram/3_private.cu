// What:    histogram with private one-byte counts of each thread in shared memory
// Idea:    privatisation per thread: 64 one-byte counts each, so that threads do not contend and no addition is atomic;
//          a thread adds its bytes to the sum of the block before one could exceed 255. More than 64 bins take several
//          passes over x
// Shapes:  x (pixels, step), of which the first `colours` are counted, or their luminance; counts (histograms, bins);
//          outside (3, histograms); bounds (bins + 1)
// Launch:  grid (ceil(pixels / (block * each)), ceil(histograms * (bins + 3) / 64)), any block of whole warps; a thread's
//          pixels are one block apart; shared bins + 1 bounds, rounded up to 16 bytes, and 64 bytes per thread
// Traffic: 1 sample read per sample and pass; up to 64 atomic additions per block, pass and 255 pixels of a thread
// Source:  S3
#include "histogram_block.cuh"

const int SLOTS = 64, FULL = 255;

extern "C" __global__ void histogram_private(
    const T* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ outside,
    const Bound* __restrict__ bounds, long long pixels, int step, int colours, int grey, int each, int bins, REAL low,
    REAL scale)
{
    const int histograms = grey ? 1 : colours, t = threadIdx.x, threads = blockDim.x, first = blockIdx.y * SLOTS;
    const Bound* own_bounds = copy_bounds(bounds, bins);
    // Four slots of a thread share a word, and the words of one row belong to the threads in order: one bank per lane.
    unsigned* words = (unsigned*)(memory + bounds_bytes(bins));
    unsigned char* bytes = (unsigned char*)words;
    for (int row = 0; row < SLOTS / 4; ++row) words[row * threads + t] = 0;
    __syncthreads();

    const long long begin = (long long)blockIdx.x * threads * each + t;
    for (int from = 0; from < each; from += FULL) {
        for (int j = from; j < min(from + FULL, each); ++j) {
            const long long i = begin + (long long)j * threads;
            if (i >= pixels) break;
            for (int h = 0; h < histograms; ++h) {
                const T value = counted(x + i * step, h, grey);
                const int slot = h * (bins + 3) + slot_of(value, own_bounds, bins, low, scale) - first;
                if (slot >= 0 && slot < SLOTS) ++bytes[((slot >> 2) * threads + t) * 4 + (slot & 3)];
            }
        }
        __syncthreads();
        for (int slot = t; slot < SLOTS; slot += threads) {
            if (first + slot >= histograms * (bins + 3)) break;
            unsigned sum = 0;
            for (int j = 0; j < threads; ++j) {
                const int of = (j + slot) % threads;  // lanes start in different banks
                sum += bytes[((slot >> 2) * threads + of) * 4 + (slot & 3)];
            }
            if (sum > 0) atomicAdd(count_at(counts, outside, first + slot, bins, histograms), sum);
        }
        __syncthreads();
        for (int row = 0; row < SLOTS / 4; ++row) words[row * threads + t] = 0;
    }
}
