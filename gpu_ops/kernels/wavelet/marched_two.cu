// What:    the first two levels of a periodic image on the way there, by warps that are alone
// Idea:    as marched.cu, and each approximation of the first level goes on to the second one as soon as it is made: it
//          never leaves the registers. Details of the second level are kept, as marched_kept.cu does
// Shapes:  x (rows, columns), whole fours either way; low and finest (rows / 4, columns / 4); details (2, rows / 4,
//          columns / 4), as those of marched_kept.cu
// Launch:  a warp a block. Grid x: strips of WIDTH_TWO samples, y: segments of `height` rows of coefficients
// Traffic: 5 bytes a float: it is read, and four bands of a sixteenth are written
// Source:  S0
#include "wavelet_rows.cuh"

constexpr int NEXT = PAIRS / 2; // coefficients of a half a lane at the second level
// Steps before the first approximation that is needed: HALF - 1, and LATE more for whole pairs of rows.
constexpr int WARM = HALF / 2 * 2, LATE = WARM - (HALF - 1);
constexpr int LOST = whole(3 * BEFORE, EACH), LOST_AFTER = whole(3 * AFTER, EACH);
constexpr int WIDTH_TWO = (32 - LOST - LOST_AFTER) * EACH;
constexpr int AT_A_TIME = 4; // steps whose rows are on their way

// A lane's columns of both levels.
struct Both {
    Splitting first[PAIRS], lows[NEXT], highs[NEXT];
};

// Coefficients of a row of a band, from number `k` on.
__device__ __forceinline__ void store_next(const T (&v)[NEXT], T unit, T* band, int row, int k, int half)
{
#pragma unroll
    for (int i = 0; i < NEXT; ++i)
        if (k + i < half) band[(unsigned)(row * half + k + i)] = v[i] * unit;
}

extern "C" __global__ void __launch_bounds__(32, RESIDENT) wavelet_marched_two(
    const S* __restrict__ x, T* __restrict__ low, T* __restrict__ details, T* __restrict__ finest, int rows,
    int columns, int half_rows, int half, int height)
{
    const int lane = threadIdx.x, begin = blockIdx.y * height, count = min(height, half_rows - begin);
    // Rows of approximations that the segment needs, and steps of two rows of samples that make them.
    const int first = 2 * begin - REACH, steps = 2 * (count + HALF - 1) + WARM;
    const int top = 2 * (first - LATE) - REACH;
    const int left = (int)blockIdx.x * WIDTH_TWO + (lane - LOST) * EACH - 6 * AHEAD;
    const int k = (left / 2 + AHEAD) / 2 + AHEAD;
    const bool mine = lane >= LOST && lane < 32 - LOST_AFTER;
    const size_t band = (size_t)half_rows * half;
    const Samples samples(x, rows, columns, left);
    Both held = {};
    T upper[PAIRS] = {};
    __shared__ Four copies[AT_A_TIME][2][ROW];
    const auto ask = [&](int step, int place) {
        if (step < steps)
            for (int r = 0; r < 2; ++r) samples.ask(top + 2 * step + r, copies[place][r] + lane);
        close_group();
    };
    wait_for_launch_ahead();
    let_next_launch_begin();
#pragma unroll
    for (int step = 0; step < AT_A_TIME; ++step) ask(step, step);
    for (int start = 0; start < steps; start += AT_A_TIME) {
#pragma unroll
        for (int place = 0; place < AT_A_TIME; ++place) {
            const int step = start + place;
            if (step >= steps) break;
            T l[2][PAIRS], h[2][PAIRS], v[EACH], made[PAIRS], unwanted;
            wait_for_groups<AT_A_TIME - 1>();
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                samples.take(copies[place][r] + lane, v);
                split_row<true, false>(v, l[r], h[r]);
            }
            ask(step + AT_A_TIME, place);
#pragma unroll
            for (int i = 0; i < PAIRS; ++i) {
                held.first[i].take<true, false>(l[0][i], l[1][i], made[i], unwanted);
                made[i] *= unit(OF_LOW, OF_LOW);
                if (place % 2 == 0) upper[i] = made[i];
            }
            if (place % 2 == 0 || step < WARM) continue;
            T lows[2][NEXT], highs[2][NEXT];
            split_row<true, true>(upper, lows[0], highs[0]);
            split_row<true, true>(made, lows[1], highs[1]);
#pragma unroll
            for (int i = 0; i < NEXT; ++i) {
                held.lows[i].take<true, true>(lows[0][i], lows[1][i], lows[0][i], lows[1][i]);
                held.highs[i].take<true, true>(highs[0][i], highs[1][i], highs[0][i], highs[1][i]);
            }
            const int row = begin + (step - WARM) / 2 - (HALF - 1);
            if (row < begin || !mine) continue;
            store_next(lows[0], unit(OF_LOW, OF_LOW), low, row, k, half);
            store_next(lows[1], 1, details, row, k, half);
            store_next(highs[0], 1, details + band, row, k, half);
            store_next(highs[1], 1, finest, row, k, half);
        }
    }
}
