// What:    Fourier transforms of lines longer than shared memory, in two launches (four-step method)
// Idea:    a line of n1 n2 points is a matrix whose element (a, b) is point b + n2 a. Step 1: transform its n2 columns
//          of n1 points, several neighbouring columns per block. Step 2: multiply result k of column b by the twiddle
//          factor W^(b k), from two small tables instead of one of n1 n2 numbers. Step 3, in the second launch:
//          transform its n1 rows of n2 points. Step 4: store them transposed, n1 apart, by lanes across rows
// Shapes:  x samples or complex, y complex, addressed by Layout; table (N): exp(-2 pi i k / N); low (1 << LOW_BITS) and
//          high: W^e and W^(e << LOW_BITS), W = exp(-2 pi i / (n1 n2))
// Launch:  grid over the lines, blocks of LINE_THREADS per line times LINES lines; shared PARTS real numbers per point
// Traffic: 2 complex numbers read and 2 written per point, in whole sectors
// Source:  S2
constexpr int PARTS = 2, WIDTH = 64, LOOKUPS = 4;  // as in every kernel before 14_fast
#include "fft_lines.cuh"

typedef Along<LANES_IN, LANES_OUT> Lanes;

// N is n1 in the first launch, where TWIDDLED is 1, and n2 in the second one.
extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_four_step_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ low,
    const C* __restrict__ high, unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    const Layout from{inner, middle, x_outer, x_middle, x_step}, to{inner, middle, y_outer, y_middle, y_step};
    const Lane lane = lane_of<LANES_IN>();
    const unsigned int first_line = blockIdx.x * LINES, x_line = first_line + lane.line;

    C v[butterflies<FIRST>()][FIRST];
    const long long x_begin = from.begin(x_line);
    const bool inside = x_line < lines;
#pragma unroll
    for (int c = 0; c < butterflies<FIRST>(); ++c) {
        const int j = lane.t + c * T;
        const bool read = inside && exists<FIRST>(j);
        long long index = x_begin + j * from.point_stride;
#pragma unroll
        for (int r = 0; r < FIRST; ++r, index += N / FIRST * from.point_stride)
            v[c][r] = read ? number_at(x, index) : complex_of(0, 0);
    }

    // Steps 1 and 3: in shared memory.
    stages<Lanes, 1, RADICES>(v, lane, table, [&](C (&v)[butterflies<LAST>()][LAST], Lane lane) {
        const unsigned int y_line = first_line + lane.line;

        // Step 2: this line is column b. W^(b k) for k = j + r N / LAST is W^(b j) times a power of W^(b N / LAST).
        if (TWIDDLED) {
            const long long b = to.along_middle(y_line);
            const auto twiddle = [&](long long e) {
                return product(high[e >> LOW_BITS], low[e & ((1 << LOW_BITS) - 1)]);
            };
#pragma unroll
            for (int c = 0; c < butterflies<LAST>(); ++c) {
                const int j = lane.t + c * T;
                C w[LAST];
                powers<LAST>(w, 1, [&](int r) { return twiddle(b * (N / LAST) * r); });
                if (!exists<LAST>(j)) continue;
                const C first = twiddle(b * j);
#pragma unroll
                for (int r = 0; r < LAST; ++r) v[c][r] = product(v[c][r], r ? product(first, w[r]) : first);
            }
        }

        // Step 4: point_stride is n1 in the second launch, whose neighbouring lanes have neighbouring lines.
        C* begin = y + to.begin(y_line);
        if (y_line >= lines) return;
#pragma unroll
        for (int c = 0; c < butterflies<LAST>(); ++c) {
            const int j = lane.t + c * T;
            if (!exists<LAST>(j)) continue;
            C* own = begin + j * to.point_stride;
#pragma unroll
            for (int r = 0; r < LAST; ++r, own += N / LAST * to.point_stride)
                if (ENDS == WHOLE || j + r * (N / LAST) <= N / 2) *own = v[c][r];
        }
    });
}
