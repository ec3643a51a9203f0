// Butterflies of 2, 4, 8, 16 or 32 points in registers, and the twiddle factors before them, of the forward transform.
// The inverse transform is the forward one of points whose real and imaginary parts are swapped, with the parts of its
// results swapped again.
#pragma once
#include "fft.cuh"

__device__ constexpr int log2_of(int n) { return n > 1 ? 1 + log2_of(n / 2) : 0; }

__device__ __forceinline__ C swapped_if(C z, int inverse) { return inverse ? complex_of(z.y, z.x) : z; }

// Two multiplications and two fused multiply-adds.
__device__ __forceinline__ C product(C a, C b)
{
    return complex_of(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

// z times exp(-2 pi i k / points), for k below points / 2 known at compile time.
__device__ __forceinline__ C times_root(C z, int k, int points)
{
    constexpr double cosines[17] = {
        1.0, 0.98078528040323044913, 0.92387953251128675613, 0.83146961230254523708, 0.70710678118654752440,
        0.55557023301960222474, 0.38268343236508977173, 0.19509032201612826785, 0.0, -0.19509032201612826785,
        -0.38268343236508977173, -0.55557023301960222474, -0.70710678118654752440, -0.83146961230254523708,
        -0.92387953251128675613, -0.98078528040323044913, -1.0};
    const int index = k * (32 / points);
    if (index == 0) return z;
    if (index == 8) return complex_of(z.y, -z.x);
    const int quarter = index < 8 ? 8 - index : index - 8;
    return product(z, complex_of((R)cosines[index], -(R)cosines[quarter]));
}

// The transform of RAD points in place, results in natural order: of the even and of the odd points, and then of pairs.
template <int RAD>
__device__ __forceinline__ void butterfly(C (&u)[RAD])
{
    if constexpr (RAD == 2) {
        const C first = u[0];
        u[0] = plus(first, u[1]);
        u[1] = minus(first, u[1]);
    } else {
        C even[RAD / 2], odd[RAD / 2];
#pragma unroll
        for (int k = 0; k < RAD / 2; ++k) {
            even[k] = u[2 * k];
            odd[k] = u[2 * k + 1];
        }
        butterfly<RAD / 2>(even);
        butterfly<RAD / 2>(odd);
#pragma unroll
        for (int k = 0; k < RAD / 2; ++k) {
            const C second = times_root(odd[k], k, RAD);
            u[k] = plus(even[k], second);
            u[k + RAD / 2] = minus(even[k], second);
        }
    }
}

// Multiplies point r by W^(r * first), W = exp(-2 pi i / n) of the whole line. The factors of r = 1, 2, 4, 8 are
// loaded, whose exponents stay below n / 2; the others are products of two of those, at most three deep.
template <int RAD, typename Twiddles>
__device__ __forceinline__ void multiply_by_twiddles(C (&u)[RAD], int first, const Twiddles& twiddles)
{
    C w[RAD];
#pragma unroll
    for (int r = 1; r < RAD; ++r) {
        const int top = 1 << log2_of(r);
        w[r] = r == top ? twiddles(r * first) : product(w[top], w[r - top]);
        u[r] = product(u[r], w[r]);
    }
}
