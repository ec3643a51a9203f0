// The spectrum of real samples that were packed in pairs, for the kernels after 12_packed, which explains it.
#pragma once
#include "fft_lines.cuh"

// `v` has the N points Z of a line; bins 0 ... N of its 2 N samples are stored at `to`. Points are exchanged in natural
// order.
template <int RAD>
__device__ __forceinline__ void split_pairs(
    C (&v)[butterflies<RAD>()][RAD], Lane lane, bool stored, C* __restrict__ to, long long stride,
    const C* __restrict__ split_table)
{
    constexpr int pairs = (N / 2 + T) / T;
    C here[pairs], mirrored[pairs];
    const int line = lane.line * N;
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) {
        __syncthreads();
#pragma unroll
        for (int c = 0; c < butterflies<RAD>(); ++c) {
            const int j = butterfly_of<N / RAD, RAD>(lane.t, c);
            if (!exists<RAD>(j)) continue;
#pragma unroll
            for (int r = 0; r < RAD; ++r) store_shared(ITEM * (line + j) + ITEM * r * (N / RAD), v[c][r], pass);
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < pairs; ++c) {
            const int k = lane.t + c * T;
            if (k > N / 2) continue;
            load_shared(ITEM * (line + k), here[c], pass);
            load_shared(ITEM * (line + (k ? N - k : 0)), mirrored[c], pass);
        }
    }
#pragma unroll
    for (int c = 0; c < pairs; ++c) {
        const int k = lane.t + c * T;
        if (k > N / 2 || !stored) continue;
        const C even = complex_of((here[c].x + mirrored[c].x) / 2, (here[c].y - mirrored[c].y) / 2);
        const C odd = complex_of((here[c].y + mirrored[c].y) / 2, (mirrored[c].x - here[c].x) / 2);
        const C shifted = product(odd, split_table[k]);
        to[k * stride] = plus(even, shifted);
        to[(N - k) * stride] = complex_of(even.x - shifted.x, shifted.y - even.y);
    }
}
