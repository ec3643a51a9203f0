// Wrong on purpose: on the way back every pair of coefficients is added to its samples without atomics
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

extern "C" __global__ void wavelet_global_forward_rows(
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ high, const T* __restrict__ bank, int taps,
    Index rows, Index n, Index half, int channels, Index x_pitch, Index low_pitch, Index high_pitch)
{
    const Index e = (Index)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= half * channels) return;
    const Place p = place_of(e, channels);
    for (Index r = first_line(); r < rows; r += lines_apart())
        make_pair(x + r * x_pitch + p.channel, channels, n, p.position, bank, taps, low + r * low_pitch + e,
                  high + r * high_pitch + e);
}

extern "C" __global__ void wavelet_global_inverse_rows(
    const T* __restrict__ low, const T* __restrict__ high, T* __restrict__ x, const T* __restrict__ bank, int taps,
    Index rows, Index n, Index half, int channels, Index low_pitch, Index high_pitch, Index x_pitch)
{
    const Index e = (Index)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= n * channels) return;
    const Place p = place_of(e, channels);
    for (Index r = first_line(); r < rows; r += lines_apart()) {
        x[r * x_pitch + e] = 0;
        if (p.position >= half) continue;
        for (int t = 0; t < taps; ++t) {
            Index i = 2 * p.position + t - reach_of(taps);
            if (BORDER == 0) i = around(i, 2 * half);
            if (i < 0 || i >= n) continue;
            x[r * x_pitch + i * channels + p.channel] += bank[2 * taps + t] * low[r * low_pitch + e] +
                                                         bank[3 * taps + t] * high[r * high_pitch + e];
        }
    }
}
