// Samples, their luminance and their bins, for all histogram kernels. gpu_ops/filters/histogram/bins.py has the rule.
//
// SAMPLE is the type of a sample; INTEGER is 1 where it is an integer. REAL is float, or double for double samples.
#pragma once

typedef SAMPLE T;
#if INTEGER
typedef int Bound;
#else
typedef T Bound;
#endif

// The luminance of Rec. 601, rounded to the samples' type. Without these intrinsics the compiler would contract a
// product and a sum to a fused multiply-add, which rounds once less.
__device__ __forceinline__ T grey_of(T red, T green, T blue)
{
#if INTEGER
    return (T)((299u * red + 587u * green + 114u * blue + 500u) / 1000u);
#else
    double mixed = __dadd_rn(__dmul_rn(0.299, red), __dmul_rn(0.587, green));
    mixed = __dadd_rn(mixed, __dmul_rn(0.114, blue));
    T least = green < red ? green : red, most = red < green ? green : red;
    least = blue < least ? blue : least;
    most = blue > most ? blue : most;
    mixed = mixed < least ? (double)least : mixed;  // NaN stays NaN
    return (T)(mixed > most ? (double)most : mixed);
#endif
}

// The bin of a value: bounds[k] <= v < bounds[k + 1]; `bins` below all of them, bins + 1 above them, bins + 2 for NaN.
// (v - low) * scale is an estimate, which the adjacent bounds confirm or correct by one; otherwise a binary search
// finds the bin.
__device__ __forceinline__ int slot_of(T v, const Bound* bounds, int bins, REAL low, REAL scale)
{
    if (!(v >= bounds[0])) return v < bounds[0] ? bins : bins + 2;
    if (v >= bounds[bins]) return bins + 1;
    int k = (int)(((REAL)v - low) * scale);
    k = min(max(k, 0), bins - 1);
    if (v < bounds[k]) k = max(k - 1, 0);
    else if (v >= bounds[k + 1]) k = min(k + 1, bins - 1);
    if (v >= bounds[k] && v < bounds[k + 1]) return k;
    int first = 0, last = bins;
    while (last - first > 1) {
        const int middle = (first + last) / 2;
        if (v >= bounds[middle]) first = middle;
        else last = middle;
    }
    return first;
}

// Value c of the pixel at p to be counted: its colour c, or its luminance.
__device__ __forceinline__ T counted(const T* __restrict__ p, int c, int grey)
{
    return grey ? grey_of(p[0], p[1], p[2]) : p[c];
}
