// Complex numbers of the FFT kernels. REAL names their parts, float or double; COMPLEX is float2 or double2. A table of
// twiddle factors for n points holds exp(-2 pi i k / n) for k = 0 ... n / 2 - 1, rounded from double.
#pragma once

typedef REAL R;
typedef COMPLEX C;

__device__ __forceinline__ C complex_of(R re, R im)
{
    C z;
    z.x = re;
    z.y = im;
    return z;
}

__device__ __forceinline__ C plus(C a, C b) { return complex_of(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ C minus(C a, C b) { return complex_of(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ C times(C a, C b) { return complex_of(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ __forceinline__ C scaled(C a, R factor) { return complex_of(a.x * factor, a.y * factor); }

// A twiddle factor or a chirp; the inverse transform takes its conjugate.
__device__ __forceinline__ C conjugate_if(C w, int inverse) { return complex_of(w.x, inverse ? -w.y : w.y); }
