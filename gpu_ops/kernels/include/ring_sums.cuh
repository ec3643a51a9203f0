// The sums of the row warps of the kernels with a ring buffer: of floats, of integers, or of the four bytes of a pixel.
#pragma once

constexpr int SUMS = GROUP * PLANES, TOGETHER = SUMS % 4 == 0 && sizeof(Part) == 4 ? 4 : SUMS % 2 == 0 ? 2 : 1;

// For each of a block's channels, the sum of some values of a row.
struct __align__(TOGETHER * sizeof(Part)) Sum {
    Part v[SUMS];

    // The sum of one value: starting from 0 would cost one more addition, which a compiler must not drop for floats.
    __device__ __forceinline__ void start(int channel, Word w)
    {
        v[channel] = (Part)w;
#if PIXELS
        v[1] = odd_of(w);
#endif
    }

    __device__ __forceinline__ void add(const Sum& other)
    {
        #pragma unroll
        for (int p = 0; p < SUMS; ++p) v[p] += other.v[p];
    }

    __device__ __forceinline__ void subtract(const Sum& other)
    {
        #pragma unroll
        for (int p = 0; p < SUMS; ++p) v[p] -= other.v[p];
    }

    __device__ __forceinline__ void add(int channel, Word w)
    {
        v[channel] += (Part)w;
#if PIXELS
        v[1] += odd_of(w);
#endif
    }

    __device__ __forceinline__ void slide(int channel, Word in, Word out)
    {
        v[channel] += (Part)in - (Part)out;
#if PIXELS
        v[1] += odd_of(in) - odd_of(out);
#endif
    }

    // The words of a row's sum in the ring.
    __device__ __forceinline__ Word stored(int channel, int plane) const
    {
#if PIXELS
        return plane ? v[1] : v[0] - (v[1] << 8);
#else
        return (Word)v[channel];
#endif
    }

#if PIXELS
    // Pixels are summed as whole words, modulo 2^32, and their bytes 1 and 3 separately: sums of up to 257 bytes fit 16
    // bits. The difference of both is the sums of bytes 0 and 2.
    __device__ __forceinline__ static Part odd_of(Word w) { return __byte_perm(w, 0, 0x4341); }
#endif
};
