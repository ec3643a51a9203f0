// What:    3x3 convolution of an image whose rows are padded by hand to a multiple of 128 bytes
// Idea:    alignment: every row starts at a cache line, so a warp's loads touch the minimum of sectors; the cost is a
//          copy into the padded rows and a copy out of them
// Shapes:  x, y (height, pitch), of which the first columns = width * channels of a row hold values; weights (3, 3)
// Launch:  2D grid over (columns, height), any 2D block
// Traffic: at least 1 sample read and 1 written per value and step; 18 loads per value from the caches
// Source:  S1
#include "conv3x3.cuh"

extern "C" __global__ void conv3x3_padded(
    const T* __restrict__ x, T* __restrict__ y, const W* __restrict__ weights, W bias, W divisor, W offset,
    int height, int columns, int channels, int border, int pitch)
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
            if (c >= 0) sum = add_product(sum, weights[3 * v + u], x[(long long)r * pitch + c]);
        }
    }
    y[(long long)row * pitch + e] = finish(sum, bias, divisor, offset);
}
