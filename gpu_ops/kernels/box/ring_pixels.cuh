// The running sum of a column, in the kernels with a ring buffer, for pixels of four bytes, which the ring stores
// as two words with two 16-bit sums each: of bytes 0 and 2, and of bytes 1 and 3.
#pragma once
#include "ring_bytes.cuh"

#if RADIUS <= 7
// The sums of two bytes in a word. Sums of up to 257 bytes fit 16 bits, and a row is added and subtracted in one
// addition.
struct Pair {
    unsigned int total;

    __device__ __forceinline__ void begin() { total = 0; }
    __device__ __forceinline__ void move(Word in, Word out) { total += in - out; } // the result is right modulo 2^32

    // Two means, bytes 0 and 1 of a word. The quotient is the product's highest byte: MAGIC exceeds 2^24 / COUNT by
    // less than 1, and dividends are below 256 * COUNT: quotients are less than 256 * COUNT / 2^24 < 1 / COUNT too
    // large.
    __device__ __forceinline__ unsigned int means() const
    {
        constexpr unsigned int MAGIC = (1u << 24) / COUNT + 1, HALF = COUNT / 2 * MAGIC;
        return __byte_perm((total & 0xffff) * MAGIC + HALF, (total >> 16) * MAGIC + HALF, 0x0073);
    }
};
#else
// For the sums of two bytes in a word: the sum of whole words, modulo 2^32, and the sum of their upper halves; their
// difference is the sum of the lower halves.
struct Pair {
    unsigned int whole, upper;

    __device__ __forceinline__ void begin()
    {
        upper = ByteSum::BEGIN;
        whole = ByteSum::BEGIN + (ByteSum::BEGIN << 16);
    }
    __device__ __forceinline__ void move(Word in, Word out)
    {
        whole += in - out;
        upper = plus_half<1, -1>(plus_half<1, 1>(upper, in), out);
    }

    // Two means, bytes 0 and 1 of a word.
    __device__ __forceinline__ unsigned int means() const
    {
        return __byte_perm(ByteSum::mean_of(whole - (upper << 16)), ByteSum::mean_of(upper), 0x0040);
    }
};
#endif

// Four bytes.
struct Column {
    Pair pairs[PLANES];

    __device__ __forceinline__ void begin()
    {
        #pragma unroll
        for (int p = 0; p < PLANES; ++p) pairs[p].begin();
    }
    __device__ __forceinline__ void move(const Word* in, const Word* out)
    {
        #pragma unroll
        for (int p = 0; p < PLANES; ++p) pairs[p].move(in[p], out[p]);
    }
    __device__ __forceinline__ T mean() const { return __byte_perm(pairs[0].means(), pairs[1].means(), 0x5140); }
};
