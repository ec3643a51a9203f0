// Samples and coefficients of a warp that is alone with its strip of an image: a lane has EACH neighbouring samples of a
// row, or the EACH / 2 coefficients of either half that belong to them, and its neighbours' values come by shuffles.
//
// Coefficient k of a lane whose first sample is 2k - 2 * AHEAD meets the samples from BEFORE before that one on, so that
// it needs about as many on either side with any border.
// Along columns a row is given away as it comes: it adds to the sums of all coefficients, or samples, that it is part
// of, and the sums move on by one as they are made.
#pragma once

#include "wavelet_strip.cuh"

constexpr unsigned ALL_LANES = 0xffffffffu;
constexpr int PAIRS = EACH / 2; // coefficients of a half a lane
constexpr int AHEAD = (REACH - HALF + 3) / 4 * 2;
constexpr int BEFORE = REACH - 2 * AHEAD, AFTER = TAPS - 2 - BEFORE; // samples around a lane's that it needs
constexpr int EARLIER = HALF - 1 + AHEAD - REACH / 2; // coefficients around a lane's that its samples need
constexpr int LATER = (REACH + 1) / 2 - AHEAD;
constexpr int OPEN = HALF > 1 ? HALF - 1 : 1; // sums of a column that wait for rows to come

// What lanes at both ends of a warp cannot make, for what lies beyond.
constexpr int LOST_THERE = whole(BEFORE, EACH), LOST_THERE_AFTER = whole(AFTER, EACH);
constexpr int LOST_BACK = whole(BEFORE + 2 * EARLIER, EACH), LOST_BACK_AFTER = whole(AFTER + 2 * LATER, EACH);
constexpr int WIDTH_THERE = (32 - LOST_THERE - LOST_THERE_AFTER) * EACH;
constexpr int WIDTH_BACK = (32 - LOST_BACK - LOST_BACK_AFTER) * EACH;
static_assert(BEFORE >= 0 && AFTER >= 0 && EARLIER >= 0 && LATER >= 0 && WIDTH_BACK > 0, "a lane's neighbours");

// Value `place` of a row, counted from the lane's first of N: of a neighbour where it is none of the lane's.
template <int N>
__device__ __forceinline__ T of_row(const T (&own)[N], int place)
{
    const int lanes = place >= 0 ? place / N : -((N - 1 - place) / N);
    const T value = own[place - lanes * N];
    if (lanes < 0) return __shfl_up_sync(ALL_LANES, value, -lanes);
    if (lanes > 0) return __shfl_down_sync(ALL_LANES, value, lanes);
    return value;
}

// The coefficients of a row of samples.
template <bool LOW, bool HIGH>
__device__ __forceinline__ void split_row(const T (&row)[EACH], T (&low)[PAIRS], T (&high)[PAIRS])
{
#pragma unroll
    for (int k = 0; k < PAIRS; ++k) low[k] = high[k] = 0;
#pragma unroll
    for (int place = -BEFORE; place < EACH + AFTER; ++place) {
        const T value = of_row(row, place);
#pragma unroll
        for (int k = 0; k < PAIRS; ++k) {
            const int t = place + BEFORE - 2 * k;
            if (t < 0 || t >= TAPS) continue;
            if (LOW) low[k] += bank[LOW_THERE + t] * value;
            if (HIGH) high[k] += bank[HIGH_THERE + t] * value;
        }
    }
}

// The samples of a row of coefficients.
__device__ __forceinline__ void join_row(const T (&low)[PAIRS], const T (&high)[PAIRS], T (&row)[EACH])
{
#pragma unroll
    for (int i = 0; i < EACH; ++i) row[i] = 0;
#pragma unroll
    for (int place = -EARLIER; place < PAIRS + LATER; ++place) {
        const T l = of_row(low, place), h = of_row(high, place);
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const int p = (i + REACH) / 2 - AHEAD - place, t = (i + REACH) % 2 + 2 * p;
            if (p < 0 || p >= HALF) continue;
            row[i] += bank[LOW_BACK + t] * l;
            row[i] += bank[HIGH_BACK + t] * h;
        }
    }
}

// Coefficients of a column, to which two rows at a time add.
struct Splitting {
    T sums[OPEN];

    // The coefficient that two rows complete, the last of those that they are part of.
    __device__ __forceinline__ T take(int of, T upper, T lower)
    {
        const T done = (HALF > 1 ? sums[0] : 0) + bank[of + TAPS - 2] * upper + bank[of + TAPS - 1] * lower;
#pragma unroll
        for (int k = 1; k < HALF; ++k) {
            const int t = TAPS - 2 - 2 * k;
            sums[k - 1] = (k < HALF - 1 ? sums[k] : 0) + bank[of + t] * upper + bank[of + t + 1] * lower;
        }
        return done;
    }
};

// Samples of a column, to which a coefficient of either half at a time adds.
struct Joining {
    T sums[2][OPEN];

    // The two samples that they complete.
    __device__ __forceinline__ void take(T low, T high, T& upper, T& lower)
    {
        upper = one(low, high, 0);
        lower = one(low, high, 1);
    }

    __device__ __forceinline__ T one(T low, T high, int parity)
    {
        T* open = sums[parity];
        const T done = (HALF > 1 ? open[0] : 0) + bank[LOW_BACK + parity] * low + bank[HIGH_BACK + parity] * high;
#pragma unroll
        for (int k = 1; k < HALF; ++k) {
            const int t = parity + 2 * k;
            open[k - 1] = (k < HALF - 1 ? open[k] : 0) + bank[LOW_BACK + t] * low + bank[HIGH_BACK + t] * high;
        }
        return done;
    }
};

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
