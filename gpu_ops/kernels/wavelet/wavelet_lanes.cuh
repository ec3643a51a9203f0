// Samples and coefficients of an independent warp with a strip of an image or a tile of a signal: a lane has EACH
// neighbouring samples of a row, or their EACH / 2 low and high coefficients, and neighbours' values come by shuffles.
// FORM selects how coefficients are computed: as sums over all taps, by a lattice of rotations where a wavelet is
// orthogonal, by lifting where it has few steps.
//
// Coefficient k of a lane whose first sample is 2k - 2 * AHEAD depends on the samples from BEFORE before that one on:
// about as many on either side with any border.
#pragma once

#include "wavelet_strip.cuh"

#define SUMS 0
#define LATTICE 1
#define LIFTING 2

constexpr unsigned ALL_LANES = 0xffffffffu;

// The distance from half a lane's first sample to its first coefficient: an even number, for pairs in memory. The lanes
// of a signal compute several levels, each of which starts with an even number.
constexpr int AHEAD = !IMAGE ? 0 : FORM == LATTICE ? (REACH + 2) / 4 * 2 : (REACH - HALF + 3) / 4 * 2;

// The halo of a lane, in samples.
constexpr int BEFORE = REACH > 2 * AHEAD ? REACH - 2 * AHEAD : 0, AFTER = TAPS - 2 - REACH + 2 * AHEAD;

// The halo of a lane, in coefficients, if its first coefficient is `at` ahead.
__host__ __device__ constexpr int earlier(int at) { return HALF - 1 + at - REACH / 2; }
__host__ __device__ constexpr int later(int at) { return (REACH + 1) / 2 - at; }
constexpr int EARLIER = earlier(AHEAD), LATER = later(AHEAD);

// Value `index` of a row, counted from the lane's first of N: from a neighbouring lane where it is not the lane's own.
template <int N>
__device__ __forceinline__ T of_row(const T (&own)[N], int index)
{
    const int lanes = index >= 0 ? index / N : -((N - 1 - index) / N);
    const T value = own[index - lanes * N];
    if (lanes < 0) return __shfl_up_sync(ALL_LANES, value, -lanes);
    if (lanes > 0) return __shfl_down_sync(ALL_LANES, value, lanes);
    return value;
}

// A thresholded coefficient.
__device__ __forceinline__ T shrunk(T value, T threshold)
{
    if (HOW == SOFT) return value - min(max(value, -threshold), threshold);
    return shrunk(value, threshold, HOW);
}

#if FORM == SUMS
#include "wavelet_direct.cuh"
#elif FORM == LATTICE
#include "wavelet_lattice.cuh"
#elif FORM == LIFTING
#include "wavelet_lifting.cuh"
#else
#error "FORM must be 0, 1 or 2"
#endif

// The units of coefficients along an axis, which save one multiplication each: those of low and of high coefficients,
// their inverses, and the factor of samples synthesised from such coefficients.
enum Unit { OF_LOW, OF_HIGH, BY_LOW, BY_HIGH, INVERSE };
#if FORM != SUMS
__constant__ T units[5];
#endif

__device__ __forceinline__ T unit(Unit of)
{
#if FORM != SUMS
    return of == INVERSE && !LONGER_INVERSE ? (T)1 : units[of];
#else
    return 1;
#endif
}
