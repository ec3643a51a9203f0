// Shared by the box kernels, which take the mean of the square of window = 2 * radius + 1 pixels a side around each
// pixel. SAMPLE, ROW and SUM name the types T, R and A; INTEGER is 1 when T is an integer type.
#pragma once
#include "border.cuh"

typedef SAMPLE T;  // a sample of the image
typedef ROW R;     // the result of a row's window: the exact sum of integers, the mean of floats
typedef SUM A;     // the type of sums

// The factor of each value in a float sum, so that no sum is larger than the values; integer sums are exact and divided
// at the end.
__device__ __forceinline__ A weight_of(int window)
{
#if INTEGER
    return 1;
#else
    return (A)1 / window;
#endif
}

// The mean as a sample, from a square's sum: integers are rounded half up (the mean cannot leave the range of T).
__device__ __forceinline__ T finish(A sum, int window)
{
#if INTEGER
    const unsigned int count = window * window;
    return (T)((sum + count / 2) / count);
#else
    return (T)sum;
#endif
}

// The value at position i, any i, of an axis of n values with stride `step` that begins at `axis`: see border.cuh.
template <typename V>
__device__ __forceinline__ V value_at(const V* __restrict__ axis, int i, int n, long long step)
{
    const int inside = border_index(i, n);
    return inside < 0 ? (V)0 : axis[inside * step];
}

// The means of one thread's column, from the row results of the first pass: the next square adds one row and subtracts
// one.
__device__ __forceinline__ void slide_down(
    const R* __restrict__ rows, T* __restrict__ y, int height, int width, int radius)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    const long long pitch = (long long)width * CHANNELS;
    if (e >= pitch) return;
    const A weight = weight_of(2 * radius + 1);
    A sum = 0;
    for (int v = -radius; v <= radius; ++v) sum += (A)value_at(rows + e, v, height, pitch);
    for (int row = 0; row < height; ++row) {
        y[row * pitch + e] = finish(weight * sum, 2 * radius + 1);
        sum += (A)value_at(rows + e, row + radius + 1, height, pitch);
        sum -= (A)value_at(rows + e, row - radius, height, pitch);
    }
}
