// One column's running sum of the marching box kernels for pixels of four bytes, which the ring keeps as two words with
// two sums of 16 bits each: of bytes 0 and 2, and of bytes 1 and 3.
#pragma once

#if RADIUS <= 7
// The sums of two bytes in a word. Of up to 257 bytes they fit 16 bits, and a row goes in and out in one addition.
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
// Of the sums of two bytes in a word, the sum of whole words, modulo 2^32, and that of their upper halves; what is left
// of the whole is the sum of the lower ones. Sums below 2^23 begin at the first multiple of COUNT from 2^23 on: they
// are the bits of a float, and their mean is off by a whole number.
struct Pair {
    static_assert(COUNT < 1 << 16, "radius at most 127");
    static constexpr bool BITS = COUNT < 1 << 15; // whether sums are below 2^23
    static constexpr unsigned int TIMES = BITS ? ((1u << 23) + COUNT - 1) / COUNT : 0;
    static constexpr unsigned int BEGIN = BITS ? 0x4b000000 + TIMES * COUNT - (1u << 23) : 0;
    static constexpr double OFF = (double)COUNT * (1.0f / COUNT) - 1; // of the rounded 1 / COUNT, as a share of it
    // A mean is at least 1 / (2 * COUNT) off the halves, COUNT being odd: whether no mean of such a sum is taken
    // across.
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
    // Adding 2^23 rounds to a whole number, which then is a float's last bits. Where 1 / COUNT is rounded too coarsely
    // for the sum as it is, the sum is centred first: a mean is at least 2^-17 off the halves, the rounded 1 / COUNT is
    // off by at most 2^-24 of it, and that takes at most 128 * 2^-24 = 2^-17 from a mean between -127 and 128; the
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
