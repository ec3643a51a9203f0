// What:    box filter in two passes, along the rows and then along the columns
// Idea:    separable filter: the sum of a square is the sum of its rows' sums, which all squares of these columns
//          share: 2 * window loads per output instead of window^2. The cost is an intermediate image, written and read
//          once
// Shapes:  x, y and the intermediate rows (height, width, CHANNELS) interleaved
// Launch:  both: 2D grid over (width * CHANNELS, height), any 2D block
// Traffic: at least 1 sample read and 1 written per element, and 1 of R written and read; 2 * window loads from the
//          caches
// Source:  S3
#include "box.cuh"

extern "C" __global__ void box_separable_rows(
    const T* __restrict__ x, R* __restrict__ rows, int height, int width, int radius)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (e >= width * CHANNELS || row >= height) return;
    const int column = e / CHANNELS;
    const int channel = e - column * CHANNELS;
    const long long pitch = (long long)width * CHANNELS;
    const A weight = weight_of(2 * radius + 1);
    A sum = 0;
    for (int u = column - radius; u <= column + radius; ++u)
        sum += weight * (A)value_at(x + row * pitch + channel, u, width, CHANNELS);
    rows[row * pitch + e] = (R)sum;
}

extern "C" __global__ void box_separable_columns(
    const R* __restrict__ rows, T* __restrict__ y, int height, int width, int radius)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (e >= width * CHANNELS || row >= height) return;
    const long long pitch = (long long)width * CHANNELS;
    const A weight = weight_of(2 * radius + 1);
    A sum = 0;
    for (int v = row - radius; v <= row + radius; ++v)
        sum += weight * (A)value_at(rows + e, v, height, pitch);
    y[row * pitch + e] = finish(sum, 2 * radius + 1);
}
