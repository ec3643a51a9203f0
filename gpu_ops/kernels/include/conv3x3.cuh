// Shared by the conv3x3 kernels. SAMPLE and WEIGHT name the types T and W; INTEGER is 1 when T is an integer type.
// Whole weights over integer samples are int where every sum fits, which is exact; else they are double. Weights over
// floating samples have the samples' type and are divided beforehand.
// An image is height lines of columns = width * channels values; a neighbour along a line lies `channels` values off.
#pragma once

typedef SAMPLE T;
typedef WEIGHT W;

enum { ZERO, REFLECT, NEAREST, WRAP }; // the codes of border.cuh

// Position e, at most `step` outside a line of n values, brought inside; -1 where the value is zero. One step beyond
// an edge reflect and nearest are the same value.
__device__ __forceinline__ int inside(int e, int step, int n, int border)
{
    if (e >= 0 && e < n) return e;
    if (border == ZERO) return -1;
    if (border == WRAP) return e < 0 ? e + n : e - n;
    return e < 0 ? e + step : e - step;
}

// Products and sums in double are rounded one by one, never as fused multiply-adds: so all variants agree to the last
// bit, even about sums that lie half-way between two integers.
__device__ __forceinline__ double add_product(double sum, double weight, T value)
{
    return __dadd_rn(sum, __dmul_rn(weight, (double)value));
}

__device__ __forceinline__ float add_product(float sum, float weight, T value) { return sum + weight * (float)value; }

__device__ __forceinline__ int add_product(int sum, int weight, T value) { return sum + weight * (int)value; }

// A sum as a sample. Integers: (sum + bias) / divisor + offset, of which one holds the half that rounds up, cut to the
// range of T; the quotient of a negative number is cut to 0, whichever way it was rounded.
__device__ __forceinline__ T finish(W sum, W bias, W divisor, W offset)
{
#if INTEGER
    const W value = (sum + bias) / divisor + offset;
    const W top = (T)-1;
    return value < 0 ? (T)0 : value > top ? (T)-1 : (T)value;
#else
    return sum + offset;
#endif
}
