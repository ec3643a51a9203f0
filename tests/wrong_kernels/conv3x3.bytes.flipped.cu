// Wrong on purpose: the matrix is turned around, as in a convolution by the book
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
            if (c >= 0) sum = add_product(sum, weights[8 - 3 * v - u], x[(long long)r * columns + c]);
        }
    }
    y[(long long)row * columns + e] = finish(sum, bias, divisor, offset);
}
