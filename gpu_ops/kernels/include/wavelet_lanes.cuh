// Samples and coefficients of a warp that is alone with its strip of an image: a lane has EACH neighbouring samples of a
// row, or the EACH / 2 coefficients of either half that belong to them, and its neighbours' values come by shuffles.
//
// Coefficient k of a lane whose first sample is 2k - 2 * AHEAD meets the samples from BEFORE before that one on, so that
// it needs about as many on either side with any border.
#pragma once

#include "wavelet_strip.cuh"

constexpr unsigned ALL_LANES = 0xffffffffu;
constexpr int AHEAD = (REACH - HALF + 3) / 4 * 2;
constexpr int BEFORE = REACH - 2 * AHEAD, AFTER = TAPS - 2 - BEFORE; // samples around a lane's that it needs
constexpr int EARLIER = HALF - 1 + AHEAD - REACH / 2; // coefficients around a lane's that its samples need
constexpr int LATER = (REACH + 1) / 2 - AHEAD;

static_assert(BEFORE >= 0 && AFTER >= 0 && EARLIER >= 0 && LATER >= 0, "a lane's neighbours");

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
template <bool LOW, bool HIGH, int N>
__device__ __forceinline__ void split_row(const T (&row)[2 * N], T (&low)[N], T (&high)[N])
{
#pragma unroll
    for (int k = 0; k < N; ++k) low[k] = high[k] = 0;
#pragma unroll
    for (int place = -BEFORE; place < 2 * N + AFTER; ++place) {
        const T value = of_row(row, place);
#pragma unroll
        for (int k = 0; k < N; ++k) {
            const int t = place + BEFORE - 2 * k;
            if (t < 0 || t >= TAPS) continue;
            if (LOW) low[k] += bank[LOW_THERE + t] * value;
            if (HIGH) high[k] += bank[HIGH_THERE + t] * value;
        }
    }
}

// The samples of a row of coefficients.
template <int N>
__device__ __forceinline__ void join_row(const T (&low)[N], const T (&high)[N], T (&row)[2 * N])
{
#pragma unroll
    for (int i = 0; i < 2 * N; ++i) row[i] = 0;
#pragma unroll
    for (int place = -EARLIER; place < N + LATER; ++place) {
        const T l = of_row(low, place), h = of_row(high, place);
#pragma unroll
        for (int i = 0; i < 2 * N; ++i) {
            const int p = (i + REACH) / 2 - AHEAD - place, t = (i + REACH) % 2 + 2 * p;
            if (p < 0 || p >= HALF) continue;
            row[i] += bank[LOW_BACK + t] * l;
            row[i] += bank[HIGH_BACK + t] * h;
        }
    }
}
