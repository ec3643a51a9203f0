// Shared by the power-of-two kernels: addresses of lines, butterflies, and stages by Stockham's method. A thread has
// POINTS points of its line in registers, RADIX of them per butterfly, and stages exchange points through shared
// memory, real parts in one plane and imaginary parts in another, for 4-byte banks. A stage stores its points where the
// next one loads them, so no bit reversal is needed. A thread always has the points LINE_LANE + i * LINE_THREADS,
// whatever the radix. The last stage has a smaller radix where bits is no multiple of log2 RADIX.
#pragma once
#include "fft_radix.cuh"

// A thread's index among those of its line, and their number: along x, unless the kernel needs x for something else.
#ifndef LINE_LANE
#define LINE_LANE threadIdx.x
#define LINE_THREADS blockDim.x
#endif

extern __shared__ __align__(16) unsigned char memory[];

constexpr int RADIX_BITS = log2_of(RADIX);

struct TableInGlobal {
    const C* __restrict__ table;

    __device__ __forceinline__ C operator()(int k) const { return table[k]; }
};

// The index of a point in shared memory after the stage of radix 1 << radix_bits: 1 << done elements of padding follow
// every 1 << done + radix_bits points, see 4_padded.
struct SpanPadding {
    __device__ __forceinline__ static int index(int point, int done, int radix_bits)
    {
        return point + (point >> (done + radix_bits) << done);
    }
};

// The first point of a line, and its index along middle. Lines are counted along inner (stride 1), then middle, then
// outer.
struct Layout {
    long long inner, middle, outer_stride;

    __device__ __forceinline__ long long along_middle(long long line) const { return line / inner % middle; }
    __device__ __forceinline__ long long begin(long long line, long long middle_stride) const
    {
        const long long group = line / inner;
        return line - group * inner + group % middle * middle_stride + group / middle * outer_stride;
    }
};

// Loads a thread's points of a line; zeros beyond the last line.
__device__ __forceinline__ void load_points(
    C (&v)[POINTS], const C* __restrict__ from, long long stride, bool inside, int inverse)
{
#pragma unroll
    for (int i = 0; i < POINTS; ++i) {
        v[i] = complex_of(0, 0);
        if (inside) v[i] = swapped_if(from[(LINE_LANE + i * LINE_THREADS) * stride], inverse);
    }
}

// Stores a thread's results, in natural order. For four-step lines, result k is multiplied by the twiddle factor W^(m
// k) of 2^long_bits points; none where long_bits is 0.
__device__ __forceinline__ void store_points(
    const C (&v)[POINTS], C* __restrict__ to, long long stride, const C* __restrict__ long_table, int long_bits,
    long long m, int inverse)
{
#pragma unroll
    for (int i = 0; i < POINTS; ++i) {
        const int k = LINE_LANE + i * LINE_THREADS;
        C z = v[i];
        if (long_bits) {
            const long long exponent = m * k, half = 1LL << (long_bits - 1);
            const C w = long_table[exponent & (half - 1)];
            z = times(z, exponent & half ? complex_of(-w.x, -w.y) : w);
        }
        to[k * stride] = swapped_if(z, inverse);
    }
}

// The butterflies of a thread; the first stage has no twiddle factors.
template <int RAD, typename Twiddles>
__device__ __forceinline__ void stage(C (&v)[POINTS], int done, int bits, const Twiddles& twiddles)
{
    constexpr int own = POINTS / RAD;
#pragma unroll
    for (int m = 0; m < own; ++m) {
        C u[RAD];
#pragma unroll
        for (int r = 0; r < RAD; ++r) u[r] = v[m + r * own];
        if (done) {
            const int k = (LINE_LANE + m * LINE_THREADS) & ((1 << done) - 1);
            multiply_by_twiddles<RAD>(u, k << (bits - done - log2_of(RAD)), twiddles);
        }
        butterfly<RAD>(u);
#pragma unroll
        for (int r = 0; r < RAD; ++r) v[m + r * own] = u[r];
    }
}

// Exchange: stores the results of a stage in shared memory and loads the points of the next stage.
template <int RAD, typename Padding>
__device__ __forceinline__ void exchange(C (&v)[POINTS], R* re, R* im, int done)
{
    constexpr int own = POINTS / RAD, radix_bits = log2_of(RAD);
    if (done) __syncthreads();
#pragma unroll
    for (int m = 0; m < own; ++m) {
        const int j = LINE_LANE + m * LINE_THREADS;
        const int k = j & ((1 << done) - 1);
#pragma unroll
        for (int r = 0; r < RAD; ++r) {
            const int index = Padding::index((j - k) * RAD + k + (r << done), done, radix_bits);
            re[index] = v[m + r * own].x;
            im[index] = v[m + r * own].y;
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < POINTS; ++i) {
        const int index = Padding::index(LINE_LANE + i * LINE_THREADS, done, radix_bits);
        v[i] = complex_of(re[index], im[index]);
    }
}

// All stages; the results of the last one stay in registers, in natural order, see 6_registers.
template <typename Padding, typename Twiddles>
__device__ __forceinline__ void all_stages(C (&v)[POINTS], R* re, R* im, int bits, const Twiddles& twiddles)
{
    int done = 0;
    for (; done + RADIX_BITS <= bits; done += RADIX_BITS) {
        stage<RADIX>(v, done, bits, twiddles);
        if (done + RADIX_BITS < bits) exchange<RADIX, Padding>(v, re, im, done);
    }
    if (RADIX > 2 && bits - done == 1) stage<2>(v, done, bits, twiddles);
    if (RADIX > 4 && bits - done == 2) stage<4>(v, done, bits, twiddles);
    if (RADIX > 8 && bits - done == 3) stage<8>(v, done, bits, twiddles);
}
