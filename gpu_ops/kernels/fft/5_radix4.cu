// What:    Fourier transform of a line in one launch, radix 4
// Idea:    two radix-2 stages are one radix-4 stage in registers: half as many exchanges through shared memory and
//          barriers, and a quarter fewer twiddle multiplications, since one of the factors is -i. A last radix-2 stage
//          remains where bits is odd
// Shapes:  x, y complex, addressed by Layout; table (1 << bits - 1): exp(-2 pi i k / 2^bits); long_table (1 <<
//          long_bits - 1)
// Launch:  grid over the lines, blocks (threads per line, lines), POINTS points per thread, at most THREADS threads;
//          shared two planes of `plane` real numbers per line of a block
// Traffic: 1 complex number read and 1 written per point, twice for long lines; twiddle factors from the caches
// Source:  S2
constexpr int RADIX = 4;
#include "fft_stockham.cuh"

// Two radix-2 stages at once. The first combines points n / 2 apart: u[0] with u[2], u[1] with u[3]. The second
// combines points n / 4 apart, which are in the same thread; its twiddle factors are 1 and -i, which need no
// multiplication.
__device__ __forceinline__ void two_stages(C (&u)[4])
{
    C even[2], odd[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        even[k] = u[2 * k];
        odd[k] = u[2 * k + 1];
    }
    butterfly<2>(even);
    butterfly<2>(odd);
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const C second = times_root(odd[k], k, 4);
        u[k] = plus(even[k], second);
        u[k + 2] = minus(even[k], second);
    }
}

// The butterflies of a thread: points j + r n / 4 of the line for r = 0 ... 3.
__device__ __forceinline__ void radix4(C (&v)[POINTS], int done, int bits, const C* __restrict__ table)
{
    constexpr int own = POINTS / 4;
#pragma unroll
    for (int m = 0; m < own; ++m) {
        C u[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) u[r] = v[m + r * own];
        if (done) {
            // Twiddle factors W^k, W^2k and W^3k of 4 << done points: both stages in one multiplication per point.
            const int k = (threadIdx.x + m * blockDim.x) & ((1 << done) - 1);
            multiply_by_twiddles<4>(u, k << (bits - done - 2), TableInGlobal{table});
        }
        two_stages(u);
#pragma unroll
        for (int r = 0; r < 4; ++r) v[m + r * own] = u[r];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) fft_radix4_lines(
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

    int done = 0;
    for (; done + 2 <= bits; done += 2) {
        radix4(v, done, bits, table);
        exchange<RADIX, SpanPadding>(v, re, im, done);
    }
    if (bits - done == 1) {
        stage<2>(v, done, bits, TableInGlobal{table});
        exchange<2, SpanPadding>(v, re, im, done);
    }

    if (line >= lines) return;
    C* to = y + layout.begin(line, y_middle);
    store_points(v, to, y_step, long_table, long_bits, layout.along_middle(line), inverse);
}
