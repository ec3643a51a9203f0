// What:    box filter with running sums, one thread per row and then one per column, rows transposed in shared memory
// Idea:    the whole block loads along rows, tile by tile; then each lane of one warp sums along its own row of the
//          tile in shared memory. A 33rd column avoids bank conflicts in both directions. Entering values, leaving
//          values and results all pass through such tiles, so all accesses to global memory are coalesced
// Shapes:  x, y and the intermediate rows (height, width, CHANNELS) interleaved
// Launch:  rows: grid (height / 32, CHANNELS), blocks of a multiple of 32 threads, of which 32 sum; columns: 1D grid
//          over width * CHANNELS
// Traffic: 2 samples read and 1 written per element, and 1 of R written and 2 read; a pass uses every CHANNELS-th
//          sample that it loads
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
    __shared__ R lost[TILE][TILE + 1];  // leaving values, which the results overwrite after their use
    const int channel = blockIdx.y;
    const int top = blockIdx.x * TILE;
    const int lane = threadIdx.x % TILE;
    const bool adds = threadIdx.x < TILE && top + (int)threadIdx.x < height;
    const A weight = weight_of(2 * radius + 1);
    A sum = 0;
    // The window of the column before the first; all values to its right are loaded in tiles.
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
