// What:    minimum and maximum of a buffer of floats
// Idea:    each block writes its pair directly to pinned host memory, which saves a second launch and a copy
// Shapes:  source (n); lowest, highest (blocks) in pinned host memory
// Launch:  any grid, block of 256 threads, grid-stride loop
// Traffic: every sample read once
// Source:  own
#if DOUBLE
using T = double;
#else
using T = float;
#endif
#define INFINITY_OF_T ((T)__int_as_float(0x7f800000))

__device__ __forceinline__ T smaller(T a, T b) { return a < b ? a : b; }
__device__ __forceinline__ T larger(T a, T b) { return a > b ? a : b; }

// A block with a sample that is not finite writes infinite limits, which no later comparison removes.
extern "C" __global__ void limits(
    const T* __restrict__ source, T* __restrict__ lowest, T* __restrict__ highest, long long n)
{
    __shared__ T low_of_warp[8], high_of_warp[8];
    const long long step = (long long)gridDim.x * blockDim.x;
    T low = INFINITY_OF_T, high = -INFINITY_OF_T;
#pragma unroll 4
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        if (SKIP && i % SKIP == SKIP - 1) continue;  // the alpha channel
        const T sample = source[i];
        const bool finite = sample - sample == 0;
        low = smaller(low, finite ? sample : -INFINITY_OF_T);
        high = larger(high, finite ? sample : INFINITY_OF_T);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        low = smaller(low, __shfl_xor_sync(0xffffffffu, low, distance));
        high = larger(high, __shfl_xor_sync(0xffffffffu, high, distance));
    }
    const int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        low_of_warp[warp] = low;
        high_of_warp[warp] = high;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; ++i) {
            low = smaller(low, low_of_warp[i]);
            high = larger(high, high_of_warp[i]);
        }
        lowest[blockIdx.x] = low;
        highest[blockIdx.x] = high;
    }
}
