// Transforms of lines of LINE_LENGTH points by stages of N = LINE_POINTS. Lengths without a prime factor above 13 have
// N points. All others are Bluestein's convolution with a chirp, without leaving registers and shared memory: N is a
// product of small primes from 2 LINE_LENGTH - 1 on, points beyond the line are zero, and the inverse transform takes
// the radices in reverse order (BACKWARD), so that a thread has the same points before and after it.
#pragma once
#ifndef SAMPLE
#define SAMPLE REAL
#endif
#define NUMBERS COMPLEX_NUMBERS  // for batched loads, which no kernel of lines of any length uses
#define PAIR_ALIGNED 0
#include "fft_lines.cuh"

constexpr int LENGTH = LINE_LENGTH;
constexpr bool CHIRPED = LENGTH != N;
constexpr int ENDING = CHIRPED ? FIRST : LAST;  // a thread has the results of a line as the points of this radix

// Blocks per multiprocessor for 1024 resident threads with 64 registers each, or for half of them for doubles and
// convolutions.
__device__ constexpr int blocks_of(int threads)
{
    const int warps = (LINE_THREADS * LINES + 31) / 32;
    const int blocks = threads / 32 * 4 / (int)sizeof(R) / (CHIRPED ? 2 : 1) / warps;
    return blocks > 0 ? blocks : 1;
}

// Tables of N twiddle factors, of LENGTH values of the chirp, and of N values of its transform, divided by N.
struct Tables {
    const C* __restrict__ circle;
    const C* __restrict__ chirp;
    const C* __restrict__ spectrum;
};

// Whether point k exists: a convolution has more points than the line. Loads of missing points use another address
// instead of a branch, so that all loads of a thread are in flight at once.
__device__ __forceinline__ bool has_point(int k) { return !CHIRPED || k < LENGTH; }

__device__ __forceinline__ C swapped(C z) { return complex_of(z.y, z.x); }

// Calls `each` with the points of a thread before or after a stage of this radix, and their indices.
template <int RAD, typename Each>
__device__ __forceinline__ void each_point(C (&v)[butterflies<RAD>()][RAD], int t, const Each& each)
{
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); ++c) {
        const int j = t + c * T;
        if (!exists<RAD>(j)) continue;
#pragma unroll
        for (int r = 0; r < RAD; ++r) each(v[c][r], j + r * (N / RAD));
    }
}

template <int RAD>
__device__ __forceinline__ void times_chirp(
    C (&v)[butterflies<RAD>()][RAD], int t, const C* __restrict__ chirp)
{
    each_point<RAD>(v, t, [&](C& z, int k) { z = has_point(k) ? product(z, chirp[k]) : complex_of(0, 0); });
}

// The forward transform of points that a thread has as those of FIRST; `finish` receives the results, as those of
// ENDING.
template <typename Lanes, typename Finish>
__device__ __forceinline__ void transform(
    C (&v)[butterflies<FIRST>()][FIRST], Lane lane, const Tables& tables, const Finish& finish)
{
    if constexpr (!CHIRPED) {
        stages<Lanes, 1, RADICES>(v, lane, tables.circle, finish);
    } else {
        times_chirp<FIRST>(v, lane.t, tables.chirp);
        stages<Lanes, 1, RADICES>(v, lane, tables.circle, [&](C (&w)[butterflies<LAST>()][LAST], Lane lane) {
            each_point<LAST>(w, lane.t, [&](C& z, int k) { z = swapped(product(z, tables.spectrum[k])); });
            __syncthreads();
            stages<Lanes, 1, BACKWARD>(w, lane, tables.circle, [&](C (&u)[butterflies<FIRST>()][FIRST], Lane lane) {
                each_point<FIRST>(u, lane.t, [&](C& z, int) { z = swapped(z); });
                times_chirp<FIRST>(u, lane.t, tables.chirp);
                finish(u, lane);
            });
        });
    }
}

// A second transform of the results of the first one; `finish` receives points as those of FIRST.
template <typename Lanes, typename Finish>
__device__ __forceinline__ void transform_again(
    C (&v)[butterflies<ENDING>()][ENDING], Lane lane, const Tables& tables, const Finish& finish)
{
    __syncthreads();  // others may still load from the last exchange
    if constexpr (CHIRPED) transform<Lanes>(v, lane, tables, finish);
    else stages<Lanes, 1, BACKWARD>(v, lane, tables.circle, finish);
}
