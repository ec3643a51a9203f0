// What:    the levels of an image that keep no detail, by warps that are alone: each makes its details twice
// Idea:    a warp marches down a strip of columns, two rows at a time, and no thread waits for another: neighbours of a
//          row come by shuffles, and along columns a row adds to the sums of all coefficients that it is part of, which
//          lie in registers. On the way there the approximation alone is written. On the way back the details are made
//          once more, shrunk, joined with the approximation that came back, and samples are written
// Shapes:  x and out (rows, columns, channels); low, finest and back (half_rows, half, channels); sum as out, for
//          several shifts; thresholds (channels). ALONE: the last level, to which nothing comes back. NOISE: the finest
//          details are wanted as well; not `keeps`: no approximation is
// Launch:  THREADS threads, a multiple of 32; grid over warps: strips * channels * segments of `height` rows, of
//          coefficients there, of samples back. A strip is what 32 lanes of EACH samples can make: WIDTH_THERE,
//          WIDTH_BACK. No shared memory
// Traffic: 12 bytes a float, read twice and written once, and 2 for its approximation there and back. Strips overlap by
//          taps - 2 samples there, twice that back, in whole lanes; segments likewise, in rows
// Source:  S0
#include "wavelet_lanes.cuh"

constexpr int PAIRS = EACH / 2; // coefficients of a half a lane

// What lanes at both ends of a warp cannot make, for what lies beyond.
constexpr int LOST_THERE = whole(BEFORE, EACH), LOST_THERE_AFTER = whole(AFTER, EACH);
constexpr int LOST_BACK = whole(BEFORE + 2 * EARLIER, EACH), LOST_BACK_AFTER = whole(AFTER + 2 * LATER, EACH);
constexpr int WIDTH_THERE = (32 - LOST_THERE - LOST_THERE_AFTER) * EACH;
constexpr int WIDTH_BACK = (32 - LOST_BACK - LOST_BACK_AFTER) * EACH;
static_assert(WIDTH_BACK > 0, "some lane has all that it needs");

// The rows of the samples of a lane, `own` of which are its places in a row: those beyond the edges by the border.
struct Samples {
    const S* x;
    Extent e;
    Shift shift;
    bool fours;
    int own[EACH];

    // From column `left` of the lane on. A periodic row of whole fours goes on in whole fours.
    __device__ __forceinline__ Samples(const S* x, const Extent& e, const Shift& shift, int left)
        : x(x), e(e), shift(shift), fours(aligned(x, e))
    {
        if (BORDER != 0) fours = fours && __all_sync(ALL_LANES, left >= 0 && left + EACH <= e.columns);
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            int column = near(left + i, e.columns);
            if (SHIFTED) column = unshifted(column, shift.right, e.columns);
            own[i] = column * e.channels + e.channel;
        }
    }

    __device__ __forceinline__ void fetch(int row, T (&v)[EACH]) const
    {
        row = near(row, e.rows);
        if (SHIFTED) row = unshifted(row, shift.down, e.rows);
        const S* line = x + (Index)row * e.columns * e.channels;
        if (fours) {
#pragma unroll
            for (int f = 0; f < EACH; f += 4) {
                const Four four = *(const Four*)(line + own[f]);
#pragma unroll
                for (int i = 0; i < 4; ++i) v[f + i] = (T)four.v[i];
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < EACH; ++i) v[i] = (T)line[own[i]];
    }
};

// A warp's strip, channel and segment, of those of an image.
struct Part {
    int strip, channel, segment, lane;
};

__device__ __forceinline__ Part part_of(int strips, int channels)
{
    const int warp = (int)(blockIdx.x * (THREADS / 32) + threadIdx.x / 32), across = strips * channels;
    return {warp % across / channels, warp % channels, warp / across, (int)threadIdx.x % 32};
}

__device__ __forceinline__ void store_low(const T (&v)[PAIRS], T* band, int row, int k, int half, const Extent& e)
{
    T* line = band + (Index)row * half * e.channels;
    if (e.channels == 1 && half % 2 == 0) {
#pragma unroll
        for (int i = 0; i < PAIRS; i += 2)
            if (k + i >= 0 && k + i < half) *(Pair*)(line + k + i) = {v[i], v[i + 1]};
        return;
    }
#pragma unroll
    for (int i = 0; i < PAIRS; ++i)
        if (k + i >= 0 && k + i < half) line[(k + i) * e.channels + e.channel] = v[i];
}

// The approximation of a level, and where NOISE asks for them the diagonal details.
extern "C" __global__ void __launch_bounds__(THREADS) wavelet_marched_low(
    const S* __restrict__ x, T* __restrict__ low, T* __restrict__ finest, int rows, int columns, int half_rows, int half,
    int channels, int height, int down, int right, int strips, int keeps)
{
    const Part part = part_of(strips, channels);
    const Extent e = {rows, columns, channels, part.channel};
    const Shift shift = {down, right, 0, 0, 0};
    const int first = part.segment * height;
    if (first >= half_rows) return;
    const int count = min(height, half_rows - first), steps = count + HALF - 1, top = 2 * first - REACH;
    const int left = part.strip * WIDTH_THERE + (part.lane - LOST_THERE) * EACH - 2 * AHEAD;
    const bool mine = part.lane >= LOST_THERE && part.lane < 32 - LOST_THERE_AFTER;
    const int k = left / 2 + AHEAD;
    const Samples samples(x, e, shift, left);
    Splitting lows[PAIRS] = {}, highs[PAIRS] = {};
    T next[2][2][EACH]; // two rows each of the next two steps
#pragma unroll
    for (int ahead = 0; ahead < 2; ++ahead)
        for (int r = 0; r < 2; ++r) samples.fetch(top + min(2 * ahead + r, 2 * steps - 1), next[ahead][r]);
    for (int start = 0; start < steps; start += 2) {
#pragma unroll
        for (int ahead = 0; ahead < 2; ++ahead) {
            const int step = start + ahead, row = first + step - (HALF - 1);
            if (step >= steps) break;
            T l[2][PAIRS], h[2][PAIRS];
#pragma unroll
            for (int r = 0; r < 2; ++r) split_row<true, NOISE>(next[ahead][r], l[r], h[r]);
            if (step + 2 < steps)
                for (int r = 0; r < 2; ++r) samples.fetch(top + 2 * (step + 2) + r, next[ahead][r]);
            T made[PAIRS], fine[PAIRS];
#pragma unroll
            for (int i = 0; i < PAIRS; ++i) {
                T unwanted;
                lows[i].take<true, false>(l[0][i], l[1][i], made[i], unwanted);
                if (NOISE) highs[i].take<false, true>(h[0][i], h[1][i], unwanted, fine[i]);
            }
            if (row < first || !mine) continue;
            if (!NOISE || keeps) store_low(made, low, row, k, half, e);
            if (NOISE) store_low(fine, finest, row, k, half, e);
        }
    }
}

// The approximation that came back, of a lane's columns.
struct Returned {
    const T* back;
    int half_rows, half, channels;
    bool pairs;
    int own[PAIRS];

    __device__ __forceinline__ Returned(const T* back, int half_rows, int half, const Extent& e, int k)
        : back(back), half_rows(half_rows), half(half), channels(e.channels)
    {
        pairs = channels == 1 && half % 2 == 0;
        if (BORDER != 0) pairs = pairs && __all_sync(ALL_LANES, k >= 0 && k + PAIRS <= half);
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) own[i] = near_held(k + i, half) * channels + e.channel;
    }

    __device__ __forceinline__ void fetch(int row, T (&v)[PAIRS]) const
    {
        const T* line = back + (Index)near_held(row, half_rows) * half * channels;
        if (pairs) {
#pragma unroll
            for (int i = 0; i < PAIRS; i += 2) {
                const Pair pair = *(const Pair*)(line + own[i]);
                v[i] = pair.v[0], v[i + 1] = pair.v[1];
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) v[i] = line[own[i]];
    }
};

// A lane's columns of all bands.
struct Columns {
    Splitting lows[PAIRS], highs[PAIRS];
    Joining low[PAIRS], high[PAIRS];

    // From the halves of two rows to those of the two rows that come back; the first name is that along a row.
    __device__ __forceinline__ void take(
        T (&l)[2][PAIRS], T (&h)[2][PAIRS], const T (&came)[PAIRS], T threshold)
    {
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) {
            T approximation = came[i], horizontal, vertical, diagonal, unwanted;
            if (ALONE) lows[i].take<true, true>(l[0][i], l[1][i], approximation, horizontal);
            else lows[i].take<false, true>(l[0][i], l[1][i], unwanted, horizontal);
            highs[i].take<true, true>(h[0][i], h[1][i], vertical, diagonal);
            low[i].take(approximation, shrunk(horizontal, threshold), l[0][i], l[1][i]);
            high[i].take(shrunk(vertical, threshold), shrunk(diagonal, threshold), h[0][i], h[1][i]);
        }
    }
};

// A strip's samples, from those around them and the approximation that came back. The last segments come first: of the
// image that the way there has read, its end is what a cache still has.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) wavelet_marched_back(
    const S* __restrict__ x, const T* __restrict__ back, T* __restrict__ sum, S* __restrict__ out,
    const double* __restrict__ thresholds, int rows, int columns, int half_rows, int half, int channels,
    int height, int down, int right, int strips, int segments, int first, int last, double count)
{
    const Part part = part_of(strips, channels);
    if (part.segment >= segments) return;
    const Extent e = {rows, columns, channels, part.channel};
    const Shift shift = {down, right, first, last, (T)count};
    const T threshold = (T)thresholds[e.channel];
    const int above = (segments - 1 - part.segment) * height, below = min(above + height, rows);
    const int first_k = ((above + REACH) >> 1) - HALF + 1, last_k = (below - 1 + REACH) >> 1;
    const int steps = last_k - first_k + HALF, top = 2 * first_k - REACH;
    const int left = part.strip * WIDTH_BACK + (part.lane - LOST_BACK) * EACH;
    const bool mine = part.lane >= LOST_BACK && part.lane < 32 - LOST_BACK_AFTER && left < columns;
    const bool in_fours = aligned(out, e);
    const Samples samples(x, e, shift, left);
    const Returned returned(back, half_rows, half, e, left / 2 + AHEAD);
    Columns held = {};
    T next[2][EACH], came[PAIRS] = {};
    for (int r = 0; r < 2; ++r) samples.fetch(top + r, next[r]);
    for (int step = 0; step < steps; ++step) {
        const int k = first_k + step - (HALF - 1);
        if (!ALONE) returned.fetch(k, came);
        T l[2][PAIRS], h[2][PAIRS], row[EACH];
#pragma unroll
        for (int r = 0; r < 2; ++r) split_row<true, true>(next[r], l[r], h[r]);
        if (step + 1 < steps)
            for (int r = 0; r < 2; ++r) samples.fetch(top + 2 * (step + 1) + r, next[r]);
        held.take(l, h, came, threshold);
        if (step < 2 * (HALF - 1)) continue;
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int at = 2 * k - REACH + r;
            join_row(l[r], h[r], row);
            if (!mine || at < above || at >= below) continue;
#pragma unroll
            for (int f = 0; f < EACH; f += 4) {
                if (in_fours && left + f < columns) store_four(row + f, out, e, at, left + f);
                for (int i = f; !in_fours && i < f + 4 && left + i < columns; ++i)
                    store_one(row[i], sum, out, e, shift, at, left + i);
            }
        }
    }
}
