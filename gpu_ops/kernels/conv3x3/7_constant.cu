// What:    3x3 convolution of an image, weights read from constant memory
// Idea:    all lanes of a warp read the same weight at the same time: constant memory broadcasts it, and global loads
//          halve
// Shapes:  x, y (height, columns), columns = width * channels; weights: the symbol, rows first
// Launch:  2D grid over (columns, height), any 2D block
// Traffic: at least 1 sample read and 1 written per value; 9 loads per value from the caches
// Source:  S1, S4
#include "conv3x3.cuh"

__constant__ W weights[9];

extern "C" __global__ void conv3x3_constant(
    const T* __restrict__ x, T* __restrict__ y, W bias, W divisor, W offset, int height, int columns, int channels,
    int border)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (e >= columns || row >= height) return;
    W sum = 0;
    for (int v = 0; v < 3; ++v) {
        const int r = inside(row + v - 1, 1, height, border);
        if (r < 0) continue;
        for (int u = 0; u < 3; ++u) {
            const int c = inside(e + (u - 1) * channels, channels, columns, border);
            if (c >= 0) sum = add_product(sum, weights[3 * v + u], x[(long long)r * columns + c]);
        }
    }
    y[(long long)row * columns + e] = finish(sum, bias, divisor, offset);
}
