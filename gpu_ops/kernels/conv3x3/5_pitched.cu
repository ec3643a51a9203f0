// What:    3x3 convolution of an image in pitched memory
// Idea:    the driver's allocation chooses the pitch, in bytes, and its 2D copies use it: the same as padding by hand,
//          without the arithmetic
// Shapes:  x, y: height rows, pitch bytes apart, of columns = width * channels values; weights (3, 3)
// Launch:  2D grid over (columns, height), any 2D block
// Traffic: at least 1 sample read and 1 written per value and step; 18 loads per value from the caches
// Source:  S1
#include "conv3x3.cuh"

extern "C" __global__ void conv3x3_pitched(
    const T* __restrict__ x, T* __restrict__ y, const W* __restrict__ weights, W bias, W divisor, W offset,
    int height, int columns, int channels, int border, long long pitch)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (e >= columns || row >= height) return;
    W sum = 0;
    for (int v = 0; v < 3; ++v) {
        const int r = inside(row + v - 1, 1, height, border);
        if (r < 0) continue;
        const T* line = (const T*)((const char*)x + r * pitch);
        for (int u = 0; u < 3; ++u) {
            const int c = inside(e + (u - 1) * channels, channels, columns, border);
            if (c >= 0) sum = add_product(sum, weights[3 * v + u], line[c]);
        }
    }
    ((T*)((char*)y + row * pitch))[e] = finish(sum, bias, divisor, offset);
}
