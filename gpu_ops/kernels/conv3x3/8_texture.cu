// What:    3x3 convolution of an image, values read through a texture
// Idea:    the texture cache has 2D locality, and the texture unit handles positions beyond the edges, so no test
//          remains; the cost is a copy into the texture's layout
// Shapes:  image (height, columns) as a texture, columns = width * channels; y (height, columns); weights (3, 3)
// Launch:  2D grid over (columns, height), any 2D block
// Traffic: at least 1 sample read and 1 written per value and step; 9 fetches and 9 loads per value from the caches
// Source:  S1, S3
#include "conv3x3.cuh"

extern "C" __global__ void conv3x3_texture(
    cudaTextureObject_t image, T* __restrict__ y, const W* __restrict__ weights, W bias, W divisor, W offset,
    int height, int columns, int channels)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (e >= columns || row >= height) return;
    W sum = 0;
    for (int v = 0; v < 3; ++v)
        for (int u = 0; u < 3; ++u) {
            const T value = tex2D<T>(image, e + (u - 1) * channels + 0.5f, row + v - 0.5f);
            sum = add_product(sum, weights[3 * v + u], value);
        }
    y[(long long)row * columns + e] = finish(sum, bias, divisor, offset);
}
