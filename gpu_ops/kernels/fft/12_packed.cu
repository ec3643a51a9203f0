// What:    Fourier transforms of real samples, packed in pairs into complex numbers
// Idea:    2 N real samples are N complex numbers z, as they are in memory: half the butterflies, half the exchanges.
//          One more exchange brings the results Z[k] and Z[N - k] to one thread. The spectrum of the even samples is
//          (Z[k] + conj Z[N - k]) / 2, that of the odd ones (Z[k] - conj Z[N - k]) / 2i, and even + exp(-pi i k / N)
//          odd is bin k. Only bins 0 ... N are stored, since the others are their conjugates
// Shapes:  x samples or complex, y complex, addressed by Layout; table (N): exp(-2 pi i k / N); split_table (N + 1):
//          exp(-pi i k / N); low and high: see LongTwiddles
// Launch:  grid over the lines, blocks of LINE_THREADS per line times LINES lines; shared PARTS real numbers per point
// Traffic: 1 sample read and half a complex number written per sample; columns have half as many points
// Source:  S2
constexpr int PARTS = 2, WIDTH = 64, LOOKUPS = 4;  // as in every kernel before 14_fast
#include "fft_four_step.cuh"

typedef Along<LANES_IN, LANES_OUT> Lanes;

extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_packed_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ split_table,
    const C* __restrict__ low, const C* __restrict__ high, unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    const Layout from{inner, middle, x_outer, x_middle, x_step}, to{inner, middle, y_outer, y_middle, y_step};
    const Lane lane = lane_of<LANES_IN>();
    const unsigned int first_line = blockIdx.x * LINES, x_line = first_line + lane.line;

    // Load: where NUMBERS is PAIRS, samples 2 i and 2 i + 1 are the parts of the complex number i, in one access.
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

    stages<Lanes, 1, RADICES>(v, lane, table, [&](C (&v)[butterflies<LAST>()][LAST], Lane lane) {
        const unsigned int y_line = first_line + lane.line;
        const bool stored = y_line < lines;
        if (TWIDDLED) multiply_by_long_twiddles<LAST>(v, lane.t, to.along_middle(y_line), LongTwiddles{low, high});
        C* begin = y + to.begin(y_line);

        if constexpr (ENDS == WHOLE) {  // columns and four-step lines, whose results another kernel splits
            if (!stored) return;
#pragma unroll
            for (int c = 0; c < butterflies<LAST>(); ++c) {
                const int j = lane.t + c * T;
                if (!exists<LAST>(j)) continue;
                C* own = begin + j * to.point_stride;
#pragma unroll
                for (int r = 0; r < LAST; ++r, own += N / LAST * to.point_stride) *own = v[c][r];
            }
            return;
        }

        // One more exchange, in natural order: Z[k] and Z[N - k] come to one thread, N / 2 + 1 pairs per line.
        constexpr int pairs = (N / 2 + T) / T;
        C here[pairs], mirrored[pairs];
        const int first = lane.line * N;  // the line's points in shared memory
        __syncthreads();
#pragma unroll
        for (int c = 0; c < butterflies<LAST>(); ++c) {
            const int j = lane.t + c * T;
            if (!exists<LAST>(j)) continue;
#pragma unroll
            for (int r = 0; r < LAST; ++r) store_shared(ITEM * (first + j) + ITEM * r * (N / LAST), v[c][r], 0);
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < pairs; ++c) {
            const int k = lane.t + c * T;
            if (k > N / 2) continue;
            load_shared(ITEM * (first + k), here[c], 0);
            load_shared(ITEM * (first + (k ? N - k : 0)), mirrored[c], 0);
        }

        // The split: bins k and N - k follow from the same two numbers.
#pragma unroll
        for (int c = 0; c < pairs; ++c) {
            const int k = lane.t + c * T;
            if (k > N / 2 || !stored) continue;
            const C even = complex_of((here[c].x + mirrored[c].x) / 2, (here[c].y - mirrored[c].y) / 2);
            const C odd = complex_of((here[c].y + mirrored[c].y) / 2, (mirrored[c].x - here[c].x) / 2);
            const C shifted = product(odd, split_table[k]);
            begin[k * to.point_stride] = plus(even, shifted);
            begin[(N - k) * to.point_stride] = complex_of(even.x - shifted.x, shifted.y - even.y);
        }
    });
}
