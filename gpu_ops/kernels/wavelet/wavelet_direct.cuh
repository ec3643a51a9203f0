// One level of any wavelet as sums over all its taps.
//
// Along a column a row is used as it is loaded: it is added to the sums of all coefficients, or samples, that it
// contributes to, and the sums shift by one as they are complete.
#pragma once

constexpr int OPEN = HALF > 1 ? HALF - 1 : 1; // incomplete sums of a column

// Multiply-add with a tap. Taps that are zero, which ZEROS lists in 16 bits per filter, cost nothing.
__device__ __forceinline__ T with(T sum, int tap, T value)
{
    return TAPS <= 16 && ZEROS >> (tap / MOST_TAPS * 16 + tap % MOST_TAPS % 16) & 1 ? sum : sum + bank[tap] * value;
}

// The coefficients of a row of samples.
template <bool LOW, bool HIGH, int N>
__device__ __forceinline__ void split_row(const T (&row)[2 * N], T (&low)[N], T (&high)[N])
{
#pragma unroll
    for (int k = 0; k < N; ++k) low[k] = high[k] = 0;
#pragma unroll
    for (int index = -BEFORE; index < 2 * N + AFTER; ++index) {
        const T value = of_row(row, index);
#pragma unroll
        for (int k = 0; k < N; ++k) {
            const int t = index + BEFORE - 2 * k;
            if (t < 0 || t >= TAPS) continue;
            if (LOW) low[k] = with(low[k], LOW_FORWARD + t, value);
            if (HIGH) high[k] = with(high[k], HIGH_FORWARD + t, value);
        }
    }
}

// The samples of a row of coefficients; a lane's first coefficient is SHIFT ahead of half its first sample.
template <int SHIFT = AHEAD, int N>
__device__ __forceinline__ void join_row(const T (&low)[N], const T (&high)[N], T (&row)[2 * N])
{
#pragma unroll
    for (int i = 0; i < 2 * N; ++i) row[i] = 0;
#pragma unroll
    for (int index = -earlier(SHIFT); index < N + later(SHIFT); ++index) {
        const T l = of_row(low, index), h = of_row(high, index);
#pragma unroll
        for (int i = 0; i < 2 * N; ++i) {
            const int p = (i + REACH) / 2 - SHIFT - index, t = (i + REACH) % 2 + 2 * p;
            if (p < 0 || p >= HALF) continue;
            row[i] = with(with(row[i], LOW_INVERSE + t, l), HIGH_INVERSE + t, h);
        }
    }
}

// Coefficients of a column, which two rows at a time contribute to.
struct Splitting {
    T lows[OPEN], highs[OPEN];

    // The coefficients that two rows complete, the last ones that they contribute to.
    template <bool LOW, bool HIGH>
    __device__ __forceinline__ void take(const T upper, const T lower, T& low, T& high)
    {
        if (LOW) low = one(lows, LOW_FORWARD, upper, lower);
        if (HIGH) high = one(highs, HIGH_FORWARD, upper, lower);
    }

    __device__ __forceinline__ T one(T* sums, int of, T upper, T lower)
    {
        const T done = with(with(HALF > 1 ? sums[0] : 0, of + TAPS - 2, upper), of + TAPS - 1, lower);
#pragma unroll
        for (int k = 1; k < HALF; ++k) {
            const int t = TAPS - 2 - 2 * k;
            sums[k - 1] = with(with(k < HALF - 1 ? sums[k] : 0, of + t, upper), of + t + 1, lower);
        }
        return done;
    }
};

// Samples of a column, which a low and a high coefficient at a time contribute to.
struct Joining {
    T sums[2][OPEN];

    // The two samples that they complete.
    __device__ __forceinline__ void take(const T low, const T high, T& upper, T& lower)
    {
        upper = one(low, high, 0);
        lower = one(low, high, 1);
    }

    __device__ __forceinline__ T one(T low, T high, int parity)
    {
        T* open = sums[parity];
        const T done = with(with(HALF > 1 ? open[0] : 0, LOW_INVERSE + parity, low), HIGH_INVERSE + parity, high);
#pragma unroll
        for (int k = 1; k < HALF; ++k) {
            const int t = parity + 2 * k;
            open[k - 1] = with(with(k < HALF - 1 ? open[k] : 0, LOW_INVERSE + t, low), HIGH_INVERSE + t, high);
        }
        return done;
    }
};
