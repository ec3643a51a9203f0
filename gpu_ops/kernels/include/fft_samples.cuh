// Samples as real numbers of the transforms, and back.
#pragma once
#include "fft.cuh"

// A sample, minus its mean where that is wanted. The difference is taken in double: in float a large mean would cancel
// most digits.
template <typename Sample>
__device__ __forceinline__ R less_mean(Sample value, const double* __restrict__ mean, int detrend)
{
    return detrend ? (R)((double)value - *mean) : (R)value;
}

// Integers are rounded half up and clamped.
template <typename Sample>
__device__ __forceinline__ Sample sample_from(R value)
{
    if constexpr ((Sample)0.5 != 0) return value;
    const R whole = floor(value + (R)0.5), most = (R)(Sample)~0ull;
    return (Sample)(whole < 0 ? 0 : whole > most ? most : whole);
}
