// Shared by the mean kernels. SAMPLE and ACCUMULATOR name the types T and A; INTEGER is 1 when T is an integer type.
// Taps are 1/count for floating samples, and 1 for integers, whose exact sum is divided at the end.
#pragma once
#include "border.cuh"

typedef SAMPLE T;
typedef ACCUMULATOR A;

// The mean as a sample, from a window's sum: integers are rounded half up (the mean cannot leave the range of T).
__device__ __forceinline__ T finish(A sum, unsigned int count)
{
#if INTEGER
    return (T)((sum + count / 2) / count);
#else
    return sum;
#endif
}
