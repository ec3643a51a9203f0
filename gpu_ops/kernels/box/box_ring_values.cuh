// One column's running sum of the marching box kernels, and the output that follows from it, for one value in a word of
// the ring.
#pragma once

#if COMPENSATED
// a + b and its exact rounding error (Knuth's two-sum).
__device__ __forceinline__ float two_sum(float a, float b, float& rest)
{
    const float sum = a + b, part = sum - a;
    rest = (a - (sum - part)) + (b - part);
    return sum;
}

// One column's running sum as two floats, without the conversions to double, of which a multiprocessor makes only 16 a
// clock: what rounding takes from the sum is kept (Ogita, Rump and Oishi's Sum2). A row enters exactly; it leaves by
// Dekker's shorter sum, which is exact unless the sum is smaller than the row, and then takes half an eps of the row:
// columns whose values cancel each other drift by that, and no segment is longer than what this may add up to.
struct Column {
    float total, lost;

    __device__ __forceinline__ void begin() { total = lost = 0; }
    __device__ __forceinline__ void move(const Word* in, const Word* out)
    {
        float of_in;
        const float with = two_sum(total, in[0], of_in);
        total = with - out[0];
        lost += of_in + ((with - total) - out[0]);
    }
    __device__ __forceinline__ T mean() const { return (total + lost) * (1.0f / COUNT); }
};
#else
// The largest whole k with 2^k <= n.
__device__ constexpr int log2_of(int n)
{
    return n < 2 ? 0 : 1 + log2_of(n / 2);
}

// One column's running sum, and the output that follows from it.
struct Column {
    Total total;

    __device__ __forceinline__ void begin() { total = 0; }
    // Floats in double, because a rounding error stays in a running sum.
    __device__ __forceinline__ void move(const Word* in, const Word* out) { total += (Total)in[0] - (Total)out[0]; }
    __device__ __forceinline__ T mean() const { return mean_of(total); }

    __device__ __forceinline__ static T mean_of(double sum)
    {
        constexpr Part scale = 1.0 / COUNT;
        return (T)((Part)sum * scale);
    }
    __device__ __forceinline__ static T mean_of(unsigned int sum)
    {
        // Division by an odd COUNT in one multiplication: MAGIC exceeds 2^(32 + SHIFT) / COUNT by less than 1, and
        // dividends are below 256 * COUNT < 512 * 2^SHIFT: quotients are less than 512 * 2^-32 < 1 / COUNT too large.
        constexpr int SHIFT = log2_of(COUNT);
        constexpr unsigned int MAGIC = (unsigned int)((1ull << (32 + SHIFT)) / COUNT + 1);
        return (T)(__umulhi(sum + COUNT / 2, MAGIC) >> SHIFT);
    }
    __device__ __forceinline__ static T mean_of(unsigned long long sum)
    {
        // Means lie at least 1 / (2 * COUNT) > 2^-20 off the halves; the product's error is below 2^-35.
        return (T)((double)sum * (1.0 / COUNT) + 0.5);
    }
};
#endif
