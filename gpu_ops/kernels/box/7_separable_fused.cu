// What:    box filter, both passes of a tile in shared memory, in one launch
// Idea:    kernel fusion: the row sums stay in shared memory. A block loads each pixel once and recomputes the row sums
//          of the halo above and below; the tile must fit into shared memory, which limits the radius
// Shapes:  x, y (height, width, CHANNELS) interleaved
// Launch:  2D grid over (width * CHANNELS, height), any 2D block of bx x by; shared (by + 2 * radius) rows of bx of R
//          and bx + 2 * radius * CHANNELS samples
// Traffic: at least 1 sample read and 1 written per element; neighbouring blocks read the halo again
// Source:  S3
#include "box.cuh"

extern __shared__ __align__(16) unsigned char memory[];

extern "C" __global__ void box_separable_fused(
    const T* __restrict__ x, T* __restrict__ y, int height, int width, int radius)
{
    R* rows = (R*)memory;
    T* tile = (T*)(rows + (blockDim.y + 2 * radius) * blockDim.x);
    const int halo = radius * CHANNELS;
    const int columns = width * CHANNELS;
    const int begin = blockIdx.x * blockDim.x;
    const int top = blockIdx.y * blockDim.y;
    const int live_columns = min((int)blockDim.x, columns - begin);
    const int live_rows = min((int)blockDim.y, height - top);
    const int stride = live_columns + 2 * halo;
    const long long pitch = columns;
    const A weight = weight_of(2 * radius + 1);

    // The block loads only what live outputs need, so blocks at the edges read nothing past the image.
    for (int v = threadIdx.y; v < live_rows + 2 * radius; v += blockDim.y) {
        const int r = border_index(top + v - radius, height);
        for (int i = threadIdx.x; i < stride; i += blockDim.x) {
            // begin + i counts elements from one halo before the image: it is not negative, so the division is a floor.
            const int column = (begin + i) / CHANNELS;
            const int c = border_index(column - radius, width);
            const bool inside = r >= 0 && c >= 0;
            tile[v * stride + i] = inside ? x[r * pitch + c * CHANNELS + (begin + i - column * CHANNELS)] : (T)0;
        }
    }
    __syncthreads();

    if ((int)threadIdx.x < live_columns) {
        for (int v = threadIdx.y; v < live_rows + 2 * radius; v += blockDim.y) {
            A sum = 0;
            for (int u = 0; u <= 2 * radius; ++u) sum += weight * (A)tile[v * stride + threadIdx.x + u * CHANNELS];
            rows[v * blockDim.x + threadIdx.x] = (R)sum;
        }
    }
    __syncthreads();

    if ((int)threadIdx.x >= live_columns || (int)threadIdx.y >= live_rows) return;
    A sum = 0;
    for (int v = 0; v <= 2 * radius; ++v) sum += weight * (A)rows[(threadIdx.y + v) * blockDim.x + threadIdx.x];
    y[(top + threadIdx.y) * pitch + begin + threadIdx.x] = finish(sum, 2 * radius + 1);
}
