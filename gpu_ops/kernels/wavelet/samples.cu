// What:    conversions around the transform: samples to floats and back, circular shifts, their average, the removed
//          noise
// Idea:    one thread per value; integers become floats once at the start, and are rounded and clamped to integers once
//          at the end
// Shapes:  all (rows, columns, channels) interleaved, a signal is one row
// Launch:  2D grid over (columns * channels, rows), any 2D block; a thread's rows are one grid apart
// Traffic: 1 value read and 1 written; one more read to add to a sum or to subtract
// Source:  S0; Coifman & Donoho 1995
typedef SAMPLE S;
typedef REAL T;
typedef long long Index;
#if INTEGER
typedef float R;
#else
typedef S R;
#endif

// The thread's value of a row, and its rows.
#define FOR_EACH_VALUE(width, rows)                                                                                   \
    const Index e = (Index)blockIdx.x * blockDim.x + threadIdx.x;                                                     \
    if (e >= (width)) return;                                                                                         \
    for (Index r = (Index)blockIdx.y * blockDim.y + threadIdx.y; r < (rows); r += (Index)gridDim.y * blockDim.y)

__device__ __forceinline__ S sample_of(T value)
{
#if INTEGER
    const T most = sizeof(S) == 1 ? 255 : 65535;
    const T rounded = floor(value + (T)0.5);
    return (S)(rounded < 0 ? 0 : rounded > most ? most : rounded);
#else
    return (S)value;
#endif
}

// y[i] = x[i - down], circular.
extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_samples_shift(
    const S* __restrict__ x, T* __restrict__ y, Index rows, Index columns, int channels, Index down, Index right)
{
    FOR_EACH_VALUE(columns * channels, rows)
    {
        const Index from = e - right * channels;
        const Index row = r < down ? r - down + rows : r - down;
        y[r * columns * channels + e] = (T)x[row * columns * channels + (from < 0 ? from + columns * channels : from)];
    }
}

// sum[i] += y[i + down], circular; the first one starts the sum.
extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_samples_add(
    const T* __restrict__ y, T* __restrict__ sum, Index rows, Index columns, int channels, Index down, Index right,
    int first)
{
    FOR_EACH_VALUE(columns * channels, rows)
    {
        const Index width = columns * channels, from = e + right * channels;
        const Index row = r + down < rows ? r + down : r + down - rows;
        const T value = y[row * width + (from < width ? from : from - width)];
        sum[r * width + e] = first ? value : sum[r * width + e] + value;
    }
}

// The mean of `count` results, whose sum is `sum`.
extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_samples_finish(
    const T* __restrict__ sum, S* __restrict__ out, Index rows, Index columns, int channels, T count)
{
    FOR_EACH_VALUE(columns * channels, rows)
    {
        const Index at = r * columns * channels + e;
        out[at] = sample_of(sum[at] / count);
    }
}

// x minus the mean, before rounding to integers.
extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_samples_removed(
    const S* __restrict__ x, const T* __restrict__ sum, R* __restrict__ noise, Index rows, Index columns, int channels,
    T count)
{
    FOR_EACH_VALUE(columns * channels, rows)
    {
        const Index at = r * columns * channels + e;
        noise[at] = (R)((T)x[at] - sum[at] / count);
    }
}
