// What:    one level of the wavelet transform of signals, forward and inverse; the inverse scatters with atomics
// Idea:    inverse by scatter, as in the source: one thread per coefficient pair adds the products with its taps to the
//          samples that they cover. Several threads add to the same sample, so plain additions would race; atomic
//          additions are correct but are serialised
// Shapes:  x (rows, n, channels), zeros before the inverse, low and high (rows, half, channels); each has its own
//          pitch, in values; bank: low and high forward, reversed, then low and high inverse
// Launch:  2D grid over (values of a line of coefficients, lines), any 2D block; a thread's lines are one grid apart
// Traffic: forward 1 value read and 1 written per value; inverse taps atomic additions per pair
// Source:  S0
#include "wavelet.cuh"

#define MOST_TAPS 64

__constant__ T bank[4 * MOST_TAPS];

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_scatter_forward_rows(
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ high, int taps,
    Index rows, Index n, Index half, int channels, Index x_pitch, Index low_pitch, Index high_pitch)
{
    const Index e = (Index)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= half * channels) return;
    const Element p = index_of(e, channels);
    const Index first = 2 * p.position - reach_of(taps);
    for (Index r = first_line(); r < rows; r += line_stride()) {
        T l = 0, h = 0;
        for (int t = 0; t < taps; ++t) {
            const T value = x[r * x_pitch + inside(first + t, n) * channels + p.channel];
            l += bank[t] * value;
            h += bank[MOST_TAPS + t] * value;
        }
        low[r * low_pitch + e] = l;
        high[r * high_pitch + e] = h;
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_scatter_inverse_rows(
    const T* __restrict__ low, const T* __restrict__ high, T* __restrict__ x, int taps,
    Index rows, Index n, Index half, int channels, Index low_pitch, Index high_pitch, Index x_pitch)
{
    const Index e = (Index)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= half * channels) return;
    const Element p = index_of(e, channels);
    for (Index r = first_line(); r < rows; r += line_stride()) {
        const T l = low[r * low_pitch + e], h = high[r * high_pitch + e];
        for (int t = 0; t < taps; ++t) {
            Index i = 2 * p.position + t - reach_of(taps);
#if BORDER == 0
            i = around(i, 2 * half);
#endif
            if (i >= 0 && i < n)
                atomicAdd(&x[r * x_pitch + i * channels + p.channel],
                          bank[2 * MOST_TAPS + t] * l + bank[3 * MOST_TAPS + t] * h);
        }
    }
}
