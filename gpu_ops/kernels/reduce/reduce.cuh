// The state of a reduction, for all reduction kernels: the empty state, the state of one sample, two states combined,
// and the results of the final one. gpu_ops/filters/reduce/figures.py has the rules.
//
// SAMPLE is the type of a sample; INTEGER is 1 where it is an integer. STATISTIC is 0 sum, 1 min, 2 max, 3 mean, 4
// variance, 5 all. COMPENSATED also sums the rounding errors of floating sums. FIRST: x are samples, else states of an
// earlier launch. NARROW: a block has so few samples that their integer sum fits 32 bits.
//
// Every kernel reads x (n, channels), samples or states, and writes partial (blocks, channels), one state per block; a
// single block per channel writes results (rows, channels) instead. `all` is the number of samples of a channel,
// whatever n is. blockIdx.y is the channel.
#pragma once

typedef SAMPLE T;

#if INTEGER && NARROW
typedef unsigned Count;
#else
typedef unsigned long long Count;
#endif

// a + b = s + error, exactly, whichever is larger (Knuth).
__device__ __forceinline__ double two_sum(double a, double b, double& error)
{
    const double s = a + b, from_b = s - a;
    error = (a - (s - from_b)) + (b - from_b);
    return s;
}

// Sums: exact for integers, in double for floats, as pairs of the sum and its lost part where they are compensated.

#if INTEGER
template <typename Value>
struct Whole {
    Value value;
    static __device__ __forceinline__ Whole none() { return {0}; }
    static __device__ __forceinline__ Whole of(T x) { return {x}; }
    __device__ __forceinline__ Whole combine(Whole b) const { return {value + b.value}; }
};
typedef Whole<Count> SumPart;
typedef Whole<unsigned long long> Sum;
__device__ __forceinline__ Sum widened(SumPart part) { return {part.value}; }
#elif COMPENSATED
struct Sum {
    double value, lost;
    static __device__ __forceinline__ Sum none() { return {0, 0}; }
    static __device__ __forceinline__ Sum of(T x) { return {(double)x, 0}; }
    __device__ __forceinline__ Sum combine(Sum b) const
    {
        double error;
        const double s = two_sum(value, b.value, error);
        return {s, lost + b.lost + error};
    }
    // The lost part of an infinite sum is NaN.
    __device__ __forceinline__ double total() const { return isfinite(value) ? value + lost : value; }
};
typedef Sum SumPart;
#else
struct Sum {
    double value;
    static __device__ __forceinline__ Sum none() { return {0}; }
    static __device__ __forceinline__ Sum of(T x) { return {(double)x}; }
    __device__ __forceinline__ Sum combine(Sum b) const { return {value + b.value}; }
    __device__ __forceinline__ double total() const { return value; }
};
typedef Sum SumPart;
#endif

// Extremes, in the type of the samples, 32 bits for integers; NaN wins over every number.

#if INTEGER
typedef unsigned Extreme;
#define LOWEST 0u
#define HIGHEST 0xffffffffu
#else
typedef T Extreme;
#define LOWEST ((T)-INFINITY_OF_FLOATS)
#define HIGHEST ((T)INFINITY_OF_FLOATS)
#define INFINITY_OF_FLOATS __longlong_as_double(0x7ff0000000000000LL)
#endif

struct Minimum {
    Extreme value;
    static __device__ __forceinline__ Minimum none() { return {HIGHEST}; }
    static __device__ __forceinline__ Minimum of(T x) { return {x}; }
    __device__ __forceinline__ Minimum combine(Minimum b) const { return value < b.value || value != value ? *this : b; }
};

struct Maximum {
    Extreme value;
    static __device__ __forceinline__ Maximum none() { return {LOWEST}; }
    static __device__ __forceinline__ Maximum of(T x) { return {x}; }
    __device__ __forceinline__ Maximum combine(Maximum b) const { return value > b.value || value != value ? *this : b; }
};

// Spread: the sum and the sum of squares of integers, exactly; for floats the count, the mean and the sum of squared
// deviations, combined by the rule of Chan, Golub and LeVeque, which stays accurate for a large mean.

#if INTEGER
struct Spread {
    unsigned long long sum, squares;
    static __device__ __forceinline__ Spread none() { return {0, 0}; }
    static __device__ __forceinline__ Spread of(T x) { return {x, (unsigned long long)((unsigned)x * x)}; }
    __device__ __forceinline__ Spread combine(Spread b) const { return {sum + b.sum, squares + b.squares}; }
    __device__ __forceinline__ double variance(unsigned long long n) const
    {
        // Relative to the integer nearest to the mean every sum is exact, and little cancels. Products may exceed 2^64;
        // their difference is right modulo 2^64.
        const unsigned long long middle = sum / n + (sum % n > n / 2);
        const double off = (double)(long long)(sum - n * middle);
        const double around = (double)(squares - 2 * middle * sum + n * middle * middle);
        return fmax(0.0, __dsub_rn(around, __dmul_rn(off, off) / (double)n) / (double)n);
    }
};
#else
struct Spread {
    double n, mean, squares;
    static __device__ __forceinline__ Spread none() { return {0, 0, 0}; }
    static __device__ __forceinline__ Spread of(T x) { return {1, (double)x, (double)x - (double)x}; }  // infinity gives NaN
    __device__ __forceinline__ Spread combine(Spread b) const
    {
        if (b.n == 0) return *this;
        if (n == 0) return b;
        const double together = n + b.n, delta = b.mean - mean, share = b.n / together;
        return {together, mean + delta * share, squares + b.squares + delta * delta * n * share};
    }
    __device__ __forceinline__ double variance(unsigned long long) const { return squares / n; }
};
#endif

struct All {
    Sum sum;
    Minimum least;
    Maximum most;
    Spread spread;
    static __device__ __forceinline__ All none() { return {Sum::none(), Minimum::none(), Maximum::none(), Spread::none()}; }
    static __device__ __forceinline__ All of(T x) { return {Sum::of(x), Minimum::of(x), Maximum::of(x), Spread::of(x)}; }
    __device__ __forceinline__ All combine(const All& b) const
    {
        return {sum.combine(b.sum), least.combine(b.least), most.combine(b.most), spread.combine(b.spread)};
    }
};

// Types of the chosen statistic: Part within a block, Total between blocks, Result for a result.

#if INTEGER
__device__ __forceinline__ double mean_of(Sum sum, long long all) { return (double)sum.value / (double)all; }
__device__ __forceinline__ unsigned long long value_of(Sum sum) { return sum.value; }
#else
__device__ __forceinline__ double mean_of(Sum sum, long long all) { return sum.total() / (double)all; }
__device__ __forceinline__ double value_of(Sum sum) { return sum.total(); }
#endif

#if STATISTIC == 0 && INTEGER
typedef unsigned long long Result;
#elif STATISTIC == 1 || STATISTIC == 2
typedef T Result;
#else
typedef double Result;
#endif

#if STATISTIC == 0 || STATISTIC == 3
typedef Sum Total;
#if INTEGER
typedef SumPart Part;
#else
typedef Sum Part;
#endif
#elif STATISTIC == 1
typedef Minimum Total, Part;
#elif STATISTIC == 2
typedef Maximum Total, Part;
#elif STATISTIC == 4
typedef Spread Total, Part;
#else
typedef All Total, Part;
#endif

#if FIRST
typedef T In;
__device__ __forceinline__ Part state_of(T x) { return Part::of(x); }
#else
typedef Total In;
__device__ __forceinline__ Part state_of(const Total& state) { return state; }
#endif

template <typename State>
__device__ __forceinline__ Total total_of(const State& state) { return state; }
#if INTEGER && NARROW
__device__ __forceinline__ Sum total_of(const SumPart& part) { return widened(part); }
#endif

// The results of a channel, one per row of a table of `channels` columns.
__device__ __forceinline__ void write_results(
    const Total& total, long long all, Result* __restrict__ out, int channels)
{
#if STATISTIC == 0
    out[0] = value_of(total);
#elif STATISTIC == 1 || STATISTIC == 2
    out[0] = (T)total.value;
#elif STATISTIC == 3
    out[0] = mean_of(total, all);
#elif STATISTIC == 4
    out[0] = total.variance(all);
#else
    out[0] = (double)value_of(total.sum);
    out[channels] = (double)total.least.value;
    out[2 * channels] = (double)total.most.value;
    out[3 * channels] = mean_of(total.sum, all);
    out[4 * channels] = total.spread.variance(all);
#endif
}

// Element i of this block's channel.
__device__ __forceinline__ Part read(const In* __restrict__ x, long long i)
{
    return state_of(x[i * gridDim.y + blockIdx.y]);
}

// The same, or the empty state beyond the end. A conditional expression of two states would become a load from one of
// two addresses, by all lanes.
__device__ __forceinline__ Part read_or_none(const In* __restrict__ x, long long i, long long n)
{
    Part mine = Part::none();
    if (i < n) mine = read(x, i);
    return mine;
}

// One thread writes the state of its block, or the results where there is no other block.
__device__ __forceinline__ void store_state(
    const Part& part, Total* __restrict__ partial, Result* __restrict__ results, long long all)
{
    if (gridDim.x == 1) write_results(total_of(part), all, results + blockIdx.y, gridDim.y);
    else partial[(long long)blockIdx.x * gridDim.y + blockIdx.y] = total_of(part);
}

extern __shared__ __align__(16) unsigned char memory[];
