// What:    3x3 convolution of an image, one value per thread
// Idea:    each thread loads nine neighbours and nine weights from global memory; uint8 images are loaded byte by byte
// Shapes:  x, y (height, columns), columns = width * channels; weights (3, 3)
// Launch:  2D grid over (columns, height), any 2D block
// Traffic: at least 1 sample read and 1 written per value; 18 loads per value from the caches
// Source:  S1
#include "conv3x3.cuh"

extern "C" __global__ void conv3x3_bytes(
    const T* __restrict__ x, T* __restrict__ y, const W* __restrict__ weights, W bias, W divisor, W offset,
    int height, int columns, int channels, int border)
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
