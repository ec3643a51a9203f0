// Stockham's transform of many lines: a thread has POINTS points of its line in registers, RADIX of them a butterfly,
// and stages exchange points through shared memory, the real parts in one plane and the imaginary parts in another, so
// that lanes use banks of 4 bytes. Stages put their points where the next one looks for them, so none is out of order.
// A thread always takes the points LINE_PLACE + i * LINE_THREADS, whatever the radix: only what it does with them
// depends on it. The last stage has a smaller radix where bits is no multiple of RADIX's.
#pragma once
#include "fft_radix.cuh"

// A thread's place in its line, and the threads of a line: along x, where a kernel has nothing else there.
#ifndef LINE_PLACE
#define LINE_PLACE threadIdx.x
#define LINE_THREADS blockDim.x
#endif

extern __shared__ __align__(16) unsigned char memory[];

struct TableInGlobal {
    const C* __restrict__ table;

    __device__ __forceinline__ C operator()(int k) const { return table[k]; }
};

// As many points stay free after every RADIX << done as lie between the results of a butterfly: 1 << done.
struct GapsOfSpan {
    __device__ __forceinline__ static int place(int point, int done, int radix_bits)
    {
        return point + (point >> (done + radix_bits) << done);
    }
};

// Where a line begins, in points, and its place along middle. Lines are counted along inner, then middle, then outer.
struct Layout {
    long long inner, middle, apart_outer;

    __device__ __forceinline__ long long place(long long line) const { return line / inner % middle; }
    __device__ __forceinline__ long long begin(long long line, long long apart_middle) const
    {
        const long long group = line / inner;
        return line - group * inner + group % middle * apart_middle + group / middle * apart_outer;
    }
};

// Butterflies over all points of a thread; the first stage has no twiddles.
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
            const int k = (LINE_PLACE + m * LINE_THREADS) & ((1 << done) - 1);
            turn<RAD>(u, k << (bits - done - log2_of(RAD)), twiddles);
        }
        butterfly<RAD>(u);
#pragma unroll
        for (int r = 0; r < RAD; ++r) v[m + r * own] = u[r];
    }
}

// The results of a stage go to their places in shared memory, and the points of the next stage come from there.
template <int RAD, typename Gaps>
__device__ __forceinline__ void exchange(C (&v)[POINTS], R* re, R* im, int done)
{
    constexpr int own = POINTS / RAD, radix_bits = log2_of(RAD);
    if (done) __syncthreads();
#pragma unroll
    for (int m = 0; m < own; ++m) {
        const int j = LINE_PLACE + m * LINE_THREADS;
        const int k = j & ((1 << done) - 1);
#pragma unroll
        for (int r = 0; r < RAD; ++r) {
            const int place = Gaps::place((j - k) * RAD + k + (r << done), done, radix_bits);
            re[place] = v[m + r * own].x;
            im[place] = v[m + r * own].y;
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < POINTS; ++i) {
        const int place = Gaps::place(LINE_PLACE + i * LINE_THREADS, done, radix_bits);
        v[i] = complex_of(re[place], im[place]);
    }
}

template <int RAD, bool EVERY, typename Gaps, typename Twiddles>
__device__ __forceinline__ void last_stage(
    C (&v)[POINTS], R* re, R* im, int done, int bits, const Twiddles& twiddles)
{
    if constexpr (RAD < RADIX) {
        stage<RAD>(v, done, bits, twiddles);
        if constexpr (EVERY) exchange<RAD, Gaps>(v, re, im, done);
    }
}

// All stages. EVERY stage exchanges its results, or all but the last one, whose results are in order as they are.
template <bool EVERY, typename Gaps, typename Twiddles>
__device__ __forceinline__ void all_stages(C (&v)[POINTS], R* re, R* im, int bits, const Twiddles& twiddles)
{
    constexpr int radix_bits = log2_of(RADIX);
    int done = 0;
    for (; done + radix_bits <= bits; done += radix_bits) {
        stage<RADIX>(v, done, bits, twiddles);
        if (EVERY || done + radix_bits < bits) exchange<RADIX, Gaps>(v, re, im, done);
    }
    if (bits - done == 1) last_stage<2, EVERY, Gaps>(v, re, im, done, bits, twiddles);
    if (bits - done == 2) last_stage<4, EVERY, Gaps>(v, re, im, done, bits, twiddles);
    if (bits - done == 3) last_stage<8, EVERY, Gaps>(v, re, im, done, bits, twiddles);
}

// The lines of a block, one for each threadIdx.y; `plane` holds the points of a line and its gaps. The store of point k
// turns it by W^(m k) of 2^turn_bits points, m its line's place along middle; 0: it does not.
template <bool EVERY, typename Gaps, typename Twiddles>
__device__ __forceinline__ void transform_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ turns, const Twiddles& twiddles,
    long long lines, int plane, int bits, int turn_bits, int inverse, Layout layout,
    long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    const long long line = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    const C* from = x + layout.begin(line, x_middle);
    R* re = (R*)memory + 2 * threadIdx.y * plane;
    C v[POINTS];
#pragma unroll
    for (int i = 0; i < POINTS; ++i) {
        v[i] = complex_of(0, 0);
        if (line < lines) v[i] = swapped_if(from[(threadIdx.x + i * blockDim.x) * x_step], inverse);
    }
    all_stages<EVERY, Gaps>(v, re, re + plane, bits, twiddles);
    if (line >= lines) return;

    C* to = y + layout.begin(line, y_middle);
    const long long m = layout.place(line);
#pragma unroll
    for (int i = 0; i < POINTS; ++i) {
        const int k = threadIdx.x + i * blockDim.x;
        C z = v[i];
        if (turn_bits) {
            const long long by = m * k, half = 1LL << (turn_bits - 1);
            const C w = turns[by & (half - 1)];
            z = times(z, by & half ? complex_of(-w.x, -w.y) : w);
        }
        to[k * y_step] = swapped_if(z, inverse);
    }
}
