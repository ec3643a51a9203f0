// What:    moving average of a signal, taps in constant memory, block and halo in shared memory
// Idea:    neighbouring outputs share samples: the block loads each once, and the window slides in shared memory
// Shapes:  x, y (n, CHANNELS) interleaved; taps: the first `window` of the symbol
// Launch:  grid ceil(n * CHANNELS / (block * OUTPUTS)), any block; a thread's outputs are one block apart;
//          shared (block * OUTPUTS + (window - 1) * CHANNELS) samples
// Traffic: at least 1 sample read and 1 written per element; 1 + (window - 1) * CHANNELS / (block * OUTPUTS) loads
// Source:  S4
#include "mean.cuh"

__constant__ A taps[4095];
extern __shared__ __align__(16) unsigned char memory[];

extern "C" __global__ void mean1d_shared(const T* __restrict__ x, T* __restrict__ y, long long n, int window)
{
    T* tile = (T*)memory;
    const int halo = window / 2 * CHANNELS;
    const long long begin = (long long)blockIdx.x * blockDim.x * OUTPUTS;
    const long long left = n * CHANNELS - begin;
    const int live = left < (long long)blockDim.x * OUTPUTS ? (int)left : (int)blockDim.x * OUTPUTS;

    // The block loads only what live outputs need, so the last block reads nothing past the end.
    for (int i = threadIdx.x; i < live + 2 * halo; i += blockDim.x) {
        // begin + i counts elements from one halo before the signal: it is not negative, so the division is a floor.
        const long long index = (begin + i) / CHANNELS;
        const long long s = border_index(index - window / 2, n);
        tile[i] = s < 0 ? (T)0 : x[s * CHANNELS + (begin + i - index * CHANNELS)];
    }
    __syncthreads();

    for (int o = threadIdx.x; o < live; o += blockDim.x) {
        A sum = 0;
        for (int k = 0; k < window; ++k) sum += taps[k] * (A)tile[o + k * CHANNELS];
        y[begin + o] = finish(sum, window);
    }
}
