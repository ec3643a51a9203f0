// Wrong on purpose: samples behind the last whole 16 bytes are not counted
#include "histogram_once.cuh"

const int EACH = 16 / sizeof(T);
const bool BYTES = sizeof(T) == 1;

// The slot of a value. Farther from a bin's edge than `margin`, in bins, the product is right.
__device__ __forceinline__ int quick_slot(T v, const Bound* bounds, int bins, REAL low, REAL scale, REAL margin)
{
    if (BYTES) return (int)v;
    const REAL at = ((REAL)v - low) * scale;
    const int k = (int)at;
    const REAL beyond = at - (REAL)k;
    if (at > margin && k < bins && beyond > margin && beyond < 1 - margin) return k;
    return slot_of(v, bounds, bins, low, scale);
}

extern "C" __global__ void histogram_lanes(
    const T* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ outside,
    const Bound* __restrict__ bounds, unsigned* sums, unsigned* ticket, long long pixels, int colours, int grey, int bins,
    REAL low, REAL scale, REAL margin)
{
    const int histograms = grey ? 1 : colours, slots = BYTES ? 256 : bins + 3, all = histograms * slots;
    const Bound* own_bounds = copy_bounds(bounds, bins);
    unsigned* own = (unsigned*)(memory + bounds_bytes(bins));
    for (int n = threadIdx.x; n < all * COPIES; n += blockDim.x) own[n] = 0;
    __syncthreads();

    own += threadIdx.x % COPIES;
    const long long threads = (long long)gridDim.x * blockDim.x;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long rest = 0, values = grey ? 0 : pixels * STEP;
    const long long groups = values / EACH;
    for (long long g = thread; g < groups; g += LOADS * threads) {
        uint4 loads[LOADS];
#pragma unroll
        for (int n = 0; n < LOADS; ++n)
            if (g + n * threads < groups) loads[n] = ((const uint4*)x)[g + n * threads];
#pragma unroll
        for (int n = 0; n < LOADS; ++n) {
            if (g + n * threads >= groups) break;
            const T* some = (const T*)&loads[n];
            int c = STEP == 1 ? 0 : (int)((g + n * threads) * EACH % STEP);
#pragma unroll
            for (int j = 0; j < EACH; ++j) {
                if (STEP == 1 || c < colours)
                    atomicAdd(own + (c * slots + quick_slot(some[j], own_bounds, bins, low, scale, margin)) * COPIES, 1u);
                if (STEP > 1) c = c + 1 == STEP ? 0 : c + 1;
            }
        }
    }
    // What does not fill 16 bytes, and every pixel whose luminance counts.
    if (grey) values = pixels;
    else rest = values;
    for (long long i = rest + thread; i < values; i += threads) {
        const int c = grey ? 0 : (int)(i % STEP);
        if (c >= histograms) continue;
        const T value = grey ? grey_of(x[i * STEP], x[i * STEP + 1], x[i * STEP + 2]) : x[i];
        atomicAdd(own + (c * slots + quick_slot(value, own_bounds, bins, low, scale, margin)) * COPIES, 1u);
    }
    __syncthreads();

    own -= threadIdx.x % COPIES;
    for (int n = threadIdx.x; n < all; n += blockDim.x) {
        unsigned sum = 0;
        for (int copy = 0; copy < COPIES; ++copy) sum += own[n * COPIES + ((copy + n) & (COPIES - 1))];
        if (sum > 0) atomicAdd(sums + n, sum);
    }
    if (!comes_last(ticket)) return;
    if (BYTES) give_levels(sums, counts, outside, bounds, bins, histograms);
    else give_slots(sums, counts, outside, bins, histograms);
}
