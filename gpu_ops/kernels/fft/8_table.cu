// What:    Fourier transform of a line in one launch, twiddle factors from a table in constant memory
// Idea:    constant memory broadcasts one word per clock to all lanes that read it, and has its own cache; but lanes
//          that read different words are serialised, so it pays only in the first stages, where few differ. The table
//          has half as many entries as a line has points: 64 KB of constant memory limit the longest line
// Shapes:  x, y complex, addressed by Layout; twiddle_table (TABLE = 1 << bits - 1): exp(-2 pi i k / 2^bits);
//          long_table (1 << long_bits - 1)
// Launch:  grid over the lines, blocks (threads per line, lines), POINTS points per thread, at most THREADS threads;
//          shared two planes of `plane` real numbers per line of a block
// Traffic: 1 complex number read and 1 written per point, twice for long lines; twiddle factors from constant memory
// Source:  S2
#include "fft_stockham.cuh"

__constant__ C twiddle_table[TABLE];

// twiddle_table[k]: one word for the warp in the first stages, where k is the same for many lanes.
struct TableInConstant {
    __device__ __forceinline__ C operator()(int k) const { return twiddle_table[k]; }
};

extern "C" __global__ void __launch_bounds__(THREADS) fft_table_lines(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ long_table,
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

    all_stages<SpanPadding>(v, re, im, bits, TableInConstant{});

    if (line >= lines) return;
    C* to = y + layout.begin(line, y_middle);
    store_points(v, to, y_step, long_table, long_bits, layout.along_middle(line), inverse);
}
