// Samples and the numbers that wavelets compute with. SAMPLE names the type S of samples, REAL the type T of sums;
// INTEGER is 1 where samples are unsigned integers.
#pragma once

typedef SAMPLE S;
typedef REAL T;
typedef long long Index;

// Integers are rounded half up and clamped to their range.
__device__ __forceinline__ S sample_of(T value)
{
#if INTEGER
    const T most = sizeof(S) == 1 ? 255 : 65535;
    const T rounded = floor(value + (T)0.5);
    return (S)(rounded < 0 ? 0 : rounded > most ? most : rounded);
#else
    return (S)value;
#endif
}
