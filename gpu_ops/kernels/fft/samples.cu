// What:    conversions around the transform: segments of samples, less their mean, times a window, to complex numbers;
//          real parts of an inverse transform to samples
// Idea:    one thread per complex number; segments are read from x directly, so overlapping ones need no copies. Means
//          are partial sums in double, one per block, which one thread per mean adds
// Shapes:  x (n, CHANNELS) of signals, (height, width, CHANNELS) of images; z (segments, n, CHANNELS) or as the image;
//          sums (segments * CHANNELS, pieces) and means (segments * CHANNELS) double; windows: the length of their axis
// Launch:  convert: 1D grid over the complex numbers; sums: grid (pieces, segments * CHANNELS, grid-stride), a power of
//          two of threads, shared one double per thread; means: 1D grid over segments * CHANNELS
// Traffic: 1 sample read and 1 complex number written per point; a second read for the means
// Source:  S2
#include "fft.cuh"
#include "block_total.cuh"

typedef SAMPLE T;

extern __shared__ __align__(16) unsigned char memory[];

// Partial sums of lines: line s * channels + c starts with sample s * hop, channel c.
extern "C" __global__ void fft_samples_sums(
    const T* __restrict__ x, double* __restrict__ sums, long long lines, long long n, long long hop, int channels)
{
    const long long piece = (n + gridDim.x - 1) / gridDim.x;
    const long long first = blockIdx.x * piece;
    const long long end = first + piece < n ? first + piece : n;
    for (long long line = blockIdx.y; line < lines; line += gridDim.y) {
        const long long segment = line / channels;
        const T* from = x + segment * hop * channels + (line - segment * channels);
        double sum = 0;
        for (long long k = first + threadIdx.x; k < end; k += blockDim.x) sum += (double)from[k * channels];
        sum = block_total(sum, (double*)memory, Add());
        if (threadIdx.x == 0) sums[line * gridDim.x + blockIdx.x] = sum;
    }
}

extern "C" __global__ void fft_samples_means(
    const double* __restrict__ sums, double* __restrict__ means, long long lines, long long n, int pieces)
{
    const long long line = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    double sum = 0;
    for (int p = 0; p < pieces; ++p) sum += sums[line * pieces + p];
    means[line] = sum / (double)n;
}

// A sample minus its mean. The difference is taken in double: in float a large mean would cancel most digits.
__device__ __forceinline__ R sample_of(T value, const double* __restrict__ means, long long line, int detrend)
{
    return detrend ? (R)((double)value - means[line]) : (R)value;
}

extern "C" __global__ void fft_samples_signal(
    const T* __restrict__ x, C* __restrict__ z, const R* __restrict__ window, const double* __restrict__ means,
    long long segments, long long n, long long hop, int channels, int windowed, int detrend)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= segments * n * channels) return;
    const long long segment = t / (n * channels);
    const long long k = t / channels - segment * n;
    const int channel = (int)(t % channels);
    R value = sample_of(x[(segment * hop + k) * channels + channel], means, segment * channels + channel, detrend);
    if (windowed) value *= window[k];
    z[t] = complex_of(value, 0);
}

extern "C" __global__ void fft_samples_image(
    const T* __restrict__ x, C* __restrict__ z, const R* __restrict__ window_y, const R* __restrict__ window_x,
    const double* __restrict__ means, long long height, long long width, int channels, int windowed, int detrend)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= height * width * channels) return;
    const long long pixel = t / channels;
    const long long row = pixel / width;
    R value = sample_of(x[t], means, t - pixel * channels, detrend);
    if (windowed) value *= window_y[row] * window_x[pixel - row * width];
    z[t] = complex_of(value, 0);
}

// Real parts times a factor as samples: integers are rounded half up and clamped.
extern "C" __global__ void fft_samples_inverse(const C* __restrict__ z, T* __restrict__ out, long long n, R factor)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    const R value = z[t].x * factor;
#if INTEGER
    const R whole = floor(value + (R)0.5), most = (R)(T)~0;
    out[t] = (T)(whole < 0 ? 0 : whole > most ? most : whole);
#else
    out[t] = value;
#endif
}
