// What:    3x3 convolution of an image, with border tests only in blocks at the edges
// Idea:    only blocks at the edges have neighbours outside the image; all other blocks run a loop without tests
// Shapes:  x, y (height, columns), columns = width * channels; weights (3, 3)
// Launch:  2D grid over (columns, height), any 2D block
// Traffic: at least 1 sample read and 1 written per value; 18 loads per value from the caches
// Source:  S1
#include "conv3x3.cuh"

extern "C" __global__ void conv3x3_edges(
    const T* __restrict__ x, T* __restrict__ y, const W* __restrict__ weights, W bias, W divisor, W offset,
    int height, int columns, int channels, int border)
{
    const int begin = blockIdx.x * blockDim.x;
    const int top = blockIdx.y * blockDim.y;
    const int e = begin + threadIdx.x;
    const int row = top + threadIdx.y;
    W sum = 0;
    if (top >= 1 && top + (int)blockDim.y < height && begin >= channels &&
        begin + (int)blockDim.x + channels <= columns) { // uniform across the block
        const T* corner = x + (row - 1ll) * columns + e - channels;
        for (int v = 0; v < 3; ++v)
            for (int u = 0; u < 3; ++u)
                sum = add_product(sum, weights[3 * v + u], corner[(long long)v * columns + u * channels]);
    } else {
        if (e >= columns || row >= height) return;
        for (int v = 0; v < 3; ++v) {
            const int r = inside(row + v - 1, 1, height, border);
            if (r < 0) continue;
            for (int u = 0; u < 3; ++u) {
                const int c = inside(e + (u - 1) * channels, channels, columns, border);
                if (c >= 0) sum = add_product(sum, weights[3 * v + u], x[(long long)r * columns + c]);
            }
        }
    }
    y[(long long)row * columns + e] = finish(sum, bias, divisor, offset);
}
