// What:    box filter with running sums, one thread per row and then one thread per column
// Idea:    running sum: the next window adds one value and subtracts one, so each pass takes 2 loads per output for any
//          radius. But there are only height, then width threads, and in the first pass neighbouring lanes load
//          addresses one row apart (not coalesced)
// Shapes:  x, y and the intermediate rows (height, width, CHANNELS) interleaved
// Launch:  rows: 1D grid over height * CHANNELS; columns: 1D grid over width * CHANNELS
// Traffic: 2 samples read and 1 written per element, and 1 of R written and 2 read
// Source:  S3
#include "box.cuh"

// Running sums of floats are in double: a rounding error stays in a running sum to the end of the axis.
extern "C" __global__ void box_sliding_rows(
    const T* __restrict__ x, R* __restrict__ rows, int height, int width, int radius)
{
    const long long line = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long row = line / CHANNELS;
    if (row >= height) return;
    const long long first = row * width * CHANNELS + (line - row * CHANNELS);
    const A weight = weight_of(2 * radius + 1);
    A sum = 0;
    for (int u = -radius; u <= radius; ++u) sum += (A)value_at(x + first, u, width, CHANNELS);
    for (int column = 0; column < width; ++column) {
        rows[first + (long long)column * CHANNELS] = (R)(weight * sum);
        sum += (A)value_at(x + first, column + radius + 1, width, CHANNELS);
        sum -= (A)value_at(x + first, column - radius, width, CHANNELS);
    }
}

extern "C" __global__ void box_sliding_columns(
    const R* __restrict__ rows, T* __restrict__ y, int height, int width, int radius)
{
    slide_down(rows, y, height, width, radius);
}
