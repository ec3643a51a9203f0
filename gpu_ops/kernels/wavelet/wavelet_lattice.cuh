// One level of an orthogonal wavelet as a lattice: its low and high filters factor into rotations of the two halves,
// one of which is delayed by one position each time. They share all their work: half of the multiplications.
//
// All rotations, including the first one of pairs of samples, are given by their tangents: results are scaled by the
// inverse of the units of coefficients. Pair m of samples are those from 2m - REACH on.
#pragma once

constexpr int STAGES = HALF - 1;
constexpr bool LONGER_INVERSE = true;
static_assert(STAGES > 0, "rotations need at least four taps");

// The powers of two by which rows are divided after their forward rotations and before their inverse ones: those of long
// filters gain up to 2^28 an axis, and four such gains exceed the range of float32.
constexpr T FORWARD = (T)1 / (1 << FORWARD_BITS), BACKWARD = (T)1 / (1 << INVERSE_BITS);

// The tangents of the first rotation and of the others.
__constant__ T lattice[MOST_TAPS / 2];

// The coefficients of a row of samples.
template <bool LOW, bool HIGH, int N>
__device__ __forceinline__ void split_row(const T (&row)[2 * N], T (&low)[N], T (&high)[N])
{
#pragma unroll
    for (int k = 0; k < N; ++k) {
        const T a = of_row(row, 2 * (k + AHEAD) - REACH), b = of_row(row, 2 * (k + AHEAD) - REACH + 1);
        low[k] = a + lattice[0] * b;
        high[k] = lattice[0] * a - b;
    }
#pragma unroll
    for (int stage = 0; stage < STAGES; ++stage) {
        const T tangent = lattice[1 + stage], after = of_row(low, N);
#pragma unroll
        for (int k = 0; k < N; ++k) {
            const T later = k + 1 < N ? low[k + 1] : after;
            low[k] = later + tangent * high[k];
            high[k] -= tangent * later;
        }
    }
#pragma unroll
    for (int k = 0; k < N; ++k) low[k] *= FORWARD, high[k] *= FORWARD;
}

// The samples of a row of coefficients; a lane's first coefficient is SHIFT ahead of half its first sample.
template <int SHIFT = AHEAD, int N>
__device__ __forceinline__ void join_row(const T (&lows)[N], const T (&highs)[N], T (&row)[2 * N])
{
    T low[N], high[N], samples[2 * N];
#pragma unroll
    for (int k = 0; k < N; ++k) low[k] = BACKWARD * lows[k], high[k] = BACKWARD * highs[k];
#pragma unroll
    for (int stage = STAGES - 1; stage >= 0; --stage) {
        const T tangent = lattice[1 + stage];
        T rotated[N];
#pragma unroll
        for (int k = 0; k < N; ++k) {
            rotated[k] = low[k] - tangent * high[k];
            high[k] += tangent * low[k];
        }
#pragma unroll
        for (int k = 0; k < N; ++k) low[k] = of_row(rotated, k - 1);
    }
#pragma unroll
    for (int k = 0; k < N; ++k) {
        samples[2 * k] = low[k] + lattice[0] * high[k];
        samples[2 * k + 1] = lattice[0] * low[k] - high[k];
    }
#pragma unroll
    for (int i = 0; i < 2 * N; ++i) row[i] = of_row(samples, i + REACH - 2 * SHIFT);
}

// Coefficients of a column, from two rows at a time. `open` contains the delayed half, stage by stage; the other half
// is computed first, so that each position is written after it was read.
struct Splitting {
    T open[STAGES];

    // The coefficients that two rows complete, the last ones that they contribute to.
    template <bool LOW, bool HIGH>
    __device__ __forceinline__ void take(const T upper, const T lower, T& low, T& high)
    {
        T lows[HALF];
        lows[0] = upper + lattice[0] * lower;
#pragma unroll
        for (int stage = 0; stage < STAGES; ++stage)
            lows[stage + 1] = lows[stage] + lattice[1 + stage] * open[stage];
        low = lows[STAGES];
        const T made = lattice[0] * upper - lower;
        high = open[STAGES - 1] - lattice[STAGES] * lows[STAGES - 1];
#pragma unroll
        for (int stage = STAGES - 1; stage > 0; --stage)
            open[stage] = open[stage - 1] - lattice[stage] * lows[stage - 1];
        open[0] = made;
    }
};

// Samples of a column, from a low and a high coefficient at a time.
struct Joining {
    T open[STAGES];

    // The two samples that they complete.
    __device__ __forceinline__ void take(const T low, const T high, T& upper, T& lower)
    {
        T highs[HALF];
        highs[STAGES] = high;
#pragma unroll
        for (int stage = STAGES - 1; stage >= 0; --stage)
            highs[stage] = highs[stage + 1] + lattice[1 + stage] * (stage < STAGES - 1 ? open[stage + 1] : low);
        upper = open[0] + lattice[0] * highs[0];
        lower = lattice[0] * open[0] - highs[0];
#pragma unroll
        for (int stage = 0; stage < STAGES; ++stage)
            open[stage] = (stage < STAGES - 1 ? open[stage + 1] : low) - lattice[1 + stage] * highs[stage + 1];
    }
};
