// What:    box filter from a summed-area table, the sums of all rectangles that start in the corner
// Idea:    every square needs only four entries of the table, for any size and position; but entries grow with the
//          image, so they are doubles, and their rounding errors matter for small squares
// Shapes:  x, y (height, width, CHANNELS) interleaved; table (height + 2 * radius, width + 2 * radius, CHANNELS): the
//          image with its border around it
// Launch:  rows: 1D grid over (height + 2 * radius) * CHANNELS; columns: 1D grid over (width + 2 * radius) * CHANNELS;
//          squares: 2D grid over (width * CHANNELS, height), any 2D block
// Traffic: at least 1 sample read and 1 written per element, and 2 doubles written and 5 read
// Source:  S3
#include "box.cuh"

extern "C" __global__ void box_table_rows(
    const T* __restrict__ x, double* __restrict__ table, int height, int width, int radius)
{
    const long long line = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long row = line / CHANNELS;
    if (row >= height + 2 * radius) return;
    const int channel = line - row * CHANNELS;
    const int r = border_index((int)row - radius, height);
    const int columns = width + 2 * radius;
    double sum = 0;
    for (int column = 0; column < columns; ++column) {
        const int c = border_index(column - radius, width);
        if (r >= 0 && c >= 0) sum += (double)x[((long long)r * width + c) * CHANNELS + channel];
        table[(row * columns + column) * CHANNELS + channel] = sum;
    }
}

extern "C" __global__ void box_table_columns(double* __restrict__ table, int height, int width, int radius)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    const long long pitch = (long long)(width + 2 * radius) * CHANNELS;
    if (e >= pitch) return;
    double sum = 0;
    for (int row = 0; row < height + 2 * radius; ++row) {
        sum += table[row * pitch + e];
        table[row * pitch + e] = sum;
    }
}

// The sum of all elements above and to the left of an element, inclusive.
__device__ __forceinline__ double corner(
    const double* __restrict__ table, int row, int column, int channel, long long pitch)
{
    return row < 0 || column < 0 ? 0.0 : table[row * pitch + column * CHANNELS + channel];
}

extern "C" __global__ void box_table_squares(
    const double* __restrict__ table, T* __restrict__ y, int height, int width, int radius)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    const int top = blockIdx.y * blockDim.y + threadIdx.y;
    if (e >= width * CHANNELS || top >= height) return;
    const int left = e / CHANNELS;
    const int channel = e - left * CHANNELS;
    const long long pitch = (long long)(width + 2 * radius) * CHANNELS;
    const int bottom = top + 2 * radius, right = left + 2 * radius;
    const double below = corner(table, bottom, right, channel, pitch) - corner(table, bottom, left - 1, channel, pitch);
    const double above = corner(table, top - 1, right, channel, pitch) - corner(table, top - 1, left - 1, channel, pitch);
    const int window = 2 * radius + 1;
#if INTEGER
    y[top * ((long long)width * CHANNELS) + e] = finish((A)(below - above), window);
#else
    y[top * ((long long)width * CHANNELS) + e] = finish((below - above) / window / window, window);
#endif
}
