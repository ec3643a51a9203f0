// What:    Fourier transform of a line in one launch, with shared memory padded as the source describes
// Idea:    a thread has at least RADIX points in registers and stores the results of a stage where the next one loads
//          them (Stockham): no bit reversal, and lanes load contiguous points. But they store with a stride of RADIX or
//          more, which causes bank conflicts; so GAP elements of padding follow every RADIX << done points, done being
//          the number of radix-2 stages before. One element (GAP 1) removes the conflicts of the first stage only, and
//          adds some to the contiguous loads; GAP 0 is without padding
// Shapes:  x, y complex, addressed by Layout; table (1 << bits - 1): exp(-2 pi i k / 2^bits); long_table (1 <<
//          long_bits - 1)
// Launch:  grid over the lines, blocks (threads per line, lines), POINTS points per thread, at most THREADS threads;
//          shared two planes of `plane` real numbers per line of a block
// Traffic: 1 complex number read and 1 written per point, twice for long lines; twiddle factors from the caches
// Source:  S2
#include "fft_stockham.cuh"

// The index of a point in shared memory between the stage of radix 1 << radix_bits and the next one: the same padding
// after every group, however many lanes store contiguously.
__device__ __forceinline__ int padded(int point, int done, int radix_bits)
{
    return point + (point >> (done + radix_bits)) * GAP;
}

template <int RAD>
__device__ __forceinline__ void stage_and_exchange(
    C (&v)[POINTS], R* re, R* im, int done, int bits, const C* __restrict__ table)
{
    constexpr int own = POINTS / RAD, radix_bits = log2_of(RAD);  // butterflies per thread
    stage<RAD>(v, done, bits, TableInGlobal{table});

    // Result r of butterfly j is point (j - k) RAD + k + r << done of the next stage, k = j modulo 1 << done.
    if (done) __syncthreads();  // others may still load from the previous exchange
#pragma unroll
    for (int m = 0; m < own; ++m) {
        const int j = threadIdx.x + m * blockDim.x;
        const int k = j & ((1 << done) - 1);
#pragma unroll
        for (int r = 0; r < RAD; ++r) {
            const int index = padded((j - k) * RAD + k + (r << done), done, radix_bits);
            re[index] = v[m + r * own].x;
            im[index] = v[m + r * own].y;
        }
    }
    __syncthreads();

    // The next stage loads in order: neighbouring lanes load neighbouring points.
#pragma unroll
    for (int i = 0; i < POINTS; ++i) {
        const int index = padded(threadIdx.x + i * blockDim.x, done, radix_bits);
        v[i] = complex_of(re[index], im[index]);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) fft_padded_as_published_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ long_table,
    long long lines, int plane, int bits, int long_bits, int inverse, long long inner, long long middle,
    long long outer_stride, long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    const Layout layout{inner, middle, outer_stride};
    const long long line = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    const C* from = x + layout.begin(line, x_middle);
    R* re = (R*)memory + 2 * threadIdx.y * plane;
    C v[POINTS];
    load_points(v, from, x_step, line < lines, inverse);
    R* im = re + plane;

    int done = 0;  // completed radix-2 stages, RADIX_BITS at a time
    for (; done + RADIX_BITS <= bits; done += RADIX_BITS) stage_and_exchange<RADIX>(v, re, im, done, bits, table);
    if (RADIX > 2 && bits - done == 1) stage_and_exchange<2>(v, re, im, done, bits, table);
    if (RADIX > 4 && bits - done == 2) stage_and_exchange<4>(v, re, im, done, bits, table);
    if (RADIX > 8 && bits - done == 3) stage_and_exchange<8>(v, re, im, done, bits, table);

    if (line >= lines) return;
    C* to = y + layout.begin(line, y_middle);
    store_points(v, to, y_step, long_table, long_bits, layout.along_middle(line), inverse);
}
