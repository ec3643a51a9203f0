// What:    one level of the wavelet transform along rows or columns, forward and inverse, taps read from global memory
// Idea:    one thread per output pair, low and high; it loads every tap and every sample from global memory. Inverse by
//          gather: one thread per sample reads the coefficients that contribute to it, with the taps of its parity; a
//          scatter would race
// Shapes:  rows: x (rows, n, channels), low and high (rows, half, channels); columns: x (n, width), low and high (half,
//          width); each has its own pitch, in values; bank (4, taps): low and high forward, reversed, then low and high
//          inverse
// Launch:  2D grid over (values of a line, lines), any 2D block; a thread's lines are one grid apart
// Traffic: at least 1 value read and 1 written per value; the caches serve 3 * taps loads per pair forward, 2 * taps
//          per sample inverse
// Source:  S0
#include "wavelet.cuh"

__device__ __forceinline__ void make_pair(
    const T* x, Index step, Index n, Index k, const T* bank, int taps, T* low, T* high)
{
    const Index first = 2 * k - reach_of(taps);
    T l = 0, h = 0;
    for (int t = 0; t < taps; ++t) {
        const T value = x[inside(first + t, n) * step];
        l += bank[t] * value;
        h += bank[taps + t] * value;
    }
    *low = l;
    *high = h;
}

__device__ __forceinline__ T gather(
    const T* low, Index low_step, const T* high, Index high_step, Index half, Index i, const T* bank, int taps)
{
    const Index last = i + reach_of(taps);
    T sum = 0;
    for (int t = (int)(last & 1); t < taps; t += 2) {
        const Index k = coefficient((last - t) / 2, half);
        sum += bank[2 * taps + t] * low[k * low_step];
        sum += bank[3 * taps + t] * high[k * high_step];
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_global_forward_rows(
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ high, const T* __restrict__ bank, int taps,
    Index rows, Index n, Index half, int channels, Index x_pitch, Index low_pitch, Index high_pitch)
{
    const Index e = (Index)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= half * channels) return;
    const Element p = index_of(e, channels);
    for (Index r = first_line(); r < rows; r += line_stride())
        make_pair(x + r * x_pitch + p.channel, channels, n, p.position, bank, taps, low + r * low_pitch + e,
                  high + r * high_pitch + e);
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_global_forward_columns(
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ high, const T* __restrict__ bank, int taps,
    Index n, Index half, Index width, Index x_pitch, Index low_pitch, Index high_pitch)
{
    const Index e = (Index)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= width) return;
    for (Index k = first_line(); k < half; k += line_stride())
        make_pair(x + e, x_pitch, n, k, bank, taps, low + k * low_pitch + e, high + k * high_pitch + e);
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_global_inverse_rows(
    const T* __restrict__ low, const T* __restrict__ high, T* __restrict__ x, const T* __restrict__ bank, int taps,
    Index rows, Index n, Index half, int channels, Index low_pitch, Index high_pitch, Index x_pitch)
{
    const Index e = (Index)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n * channels) return;
    const Element p = index_of(e, channels);
    for (Index r = first_line(); r < rows; r += line_stride())
        x[r * x_pitch + e] = gather(low + r * low_pitch + p.channel, channels, high + r * high_pitch + p.channel,
                                    channels, half, p.position, bank, taps);
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_global_inverse_columns(
    const T* __restrict__ low, const T* __restrict__ high, T* __restrict__ x, const T* __restrict__ bank, int taps,
    Index n, Index half, Index width, Index low_pitch, Index high_pitch, Index x_pitch)
{
    const Index e = (Index)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= width) return;
    for (Index i = first_line(); i < n; i += line_stride())
        x[i * x_pitch + e] = gather(low + e, low_pitch, high + e, high_pitch, half, i, bank, taps);
}
