// What:    the Fourier transform of a real signal too long for a block, of any length, and what is asked of it
// Idea:    11_four_step for signals: samples are loaded with means and windows, and results stored as what is asked for.
//          An even length packs pairs of samples into complex numbers; its second launch has rows k and n1 - k in one
//          block, so that each bin and its mirror image are separated in shared memory, without a third pass over
//          global memory. Other lengths are a convolution with a chirp: the launch over rows transforms, multiplies and
//          transforms back, in place, and a third one over columns ends it. An even length is half as long a convolution,
//          of pairs of samples, and a fourth launch separates them
// Shapes:  x (samples, channels), segment s begins at sample s * hop; z (segments, channels, n1, n2) complex; out: bins
//          `step` apart, segments `apart` values; window and chirp (length), means (segments, channels); spectrum (n1,
//          n2) of the chirp, its bin k1 + n1 k2 at [k1][k2]; low and high: see LongTwiddles
// Launch:  grid (groups of LINES columns, or of LINES / 2 pairs of rows, or of LINES rows; channels, segments),
//          LINE_THREADS per line; shared a complex number per point and line, or N + 1; pairs: a thread for two bins, any
//          block
// Traffic: 1 sample read, 1/2 complex number written and read, 1 result written per bin; convolutions: 1 sample read, 3
//          complex numbers written and 3 read per point of them; of pairs: 2 samples read, 4 written and 4 read
// Source:  S2
constexpr int PARTS = 2, WIDTH = 64, LOOKUPS = 1;
#include "fft_any_length.cuh"
#include "fft_four_step.cuh"
#include "fft_results.cuh"
#include "overlapped_launch.cuh"

typedef Along<ALONG_LINES, ALONG_LINES> AcrossColumns;
typedef Along<ALONG_POINTS, ALONG_POINTS> AlongRows;

// The matrix of a line: its element (a, b) is point b + n2 a.
__device__ __forceinline__ C* matrix_of(C* z, int n1, int n2)
{
    return z + (blockIdx.z * (long long)gridDim.y + blockIdx.y) * n1 * n2;
}

#if PART == 1
// Columns of samples; results are multiplied by the twiddle factors W^(b k1).
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_long_samples(
    const Sample* __restrict__ x, C* __restrict__ z, const C* __restrict__ circle, const C* __restrict__ low,
    const C* __restrict__ high, const C* __restrict__ chirp, const R* __restrict__ window,
    const double* __restrict__ means, int n2, long long length, long long hop)
{
    overlap_launches();
    const Lane lane = lane_of<ALONG_LINES>();
    const int line = blockIdx.x * LINES + lane.line, column = line < n2 ? line : n2 - 1, channels = gridDim.y;
    const double* const mean = means + blockIdx.z * channels + blockIdx.y;
    const Sample* const begin = x + blockIdx.z * hop * channels + blockIdx.y;
    C v[butterflies<FIRST>()][FIRST] = {};
    each_point<FIRST>(v, lane.t, [&](C& point, int a) {
        const long long m = column + (long long)n2 * a;
        const bool read = !CONVOLVED || m < length;  // where not, another address is read instead of a branch
        const long long sample = !read ? 0 : PACKED ? 2 * m : m, next = PACKED ? sample + 1 : sample;
        const Sample one = begin[sample * channels], other = begin[next * channels];
        const R before = WINDOWED ? window[sample] : 1, after = WINDOWED ? window[next] : 1;
        point.x = less_mean(one, mean, DETREND) * before;
        if constexpr (PACKED) point.y = less_mean(other, mean, DETREND) * after;
        if constexpr (CONVOLVED && PACKED) point = read ? product(chirp[m], point) : complex_of(0, 0);
        else if constexpr (CONVOLVED) point = read ? scaled(chirp[sample], point.x) : complex_of(0, 0);
    });
    transform<AcrossColumns>(v, lane, Tables{circle}, [&](C (&v)[butterflies<LAST>()][LAST], Lane lane) {
        if (line >= n2) return;
        multiply_by_long_twiddles<LAST>(v, lane.t, column, LongTwiddles{low, high});
        C* const to = matrix_of(z, N, n2) + column;
        each_point<LAST>(v, lane.t, [&](C point, int k1) { to[(long long)k1 * n2] = point; });
    });
}
#elif PART == 2 && PACKED && !CONVOLVED
// Rows k1 and n1 - k1: the first half of the lines of a block, and the second half. Results of row k1 are points k1 +
// n1 k2 of the packed line; low and high are the twiddle factors of all samples.
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_long_bins(
    const C* z, Result* __restrict__ out, const C* __restrict__ circle, const C* __restrict__ low,
    const C* __restrict__ high, int n1, long long step, long long apart, R factor, int doubled, int both_sides)
{
    constexpr int PAIRS = LINES / 2, ODD = N | 1;
    overlap_launches();
    const Lane lane = lane_of<ALONG_POINTS>();
    const int first = blockIdx.x * PAIRS, own = min(first + lane.line % PAIRS, n1 / 2);
    const C* const row = matrix_of((C*)z, n1, N) + (long long)(lane.line < PAIRS || own == 0 ? own : n1 - own) * N;
    C v[butterflies<FIRST>()][FIRST] = {};
    each_point<FIRST>(v, lane.t, [&](C& point, int b) { point = load_after_wait(row + b); });
    transform<AlongRows>(v, lane, Tables{circle}, [&](C (&v)[butterflies<LAST>()][LAST], Lane lane) {
        __syncthreads();  // others may still load from the last exchange
        each_point<LAST>(v, lane.t, [&](C point, int k2) { ((C*)memory)[lane.line * ODD + k2] = point; });
        __syncthreads();
    });
    Result* const begin = out + blockIdx.z * apart + blockIdx.y;
    const Bins bins{begin, step, 2 * n1 * N, doubled, both_sides, factor};
    const LongTwiddles twiddle{low, high};
    for (int i = threadIdx.x; i < PAIRS * N; i += LINE_THREADS * LINES) {
        const int line = i % PAIRS, k2 = i / PAIRS, k1 = first + line;
        const int mirrored = k1 ? N - 1 - k2 : k2 ? N - k2 : 0;
        if (2 * k1 > n1 || ((k1 == 0 || 2 * k1 == n1) && k2 > mirrored)) continue;
        const C here = ((const C*)memory)[line * ODD + k2], there = ((const C*)memory)[(PAIRS + line) * ODD + mirrored];
        const int k = k1 + n1 * k2;
        const C even = complex_of((here.x + there.x) / 2, (here.y - there.y) / 2);
        const C odd = product(complex_of((here.y + there.y) / 2, (there.x - here.x) / 2), twiddle(k));
        bins.store(k, plus(even, odd));
        bins.store(n1 * N - k, complex_of(even.x - odd.x, odd.y - even.y));
    }
}
#elif PART == 2
// Rows, the product with the transform of the chirp, and rows back, with the parts swapped; results are multiplied by
// the twiddle factors W^(b k1).
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_long_rows(
    C* z, const C* __restrict__ circle, const C* __restrict__ low, const C* __restrict__ high,
    const C* __restrict__ spectrum, int n1)
{
    overlap_launches();
    const Lane lane = lane_of<ALONG_POINTS>();
    const int line = blockIdx.x * LINES + lane.line, k1 = min(line, n1 - 1);
    C* const row = matrix_of(z, n1, N) + (long long)k1 * N;
    C v[butterflies<FIRST>()][FIRST] = {};
    each_point<FIRST>(v, lane.t, [&](C& point, int b) { point = load_after_wait(row + b); });
    const Tables tables{circle};
    transform<AlongRows>(v, lane, tables, [&](C (&v)[butterflies<LAST>()][LAST], Lane lane) {
        each_point<LAST>(v, lane.t, [&](C& point, int k2) {
            if (CONVOLVED) point = product(point, spectrum[(long long)k1 * N + k2]);
            point = swapped(point);
        });
        transform_again<AlongRows>(v, lane, tables, [&](C (&v)[butterflies<FIRST>()][FIRST], Lane lane) {
            if (line >= n1) return;
            multiply_by_long_twiddles<FIRST>(v, lane.t, k1, LongTwiddles{low, high});
            each_point<FIRST>(v, lane.t, [&](C point, int b) { row[b] = point; });
        });
    });
}
#elif PART == 3
// Columns back: result a of column b is point b + n2 a. Of pairs of samples all points are stored for the next launch.
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_long_columns(
    const C* z, void* __restrict__ out, const C* __restrict__ circle, const C* __restrict__ chirp, int n2,
    int length, long long step, long long apart, R factor, int doubled, int both_sides)
{
    overlap_launches();
    const Lane lane = lane_of<ALONG_LINES>();
    const int line = blockIdx.x * LINES + lane.line, column = min(line, n2 - 1);
    const C* const from = matrix_of((C*)z, N, n2) + column;
    C v[butterflies<FIRST>()][FIRST] = {};
    each_point<FIRST>(v, lane.t, [&](C& point, int k1) { point = load_after_wait(from + (long long)k1 * n2); });
    const Bins bins{(Result*)out + blockIdx.z * apart + blockIdx.y, step, length, doubled, both_sides, factor};
    C* const pairs = (C*)out + (blockIdx.z * (long long)gridDim.y + blockIdx.y) * length;
    transform<AcrossColumns>(v, lane, Tables{circle}, [&](C (&v)[butterflies<LAST>()][LAST], Lane lane) {
        each_point<LAST>(v, lane.t, [&](C point, int a) {
            const long long m = column + (long long)n2 * a;
            if (line >= n2 || m >= length) return;
            if constexpr (PACKED) pairs[m] = product(swapped(point), chirp[m]);
            else if constexpr (RESULT == ROUND_TRIP) bins.store(m, point);
            else if (2 * m <= length) bins.store(m, product(swapped(point), chirp[m]));
        });
    });
}
#else
// Bins k and half - k of `half` pairs of samples, from the same two points; a thread for each k up to half / 2.
extern "C" __global__ void fft_long_split(
    const C* z, Result* __restrict__ out, const C* __restrict__ low, const C* __restrict__ high, int half,
    long long step, long long apart, R factor, int doubled, int both_sides)
{
    overlap_launches();
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k > half / 2) return;
    const C* const points = z + (blockIdx.z * (long long)gridDim.y + blockIdx.y) * half;
    const Bins bins{out + blockIdx.z * apart + blockIdx.y, step, 2 * half, doubled, both_sides, factor};
    const C here = load_after_wait(points + k), there = load_after_wait(points + (k ? half - k : 0));
    const C even = complex_of((here.x + there.x) / 2, (here.y - there.y) / 2);
    const C turn = LongTwiddles{low, high}(k);
    const C odd = product(complex_of((here.y + there.y) / 2, (there.x - here.x) / 2), turn);
    bins.store(k, plus(even, odd));
    bins.store(half - k, complex_of(even.x - odd.x, odd.y - even.y));
}
#endif
