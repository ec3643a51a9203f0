// What:    box filter with running sums, one thread per row and then one per column, rows read through a texture
// Idea:    the texture cache has 2D locality, so threads that read the same column of different rows find their next
//          values there; the cost is a copy into the texture
// Shapes:  image: (height, width * CHANNELS); y and the intermediate rows (height, width, CHANNELS) interleaved
// Launch:  rows: 1D grid over height * CHANNELS; columns: 1D grid over width * CHANNELS
// Traffic: 1 sample read and written for the texture, 2 read from it and 1 written per element; 1 of R written, 2 read
// Source:  S3
#include "box.cuh"

__device__ __forceinline__ A texel(cudaTextureObject_t image, long long row, int column, int channel, int width)
{
    const int c = border_index(column, width);
    return c < 0 ? (A)0 : (A)tex2D<T>(image, c * CHANNELS + channel + 0.5f, row + 0.5f);
}

extern "C" __global__ void box_sliding_texture_rows(
    cudaTextureObject_t image, R* __restrict__ rows, int height, int width, int radius)
{
    const long long line = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long row = line / CHANNELS;
    if (row >= height) return;
    const int channel = line - row * CHANNELS;
    const long long first = row * width * CHANNELS + channel;
    const A weight = weight_of(2 * radius + 1);
    A sum = 0;
    for (int u = -radius; u <= radius; ++u) sum += texel(image, row, u, channel, width);
    for (int column = 0; column < width; ++column) {
        rows[first + (long long)column * CHANNELS] = (R)(weight * sum);
        sum += texel(image, row, column + radius + 1, channel, width);
        sum -= texel(image, row, column - radius, channel, width);
    }
}

extern "C" __global__ void box_sliding_texture_columns(
    const R* __restrict__ rows, T* __restrict__ y, int height, int width, int radius)
{
    slide_down(rows, y, height, width, radius);
}
