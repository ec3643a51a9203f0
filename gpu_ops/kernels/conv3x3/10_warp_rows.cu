// What:    3x3 convolution of an image, one independent warp per strip
// Idea:    row streaming in shared memory: a warp streams down a strip with the last three rows in its own part of
//          shared memory. It synchronises only its own lanes (__syncwarp), never the block, and loads every row of the
//          strip once
// Shapes:  x, y (height, columns), columns = width * channels; weights (3, 3)
// Launch:  2D grid over strips of 128 values and ROWS rows, block (32, any); shared, in samples:
//          blockDim.y * 3 * (128 + 2 * channels)
// Traffic: at least 1 sample read and 1 written per value; (ROWS + 2) * (128 + 2 * channels) loads per strip
// Source:  S1
#include "conv3x3.cuh"

#define VALUES 128 // values of a row per warp: four per lane

extern __shared__ __align__(16) unsigned char memory[];

// The largest block, 32 x 32, allows 64 registers per thread.
extern "C" __global__ void __launch_bounds__(1024, 1) conv3x3_warp_rows(
    const T* __restrict__ x, T* __restrict__ y, const W* __restrict__ weights, W bias, W divisor, W offset,
    int height, int columns, int channels, int border)
{
    const int lane = threadIdx.x;
    const int begin = blockIdx.x * VALUES;
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    const int live = min(VALUES, columns - begin);
    const int bottom = min(top + ROWS, height);
    const int stride = VALUES + 2 * channels;
    T* lines = (T*)memory + threadIdx.y * 3 * stride; // row r is in line (r + 1) % 3

    for (int row = top - 1; row <= bottom && top < height; ++row) {
        const int r = inside(row, 1, height, border);
        for (int i = lane; i < live + 2 * channels; i += 32) {
            const int c = inside(begin + i - channels, channels, columns, border);
            lines[(row + 1) % 3 * stride + i] = r >= 0 && c >= 0 ? x[(long long)r * columns + c] : (T)0;
        }
        __syncwarp();
        if (row > top) // now the row before this one has both neighbours
            for (int i = lane; i < live; i += 32) {
                W sum = 0;
                for (int v = 0; v < 3; ++v)
                    for (int u = 0; u < 3; ++u)
                        sum = add_product(
                            sum, weights[3 * v + u], lines[(row - 1 + v) % 3 * stride + i + u * channels]);
                y[(row - 1ll) * columns + begin + i] = finish(sum, bias, divisor, offset);
            }
        __syncwarp();
    }
}
