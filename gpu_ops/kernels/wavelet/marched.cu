// What:    the levels of an image that keep no detail, by warps that are alone: each makes its details twice
// Idea:    a warp marches down a strip of columns, two rows at a time, and no thread waits for another: neighbours of a
//          row come by shuffles, and what columns wait for lies in registers: a lattice of rotations where the wavelet
//          is one, else sums over all taps. On the way there the approximation alone is written. On the way back the
//          details are made once more, shrunk, joined with the approximation that came back, and samples are written
// Shapes:  x and out (rows, columns); low, finest and back (half_rows, half); thresholds (1). At least 2 * TAPS rows,
//          columns in whole fours. ALONE: the last level, to which nothing comes back. NOISE: the finest details are
//          wanted as well; not `keeps`: no approximation is
// Launch:  a warp a block. Grid x: strips, y: segments of `height` rows, of coefficients there, of samples back. Of a
//          strip 32 lanes of EACH samples make all: WIDTH_THERE, WIDTH_BACK. Shared memory for the rows of the next
//          steps. Each launch but the first may begin before the one ahead has ended
// Traffic: 12 bytes a float, read twice and written once, and 2 for its approximation there and back. Strips overlap by
//          taps - 2 samples there, twice that back, in whole lanes; segments likewise, in rows
// Source:  S0
#include "copy_ahead.cuh"
#include "early_launch.cuh"
#include "wavelet_lanes.cuh"

constexpr int PAIRS = EACH / 2; // coefficients of a half a lane
constexpr int DEPTH = 3;        // steps whose rows are on their way

// What lanes at both ends of a warp cannot make, for what lies beyond.
constexpr int LOST_THERE = whole(BEFORE, EACH), LOST_THERE_AFTER = whole(AFTER, EACH);
constexpr int LOST_BACK = whole(BEFORE + 2 * EARLIER, EACH), LOST_BACK_AFTER = whole(AFTER + 2 * LATER, EACH);
constexpr int WIDTH_THERE = (32 - LOST_THERE - LOST_THERE_AFTER) * EACH;
constexpr int WIDTH_BACK = (32 - LOST_BACK - LOST_BACK_AFTER) * EACH;
static_assert(WIDTH_BACK > 0, "some lane has all that it needs");

// A row of samples, or of coefficients, not far beyond the edges: by the border.
__device__ __forceinline__ int row_of(int row, int rows)
{
#if BORDER == 0
    const int period = rows + rows % 2;
    row += row < 0 ? period : 0;
    row -= row >= period ? period : 0;
    return min(row, rows - 1);
#else
    return row < 0 ? -1 - row : row >= rows ? 2 * rows - 1 - row : row;
#endif
}

__device__ __forceinline__ int held_row_of(int row, int half_rows)
{
#if BORDER == 0
    return row < 0 ? row + half_rows : row >= half_rows ? row - half_rows : row;
#else
    return min(max(row, 0), half_rows - 1);
#endif
}

// The samples of a lane, in whole fours. Those beyond an edge lie together as well, mirrored ones from last to first.
struct Samples {
    const Four* own[EACH / 4];
    int rows, pitch; // bytes
    bool mirrored[EACH / 4];

    __device__ __forceinline__ Samples(const S* x, int rows, int columns, int left)
        : rows(rows), pitch(columns * (int)sizeof(S))
    {
#pragma unroll
        for (int f = 0; f < EACH / 4; ++f) {
            const int begin = near(left + 4 * f, columns), end = near(left + 4 * f + 3, columns);
            own[f] = (const Four*)(x + min(begin, end));
            mirrored[f] = begin > end;
        }
    }

    // A row, copied ahead; `place` is where the lane's fours lie in shared memory, those of all lanes side by side.
    __device__ __forceinline__ void ask(int row, Four* place) const
    {
        const Index begin = (Index)row_of(row, rows) * pitch;
#pragma unroll
        for (int f = 0; f < EACH / 4; ++f)
            copy_ahead<sizeof(Four)>(place + 32 * f, (const char*)own[f] + begin);
    }

    __device__ __forceinline__ void take(const Four* place, T (&v)[EACH]) const
    {
#pragma unroll
        for (int f = 0; f < EACH / 4; ++f) {
            const Four four = place[32 * f];
#pragma unroll
            for (int i = 0; i < 4; ++i) v[4 * f + i] = (T)(BORDER != 0 && mirrored[f] ? four.v[3 - i] : four.v[i]);
        }
    }
};

constexpr int ROW = 32 * EACH / 4; // fours of a row of a warp

// Coefficients of a row of a band, from number `k` on, of which a lane's lie from `own` on in row 0.
__device__ __forceinline__ void store_low(const T (&v)[PAIRS], T* own, int row, int k, int half)
{
    T* line = (T*)((char*)own + (Index)row * (half * (int)sizeof(T)));
#pragma unroll
    for (int i = 0; i < PAIRS; i += 2) {
        if (!PAIRED) {
            for (int j = i; j < i + 2; ++j)
                if (k + j >= 0 && k + j < half) line[j] = v[j];
        } else if (k + i >= 0 && k + i < half)
            *(Pair*)(line + i) = {v[i], v[i + 1]};
    }
}

// The approximation of a level, and where NOISE asks for them the diagonal details.
extern "C" __global__ void __launch_bounds__(32, 16) wavelet_marched_low(
    const S* __restrict__ x, T* __restrict__ low, T* __restrict__ finest, int rows, int columns, int half_rows,
    int half, int height, int keeps)
{
    const int lane = threadIdx.x, first = blockIdx.y * height, count = min(height, half_rows - first);
    const int steps = count + HALF - 1, top = 2 * first - REACH;
    const int left = (int)blockIdx.x * WIDTH_THERE + (lane - LOST_THERE) * EACH - 2 * AHEAD;
    const bool mine = lane >= LOST_THERE && lane < 32 - LOST_THERE_AFTER;
    const int k = left / 2 + AHEAD;
    const Samples samples(x, rows, columns, left);
    Splitting lows[PAIRS] = {}, highs[PAIRS] = {};
    __shared__ Four copies[DEPTH][2][ROW]; // rows of the next steps, each lane's own
    const auto ask = [&](int step, int place) {
        if (step < steps)
            for (int r = 0; r < 2; ++r) samples.ask(top + 2 * step + r, copies[place][r] + lane);
        close_group();
    };
    wait_for_launch_ahead();
    let_next_launch_begin();
#pragma unroll
    for (int step = 0; step < DEPTH; ++step) ask(step, step);
    for (int start = 0; start < steps; start += DEPTH) {
#pragma unroll
        for (int place = 0; place < DEPTH; ++place) {
            const int step = start + place, row = first + step - (HALF - 1);
            if (step >= steps) break;
            T l[2][PAIRS], h[2][PAIRS], v[EACH];
            wait_for_groups<DEPTH - 1>();
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                samples.take(copies[place][r] + lane, v);
                split_row<true, NOISE>(v, l[r], h[r]);
            }
            ask(step + DEPTH, place);
            T made[PAIRS], fine[PAIRS], unwanted;
#pragma unroll
            for (int i = 0; i < PAIRS; ++i) {
                lows[i].take<true, false>(l[0][i], l[1][i], made[i], unwanted);
                if (NOISE) highs[i].take<false, true>(h[0][i], h[1][i], unwanted, fine[i]);
            }
            if (row < first || !mine) continue;
            if (!NOISE || keeps) store_low(made, low + k, row, k, half);
            if (NOISE) store_low(fine, finest + k, row, k, half);
        }
    }
}

// The approximation that came back, of a lane's columns.
struct Returned {
    const T* own[PAIRS];
    int half_rows, pitch; // bytes

    __device__ __forceinline__ Returned(const T* back, int half_rows, int half, int k)
        : half_rows(half_rows), pitch(half * (int)sizeof(T))
    {
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) own[i] = back + near_held(k + i, half);
    }

    // A row, copied ahead; `place` is where the lane's pairs lie in shared memory, those of all lanes side by side.
    __device__ __forceinline__ void ask(int row, Pair* place) const
    {
        const Index begin = (Index)held_row_of(row, half_rows) * pitch;
#pragma unroll
        for (int i = 0; i < PAIRS; i += 2) {
            T* to = place[32 * (i / 2)].v;
            copy_ahead<PAIRED && BORDER == 0 ? sizeof(Pair) : sizeof(T)>(to, (const char*)own[i] + begin);
            if (!PAIRED || BORDER != 0) copy_ahead<sizeof(T)>(to + 1, (const char*)own[i + 1] + begin);
        }
    }

    __device__ __forceinline__ void take(const Pair* place, T (&v)[PAIRS]) const
    {
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) v[i] = place[32 * (i / 2)].v[i % 2];
    }
};

// A lane's columns of all bands.
struct Columns {
    Splitting lows[PAIRS], highs[PAIRS];
    Joining low[PAIRS], high[PAIRS];

    // From the halves of two rows to the coefficients that they complete, in their places: low and high along a column.
    __device__ __forceinline__ void split(T (&l)[2][PAIRS], T (&h)[2][PAIRS])
    {
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) {
            lows[i].take<ALONE, true>(l[0][i], l[1][i], l[0][i], l[1][i]);
            highs[i].take<true, true>(h[0][i], h[1][i], h[0][i], h[1][i]);
        }
    }

    // And from coefficients to the halves of the two rows that they complete.
    __device__ __forceinline__ void join(T (&l)[2][PAIRS], T (&h)[2][PAIRS], const T (&came)[PAIRS], T threshold)
    {
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) {
            low[i].take(ALONE ? l[0][i] : came[i], shrunk(l[1][i], threshold), l[0][i], l[1][i]);
            high[i].take(shrunk(h[0][i], threshold), shrunk(h[1][i], threshold), h[0][i], h[1][i]);
        }
    }
};

// A strip's samples, from those around them and the approximation that came back. The last segments come first: of the
// image that the way there has read, its end is what a cache still has.
extern "C" __global__ void __launch_bounds__(32, 16) wavelet_marched_back(
    const S* __restrict__ x, const T* __restrict__ back, S* __restrict__ out, const double* __restrict__ thresholds,
    int rows, int columns, int half_rows, int half, int height, double value)
{
    const T threshold = (T)(GIVEN ? value : thresholds[0]);
    const int lane = threadIdx.x, above = (gridDim.y - 1 - blockIdx.y) * height, below = min(above + height, rows);
    const int first_k = ((above + REACH) >> 1) - HALF + 1, last_k = (below - 1 + REACH) >> 1;
    const int steps = last_k - first_k + HALF, top = 2 * first_k - REACH;
    const int left = (int)blockIdx.x * WIDTH_BACK + (lane - LOST_BACK) * EACH;
    const int room = lane >= LOST_BACK && lane < 32 - LOST_BACK_AFTER ? columns - left : 0;
    char* own = (char*)(out + left);
    const Samples samples(x, rows, columns, left);
    const Returned returned(back, half_rows, half, left / 2 + AHEAD);
    Columns held = {};
    __shared__ Four copies[DEPTH][2][ROW]; // rows of the next steps, each lane's own
    __shared__ Pair returns[DEPTH][ALONE ? 1 : 32 * PAIRS / 2];
    const auto ask_samples = [&](int step, int place) {
        for (int r = 0; r < 2; ++r)
            if (step < steps) samples.ask(top + 2 * step + r, copies[place][r] + lane);
    };
    const auto ask_returned = [&](int step, int place) {
        if (!ALONE && step < steps) returned.ask(first_k + step - (HALF - 1), returns[place] + lane);
        close_group();
    };
    // Samples are from launches before the one ahead; of the last level they are from that one.
    if (ALONE) wait_for_launch_ahead();
#pragma unroll
    for (int step = 0; step < DEPTH; ++step) ask_samples(step, step);
    if (!ALONE) wait_for_launch_ahead();
    let_next_launch_begin();
#pragma unroll
    for (int step = 0; step < DEPTH; ++step) ask_returned(step, step);
    for (int start = 0; start < steps; start += DEPTH) {
#pragma unroll
        for (int place = 0; place < DEPTH; ++place) {
            const int step = start + place, k = first_k + step - (HALF - 1);
            if (step >= steps) break;
            T l[2][PAIRS], h[2][PAIRS], row[EACH], came[PAIRS] = {};
            wait_for_groups<DEPTH - 1>();
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                samples.take(copies[place][r] + lane, row);
                split_row<true, true>(row, l[r], h[r]);
            }
            if (!ALONE) returned.take(returns[place] + lane, came);
            ask_samples(step + DEPTH, place);
            ask_returned(step + DEPTH, place);
            held.split(l, h);
            if (step >= HALF - 1) held.join(l, h, came, threshold);
            if (step < 2 * (HALF - 1)) continue;
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                const int at = 2 * k - REACH + r;
                join_row(l[r], h[r], row);
                if (at < above || at >= below) continue;
                Four* line = (Four*)(own + (Index)at * samples.pitch);
#pragma unroll
                for (int f = 0; f < EACH; f += 4) {
                    Four four;
#pragma unroll
                    for (int i = 0; i < 4; ++i) four.v[i] = sample_of(row[f + i]);
                    if (f < room) line[f / 4] = four;
                }
            }
        }
    }
}
