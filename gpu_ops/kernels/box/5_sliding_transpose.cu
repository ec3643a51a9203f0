// What:    mean of the square around each pixel, a thread a row and then a thread a column, rows transposed in shared
//          memory
// Idea:    the whole block reads along rows, tile by tile; then each lane of one warp sums along its own row of the
//          tile in shared memory; a 33rd column avoids bank conflicts both ways. The values that enter, leave and come
//          out all pass through such tiles, so all reads of global memory are coalesced
// Shapes:  x, y and the intermediate rows (height, width, CHANNELS) interleaved
// Launch:  rows: grid (height / 32, CHANNELS), blocks of a multiple of 32 threads, of which 32 add; columns: 1D grid
//          over width * CHANNELS
// Traffic: 2 samples read and 1 written an element, and 1 of R written and 2 read; every CHANNELS-th is used a pass
// Source:  S3
#include "box.cuh"

#define TILE 32

// Loads columns begin ... begin + 31 of the block's rows into a tile, each row with the 32 lanes of a warp.
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
    __shared__ R lost[TILE][TILE + 1];  // values that leave; the results then replace them, after their use
    const int channel = blockIdx.y;
    const int top = blockIdx.x * TILE;
    const int lane = threadIdx.x % TILE;
    const bool adds = threadIdx.x < TILE && top + (int)threadIdx.x < height;
    const A weight = weight_of(2 * radius + 1);
    A sum = 0;
    // The window of the column before the first; all values to its right come in tiles.
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
        __syncthreads();
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
