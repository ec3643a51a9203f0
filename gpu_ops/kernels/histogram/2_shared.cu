// What:    histogram with atomics in shared memory, one histogram per block
// Idea:    privatisation per block: a block counts in shared memory, where only its own threads contend, and adds its
//          counts to the global ones once; so a global count receives one addition per block instead of one per sample
// Shapes:  x (pixels, step), of which the first `colours` are counted, or their luminance; counts (histograms, bins);
//          outside (3, histograms); bounds (bins + 1)
// Launch:  grid ceil(pixels / (block * each)), any block; a thread's pixels are one block apart;
//          shared bins + 1 bounds, rounded up to 8 bytes, and histograms * (bins + 3) counts
// Traffic: 1 sample read per sample; bins + 1 bounds read and up to bins + 3 atomic additions per block and histogram
// Source:  S3
#include "histogram_after.cuh"

extern __shared__ __align__(16) unsigned char memory[];

extern "C" __global__ void histogram_shared(
    const T* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ outside,
    const Bound* __restrict__ bounds, long long pixels, int step, int colours, int grey, int each, int bins, REAL low,
    REAL scale)
{
    const int histograms = grey ? 1 : colours, slots = bins + 3;
    Bound* own_bounds = (Bound*)memory;
    unsigned* own = (unsigned*)(memory + (((bins + 1) * sizeof(Bound) + 7) & ~7ull));
    for (int k = threadIdx.x; k <= bins; k += blockDim.x) own_bounds[k] = bounds[k];
    for (int k = threadIdx.x; k < histograms * slots; k += blockDim.x) own[k] = 0;
    __syncthreads();

    const long long begin = (long long)blockIdx.x * blockDim.x * each;
    for (int j = 0; j < each; ++j) {
        const long long i = begin + (long long)j * blockDim.x + threadIdx.x;
        if (i >= pixels) break;
        for (int h = 0; h < histograms; ++h) {
            const T value = counted(x + i * step, h, grey);
            atomicAdd(own + h * slots + slot_of(value, own_bounds, bins, low, scale), 1u);
        }
    }
    __syncthreads();

    for (int n = threadIdx.x; n < histograms * slots; n += blockDim.x) {
        const int h = n / slots, k = n - h * slots;
        if (own[n] > 0) atomicAdd(k < bins ? counts + h * bins + k : outside + (k - bins) * histograms + h, own[n]);
    }
}
