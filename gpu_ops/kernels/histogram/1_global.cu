// What:    histogram with atomics in global memory
// Idea:    one thread per pixel; each atomically increments a count that all threads share, and increments of the same
//          bin are serialised
// Shapes:  x (pixels, step), of which the first `colours` are counted, or their luminance; counts (histograms, bins);
//          outside (3, histograms); bounds (bins + 1)
// Launch:  grid ceil(pixels / block), any block
// Traffic: 1 sample read and 1 atomic addition per sample; the caches serve the few bounds of each
// Source:  S3
#include "histogram_after.cuh"

extern "C" __global__ void histogram_global(
    const T* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ outside,
    const Bound* __restrict__ bounds, long long pixels, int step, int colours, int grey, int bins, REAL low, REAL scale)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const int histograms = grey ? 1 : colours;
    for (int h = 0; h < histograms; ++h) {
        const int k = slot_of(counted(x + i * step, h, grey), bounds, bins, low, scale);
        atomicAdd(k < bins ? counts + h * bins + k : outside + (k - bins) * histograms + h, 1u);
    }
}
