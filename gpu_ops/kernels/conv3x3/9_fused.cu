// What:    3x3 convolution applied twice to an image, in one launch
// Idea:    kernel fusion: the results of the first pass stay in shared memory for the second, which saves one write and
//          one read of global memory. The cost is a halo of two pixels, and first-pass results around a block that its
//          neighbours compute as well
// Shapes:  x, y (height, columns), columns = width * channels; weights (3, 3)
// Launch:  2D grid over (columns, height), any 2D block of bx x by; shared, in samples:
//          (by + 4) * (bx + 4 * channels) + (by + 2) * (bx + 2 * channels)
// Traffic: at least 1 sample read and 1 written per value, for both passes; neighbouring blocks read the halo again
// Source:  S1
#include "conv3x3.cuh"

extern __shared__ __align__(16) unsigned char memory[];

// As inside(), but for positions up to two steps outside, which only a periodic image needs.
__device__ __forceinline__ int far_inside(int e, int step, int n, int border)
{
    const int near = inside(e, step, n, border);
    return border == ZERO ? near : inside(near, step, n, border);
}

extern "C" __global__ void conv3x3_fused(
    const T* __restrict__ x, T* __restrict__ y, const W* __restrict__ weights, W bias, W divisor, W offset,
    int height, int columns, int channels, int border)
{
    const int begin = blockIdx.x * blockDim.x;
    const int top = blockIdx.y * blockDim.y;
    const int live_columns = min((int)blockDim.x, columns - begin);
    const int live_rows = min((int)blockDim.y, height - top);
    const int stride = blockDim.x + 4 * channels;
    const int middle_stride = blockDim.x + 2 * channels;
    T* tile = (T*)memory; // begins at row top - 2 and pixel begin - 2
    T* middle = tile + (blockDim.y + 4) * stride; // begins at row top - 1 and pixel begin - 1

    for (int v = threadIdx.y; v < live_rows + 4; v += blockDim.y) {
        const int r = far_inside(top + v - 2, 1, height, border);
        for (int i = threadIdx.x; i < live_columns + 4 * channels; i += blockDim.x) {
            const int c = far_inside(begin + i - 2 * channels, channels, columns, border);
            tile[v * stride + i] = r >= 0 && c >= 0 ? x[(long long)r * columns + c] : (T)0;
        }
    }
    __syncthreads();

    for (int v = threadIdx.y; v < live_rows + 2; v += blockDim.y)
        for (int i = threadIdx.x; i < live_columns + 2 * channels; i += blockDim.x) {
            W sum = 0;
            for (int a = 0; a < 3; ++a)
                for (int b = 0; b < 3; ++b)
                    sum = add_product(sum, weights[3 * a + b], tile[(v + a) * stride + i + b * channels]);
            middle[v * middle_stride + i] = finish(sum, bias, divisor, offset);
        }
    __syncthreads();

    if ((int)threadIdx.x >= live_columns || (int)threadIdx.y >= live_rows) return;
    // A periodic image continues beyond its edges, and so do the first results; with the other borders the values there
    // come from the first results inside.
    const int e = begin + threadIdx.x;
    const int row = top + threadIdx.y;
    W sum = 0;
    for (int v = 0; v < 3; ++v) {
        const int r = border == WRAP ? row + v - 1 : inside(row + v - 1, 1, height, border);
        for (int u = 0; u < 3; ++u) {
            const int neighbour = e + (u - 1) * channels;
            const int c = border == WRAP ? neighbour : inside(neighbour, channels, columns, border);
            if (border == WRAP || (r >= 0 && c >= 0))
                sum = add_product(
                    sum, weights[3 * v + u], middle[(r - top + 1) * middle_stride + c - begin + channels]);
        }
    }
    y[(long long)row * columns + e] = finish(sum, bias, divisor, offset);
}
