// What:    mean filter of an image with a square window, taps read from constant memory
// Idea:    all lanes of a warp read the same tap at the same time: constant memory broadcasts it, and global loads
//          halve
// Shapes:  x, y (height, width, CHANNELS) interleaved; taps: the first window^2 of the symbol, rows first
// Launch:  2D grid over (width * CHANNELS, height), any 2D block; a thread's OUTPUTS rows are blockDim.y apart
// Traffic: at least 1 sample read and 1 written per element; the caches serve window^2 loads per element
// Source:  S1, S4
#include "mean.cuh"

__constant__ A taps[63 * 63];

extern "C" __global__ void mean2d_constant(
    const T* __restrict__ x, T* __restrict__ y, int height, int width, int window)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= width * CHANNELS) return;
    const int column = e / CHANNELS;
    const int channel = e - column * CHANNELS;
    const long long pitch = (long long)width * CHANNELS;
    for (int j = 0; j < OUTPUTS; ++j) {
        const int row = (blockIdx.y * OUTPUTS + j) * blockDim.y + threadIdx.y;
        if (row >= height) return;
        A sum = 0;
        for (int v = 0; v < window; ++v) {
            const int r = border_index(row + v - window / 2, height);
            if (r < 0) continue;
            for (int u = 0; u < window; ++u) {
                const int c = border_index(column + u - window / 2, width);
                if (c >= 0) sum += taps[v * window + u] * (A)x[r * pitch + c * CHANNELS + channel];
            }
        }
        y[row * pitch + e] = finish(sum, window * window);
    }
}
