// What:    Fourier transforms of the columns of images, several neighbouring columns per block
// Idea:    coalesced columns: the points of a column have a stride of one row, so a block with one column uses 8 of the
//          32 bytes of each sector. A block with 4 neighbouring columns uses whole sectors, with 16 whole cache lines:
//          neighbouring lanes process neighbouring columns, in global memory and in the exchanges, where shared memory
//          interleaves the columns
// Shapes:  x samples or complex, y complex, addressed by Layout; table (N): exp(-2 pi i k / N)
// Launch:  grid over the lines, blocks of LINE_THREADS per line times LINES lines; shared PARTS real numbers per point
// Traffic: 1 complex number read and 1 written per point and axis, in whole sectors
// Source:  S2
constexpr int PARTS = 2, WIDTH = 64, LOOKUPS = 4;  // as in every kernel before 14_fast
#include "fft_lines.cuh"

// LANES: lanes run along the points of a row, or across columns.
typedef Along<LANES, LANES> Lanes;

extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_columns_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table,
    unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    const Layout from{inner, middle, x_outer, x_middle, x_step}, to{inner, middle, y_outer, y_middle, y_step};
    // Across columns: neighbouring lanes process the same point of neighbouring columns, which are contiguous in
    // memory.
    const int id = threadIdx.x;
    const Lane lane = LANES == ALONG_LINES ? Lane{id % LINES, id / LINES} : Lane{id / T, id % T};
    const unsigned int line = blockIdx.x * LINES + lane.line;

    // Load: butterfly j of the first stage loads the points j + r N / FIRST.
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

    stages<Lanes, 1, RADICES>(v, lane, table, [&](C (&v)[butterflies<LAST>()][LAST], Lane lane) {
        // Store: the results are in natural order. The second half of a real line's spectrum mirrors the first.
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
