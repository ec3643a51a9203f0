// Butterflies of any small number of points in registers: for primes from sums and differences of mirrored points, for
// products from the butterflies of their factors with twiddle factors between. All are of the forward transform.
#pragma once
#include "fft_radix.cuh"

// exp(-2 pi i k / POINTS) for all k, in double. Sums of 14 terms are exact to the last bit below pi / 2.
template <int POINTS>
struct Circle {
    double re[POINTS], im[POINTS];

    __host__ __device__ constexpr Circle() : re(), im()
    {
        for (int k = 0; k < POINTS; ++k) {
            const double angle = 6.28318530717958647693 * (k < POINTS - k ? k : k - POINTS) / POINTS;
            const double whole = angle * angle;
            double cosine = 1, sine = angle, even = 1, odd = angle;
            for (int i = 1; i < 14; ++i) {
                even *= -whole / ((2 * i - 1) * (2 * i));
                odd *= -whole / ((2 * i) * (2 * i + 1));
                cosine += even;
                sine += odd;
            }
            re[k] = cosine;
            im[k] = -sine;
        }
    }
};

__device__ constexpr int smallest_factor(int n)
{
    for (int p = 2; p * p <= n; ++p)
        if (n % p == 0) return p;
    return n;
}

// z times exp(-2 pi i k / POINTS), k known at compile time; multiples of pi / 2 need no multiplication.
template <int POINTS>
__device__ __forceinline__ C on_circle(C z, int k)
{
    constexpr Circle<POINTS> circle{};
    if (k == 0) return z;
    if (4 * k == POINTS) return complex_of(z.y, -z.x);
    if (2 * k == POINTS) return complex_of(-z.x, -z.y);
    if (4 * k == 3 * POINTS) return complex_of(-z.y, z.x);
    return product(z, complex_of((R)circle.re[k], (R)circle.im[k]));
}

template <int RAD>
__device__ __forceinline__ void prime_butterfly(C (&u)[RAD])
{
    constexpr Circle<RAD> circle{};
    constexpr int half = RAD / 2;
    C sums[half], differences[half];
    C all = u[0];
#pragma unroll
    for (int j = 1; j <= half; ++j) {
        sums[j - 1] = plus(u[j], u[RAD - j]);
        differences[j - 1] = minus(u[j], u[RAD - j]);
        all = plus(all, sums[j - 1]);
    }
    const C first = u[0];
    u[0] = all;
#pragma unroll
    for (int k = 1; k <= half; ++k) {
        C even = first, odd = complex_of(0, 0);
#pragma unroll
        for (int j = 1; j <= half; ++j) {
            const R cosine = (R)circle.re[j * k % RAD], sine = (R)circle.im[j * k % RAD];
            even = complex_of(fma(sums[j - 1].x, cosine, even.x), fma(sums[j - 1].y, cosine, even.y));
            odd = complex_of(fma(differences[j - 1].x, sine, odd.x), fma(differences[j - 1].y, sine, odd.y));
        }
        u[k] = complex_of(even.x - odd.y, even.y + odd.x);
        u[RAD - k] = complex_of(even.x + odd.y, even.y - odd.x);
    }
}

// The transform of RAD points in place, results in natural order.
template <int RAD>
__device__ __forceinline__ void any_butterfly(C (&u)[RAD])
{
    constexpr int few = smallest_factor(RAD), many = RAD / few;
    if constexpr ((RAD & (RAD - 1)) == 0) {
        if constexpr (RAD > 1) butterfly<RAD>(u);
    } else if constexpr (many == 1) {
        prime_butterfly<RAD>(u);
    } else {
        C part[few][many];
#pragma unroll
        for (int q = 0; q < few; ++q) {
#pragma unroll
            for (int m = 0; m < many; ++m) part[q][m] = u[q + few * m];
            any_butterfly<many>(part[q]);
        }
#pragma unroll
        for (int k = 0; k < many; ++k) {
            C across[few];
#pragma unroll
            for (int q = 0; q < few; ++q) across[q] = on_circle<RAD>(part[q][k], q * k);
            any_butterfly<few>(across);
#pragma unroll
            for (int j = 0; j < few; ++j) u[k + many * j] = across[j];
        }
    }
}
