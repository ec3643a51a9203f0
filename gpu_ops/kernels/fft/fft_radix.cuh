// Butterflies of 2, 4, 8, 16 or 32 points in registers, and the twiddles before them. All turn forward: an inverse
// transform is the forward one of points whose parts are swapped, with the parts of its results swapped again.
#pragma once
#include "fft.cuh"

__device__ constexpr int log2_of(int n) { return n > 1 ? 1 + log2_of(n / 2) : 0; }

__device__ __forceinline__ C swapped_if(C z, int inverse) { return inverse ? complex_of(z.y, z.x) : z; }

// Two products and two fused ones.
__device__ __forceinline__ C product(C a, C b)
{
    return complex_of(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

// z times exp(-2 pi i k / points), for k below points / 2 that are known when this is compiled.
__device__ __forceinline__ C turned_by(C z, int k, int points)
{
    constexpr double cosines[17] = {
        1.0, 0.98078528040323044913, 0.92387953251128675613, 0.83146961230254523708, 0.70710678118654752440,
        0.55557023301960222474, 0.38268343236508977173, 0.19509032201612826785, 0.0, -0.19509032201612826785,
        -0.38268343236508977173, -0.55557023301960222474, -0.70710678118654752440, -0.83146961230254523708,
        -0.92387953251128675613, -0.98078528040323044913, -1.0};
    const int place = k * (32 / points);
    if (place == 0) return z;
    if (place == 8) return complex_of(z.y, -z.x);
    const int quarter = place < 8 ? 8 - place : place - 8;
    return product(z, complex_of((R)cosines[place], -(R)cosines[quarter]));
}

// The transform of RAD points in place, results in order: of the even and of the odd points, and then of pairs.
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
            const C second = turned_by(odd[k], k, RAD);
            u[k] = plus(even[k], second);
            u[k + RAD / 2] = minus(even[k], second);
        }
    }
}

// Turns point r by W^(r * first), W the twiddle of the whole line. Twiddles of r = 1, 2, 4, 8 are looked up, where no
// place reaches half a turn; the others are products of two of those before, at most three deep.
template <int RAD, typename Twiddles>
__device__ __forceinline__ void turn(C (&u)[RAD], int first, const Twiddles& twiddles)
{
    C w[RAD];
#pragma unroll
    for (int r = 1; r < RAD; ++r) {
        const int top = 1 << log2_of(r);
        w[r] = r == top ? twiddles(r * first) : product(w[top], w[r - top]);
        u[r] = product(u[r], w[r]);
    }
}
