// What:    Fourier transforms of lines of any length without a prime factor above 13
// Idea:    mixed radix: with Bluestein's method other lengths than powers of two take two transforms of two to four
//          times the length. Here RADICES is a list of radices up to 16, such as 12, 7, 6 for 504 points; each has its
//          own butterfly, built from those of its prime factors. All strides are compile-time constants, so no lane
//          divides. A stage may have fewer butterflies than the line has threads: the others are idle and wait at the
//          barriers
// Shapes:  x samples or complex, y complex, addressed by Layout; table (N): exp(-2 pi i k / N)
// Launch:  grid over the lines, blocks of LINE_THREADS per line times LINES lines; shared PARTS real numbers per point
// Traffic: 1 complex number read and 1 written per point; Bluestein takes 6 to 12 of each
// Source:  S2
constexpr int PARTS = 2, WIDTH = 64, LOOKUPS = 4;  // as in every kernel before 14_fast
#include "fft_lines.cuh"

// LANES: lanes run along the points of a row, or across columns.
typedef Along<LANES, LANES> Lanes;

// The stages from that of radix RAD on: a line is N / RAD butterflies, of points N / RAD apart; SPAN is the product of
// the radices before. A thread computes butterflies t, t + T ... as far as they exist.
template <int SPAN, int RAD, int... REST, typename Store>
__device__ __forceinline__ void mixed_stages(
    C (&v)[butterflies<RAD>()][RAD], Lane lane, const C* __restrict__ table, const Store& store)
{
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); ++c) {
        if constexpr (SPAN > 1 && RAD > 1) {
            // Twiddle factors W^(r k) of SPAN * RAD points, k the butterfly's index in its group.
            const int k = (lane.t + c * T) % SPAN;
            C w[RAD];
            powers<RAD>(w, k * (N / (SPAN * RAD)), [&](int e) { return table[e]; });
#pragma unroll
            for (int r = 1; r < RAD; ++r) v[c][r] = product(v[c][r], w[r]);
        }
        any_butterfly<RAD>(v[c]);
    }
    if constexpr (sizeof...(REST) == 0) {
        store(v);
    } else {
        constexpr int rest[] = {REST...}, NEXT = rest[0], stride = N / NEXT, group = SPAN * RAD;
        C w[butterflies<NEXT>()][NEXT];
        // Stored where the next radix loads: result r of butterfly j is point (j - k) RAD + k + r SPAN.
        if (SPAN > 1) __syncthreads();
#pragma unroll
        for (int c = 0; c < butterflies<RAD>(); ++c) {
            const int j = lane.t + c * T, k = j % SPAN;
            const int address = address_of<Lanes, SPAN, RAD>(lane.line, (j - k) * RAD + k, j / SPAN);
            if (!exists<RAD>(j)) continue;  // idle in this stage
#pragma unroll
            for (int r = 0; r < RAD; ++r)
                store_shared(address_plus<Lanes, SPAN, RAD>(address, r * SPAN, 0), v[c][r], 0);
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < butterflies<NEXT>(); ++c) {
            const int j = lane.t + c * T;
            const int address = address_of<Lanes, SPAN, RAD>(lane.line, j, j / group);
            if (!exists<NEXT>(j)) continue;  // idle in the next one
#pragma unroll
            for (int r = 0; r < NEXT; ++r)
                load_shared(address_plus<Lanes, SPAN, RAD>(address, r * stride, r * stride / group), w[c][r], 0);
        }
        mixed_stages<group, REST...>(w, lane, table, store);
    }
}

extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_mixed_radix_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table,
    unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    const Layout from{inner, middle, x_outer, x_middle, x_step}, to{inner, middle, y_outer, y_middle, y_step};
    const Lane lane = lane_of<LANES>();
    const unsigned int line = blockIdx.x * LINES + lane.line;

    C v[butterflies<FIRST>()][FIRST];
    const long long x_begin = from.begin(line);
    const bool inside = line < lines;
#pragma unroll
    for (int c = 0; c < butterflies<FIRST>(); ++c) {
        const int j = lane.t + c * T;
        const bool read = inside && exists<FIRST>(j);
        long long index = x_begin + j * from.point_stride;
#pragma unroll
        for (int r = 0; r < FIRST; ++r, index += N / FIRST * from.point_stride)
            v[c][r] = read ? number_at(x, index) : complex_of(0, 0);
    }

    mixed_stages<1, RADICES>(v, lane, table, [&](C (&v)[butterflies<LAST>()][LAST]) {
        C* begin = y + to.begin(line);
        if (!inside) return;
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
