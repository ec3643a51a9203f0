// What the kernels of signals store of each bin.
#pragma once
#include "fft_samples.cuh"

typedef SAMPLE Sample;

enum { SPECTRUM, MAGNITUDE, DENSITY, SUMS, ROUND_TRIP };  // RESULT

template <int OF>
__device__ __forceinline__ auto result_of(C z, R factor)
{
    if constexpr (OF == MAGNITUDE) return hypot(z.x, z.y) * factor;
    else if constexpr (OF == DENSITY) return (z.x * z.x + z.y * z.y) * factor;
    else if constexpr (OF == SUMS) return (double)(z.x * z.x + z.y * z.y);
    else if constexpr (OF == ROUND_TRIP) return sample_from<Sample>(z.y * factor);  // of swapped parts
    else return z;
}
typedef decltype(result_of<RESULT>(C(), 0)) Result;

__device__ __forceinline__ C opposite_of(C z) { return complex_of(z.x, -z.y); }
template <typename Real>
__device__ __forceinline__ Real opposite_of(Real value) { return value; }

// Where a line of `length` samples stores its bins: `step` values apart, from `first` on. Bins 1 ... doubled - 1
// represent two frequencies; where both sides are wanted, results are stored at the opposite frequency as well.
struct Bins {
    Result* first;
    long long step;
    int length, doubled, both_sides;
    R factor;

    __device__ __forceinline__ void store(int k, C z) const
    {
        const Result result = result_of<RESULT>(z, k > 0 && k < doubled ? 2 * factor : factor);
        first[k * step] = result;
        if (both_sides && k > 0 && 2 * k < length) first[(length - k) * step] = opposite_of(result);
    }
};
