// What:    moving average of a signal, taps read from global memory
// Idea:    one thread per output; each loads every tap and every sample from global memory, 2 * window loads per output
// Shapes:  x, y (n, CHANNELS) interleaved; taps (window)
// Launch:  grid ceil(n * CHANNELS / (block * OUTPUTS)), any block; a thread's outputs are one block apart
// Traffic: at least 1 sample read and 1 written per element; the caches serve 2 * window loads per element
// Source:  S4
#include "mean.cuh"

extern "C" __global__ void mean1d_naive(
    const T* __restrict__ x, T* __restrict__ y, const A* __restrict__ taps, long long n, int window)
{
    const long long first = (long long)blockIdx.x * blockDim.x * OUTPUTS + threadIdx.x;
    for (int j = 0; j < OUTPUTS; ++j) {
        const long long e = first + (long long)j * blockDim.x;
        if (e >= n * CHANNELS) return;
        const long long sample = e / CHANNELS;
        const long long channel = e - sample * CHANNELS;
        A sum = 0;
        for (int k = 0; k < window; ++k) {
            const long long s = border_index(sample + k - window / 2, n);
            if (s >= 0) sum += taps[k] * (A)x[s * CHANNELS + channel];
        }
        y[e] = finish(sum, window);
    }
}
