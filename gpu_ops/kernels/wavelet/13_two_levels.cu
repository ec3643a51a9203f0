// What:    the first two levels of a periodic image in one launch, forward and inverse, by independent warps
// Idea:    fusion of levels: as 12_warp_recomputed, but the approximation between the two levels stays in registers.
//          Forward, each row of it enters the second level as soon as it is complete; inverse, it is synthesised from
//          the second level's details, which are stored as in 11_warp_strips, when the first level needs it
// Shapes:  x and out (rows, columns), multiples of four, channels interleaved; low, finest and restored (rows / 4, columns
//          / 4), details (2, rows / 4, columns / 4), as those of 11_warp_strips, each channel in a plane; thresholds (1)
// Launch:  one warp per block, of several channels one each. Grid x: strips of WIDTH_TWO_FORWARD or WIDTH_TWO_INVERSE samples, y: segments of
//          `height` rows, of coefficients forward, of samples inverse. Each launch but the first may start before the
//          previous one ends (programmatic dependent launch)
// Traffic: 14 bytes per float. Forward 5: read, and four bands of a sixteenth written; inverse 9: read and written, and
//          four bands of a sixteenth read
// Source:  S0
#include "wavelet_rows.cuh"

constexpr int NEXT = PAIRS / 2; // low or high coefficients per lane at the second level
// Steps before the first approximation that is needed: HALF - 1, and LATE more for whole pairs of rows.
constexpr int WARM = HALF / 2 * 2, LATE = WARM - (HALF - 1);
constexpr int HALO_TWO_FORWARD = whole(3 * BEFORE, EACH), HALO_TWO_FORWARD_AFTER = whole(3 * AFTER, EACH);
constexpr int WIDTH_TWO_FORWARD = (32 - HALO_TWO_FORWARD - HALO_TWO_FORWARD_AFTER) * EACH;

// A lane's columns of both levels.
struct BothLevels {
    Splitting first[PAIRS], lows[NEXT], highs[NEXT];
};

// Coefficients of a row of a band, from number `k` on.
__device__ __forceinline__ void store_next(const T (&v)[NEXT], T unit, T* band, int row, int k, int half)
{
#pragma unroll
    for (int i = 0; i < NEXT; ++i)
        if (k + i < half) band[(unsigned)(row * half + k + i)] = v[i] * unit;
}

extern "C" __global__ void __launch_bounds__(THREADS_OF_BLOCK, BLOCKS) wavelet_two_levels_forward(
    const S* __restrict__ x, T* __restrict__ low, T* __restrict__ details, T* __restrict__ finest, int rows,
    int columns, int half_rows, int half, int height)
{
    const int lane = threadIdx.x, begin = blockIdx.y * height, count = min(height, half_rows - begin);
    // Rows of approximations for the segment, and the steps of two rows of samples that compute them.
    const int first = 2 * begin - REACH, steps = 2 * (count + HALF - 1) + WARM;
    const int top = 2 * (first - LATE) - REACH;
    const int left = (int)blockIdx.x * WIDTH_TWO_FORWARD + (lane - HALO_TWO_FORWARD) * EACH - 6 * AHEAD;
    const int k = (left / 2 + AHEAD) / 2 + AHEAD;
    const bool mine = lane >= HALO_TWO_FORWARD && lane < 32 - HALO_TWO_FORWARD_AFTER;
    const size_t band = (size_t)half_rows * half;
    Samples samples(channel_of(x, rows, columns), rows, columns, left);
    low = plane_of(low, half_rows, half), finest = plane_of(finest, half_rows, half);
    details = plane_of(details, 2 * half_rows, half);
    BothLevels clamped = {};
    T upper[PAIRS] = {};
    __shared__ Four copies[AT_A_TIME][2][APART * PLANE];
    const auto prefetch = [&](int step, int slot) {
        if (step < steps)
            for (int r = 0; r < 2; ++r) samples.prefetch(top + 2 * step + r, slot, r, copies[slot][r] + own_four());
        close_group();
    };
    wait_for_launch_ahead();
    let_next_launch_begin();
#pragma unroll
    for (int step = 0; step < AT_A_TIME; ++step) prefetch(step, step);
    for (int start = 0; start < steps; start += AT_A_TIME) {
#pragma unroll
        for (int slot = 0; slot < AT_A_TIME; ++slot) {
            const int step = start + slot;
            if (step >= steps) break;
            T l[2][PAIRS], h[2][PAIRS], v[EACH], made[PAIRS], unwanted;
            wait_for_groups<AT_A_TIME - 1>();
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                samples.take(slot, r, copies[slot][r] + own_four(), v);
                split_row<true, false>(v, l[r], h[r]);
            }
            prefetch(step + AT_A_TIME, slot);
#pragma unroll
            for (int i = 0; i < PAIRS; ++i) {
                clamped.first[i].take<true, false>(l[0][i], l[1][i], made[i], unwanted);
                made[i] *= unit(OF_LOW, OF_LOW);
                if (slot % 2 == 0) upper[i] = made[i];
            }
            if (slot % 2 == 0 || step < WARM) continue;
            T lows[2][NEXT], highs[2][NEXT];
            split_row<true, true>(upper, lows[0], highs[0]);
            split_row<true, true>(made, lows[1], highs[1]);
#pragma unroll
            for (int i = 0; i < NEXT; ++i) {
                clamped.lows[i].take<true, true>(lows[0][i], lows[1][i], lows[0][i], lows[1][i]);
                clamped.highs[i].take<true, true>(highs[0][i], highs[1][i], highs[0][i], highs[1][i]);
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

__host__ __device__ constexpr int larger(int a, int b) { return a > b ? a : b; }
constexpr int HALO_TWO_INVERSE = whole(2 * EARLIER + larger(BEFORE, 4 * earlier(0)), EACH);
constexpr int HALO_TWO_INVERSE_AFTER = whole(2 * LATER + larger(AFTER, 4 * later(0)), EACH);
constexpr int WIDTH_TWO_INVERSE = (32 - HALO_TWO_INVERSE - HALO_TWO_INVERSE_AFTER) * EACH;
static_assert(WIDTH_TWO_INVERSE > 0, "some lane must have its complete halo");

// The inverse second level of a lane's columns: coefficients of four bands become two rows of approximations.
struct SecondLevel {
    Joining low, high;
    T unit_low, mixed, fine;

    __device__ __forceinline__ void take(const T (&bands)[4], T (&l)[2][1], T (&h)[2][1])
    {
        low.take(bands[3] * unit_low, shrunk(bands[0], mixed), l[0][0], l[1][0]);
        high.take(shrunk(bands[1], mixed), shrunk(bands[2], fine), h[0][0], h[1][0]);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS_OF_BLOCK, BLOCKS) wavelet_two_levels_inverse(
    const S* __restrict__ x, const T* __restrict__ restored, const T* __restrict__ details,
    const T* __restrict__ finest, S* __restrict__ out, const double* __restrict__ thresholds, int rows, int columns,
    int next_rows, int next, int height, double value)
{
    // Samples and thresholds are from launches before the previous one.
    const T threshold = (T)(GIVEN ? value : thresholds[channel()]);
    const T mixed = threshold * unit(BY_LOW, BY_HIGH), fine = threshold * unit(BY_HIGH, BY_HIGH);
    const int lane = threadIdx.x, above = (gridDim.y - 1 - blockIdx.y) * height, below = min(above + height, rows);
    // The first step yields the upper one of the two rows of approximations that a coefficient completes.
    const int wanted = ((above + REACH) >> 1) - HALF + 1, first = wanted - ((wanted + REACH - (HALF - 1)) & 1);
    const int steps = ((below - 1 + REACH) >> 1) - first + HALF, top = 2 * first - REACH;
    const int second_k = (first - (HALF - 1) + REACH) / 2;
    const int left = (int)blockIdx.x * WIDTH_TWO_INVERSE + (lane - HALO_TWO_INVERSE) * EACH;
    const bool mine = lane >= HALO_TWO_INVERSE && lane < 32 - HALO_TWO_INVERSE_AFTER;
    const Written written(channel_of(out, rows, columns), above, below, columns, left, mine);
    Samples samples(channel_of(x, rows, columns), rows, columns, left);
    restored = plane_of(restored, next_rows, next), finest = plane_of(finest, next_rows, next);
    details = plane_of(details, 2 * next_rows, next);
    const unsigned own = near_clamped((left / 2 + AHEAD) / 2, next);
    const size_t band = (size_t)next_rows * next;
    const T* const bands[4] = {details + own, details + band + own, finest + own, restored + own};
    Columns clamped = {};
    SecondLevel second = {{}, {}, unit(BY_LOW, BY_LOW), mixed, fine};
    __shared__ Four copies[AT_A_TIME][2][APART * PLANE]; // rows of the next steps, each lane's own
    __shared__ T coefficients[AT_A_TIME / 2][4][THREADS_OF_BLOCK];
    const int thread = 32 * threadIdx.y + lane;
    const auto prefetch_samples = [&](int step, int slot) {
        for (int r = 0; r < 2 && step < steps; ++r) samples.prefetch(top + 2 * step + r, slot, r, copies[slot][r] + own_four());
    };
    const auto prefetch_coefficients = [&](int step, int slot) {
        if (slot % 2 == 0 && step < steps) {
            const unsigned line = clamped_row_of(second_k + step / 2, next_rows) * next;
            for (int b = 0; b < 4; ++b) copy_ahead<sizeof(T)>(&coefficients[slot / 2][b][thread], bands[b] + line);
        }
        close_group();
    };
#pragma unroll
    for (int step = 0; step < AT_A_TIME; ++step) prefetch_samples(step, step);
    wait_for_launch_ahead();
    let_next_launch_begin();
#pragma unroll
    for (int step = 0; step < AT_A_TIME; ++step) prefetch_coefficients(step, step);
    T l2[2][1], h2[2][1], arrived[2][PAIRS];
#pragma unroll
    for (int k = 1 - HALF; k < 0; ++k) { // the halo of the first rows of approximations
        const unsigned line = clamped_row_of(second_k + k, next_rows) * next;
        const T values[4] = {bands[0][line], bands[1][line], bands[2][line], bands[3][line]};
        second.take(values, l2, h2);
    }
    for (int start = 0; start < steps; start += AT_A_TIME) {
#pragma unroll
        for (int slot = 0; slot < AT_A_TIME; ++slot) {
            const int step = start + slot;
            if (step >= steps) break;
            T l[2][PAIRS], h[2][PAIRS], row[EACH];
            wait_for_groups<AT_A_TIME - 1>();
            if (slot % 2 == 0) {
                T values[4];
#pragma unroll
                for (int b = 0; b < 4; ++b) values[b] = coefficients[slot / 2][b][thread];
                second.take(values, l2, h2);
#pragma unroll
                for (int r = 0; r < 2; ++r) {
                    join_row<0>(l2[r], h2[r], arrived[r]);
#pragma unroll
                    for (int i = 0; i < PAIRS; ++i) arrived[r][i] *= unit(INVERSE, INVERSE) * unit(BY_LOW, BY_LOW);
                }
            }
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                samples.take(slot, r, copies[slot][r] + own_four(), row);
                split_row<true, true>(row, l[r], h[r]);
            }
            prefetch_samples(step + AT_A_TIME, slot);
            prefetch_coefficients(step + AT_A_TIME, slot);
            clamped.split(l, h);
            if (step >= HALF - 1) clamped.join(l, h, arrived[slot % 2], mixed, fine);
            if (step >= 2 * (HALF - 1)) written.store(l, h, first + step - (HALF - 1));
        }
    }
}
