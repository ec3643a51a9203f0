// Wrong on purpose: threads read, add and write one count at the same time, and lose all additions but one
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
        *(k < bins ? counts + h * bins + k : outside + (k - bins) * histograms + h) += 1;
    }
}
