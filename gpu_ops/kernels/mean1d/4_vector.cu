// What:    moving average of a signal with a short window, 16 bytes per thread, in registers
// Idea:    no taps in memory and no tile: a thread loads 16 bytes with one access and the neighbouring words with two
//          more, from the cache, and computes all means in registers; the window is a compile-time constant, so all
//          loops are unrolled
// Shapes:  x, y (n, CHANNELS) interleaved, at addresses that are multiples of 16
// Launch:  grid ceil(n * CHANNELS / (block * VECTORS * 16 / sizeof(T))), any block of at most THREADS; a thread's
//          VECTORS vectors are one block apart
// Traffic: 1 sample read and 1 written per element; the caches serve 3 loads per 16 bytes where one access covers a
//          side
// Source:  S4
#include "mean.cuh"

#define HALO (WINDOW / 2 * CHANNELS)
#define ALIGNED 1
#define RAGGED 1
#define EXCHANGE 0
#include "row_span.cuh"
#include "window_sums.cuh"

// Overwrites a vector with its means.
__device__ __forceinline__ void put_means(const Span& span, T* __restrict__ y, long long e, long long elements)
{
    A line[VALUES], sums[VECTOR];
    #pragma unroll
    for (int i = 0; i < VALUES; ++i) line[i] = weight_of(WINDOW) * (A)value_of(span, i);
    window_sums<VECTOR, CHANNELS>(line, sums);
    T means[VECTOR];
    #pragma unroll
    for (int i = 0; i < VECTOR; ++i) means[i] = finish(sums[i], WINDOW);
    put(y, e, elements, means);
}

// The bound limits the registers that the compiler may use per thread.
extern "C" __global__ void __launch_bounds__(THREADS) mean1d_vector(
    const T* __restrict__ x, T* __restrict__ y, long long n)
{
    const long long elements = n * CHANNELS;
    const long long begin = ((long long)blockIdx.x * blockDim.x * VECTORS + threadIdx.x) * VECTOR;
    const int step = blockDim.x * VECTOR;
    if (is_inside(begin, elements) && is_inside(begin + (VECTORS - 1) * step, elements)) {
        // All loads come before the first sum, so that their latencies overlap.
        Span spans[VECTORS] = {};
        #pragma unroll
        for (int g = 0; g < VECTORS; ++g) fetch_inside(x + begin + g * step, spans[g]);
        #pragma unroll
        for (int g = 0; g < VECTORS; ++g) put_means(spans[g], y, begin + g * step, elements);
        return;
    }
    #pragma unroll 1
    for (int g = 0; g < VECTORS; ++g) {
        const long long e = begin + g * step;
        if (e >= elements) return;
        const T* const row[1] = {x};
        Span spans[1];
        fetch(row, e, n, spans);
        put_means(spans[0], y, e, elements);
    }
}
