// The sums of the row warps of 8_ring: of floats, of integers, or of the four bytes of a pixel.
#pragma once

// The sum of some values of a row.
struct __align__(PLANES * sizeof(Part)) Sum {
    Part v[PLANES];

    // The sum of one value: starting from 0 would cost one more addition, which a compiler must not drop for floats.
    __device__ __forceinline__ static Sum of(Word w)
    {
        Sum sum;
        sum.v[0] = (Part)w;
#if BYTES
        sum.v[1] = odd_of(w);
#endif
        return sum;
    }

    __device__ __forceinline__ void add(const Sum& other)
    {
        #pragma unroll
        for (int p = 0; p < PLANES; ++p) v[p] += other.v[p];
    }

    __device__ __forceinline__ void add(Word w)
    {
        v[0] += (Part)w;
#if BYTES
        v[1] += odd_of(w);
#endif
    }

    __device__ __forceinline__ void slide(Word in, Word out)
    {
        v[0] += (Part)in - (Part)out;
#if BYTES
        v[1] += odd_of(in) - odd_of(out);
#endif
    }

    // The words of a row's sum in the ring.
    __device__ __forceinline__ Word stored(int plane) const
    {
#if BYTES
        return plane ? v[1] : v[0] - (v[1] << 8);
#else
        return (Word)v[0];
#endif
    }

#if BYTES
    // Pixels are summed as whole words, modulo 2^32, and their bytes 1 and 3 separately: sums of up to 257 bytes fit 16
    // bits. The difference of both is the sums of bytes 0 and 2.
    __device__ __forceinline__ static Part odd_of(Word w) { return __byte_perm(w, 0, 0x4341); }
#endif
};
