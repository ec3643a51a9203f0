// What a thread accumulates over its samples in one pass, and the end of a reduction in one launch.
#pragma once
#include "reduce_warp.cuh"

const bool OF_BYTES = sizeof(T) == 1;
const unsigned ONES = 0x01010101u;

// Sums and squares of a thread's samples. Squares of floats are relative to a number near the samples: plain squares
// would lose the digits that a large mean takes, and a running mean costs a division per sample.

#if INTEGER
struct Adding {
    unsigned long long value = 0;
    __device__ __forceinline__ void add(T x) { value += x; }
    __device__ __forceinline__ void add_bytes(uint4 w)
    {
        value += __dp4a(w.x, ONES, __dp4a(w.y, ONES, __dp4a(w.z, ONES, __dp4a(w.w, ONES, 0u))));
    }
    __device__ __forceinline__ Sum state() const { return {value}; }
};

struct Spreading {
    unsigned long long sum = 0, squares = 0;
    __device__ __forceinline__ void add(T x)
    {
        sum += x;
        squares += (unsigned)x * x;
    }
    __device__ __forceinline__ void add_bytes(uint4 w)
    {
        sum += __dp4a(w.x, ONES, __dp4a(w.y, ONES, __dp4a(w.z, ONES, __dp4a(w.w, ONES, 0u))));
        squares += __dp4a(w.x, w.x, __dp4a(w.y, w.y, __dp4a(w.z, w.z, __dp4a(w.w, w.w, 0u))));
    }
    __device__ __forceinline__ Spread state() const { return {sum, squares}; }
};
#else
struct Adding {
    Sum all = Sum::none();
    __device__ __forceinline__ void add(T x) { all = all.combine(Sum::of(x)); }
    __device__ __forceinline__ void add_bytes(uint4) {}
    __device__ __forceinline__ Sum state() const { return all; }
};

// All lanes of a warp share the number that squares are relative to.
struct Spreading {
    double shift = 0, sum = 0, squares = 0;
    unsigned n = 0;
    __device__ __forceinline__ void start(double first) { shift = first; }
    __device__ __forceinline__ void add(T x)
    {
        ++n;
        sum += x;
        const double off = (double)x - shift;
        squares = fma(off, off, squares);
    }
    __device__ __forceinline__ void add_bytes(uint4) {}
    __device__ __forceinline__ Spread state() const
    {
        if (n == 0) return Spread::none();
        const double mean = sum / n, off = mean - shift, rest = squares - n * off * off;
        return {(double)n, mean, rest < 0 ? 0 : rest};  // NaN stays NaN
    }
};
#endif

#if INTEGER
template <typename State>
struct Extremum {
    State state_ = State::none();
    __device__ __forceinline__ void add(T x) { state_ = state_.combine(State::of(x)); }
    __device__ __forceinline__ void add_bytes(uint4 w)
    {
        const T* bytes = (const T*)&w;
#pragma unroll
        for (int j = 0; j < 16 / sizeof(T); ++j) add(bytes[j]);
    }
    __device__ __forceinline__ State state() const { return state_; }
};
typedef Extremum<Minimum> Lowest;
typedef Extremum<Maximum> Highest;
#else
__device__ __forceinline__ float lesser(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ float greater(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double lesser(double a, double b) { return b < a ? b : a; }
__device__ __forceinline__ double greater(double a, double b) { return b > a ? b : a; }

__device__ __forceinline__ T not_a_number() { return (T)__longlong_as_double(0x7ff8000000000000LL); }

// The hardware's minimum and maximum of floats ignore NaN, so NaN is tracked separately.
struct Lowest {
    T value = Minimum::none().value;
    bool odd = false;
    __device__ __forceinline__ void add(T x)
    {
        value = lesser(value, x);
        odd |= x != x;
    }
    __device__ __forceinline__ void add_bytes(uint4) {}
    __device__ __forceinline__ Minimum state() const { return {odd ? not_a_number() : value}; }
};

struct Highest {
    T value = Maximum::none().value;
    bool odd = false;
    __device__ __forceinline__ void add(T x)
    {
        value = greater(value, x);
        odd |= x != x;
    }
    __device__ __forceinline__ void add_bytes(uint4) {}
    __device__ __forceinline__ Maximum state() const { return {odd ? not_a_number() : value}; }
};
#endif

#if INTEGER || COMPENSATED
struct Gathering {
    Adding sum;
    Lowest least;
    Highest most;
    Spreading spread;
#if !INTEGER
    __device__ __forceinline__ void start(double first) { spread.start(first); }
#endif
    __device__ __forceinline__ void add(T x)
    {
        sum.add(x);
        least.add(x);
        most.add(x);
        spread.add(x);
    }
    __device__ __forceinline__ void add_bytes(uint4 w)
    {
        sum.add_bytes(w);
        least.add_bytes(w);
        most.add_bytes(w);
        spread.add_bytes(w);
    }
    __device__ __forceinline__ All state() const { return {sum.state(), least.state(), most.state(), spread.state()}; }
};
#else
// The sum is that of the spread, and the test for NaN is shared.
struct Gathering {
    Spreading spread;
    T least = Minimum::none().value, most = Maximum::none().value;
    bool odd = false;
    __device__ __forceinline__ void start(double first) { spread.start(first); }
    __device__ __forceinline__ void add(T x)
    {
        spread.add(x);
        least = lesser(least, x);
        most = greater(most, x);
        odd |= x != x;
    }
    __device__ __forceinline__ void add_bytes(uint4) {}
    __device__ __forceinline__ All state() const
    {
        return {{spread.sum}, {odd ? not_a_number() : least}, {odd ? not_a_number() : most}, spread.state()};
    }
};
#endif

#if STATISTIC == 0 || STATISTIC == 3
typedef Adding Share;
#elif STATISTIC == 1
typedef Lowest Share;
#elif STATISTIC == 2
typedef Highest Share;
#elif STATISTIC == 4
typedef Spreading Share;
#else
typedef Gathering Share;
#endif

// One 16-byte load per channel, with interleaved samples. Bytes of a single channel are added four at a time.
__device__ __forceinline__ void take(Share (&shares)[CHANNELS], const uint4 (&read)[CHANNELS])
{
    if (OF_BYTES && CHANNELS == 1) {
        shares[0].add_bytes(read[0]);
        return;
    }
    const T* values = (const T*)read;
#pragma unroll
    for (int i = 0; i < CHANNELS * (16 / sizeof(T)); ++i) shares[i % CHANNELS].add(values[i]);
}

#if !INTEGER
// Spreads are combined as plain sums relative to the mean of lane 0, with one division; combining states in pairs would
// divide in each of five steps. Lane 0 has as many samples as any other lane, so its mean is no worse than theirs.
struct Around {
    double n, off, squares;
    __device__ __forceinline__ Around(const Spread& spread, double middle)
    {
        const double delta = spread.mean - middle;
        n = spread.n, off = n * delta, squares = spread.squares + off * delta;
    }
    __device__ __forceinline__ Around(double n, double off, double squares) : n(n), off(off), squares(squares) {}
    __device__ __forceinline__ Around() {}
    __device__ __forceinline__ Around combine(const Around& b) const { return {n + b.n, off + b.off, squares + b.squares}; }
    __device__ __forceinline__ Spread spread(double middle) const
    {
        if (n == 0) return Spread::none();
        const double delta = off / n, rest = squares - off * delta;
        return {n, middle + delta, rest < 0 ? 0 : rest};  // NaN stays NaN
    }
};

__device__ __forceinline__ double mean_of_lane_0(const Spread& mine) { return __shfl_sync(WHOLE_WARP, mine.mean, 0); }

__device__ __forceinline__ Spread warp_total(const Spread& mine)
{
    const double middle = mean_of_lane_0(mine);
    return warp_total(Around(mine, middle)).spread(middle);
}

struct Plain {
    Sum sum;
    Minimum least;
    Maximum most;
    Around around;
    __device__ __forceinline__ Plain combine(const Plain& b) const
    {
        return {sum.combine(b.sum), least.combine(b.least), most.combine(b.most), around.combine(b.around)};
    }
};

__device__ __forceinline__ All warp_total(const All& mine)
{
    const double middle = mean_of_lane_0(mine.spread);
    const Plain all = warp_total(Plain{mine.sum, mine.least, mine.most, Around(mine.spread, middle)});
    return {all.sum, all.least, all.most, all.around.spread(middle)};
}
#endif

// Squares are relative to the mean of the first samples of a warp's lanes: of its first loads, or of single samples
// where no load is complete.
__device__ __forceinline__ void start(
    Share (&shares)[CHANNELS], const T* reads, const T* __restrict__ x, unsigned thread, unsigned groups, long long n)
{
#if !INTEGER && STATISTIC >= 4
    const bool has = groups > 0 ? thread < groups : thread < n;
    const int lanes = __popc(__ballot_sync(WHOLE_WARP, has));
    if (lanes == 0) return;
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
        double first = 0;
        if (has) first = groups > 0 ? reads[c] : x[(size_t)thread * CHANNELS + c];
#pragma unroll
        for (int s = WARP / 2; s > 0; s /= 2) first += __shfl_xor_sync(WHOLE_WARP, first, s);
        shares[c].start(first * __fdividef(1.0f, lanes));
    }
#endif
}

// A state that another block wrote in this launch; the load bypasses the L1 cache.
__device__ __forceinline__ Total fresh(const Total* address)
{
    Total state;
    unsigned words[sizeof(Total) / 4];
#pragma unroll
    for (int k = 0; k < sizeof(Total) / 4; ++k) words[k] = __ldcg((const unsigned*)address + k);
    memcpy(&state, words, sizeof(Total));
    return state;
}

// Whether this block is the last one to arrive. Writes of the first threads of the other blocks are visible to it.
__device__ __forceinline__ bool is_last_block(unsigned* ticket)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}
