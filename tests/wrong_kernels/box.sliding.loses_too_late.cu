// Wrong on purpose: the row's window loses a pixel late, so that it is one pixel too wide
#include "box.cuh"

// Float sums run in double: what rounding leaves behind in a sum stays there to the end of the axis.
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
        sum -= (A)value_at(x + first, column - radius - 1, width, CHANNELS);
    }
}

extern "C" __global__ void box_sliding_columns(
    const R* __restrict__ rows, T* __restrict__ y, int height, int width, int radius)
{
    slide_down(rows, y, height, width, radius);
}
