// Shared by the conv3x3 kernels. SAMPLE and WEIGHT name the types T and W; INTEGER is 1 when T is an integer type.
// Integer weights over integer samples are int if every sum fits, which is exact; else they are double. Weights over
// floating samples have the samples' type and are already divided.
// An image is height lines of columns = width * channels values; a neighbour along a line is `channels` values away.
#pragma once

typedef SAMPLE T;
typedef WEIGHT W;

enum { ZERO, REFLECT, NEAREST, WRAP }; // the codes of border.cuh

// Position e, at most `step` outside a line of n values, mapped to inside; -1 where the value is zero. One step beyond
// an edge, reflect and nearest give the same value.
__device__ __forceinline__ int inside(int e, int step, int n, int border)
{
    if (e >= 0 && e < n) return e;
    if (border == ZERO) return -1;
    if (border == WRAP) return e < 0 ? e + n : e - n;
    return e < 0 ? e + step : e - step;
}

// Products and sums in double are rounded one by one, never as fused multiply-adds, so that all variants agree to the
// last bit, even for sums half-way between two integers.
__device__ __forceinline__ double add_product(double sum, double weight, T value)
{
    return __dadd_rn(sum, __dmul_rn(weight, (double)value));
}

__device__ __forceinline__ float add_product(float sum, float weight, T value) { return sum + weight * (float)value; }

__device__ __forceinline__ int add_product(int sum, int weight, T value) { return sum + weight * (int)value; }

// A sum as a sample. Integers: (sum + bias) / divisor + offset, clamped to the range of T; bias or offset includes the
// half that rounds up. The quotient of a negative number becomes 0, however it was rounded.
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
