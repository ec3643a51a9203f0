// One level of a wavelet by lifting: short steps that add weighted samples of one phase, even or odd, to the other. Low
// and high share them, and the inverse undoes them one by one. The gains at the end are part of the units of
// coefficients.
//
// SHAPES gives for each of the STEPS: the phase that it changes, the offset of the weighted samples, in pairs, and
// their number. ENDS: the phase of low coefficients, and the distances, in pairs, of low and high coefficients after
// their own number. Pair m of samples are those from 2m - REACH on. The pairs of a lane's coefficients start with its
// own first sample: for other wavelets and borders lanes at an end of a warp would lack a pair, so those are computed
// as sums.
#pragma once

#define MOST_WEIGHTS 4

constexpr bool LONGER_INVERSE = false;

struct Shape {
    int phase, first, count;
};

struct Ends {
    int phase, low, high;
};

__host__ __device__ constexpr Shape shape_of(int step)
{
    constexpr Shape shapes[STEPS] = SHAPES;
    return shapes[step];
}
__host__ __device__ constexpr Ends ends()
{
    constexpr Ends values = ENDS;
    return values;
}
constexpr int LOW_PHASE = ends().phase, LOW_LATER = ends().low, HIGH_LATER = ends().high;

// The offset of a lane's first pair from its first sample, if its first coefficient is `at` ahead.
__host__ __device__ constexpr int pair_of(int at) { return 2 * (at + LOW_LATER) - REACH; }

__constant__ T lifting[STEPS * MOST_WEIGHTS];

__device__ __forceinline__ T weight(int step, int j) { return lifting[step * MOST_WEIGHTS + j]; }

// The steps of a row from STEP on, or all before STEP undone, of N pairs per lane, stored as two separate phases.
template <int STEP, int N>
__device__ __forceinline__ void lift(T (&phases)[2][N])
{
    if constexpr (STEP < STEPS) {
        constexpr Shape s = shape_of(STEP);
#pragma unroll
        for (int k = 0; k < N; ++k)
#pragma unroll
            for (int j = 0; j < s.count; ++j)
                phases[s.phase][k] += weight(STEP, j) * of_row(phases[1 - s.phase], k + s.first + j);
        lift<STEP + 1>(phases);
    }
}

template <int STEP, int N>
__device__ __forceinline__ void undo(T (&phases)[2][N])
{
    if constexpr (STEP > 0) {
        constexpr Shape s = shape_of(STEP - 1);
#pragma unroll
        for (int k = 0; k < N; ++k)
#pragma unroll
            for (int j = 0; j < s.count; ++j)
                phases[s.phase][k] -= weight(STEP - 1, j) * of_row(phases[1 - s.phase], k + s.first + j);
        undo<STEP - 1>(phases);
    }
}

// The coefficients of a row of samples.
template <bool LOW, bool HIGH, int N>
__device__ __forceinline__ void split_row(const T (&row)[2 * N], T (&low)[N], T (&high)[N])
{
    T phases[2][N];
#pragma unroll
    for (int i = 0; i < 2 * N; ++i) phases[i % 2][i / 2] = of_row(row, pair_of(AHEAD) + i);
    lift<0>(phases);
#pragma unroll
    for (int k = 0; k < N; ++k) {
        low[k] = phases[LOW_PHASE][k];
        high[k] = of_row(phases[1 - LOW_PHASE], k + HIGH_LATER - LOW_LATER);
    }
}

// The samples of a row of coefficients; a lane's first coefficient is SHIFT ahead of half its first sample.
template <int SHIFT = AHEAD, int N>
__device__ __forceinline__ void join_row(const T (&low)[N], const T (&high)[N], T (&row)[2 * N])
{
    T phases[2][N], samples[2 * N];
#pragma unroll
    for (int k = 0; k < N; ++k) {
        phases[LOW_PHASE][k] = low[k];
        phases[1 - LOW_PHASE][k] = of_row(high, k - HIGH_LATER + LOW_LATER);
    }
    undo<STEPS>(phases);
#pragma unroll
    for (int i = 0; i < 2 * N; ++i) samples[i] = phases[i % 2][i / 2];
#pragma unroll
    for (int i = 0; i < 2 * N; ++i) row[i] = of_row(samples, i - pair_of(SHIFT));
}

// The delay of either phase's values, in pairs or coefficients, after the one that completes them.
struct Delays {
    int of[2];
};

// A step along a column, in which new values of both phases arrive one at a time: values stay open until all that they
// depend on has arrived. `after` is the delay of the results.
struct StepShape {
    int later, source, first, count, after; // delays of the phase that it changes and of the other one; the step's shape

    // Values that stay open for the next iteration.
    __host__ __device__ constexpr int open() const
    {
        const int soonest = source + first;
        return after - (later < soonest ? later : soonest);
    }
};

__host__ __device__ constexpr StepShape step_shape_of(Delays delays, Shape s)
{
    const int later = delays.of[s.phase], source = delays.of[1 - s.phase], last = source + s.first + s.count - 1;
    return {later, source, s.first, s.count, later > last ? later : last};
}

// Before step `step`; or before all after it are undone, backwards.
__host__ __device__ constexpr Delays delays_at(int step, bool inverse)
{
    Delays delays = {{0, 0}};
    if (inverse) {
        delays.of[LOW_PHASE] = -LOW_LATER;
        delays.of[1 - LOW_PHASE] = -HIGH_LATER;
    }
    for (int s = inverse ? STEPS - 1 : 0; inverse ? s > step : s < step; s += inverse ? -1 : 1) {
        const Shape shape = shape_of(s);
        delays.of[shape.phase] = step_shape_of(delays, shape).after;
    }
    return delays;
}

__host__ __device__ constexpr int most(int a, int b) { return a > b ? a : b; }

// The open values of a step and of those after it.
template <int STEP, bool INVERSE>
struct Column {
    static constexpr Shape SHAPE = shape_of(STEP);
    static constexpr StepShape STEP_SHAPE = step_shape_of(delays_at(STEP, INVERSE), SHAPE);
    static constexpr int OPEN = STEP_SHAPE.open();
    T open[most(OPEN, 1)];
    Column<STEP + (INVERSE ? -1 : 1), INVERSE> others;

    // Values of both phases; that of the phase which the step changes becomes the value that it completes.
    __device__ __forceinline__ void take(T (&values)[2])
    {
        constexpr int OWN = STEP_SHAPE.after - STEP_SHAPE.later, LAST = STEP_SHAPE.after - STEP_SHAPE.source - SHAPE.first;
        T sums[OPEN + 1];
#pragma unroll
        for (int i = 0; i < OPEN; ++i) sums[i] = open[i];
        sums[OWN] = OWN < OPEN ? sums[OWN] + values[SHAPE.phase] : values[SHAPE.phase];
#pragma unroll
        for (int j = 0; j < SHAPE.count; ++j) {
            const T product = (INVERSE ? -weight(STEP, j) : weight(STEP, j)) * values[1 - SHAPE.phase];
            T& sum = sums[LAST - j];
            sum = LAST - j < OPEN || OWN == OPEN ? sum + product : product;
        }
#pragma unroll
        for (int i = 0; i < OPEN; ++i) open[i] = sums[i + 1];
        values[SHAPE.phase] = sums[0];
        others.take(values);
    }
};
template <>
struct Column<STEPS, false> {
    __device__ __forceinline__ void take(T (&)[2]) {}
};
template <>
struct Column<-1, true> {
    __device__ __forceinline__ void take(T (&)[2]) {}
};

// A delay line of WAIT iterations.
template <int WAIT>
struct Queue {
    T waiting[most(WAIT, 1)];

    __device__ __forceinline__ T take(T value)
    {
        if (WAIT == 0) return value;
        const T first = waiting[0];
#pragma unroll
        for (int i = 0; i + 1 < WAIT; ++i) waiting[i] = waiting[i + 1];
        waiting[WAIT - 1] = value;
        return first;
    }
};

// Coefficients of a column, from two rows at a time.
struct Splitting {
    static constexpr Delays DONE = delays_at(STEPS, false);
    Column<0, false> steps;
    Queue<HALF - 1 - LOW_LATER - DONE.of[LOW_PHASE]> lows;
    Queue<HALF - 1 - HIGH_LATER - DONE.of[1 - LOW_PHASE]> highs;

    // The coefficients that two rows complete, the last ones that they contribute to.
    template <bool LOW, bool HIGH>
    __device__ __forceinline__ void take(const T upper, const T lower, T& low, T& high)
    {
        T values[2] = {upper, lower};
        steps.take(values);
        low = lows.take(values[LOW_PHASE]);
        high = highs.take(values[1 - LOW_PHASE]);
    }
};

// Samples of a column, from a low and a high coefficient at a time.
struct Joining {
    static constexpr Delays DONE = delays_at(-1, true);
    Column<STEPS - 1, true> steps;
    Queue<-DONE.of[0]> uppers;
    Queue<-DONE.of[1]> lowers;

    // The two samples that they complete.
    __device__ __forceinline__ void take(const T low, const T high, T& upper, T& lower)
    {
        T values[2];
        values[LOW_PHASE] = low;
        values[1 - LOW_PHASE] = high;
        steps.take(values);
        upper = uppers.take(values[0]);
        lower = lowers.take(values[1]);
    }
};
