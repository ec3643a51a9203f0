// The running sum of a column, in the kernels with a ring buffer, and the output, for one value per word of the ring.
#pragma once

#if INTEGER
// Sums of integers are exact, modulo 2^32 or in double.
struct Column {
    Total total;

    __device__ __forceinline__ void begin() { total = 0; }
    __device__ __forceinline__ void move(const Word* in, const Word* out) { total += (Total)(int)(in[0] - out[0]); }
    __device__ __forceinline__ T mean() const { return mean_of(total); }

    __device__ __forceinline__ static T mean_of(unsigned int sum) { return (T)((sum + COUNT / 2) / COUNT); }
    // Adding 2^52 rounds to an integer, the low bits of the double. Means are at least 1 / (2 * COUNT) > 2^-20 from the
    // halves; the product's error is below 2^-35.
    __device__ __forceinline__ static T mean_of(double sum)
    {
        return (T)__double2loint(fma(sum, 1.0 / COUNT, 4503599627370496.0));
    }
};
#else
// a + b and its exact rounding error (Knuth's two-sum).
__device__ __forceinline__ T two_sum(T a, T b, T& rest)
{
    const T sum = a + b, part = sum - a;
    rest = (a - (sum - part)) + (b - part);
    return sum;
}

// The running sum of a column as two numbers of its type; sums of floats thus need no conversions to double, of which a
// multiprocessor executes only 16 per clock. The rounding error of the sum is kept (Ogita, Rump and Oishi's Sum2). A
// row is added exactly; it is subtracted by Dekker's fast two-sum, which is exact unless the sum is smaller than the
// row, and then has an error of half an eps of the row: columns whose values cancel drift by that, and segments are
// short enough to bound the drift.
struct Column {
    T total, lost;

    __device__ __forceinline__ void begin() { total = lost = 0; }
    __device__ __forceinline__ void move(const Word* in, const Word* out)
    {
        T of_in;
        const T with = two_sum(total, in[0], of_in);
        total = with - out[0];
        lost += of_in + ((with - total) - out[0]);
    }
    __device__ __forceinline__ T mean() const { return (total + lost) * ((T)1 / COUNT); }
};
#endif
