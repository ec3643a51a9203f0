// What:    box filter: the mean of the square around each pixel, by summing the whole square
// Idea:    one thread per output, window^2 loads each; threads share no work
// Shapes:  x, y (height, width, CHANNELS) interleaved
// Launch:  2D grid over (width * CHANNELS, height), any 2D block
// Traffic: at least 1 sample read and 1 written per element; window^2 loads per element from the caches
// Source:  S3
#include "box.cuh"

extern "C" __global__ void box_direct(const T* __restrict__ x, T* __restrict__ y, int height, int width, int radius)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (e >= width * CHANNELS || row >= height) return;
    const int column = e / CHANNELS;
    const int channel = e - column * CHANNELS;
    const long long pitch = (long long)width * CHANNELS;
    const A weight = weight_of(2 * radius + 1);
    A sum = 0;
    for (int v = row - radius; v <= row + radius; ++v) {
        const int r = border_index(v, height);
        if (r < 0) continue;
        // One sum per row: adding a small value to a sum of thousands would round it away.
        A line = 0;
        for (int u = column - radius; u <= column + radius; ++u) {
            const int c = border_index(u, width);
            if (c >= 0) line += weight * (A)x[r * pitch + c * CHANNELS + channel];
        }
        sum += weight * line;
    }
    y[row * pitch + e] = finish(sum, 2 * radius + 1);
}
