// What:    the launch between those of 18_four_step_signal, for long signals
// Idea:    in two launches lines have about the square root of all points: a block holds four neighbours of 2500 points,
//          and a multiprocessor has one such block. In three launches lines have about the cube root, and a block holds
//          many. After the columns of n1 points each row is a matrix again, whose element (b, c) is its point c + n3 b.
//          This launch transforms the columns of n2 points of all rows. It stores result k2 of row k1 where row k1 + n1
//          k2 is of a matrix of n1 n2 rows, so that the last launch is the same as if there had been two
// Shapes:  z (segments, channels, n1, n2, n3) and y (segments, channels, n2, n1, n3) complex; circle (N), N is n2; low
//          and high: see LongTwiddles, of n2 n3 points
// Launch:  grid (groups of LINES columns of all rows, channels, segments), LINE_THREADS per line; shared a complex number
//          per point and line
// Traffic: 1 complex number read and 1 written per point, in whole lines of the cache
// Source:  S2
constexpr int PARTS = 2, WIDTH = 64, LOOKUPS = 1;
#include "fft_any_length.cuh"
#include "fft_four_step.cuh"
#include "overlapped_launch.cuh"

typedef Along<ALONG_LINES, ALONG_LINES> AcrossColumns;

extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(1024)) fft_three_step_middle(
    const C* z, C* __restrict__ y, const C* __restrict__ circle, const C* __restrict__ low,
    const C* __restrict__ high, int n1, int n3)
{
    overlap_launches();
    const Lane lane = lane_of<ALONG_LINES>();
    const int line = blockIdx.x * LINES + lane.line, column = min(line, n1 * n3 - 1), k1 = column / n3, c = column % n3;
    const long long signal = (blockIdx.z * (long long)gridDim.y + blockIdx.y) * n1 * N * n3;
    const C* const from = z + signal + (long long)k1 * N * n3 + c;
    C v[butterflies<FIRST>()][FIRST] = {};
    each_point<FIRST>(v, lane.t, [&](C& point, int b) { point = load_after_wait(from + (long long)b * n3); });
    transform<AcrossColumns>(v, lane, Tables{circle}, [&](C (&v)[butterflies<LAST>()][LAST], Lane lane) {
        if (line >= n1 * n3) return;
        multiply_by_long_twiddles<LAST>(v, lane.t, c, LongTwiddles{low, high});
        C* const to = y + signal + (long long)k1 * n3 + c;
        each_point<LAST>(v, lane.t, [&](C point, int k2) { to[(long long)k2 * n1 * n3] = point; });
    });
}
