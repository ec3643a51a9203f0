// What:    Fourier transform of a line in one launch, twiddle factors from the special function units
// Idea:    a table costs memory traffic, whereas __sincosf takes a few instructions on units that are idle otherwise.
//          Its error is about 2^-21 between -pi and pi, a few units in the last place of a float twiddle factor, and
//          the result loses as much accuracy; there is no such function for doubles
// Shapes:  x, y complex, addressed by Layout; long_table (1 << long_bits - 1)
// Launch:  grid over the lines, blocks (threads per line, lines), POINTS points per thread, at most THREADS threads;
//          shared two planes of `plane` real numbers per line of a block
// Traffic: 1 complex number read and 1 written per point, twice for long lines; no twiddle factors
// Source:  S2
#include "fft_stockham.cuh"

// exp(i k angle), instead of table[k]. |k angle| is at most pi: beyond, the function loses accuracy.
struct FastSine {
    float angle;

    __device__ __forceinline__ C operator()(int k) const
    {
        C w;
        __sincosf((float)k * angle, &w.y, &w.x);
        return w;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS) fft_fast_sine_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ long_table,
    long long lines, int plane, int bits, int long_bits, int inverse, long long inner, long long middle,
    long long outer_stride, long long x_middle, long long x_step, long long y_middle, long long y_step)
{
    const FastSine twiddles{-6.28318530717958647692f / (1 << bits)};
    const Layout layout{inner, middle, outer_stride};
    const long long line = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    const C* from = x + layout.begin(line, x_middle);
    R* re = (R*)memory + 2 * threadIdx.y * plane;
    C v[POINTS];
    load_points(v, from, x_step, line < lines, inverse);
    R* im = re + plane;

    // A butterfly computes W^k, W^2k, W^4k and W^8k; the other factors are products of these.
    all_stages<SpanPadding>(v, re, im, bits, twiddles);

    if (line >= lines) return;
    C* to = y + layout.begin(line, y_middle);
    store_points(v, to, y_step, long_table, long_bits, layout.along_middle(line), inverse);
}
