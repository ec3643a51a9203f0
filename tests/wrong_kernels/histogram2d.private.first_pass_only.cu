// Wrong on purpose: every pass counts the first 64 bins
#include "histogram_block.cuh"

const int SLOTS = 64, FULL = 255;

extern "C" __global__ void histogram_private(
    const T* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ outside,
    const Bound* __restrict__ bounds, long long pixels, int step, int colours, int grey, int each, int bins, REAL low,
    REAL scale)
{
    const int histograms = grey ? 1 : colours, t = threadIdx.x, threads = blockDim.x, first = 0;
    const Bound* own_bounds = copy_bounds(bounds, bins);
    // Four slots of a thread share a word, and the words of one row belong to the threads in order: a bank a lane.
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
                const int of = (j + slot) % threads;  // the lanes begin in different banks
                sum += bytes[((slot >> 2) * threads + of) * 4 + (slot & 3)];
            }
            if (sum > 0) atomicAdd(place(counts, outside, first + slot, bins, histograms), sum);
        }
        __syncthreads();
        for (int row = 0; row < SLOTS / 4; ++row) words[row * threads + t] = 0;
    }
}
