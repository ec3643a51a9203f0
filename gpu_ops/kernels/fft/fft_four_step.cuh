// The twiddle factors of four-step lines, for the kernels after 11_four_step, which explains them.
#pragma once
#include "fft_lines.cuh"

// W^e of the long line: `high` has every 2^LOW_BITS-th power of W, `low` the first 2^LOW_BITS.
struct LongTwiddles {
    const C* __restrict__ low;
    const C* __restrict__ high;

    __device__ __forceinline__ C operator()(long long e) const
    {
        return product(high[e >> LOW_BITS], low[e & ((1 << LOW_BITS) - 1)]);
    }
};

// Multiplies result k of a line by the twiddle factor W^(b k), b its index along middle.
template <int RAD>
__device__ __forceinline__ void multiply_by_long_twiddles(
    C (&v)[butterflies<RAD>()][RAD], int t, long long b, const LongTwiddles& twiddle)
{
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); ++c) {
        const int j = butterfly_of<N / RAD, RAD>(t, c);
        C w[RAD];
        powers<RAD>(w, 1, [&](int r) { return twiddle(b * (N / RAD) * r); });
        if (!exists<RAD>(j)) continue;
        const C first = twiddle(b * j);
#pragma unroll
        for (int r = 0; r < RAD; ++r) v[c][r] = product(v[c][r], r ? product(first, w[r]) : first);
    }
}
