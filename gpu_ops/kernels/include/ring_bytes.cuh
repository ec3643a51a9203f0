// The mean of a square of bytes from its sum, in the kernels with a ring buffer; and the running sum of a column where the
// ring has pairs of rows.
#pragma once

// sum + TIMES * half HALF of a word.
template <int HALF, int TIMES> __device__ __forceinline__ unsigned int plus_half(unsigned int sum, unsigned int word)
{
    unsigned int result;
    asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(word), "n"((TIMES & 255) << 8 * HALF), "r"(sum));
    return result;
}

// Sums below 2^23 start at the first multiple of COUNT from 2^23 on: then they are the bits of a float, and their mean
// has an integer offset.
struct ByteSum {
    static_assert(COUNT <= 257 * 257, "radius at most 128");
    static constexpr bool BITS = COUNT < 1 << 15; // whether sums are below 2^23
    static constexpr unsigned int TIMES = BITS ? ((1u << 23) + COUNT - 1) / COUNT : 0;
    static constexpr unsigned int BEGIN = BITS ? 0x4b000000 + TIMES * COUNT - (1u << 23) : 0;
    static constexpr double ERROR = (double)COUNT * (1.0f / COUNT) - 1; // the relative error of the rounded 1 / COUNT
    static constexpr double OFF = ERROR < 0 ? -ERROR : ERROR;
    // Whether no mean of such a sum is rounded across a half: a mean is at least 1 / (2 * COUNT) from the halves, as
    // COUNT is odd.
    static constexpr bool CLOSE = BITS && OFF * (TIMES + 255) * 2 * COUNT < 1;
    static_assert(OFF * 128 * 2 * COUNT < 1, "nor is a mean between -127 and 128");

    // Adding 2^23 rounds to an integer, the low byte of the float's bits. Where the rounded 1 / COUNT is too coarse for
    // the sum itself, the sum is centred first, and is at most 128 * COUNT < 2^24, which a float holds exactly; the
    // multiplication itself does not round.
    __device__ __forceinline__ static unsigned int mean_of(unsigned int sum)
    {
        if (CLOSE) return __float_as_uint(fmaf(__uint_as_float(sum), 1.0f / COUNT, 8388608.0f - TIMES));
        const float centred = BITS ? __uint_as_float(sum) - (TIMES + 127.0f) * COUNT : (float)((int)sum - 127 * COUNT);
        return __float_as_uint(fmaf(centred, 1.0f / COUNT, 8388608.0f + 127.0f));
    }
};

#if PAIRS
// The running sum of a column of bytes. A word has the sums of two rows, the upper one in its low half. Windows have an
// odd number of rows, so the first row that leaves is in the high half of a word, the second one in the low half of the
// next.
struct Column {
    unsigned int total, leaving;

    __device__ __forceinline__ void begin() { total = ByteSum::BEGIN, leaving = 0; }
    __device__ __forceinline__ void move(const Word* in, const Word*)
    {
        total = plus_half<1, -1>(plus_half<0, 1>(total, in[0]), leaving);
    }
    __device__ __forceinline__ void move_second(Word in, Word out)
    {
        total = plus_half<0, -1>(plus_half<1, 1>(total, in), out);
        leaving = out;
    }
    __device__ __forceinline__ T mean() const { return (T)ByteSum::mean_of(total); }
};
#endif
