// What:    Fourier transform of a line in one launch, radix 8 or 16 in registers
// Idea:    3 or 4 radix-2 stages are computed in a thread's registers instead of through shared memory, and the results
//          of the last stage, which are in natural order, are stored directly to global memory: 4096 = 16 * 16 * 16
//          points are exchanged twice instead of twelve times. A last stage of radix 2, 4 or 8 completes other powers
//          of two
// Shapes:  x, y complex, addressed by Layout; table (1 << bits - 1): exp(-2 pi i k / 2^bits); long_table (1 <<
//          long_bits - 1)
// Launch:  grid over the lines, blocks (threads per line, lines), POINTS points per thread, at most THREADS threads;
//          shared two planes of `plane` real numbers per line of a block
// Traffic: 1 complex number read and 1 written per point, twice for long lines; twiddle factors from the caches
// Source:  S2
#include "fft_stockham.cuh"

extern "C" __global__ void __launch_bounds__(THREADS) fft_registers_lines(
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

    // A stage: each thread transforms POINTS / RADIX groups of RADIX points within its registers.
    const TableInGlobal twiddles{table};
    int done = 0;
    for (; done + RADIX_BITS <= bits; done += RADIX_BITS) {
        stage<RADIX>(v, done, bits, twiddles);
        // Exchange with other threads only if another stage follows.
        if (done + RADIX_BITS < bits) exchange<RADIX, SpanPadding>(v, re, im, done);
    }

    // The remaining 1, 2 or 3 radix-2 stages, in registers as well.
    if (bits - done == 1) stage<2>(v, done, bits, twiddles);
    if (RADIX > 4 && bits - done == 2) stage<4>(v, done, bits, twiddles);
    if (RADIX > 8 && bits - done == 3) stage<8>(v, done, bits, twiddles);

    // v[i] is result threadIdx.x + i * blockDim.x: neighbouring lanes store neighbouring results, without an exchange.
    if (line >= lines) return;
    C* to = y + layout.begin(line, y_middle);
    store_points(v, to, y_step, long_table, long_bits, layout.along_middle(line), inverse);
}
