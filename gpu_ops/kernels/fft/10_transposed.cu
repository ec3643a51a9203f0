// What:    Fourier transforms of rows, stored as columns
// Idea:    transposed stores, the other way to whole sectors: several rows share a block. In the last exchange through
//          shared memory, lanes store along the points of a row and load across the rows, so that neighbouring lanes
//          store the same point of neighbouring rows: a row becomes a column. The second launch transforms rows again
//          and transposes the image back
// Shapes:  x samples or complex, y complex, addressed by Layout; table (N): exp(-2 pi i k / N)
// Launch:  grid over the lines, blocks of LINE_THREADS per line times LINES lines; shared PARTS real numbers per point
// Traffic: 1 complex number read and 1 written per point and axis; stores fill sectors from 4 rows per block on
// Source:  S2
constexpr int PARTS = 2, WIDTH = 64, LOOKUPS = 4;  // as in every kernel before 14_fast
#include "fft_lines.cuh"

typedef Along<ALONG_POINTS, ALONG_LINES> Lanes;

// The stages from that of radix RAD on, of butterflies in `v`; `store` receives the points of the last one.
template <int SPAN, int RAD, int... REST, typename Store>
__device__ __forceinline__ void transposing_stages(
    C (&v)[butterflies<RAD>()][RAD], Lane lane, const C* __restrict__ table, const Store& store)
{
    stage<SPAN, RAD>(v, lane.t, table);
    if constexpr (sizeof...(REST) == 0) {
        store(v, lane);
    } else {
        constexpr int rest[] = {REST...}, NEXT = rest[0], stride = N / NEXT, group = SPAN * RAD;
        // The transpose: before the last exchange, a thread's line is threadIdx.x / T, after it threadIdx.x % LINES.
        const Lane next = sizeof...(REST) == 1 ? Lane{(int)threadIdx.x % LINES, (int)threadIdx.x / LINES} : lane;
        C w[butterflies<NEXT>()][NEXT];
        if (SPAN > 1) __syncthreads();  // others may still load from the previous exchange
#pragma unroll
        for (int c = 0; c < butterflies<RAD>(); ++c) {
            const int j = lane.t + c * T, k = j % SPAN;
            const int address = address_of<Lanes, SPAN, RAD>(lane.line, (j - k) * RAD + k, j / SPAN);
            if (!exists<RAD>(j)) continue;
#pragma unroll
            for (int r = 0; r < RAD; ++r)
                store_shared(address_plus<Lanes, SPAN, RAD>(address, r * SPAN, 0), v[c][r], 0);
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < butterflies<NEXT>(); ++c) {
            const int j = next.t + c * T;
            const int address = address_of<Lanes, SPAN, RAD>(next.line, j, j / group);
            if (!exists<NEXT>(j)) continue;
#pragma unroll
            for (int r = 0; r < NEXT; ++r)
                load_shared(address_plus<Lanes, SPAN, RAD>(address, r * stride, r * stride / group), w[c][r], 0);
        }
        transposing_stages<group, REST...>(w, next, table, store);
    }
}

extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_transposed_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table,
    unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    const Layout from{inner, middle, x_outer, x_middle, x_step}, to{inner, middle, y_outer, y_middle, y_step};
    const Lane lane = lane_of<ALONG_POINTS>();
    const unsigned int first_line = blockIdx.x * LINES, x_line = first_line + lane.line;

    // Load: neighbouring lanes load neighbouring points of a row.
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

    transposing_stages<1, RADICES>(v, lane, table, [&](C (&v)[butterflies<LAST>()][LAST], Lane lane) {
        // Store: neighbouring lanes store the same point of neighbouring rows, which are contiguous in y.
        const unsigned int y_line = first_line + lane.line;
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
