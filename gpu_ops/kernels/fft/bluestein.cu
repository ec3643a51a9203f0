// What:    Bluestein's method around power-of-two transforms for lines of other lengths: chirps and the product
// Idea:    2 j k = j^2 + k^2 - (k - j)^2 makes a transform of n points a convolution with a chirp, and a convolution is
//          a product of two transforms of m points, m the first power of two from 2 n - 1 on (Bluestein)
// Shapes:  x, y (lines / inner, n, inner), z (lines / inner, m, inner): the points of a line have the stride `inner`;
//          chirp (n): exp(-pi i k^2 / n), its phase from k^2 modulo 2 n; spectrum (m): the transform of the conjugate
//          chirp, divided by m
// Launch:  1D grid over lines * m points (chirp, product) or lines * n (result), any block
// Traffic: chirp: n read and m written per line, product: m and m, result: n and n; in addition to two transforms of m
//          points
// Source:  S2
#include "fft.cuh"

extern "C" __global__ void fft_bluestein_chirp(
    const C* __restrict__ x, C* __restrict__ z, const C* __restrict__ chirp,
    long long lines, long long inner, long long n, long long m, int inverse)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= lines * m) return;
    const long long outer = t / (m * inner);
    const long long k = t / inner - outer * m;
    const long long i = t % inner;
    z[t] = k < n ? times(x[(outer * n + k) * inner + i], conjugate_if(chirp[k], inverse)) : complex_of(0, 0);
}

extern "C" __global__ void fft_bluestein_product(
    C* __restrict__ z, const C* __restrict__ spectrum, long long lines, long long inner, long long m, int inverse)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= lines * m) return;
    // The chirp is symmetric, and so is its transform: that of the conjugate chirp is its conjugate.
    z[t] = times(z[t], conjugate_if(spectrum[t / inner % m], inverse));
}

extern "C" __global__ void fft_bluestein_result(
    const C* __restrict__ z, C* __restrict__ y, const C* __restrict__ chirp,
    long long lines, long long inner, long long n, long long m, int inverse)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= lines * n) return;
    const long long outer = t / (n * inner);
    const long long k = t / inner - outer * n;
    const long long i = t % inner;
    y[t] = times(z[(outer * m + k) * inner + i], conjugate_if(chirp[k], inverse));
}
