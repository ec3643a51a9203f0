// The running sum of a column, in the box kernels with a ring buffer, and the output, for one value per word of the
// ring.
#pragma once

#if COMPENSATED
// a + b and its exact rounding error (Knuth's two-sum).
__device__ __forceinline__ float two_sum(float a, float b, float& rest)
{
    const float sum = a + b, part = sum - a;
    rest = (a - (sum - part)) + (b - part);
    return sum;
}

// The running sum of a column as two floats, without conversions to double, of which a multiprocessor executes only 16
// per clock: the rounding error of the sum is kept (Ogita, Rump and Oishi's Sum2). A row is added exactly; it is
// subtracted by Dekker's fast two-sum, which is exact unless the sum is smaller than the row, and then has an error of
// half an eps of the row: columns whose values cancel drift by that, and segments are short enough to bound the drift.
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
// The largest integer k with 2^k <= n.
__device__ constexpr int log2_of(int n)
{
    return n < 2 ? 0 : 1 + log2_of(n / 2);
}

// The running sum of a column, and the output computed from it.
struct Column {
    Total total;

    __device__ __forceinline__ void begin() { total = 0; }
    // Floats are summed in double, because a rounding error stays in a running sum.
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
        // Means are at least 1 / (2 * COUNT) > 2^-20 from the halves; the product's error is below 2^-35.
        return (T)((double)sum * (1.0 / COUNT) + 0.5);
    }
};
#endif
