// Wrong on purpose: nobody waits until the tiles are there
#include "box.cuh"

#define TILE 32

// Columns begin ... begin + 31 of the block's rows into a tile, each row by the 32 lanes of a warp.
__device__ __forceinline__ void fetch(
    const T* __restrict__ x, R tile[TILE][TILE + 1], int top, int begin, int channel, int height, int width)
{
    const int lane = threadIdx.x % TILE;
    for (int k = threadIdx.x / TILE; k < TILE && top + k < height; k += blockDim.x / TILE) {
        const T* row = x + (long long)(top + k) * width * CHANNELS + channel;
        tile[k][lane] = (R)value_at(row, begin + lane, width, CHANNELS);
    }
}

extern "C" __global__ void box_sliding_transpose_rows(
    const T* __restrict__ x, R* __restrict__ rows, int height, int width, int radius)
{
    __shared__ R gained[TILE][TILE + 1];
    __shared__ R lost[TILE][TILE + 1];  // and then what comes out, in the place of what was just used
    const int channel = blockIdx.y;
    const int top = blockIdx.x * TILE;
    const int lane = threadIdx.x % TILE;
    const bool adds = threadIdx.x < TILE && top + (int)threadIdx.x < height;
    const A weight = weight_of(2 * radius + 1);
    A sum = 0;
    // The window of the column before the first; what lies to its right comes by tiles, as everything after it does.
    for (int begin = -radius - 1; begin < radius; begin += TILE) {
        fetch(x, gained, top, begin, channel, height, width);
        __syncthreads();
        if (adds)
            for (int j = 0; j < TILE && begin + j < radius; ++j) sum += (A)gained[lane][j];
        __syncthreads();
    }
    for (int begin = 0; begin < width; begin += TILE) {
        fetch(x, gained, top, begin + radius, channel, height, width);
        fetch(x, lost, top, begin - radius - 1, channel, height, width);
        if (adds) {
            for (int j = 0; j < TILE; ++j) {
                sum += (A)gained[lane][j];
                sum -= (A)lost[lane][j];
                lost[lane][j] = (R)(weight * sum);
            }
        }
        __syncthreads();
        for (int k = threadIdx.x / TILE; k < TILE && top + k < height; k += blockDim.x / TILE)
            if (begin + lane < width)
                rows[((long long)(top + k) * width + begin + lane) * CHANNELS + channel] = lost[k][lane];
        __syncthreads();
    }
}

extern "C" __global__ void box_sliding_transpose_columns(
    const R* __restrict__ rows, T* __restrict__ y, int height, int width, int radius)
{
    slide_down(rows, y, height, width, radius);
}
