// What:    level in dB of every frequency of a real image, in two launches: over rows, and over columns
// Idea:    kernel fusion: all pre- and post-processing is part of the two launches. The first one reads the samples,
//          transforms two rows at once as the real and imaginary parts of one complex line, separates them and stores
//          half of each spectrum: the other half is its conjugate. The second one transforms neighbouring columns and
//          stores each level at its frequency and at the opposite one, with zero frequency in the middle or not.
//          Columns 0 and width / 2 are real before it, so they share one column
// Shapes:  x, out (height, width), y (height, width / 2), both extents powers of two from 2 on; window_y (height);
//          window_x (width); means (1); table: the twiddle factors of the lines
// Launch:  rows (COLUMNS 0): grid over pairs of rows, blocks (threads per line, pairs); columns: grid over the columns
//          of y, blocks (COLUMNS, threads per line); POINTS points per thread; shared two planes of `plane` real
//          numbers per line
// Traffic: 1 sample read, 1/2 complex number written and read, 1 level written per point; twiddle factors from the
//          caches
// Source:  S2
#if COLUMNS
#define LINE_LANE threadIdx.y
#define LINE_THREADS blockDim.y
#endif
#include "fft_level.cuh"
#include "fft_stockham.cuh"

// Separates the transforms of two real lines that were transformed as one complex line: `a` is its point k, `b` its
// point -k.
__device__ __forceinline__ C first_of(C a, C b) { return complex_of((R)0.5 * (a.x + b.x), (R)0.5 * (a.y - b.y)); }
__device__ __forceinline__ C second_of(C a, C b) { return complex_of((R)0.5 * (a.y + b.y), (R)0.5 * (b.x - a.x)); }

#if COLUMNS
// Shared memory interleaves the columns, so that lanes with the same point use neighbouring banks.
struct ColumnPadding {
    __device__ __forceinline__ static int index(int point, int done, int radix_bits)
    {
        return SpanPadding::index(point, done, radix_bits) * COLUMNS;
    }
};

// Extents are powers of two, so a remainder is a mask.
extern "C" __global__ void __launch_bounds__(THREADS) fft_spectrum_columns(
    const C* __restrict__ y, R* __restrict__ out, const C* __restrict__ table,
    int plane, int bits, int width, int down, int right, R factor, R least)
{
    const int height = 1 << bits, half = width / 2;
    const int column = blockIdx.x * COLUMNS + threadIdx.x;
    R* re = (R*)memory + threadIdx.x;
    R* im = re + plane * COLUMNS;
    C v[POINTS];
#pragma unroll
    for (int i = 0; i < POINTS; ++i) v[i] = y[(long long)(LINE_LANE + i * LINE_THREADS) * half + column];
    all_stages<ColumnPadding>(v, re, im, bits, TableInGlobal{table});

    if (blockIdx.x == 0) {  // the shared column needs its opposite points
        __syncthreads();
#pragma unroll
        for (int i = 0; i < POINTS; ++i) {
            const int row = LINE_LANE + i * LINE_THREADS;
            re[row * COLUMNS] = v[i].x;
            im[row * COLUMNS] = v[i].y;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < POINTS; ++i) {
        const int row = LINE_LANE + i * LINE_THREADS, opposite = (height - row) & (height - 1);
        C first = v[i], second = v[i];
        if (column == 0) {
            const C other = complex_of(re[opposite * COLUMNS], im[opposite * COLUMNS]);
            first = first_of(v[i], other);
            second = second_of(v[i], other);
        }
        const R level = level_of(first, factor, least);
        const int y1 = (row + down) & (height - 1), x1 = (column + right) & (width - 1);
        const int y2 = ((column ? opposite : row) + down) & (height - 1);
        const int x2 = ((column ? width - column : half) + right) & (width - 1);
        out[(long long)y1 * width + x1] = level;
        out[(long long)y2 * width + x2] = column ? level : level_of(second, factor, least);
    }
}
#else
typedef SAMPLE T;

// A sample minus the mean. The difference is taken in double: in float a large mean would cancel most digits.
__device__ __forceinline__ R sample_of(T value, const double* __restrict__ means, int detrend)
{
    return detrend ? (R)((double)value - means[0]) : (R)value;
}

extern "C" __global__ void __launch_bounds__(THREADS) fft_spectrum_rows(
    const T* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const R* __restrict__ window_y,
    const R* __restrict__ window_x, const double* __restrict__ means, int plane, int bits, int windowed, int detrend)
{
    const int width = 1 << bits, half = width / 2;
    const long long upper = 2 * ((long long)blockIdx.x * blockDim.y + threadIdx.y), lower = upper + 1;
    R* re = (R*)memory + 2 * threadIdx.y * plane;
    R* im = re + plane;
    C v[POINTS];
#pragma unroll
    for (int i = 0; i < POINTS; ++i) {
        const int k = threadIdx.x + i * blockDim.x;
        v[i] = complex_of(
            sample_of(x[upper * width + k], means, detrend), sample_of(x[lower * width + k], means, detrend));
    }
    if (windowed) {
        const R above = window_y[upper], below = window_y[lower];
#pragma unroll
        for (int i = 0; i < POINTS; ++i) {
            const R weight = window_x[threadIdx.x + i * blockDim.x];
            v[i] = complex_of(v[i].x * (above * weight), v[i].y * (below * weight));
        }
    }
    all_stages<SpanPadding>(v, re, im, bits, TableInGlobal{table});

    __syncthreads();  // others may still read from the last exchange
#pragma unroll
    for (int i = POINTS / 2; i < POINTS; ++i) {
        const int k = threadIdx.x + i * blockDim.x;
        re[k] = v[i].x;
        im[k] = v[i].y;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < POINTS / 2; ++i) {
        const int k = threadIdx.x + i * blockDim.x, opposite = k ? width - k : half;
        const C other = complex_of(re[opposite], im[opposite]);
        // Points 0 and width / 2 of a real line are real: they share an element.
        y[upper * half + k] = k ? first_of(v[i], other) : complex_of(v[i].x, other.x);
        y[lower * half + k] = k ? second_of(v[i], other) : complex_of(v[i].y, other.y);
    }
}
#endif
