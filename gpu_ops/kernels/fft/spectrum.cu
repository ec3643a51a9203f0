// What:    magnitudes, power densities, phases or radial means of a transform
// Idea:    one thread per value. A signal is an image one pixel wide; an offset added to the index of each store moves
//          zero frequency to the middle. Sums over segments and over rings are in double; rings are summed by atomics
// Shapes:  z (height, width, channels) complex, or (segments, n, channels); the results in the same order
// Launch:  1D grid over the values, any block
// Traffic: 1 complex number read and 1 real one written per point
// Source:  S2
#include "fft.cuh"

// The index at which value t of (height, width, channels) is stored, circularly shifted down and to the right.
__device__ __forceinline__ long long moved(
    long long t, long long height, long long width, int channels, long long down, long long right)
{
    const long long pixel = t / channels;
    const long long row = pixel / width;
    const long long y = (row + down) % height, x = (pixel - row * width + right) % width;
    return (y * width + x) * channels + (t - pixel * channels);
}

extern "C" __global__ void fft_spectrum_moved(
    const C* __restrict__ z, C* __restrict__ out, long long height, long long width, int channels,
    long long down, long long right)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= height * width * channels) return;
    out[moved(t, height, width, channels, down, right)] = z[t];
}

// The square of a magnitude, or the magnitude, times a factor; rows 1 ... doubled - 1 represent two frequencies.
__device__ __forceinline__ R size_of(C z, R factor, int squared, bool twice)
{
    const R size = squared ? z.x * z.x + z.y * z.y : hypot(z.x, z.y);
    return size * (twice ? 2 * factor : factor);
}

extern "C" __global__ void fft_spectrum_sizes(
    const C* __restrict__ z, R* __restrict__ out, long long height, long long width, int channels,
    long long down, long long right, R factor, int squared, long long doubled)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= height * width * channels) return;
    const long long row = t / (width * channels);
    out[moved(t, height, width, channels, down, right)] = size_of(z[t], factor, squared, row > 0 && row < doubled);
}

// z (segments, n, channels), out (bins, segments, channels).
extern "C" __global__ void fft_spectrum_segments(
    const C* __restrict__ z, R* __restrict__ out, long long segments, long long n, long long bins, int channels,
    R factor, long long doubled)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= bins * segments * channels) return;
    const long long k = t / (segments * channels);
    const long long segment = t / channels - k * segments;
    out[t] = size_of(z[(segment * n + k) * channels + t % channels], factor, 1, k > 0 && k < doubled);
}

// sums (pieces, values): partial sums of squared magnitudes over some segments; a segment has n * channels numbers.
extern "C" __global__ void fft_spectrum_sums(
    const C* __restrict__ z, double* __restrict__ sums, long long segments, long long n, long long values, int pieces)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= values * pieces) return;
    const long long share = (segments + pieces - 1) / pieces;
    const long long first = t / values * share, index = t % values;
    double sum = 0;
    for (long long s = first; s < first + share && s < segments; ++s) {
        const C v = z[s * n + index];
        sum += (double)(v.x * v.x + v.y * v.y);
    }
    sums[t] = sum;
}

extern "C" __global__ void fft_spectrum_mean(
    const double* __restrict__ sums, R* __restrict__ out, long long values, int pieces, int channels,
    double factor, long long doubled)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= values) return;
    double sum = 0;
    for (int p = 0; p < pieces; ++p) sum += sums[p * values + t];
    const long long k = t / channels;
    out[t] = (R)(sum * (k > 0 && k < doubled ? 2 * factor : factor));
}

// The phase; 0 where the magnitude is below a fraction of the maximum of its channel, or below `least`.
extern "C" __global__ void fft_spectrum_phase(
    const C* __restrict__ z, const R* __restrict__ largest, R* __restrict__ out, long long height, long long width,
    int channels, long long down, long long right, R share, R least)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= height * width * channels) return;
    const C v = z[t];
    const R low = share * largest[t % channels];
    const bool noise = hypot(v.x, v.y) < (low > least ? low : least);
    out[moved(t, height, width, channels, down, right)] = noise ? (R)0 : atan2(v.y, v.x);
}

// The ring of a bin. Each operation is rounded separately, so that all devices compute equal rings.
__device__ __forceinline__ long long ring_of(long long y, long long x, long long height, long long width)
{
    const long long ky = y < height - y ? y : height - y, kx = x < width - x ? x : width - x;
    const long long longest = height > width ? height : width;
    const double a = __ddiv_rn((double)(ky * longest), (double)height);
    const double b = __ddiv_rn((double)(kx * longest), (double)width);
    return (long long)floor(__dadd_rn(__dsqrt_rn(__dadd_rn(__dmul_rn(a, a), __dmul_rn(b, b))), 0.5));
}

extern "C" __global__ void fft_spectrum_rings(
    const R* __restrict__ power, double* __restrict__ sums, unsigned int* __restrict__ bins,
    long long height, long long width, int channels)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= height * width * channels) return;
    const long long pixel = t / channels;
    const int channel = (int)(t - pixel * channels);
    const long long ring = ring_of(pixel / width, pixel % width, height, width);
    atomicAdd(&sums[ring * channels + channel], (double)power[t]);
    if (channel == 0) atomicAdd(&bins[ring], 1u);
}

extern "C" __global__ void fft_spectrum_ring_means(
    const double* __restrict__ sums, const unsigned int* __restrict__ bins, R* __restrict__ out,
    long long values, int channels)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= values) return;
    const unsigned int count = bins[t / channels];
    out[t] = count ? (R)(sums[t] / (double)count) : (R)0;
}
