// The running sum of a column, in the box kernels with a ring buffer, for pixels of four bytes, which the ring stores
// as two words with two 16-bit sums each: of bytes 0 and 2, and of bytes 1 and 3.
#pragma once

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
// difference is the sum of the lower halves. Sums below 2^23 start at the first multiple of COUNT from 2^23 on: then
// they are the bits of a float, and their mean has an integer offset.
struct Pair {
    static_assert(COUNT < 1 << 16, "radius at most 127");
    static constexpr bool BITS = COUNT < 1 << 15; // whether sums are below 2^23
    static constexpr unsigned int TIMES = BITS ? ((1u << 23) + COUNT - 1) / COUNT : 0;
    static constexpr unsigned int BEGIN = BITS ? 0x4b000000 + TIMES * COUNT - (1u << 23) : 0;
    static constexpr double OFF = (double)COUNT * (1.0f / COUNT) - 1; // the relative error of the rounded 1 / COUNT
    // Whether no mean of such a sum is rounded across a half: a mean is at least 1 / (2 * COUNT) from the halves, as
    // COUNT is odd.
    static constexpr bool CLOSE = BITS && (OFF < 0 ? -OFF : OFF) * (TIMES + 255) * 2 * COUNT < 1;
    unsigned int whole, upper;

    __device__ __forceinline__ void begin()
    {
        upper = BEGIN;
        whole = BEGIN + (BEGIN << 16);
    }
    __device__ __forceinline__ void move(Word in, Word out)
    {
        whole += in - out;
        upper = plus_upper<-1>(plus_upper<1>(upper, in), out);
    }
    // sum + TIMES * the upper half of a word.
    template <int TIMES> __device__ __forceinline__ static unsigned int plus_upper(unsigned int sum, Word w)
    {
        unsigned int result;
        asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(w), "n"((TIMES & 255) << 8), "r"(sum));
        return result;
    }

    // Two means, bytes 0 and 1 of a word.
    __device__ __forceinline__ unsigned int means() const
    {
        return __byte_perm(mean_of(whole - (upper << 16)), mean_of(upper), 0x0040);
    }
    // Adding 2^23 rounds to an integer, the low bits of the float. Where the rounded 1 / COUNT is too coarse for the
    // sum itself, the sum is centred first: a mean is at least 2^-17 from the halves, the rounded 1 / COUNT has a
    // relative error of at most 2^-24, which changes a mean between -127 and 128 by at most 128 * 2^-24 = 2^-17; the
    // multiplication itself does not round.
    __device__ __forceinline__ static unsigned int mean_of(unsigned int sum)
    {
        if (CLOSE) return __float_as_uint(fmaf(__uint_as_float(sum), 1.0f / COUNT, 8388608.0f - TIMES));
        const float centred = BITS ? __uint_as_float(sum) - (TIMES + 127.0f) * COUNT : (float)((int)sum - 127 * COUNT);
        return __float_as_uint(fmaf(centred, 1.0f / COUNT, 8388608.0f + 127.0f));
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
