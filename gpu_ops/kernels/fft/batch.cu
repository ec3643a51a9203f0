// What:    conversions around batched transforms: samples to complex numbers, and half-spectra of real samples
// Idea:    one thread per complex number; tiles are gathered from the rows of an image, incomplete tiles at its edges
//          are left out
// Shapes:  x (rows, row) samples; z (rows, across, n, channels) complex, or (lines, n); y (rows, across, bins,
//          channels)
// Launch:  1D grid over the numbers that are written, any block; unpack: over lines * (n + 1)
// Traffic: gather: 1 or 2 samples read and 1 complex number written per point; half and unpack: 1 and 1
// Source:  S2
#include "fft.cuh"

typedef SAMPLE T;

// Two neighbouring samples are the real and the imaginary part, or each sample is a real part alone.
extern "C" __global__ void fft_batch_gather(
    const T* __restrict__ x, C* __restrict__ z, long long count, long long width, long long row, int pairs)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    const long long y = t / width;
    const T* from = x + y * row + (t - y * width) * (pairs ? 2 : 1);
    z[t] = complex_of((R)from[0], pairs ? (R)from[1] : (R)0);
}

extern "C" __global__ void fft_batch_half(
    const C* __restrict__ z, C* __restrict__ y, long long count, long long n, long long bins, int channels)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    const long long line = t / (bins * channels);
    y[t] = z[line * n * channels + (t - line * bins * channels)];
}

// z (lines, n) is the transform of samples packed in pairs, y (lines, stride) has the n + 1 bins of all 2 n samples:
// the spectra of the even and of the odd samples, the odd ones multiplied by `split_table` (n + 1).
extern "C" __global__ void fft_batch_unpack(
    const C* __restrict__ z, C* __restrict__ y, const C* __restrict__ split_table, long long count, long long n,
    long long stride)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    const long long line = t / (n + 1), k = t - line * (n + 1);
    const C one = z[line * n + (k < n ? k : 0)], other = z[line * n + (k ? n - k : 0)];
    const C even = complex_of((one.x + other.x) / 2, (one.y - other.y) / 2);
    const C odd = complex_of((one.y + other.y) / 2, (other.x - one.x) / 2);
    y[line * stride + k] = plus(even, times(odd, split_table[k]));
}
