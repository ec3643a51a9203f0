// What:    3x3 convolution of an RGB image that is padded to RGBA first and cut to RGB at the end
// Idea:    vector access: a pixel of four values is one vector load and one vector store, whereas three values take
//          three of each. The cost is a third more memory and two conversions in separate steps
// Shapes:  x, y (pixels, 3); p, q (height, width, 4); weights (3, 3). An RGBA image needs no conversion
// Launch:  rgba_pad, rgba_cut: 1D grid over the pixels, any 1D block; rgba: 2D grid over (width, height), any 2D block
// Traffic: 1 pixel read and 1 written per pixel and step; the caches serve 9 vector loads and 9 weights per pixel
// Source:  S1
#include "conv3x3.cuh"

// A vector has at most 16 bytes, so a pixel of four doubles is two vectors.
struct __align__(sizeof(T) * 4 < 16 ? sizeof(T) * 4 : 16) Pixel {
    T r, g, b, a;
};

extern "C" __global__ void conv3x3_rgba_pad(const T* __restrict__ x, Pixel* __restrict__ p, long long pixels)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pixels) p[i] = Pixel{x[3 * i], x[3 * i + 1], x[3 * i + 2], 0};
}

extern "C" __global__ void conv3x3_rgba(
    const Pixel* __restrict__ p, Pixel* __restrict__ q, const W* __restrict__ weights, W bias, W divisor, W offset,
    int height, int width, int border)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    W r = 0, g = 0, b = 0, a = 0;
    for (int v = 0; v < 3; ++v) {
        const int line = inside(row + v - 1, 1, height, border);
        if (line < 0) continue;
        for (int u = 0; u < 3; ++u) {
            const int index = inside(column + u - 1, 1, width, border);
            if (index < 0) continue;
            const W weight = weights[3 * v + u];
            const Pixel pixel = p[(long long)line * width + index];
            r = add_product(r, weight, pixel.r);
            g = add_product(g, weight, pixel.g);
            b = add_product(b, weight, pixel.b);
            a = add_product(a, weight, pixel.a);
        }
    }
    q[(long long)row * width + column] = Pixel{
        finish(r, bias, divisor, offset), finish(g, bias, divisor, offset), finish(b, bias, divisor, offset),
        finish(a, bias, divisor, offset)};
}

extern "C" __global__ void conv3x3_rgba_cut(const Pixel* __restrict__ q, T* __restrict__ y, long long pixels)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const Pixel pixel = q[i];
    y[3 * i] = pixel.r;
    y[3 * i + 1] = pixel.g;
    y[3 * i + 2] = pixel.b;
}
