// What:    the whole Fourier transform of a line in one launch, 8 or 16 points a butterfly
// Idea:    what 3 or 4 stages of radix 2 did through shared memory stays in a thread's registers, and the results of
//          the last stage, which are in order, go straight to global memory: 4096 = 16 * 16 * 16 points are exchanged
//          twice, where radix 2 took twelve exchanges. A last stage of radix 2, 4 or 8 does the rest of other powers of
//          two
// Shapes:  x, y complex, addressed by Layout; table (1 << bits - 1): exp(-2 pi i k / 2^bits); long_table (1 <<
//          long_bits - 1)
// Launch:  grid over the lines, blocks (threads a line, lines), a thread POINTS points, at most THREADS in all; shared
//          two planes of `plane` real numbers for each line of a block
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
        // An exchange with other threads only if another stage follows.
        if (done + RADIX_BITS < bits) exchange<RADIX, SpanPadding>(v, re, im, done);
    }

    // The rest: 1, 2 or 3 stages of radix 2, in registers as well.
    if (bits - done == 1) stage<2>(v, done, bits, twiddles);
    if (RADIX > 4 && bits - done == 2) stage<4>(v, done, bits, twiddles);
    if (RADIX > 8 && bits - done == 3) stage<8>(v, done, bits, twiddles);

    // v[i] is result threadIdx.x + i * blockDim.x: neighbouring lanes store neighbouring results, without an exchange.
    if (line >= lines) return;
    C* to = y + layout.begin(line, y_middle);
    store_points(v, to, y_step, long_table, long_bits, layout.along_middle(line), inverse);
}
