// Wrong on purpose: a step reads what the one before has not changed yet
#include "wavelet.cuh"
#include "wavelet_shrink.cuh"

#define MOST_STEPS 8
#define MOST_WEIGHTS 4
#define THERE 0
#define BACK 1

// Of each way and step: the phase that it changes, 0 even or 1 odd; where beside a pair its samples of the other phase
// begin, and how many they are; the first pair of a tile that it changes, and how far beyond a piece the last one is.
__constant__ int moves[2 * MOST_STEPS * 5];
__constant__ T weights[MOST_STEPS * MOST_WEIGHTS];
// Of each way: pairs around a piece; the first pair of a tile, seen from its piece; the phase that becomes low; where
// in a tile low and high begin.
__constant__ int ends[2 * 5];
// What low and high are multiplied by there, and back.
__constant__ T gains[4];

extern __shared__ __align__(16) unsigned char memory[];

struct Move {
    int target, first, count, begin, more;
};

struct Ends {
    int around, before, low_phase, low, high;
};

__device__ __forceinline__ Move move_of(int way, int step)
{
    const int* m = moves + (way * MOST_STEPS + step) * 5;
    return {m[0], m[1], m[2], m[3], m[4]};
}

__device__ __forceinline__ Ends ends_of(int way)
{
    const int* e = ends + way * 5;
    return {e[0], e[1], e[2], e[3], e[4]};
}

// What a step adds to a sample: samples of the other phase, `apart` from each other, times its weights.
__device__ __forceinline__ T addition(const T* source, int apart, int step, int count)
{
    T sum = 0;
    for (int j = 0; j < count; ++j) sum += weights[step * MOST_WEIGHTS + j] * source[j * apart];
    return sum;
}

// `many` from `begin` on, or as many as there are before `end`.
__device__ __forceinline__ int piece(Index begin, int many, Index end)
{
    return (int)(end - begin < many ? end - begin : many);
}

// A piece of samples on the way back: `count` from `from` on. They begin with the even or the odd sample of a pair, as
// coefficients count pairs, and lie in `own` pairs from `begin` on.
struct Piece {
    Index from, begin;
    int count, odd, own;
};

__device__ __forceinline__ Piece samples_of(Index number, int many, Index n, int taps)
{
    const Index from = 2 * number * many, at = from + reach_of(taps);
    const int count = piece(from, 2 * many, n), odd = (int)(at & 1);
    return {from, at >> 1, count, odd, (count + odd + 1) / 2};
}

// Whether coefficient k is one of `half`, and which: no sample needs those that the symmetric border leaves out, whose
// parts cancel in the steps whatever they are.
__device__ __forceinline__ bool is_there(Index* k, Index half)
{
#if BORDER == 0
    *k = around(*k, half);
    return true;
#else
    return *k >= 0 && *k < half;
#endif
}

// Value q of a line as a place and a channel.
struct Value {
    int place, channel;
};

__device__ __forceinline__ Value value_of(int q, int channels)
{
    const int place = channels == 1 ? q : q / channels;
    return {place, q - place * channels};
}

// Where sample number `place` of a tile of so many pairs lies: even ones come first, then odd ones.
__device__ __forceinline__ int by_phase(int place, int pairs) { return (place & 1) * pairs + (place >> 1); }

// A step on `lines` lines of a tile, along them, with the sign of its way.
__device__ __forceinline__ void along_lines(
    T* tile, int lines, int pairs, int own, int channels, int way, int step, T sign)
{
    const Move m = move_of(way, step);
    const int width = pairs * channels, end = (own + m.more) * channels;
    for (int r = threadIdx.y; r < lines; r += blockDim.y) {
        T* target = tile + (2 * r + m.target) * width;
        const T* source = tile + (2 * r + 1 - m.target) * width + m.first * channels;
        for (int q = m.begin * channels + threadIdx.x; q < end; q += blockDim.x)
            target[q] += sign * addition(source + q, channels, step, m.count);
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_lifting_forward_line(
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ high, int taps, int steps, Index n, Index half,
    int channels, int many)
{
    T* tile = (T*)memory;
    const Ends e = ends_of(THERE);
    const Index begin = (Index)blockIdx.x * many, first = 2 * (begin + e.before) - reach_of(taps);
    const int own = piece(begin, many, half), pairs = own + e.around;
    for (int q = threadIdx.x; q < 2 * pairs * channels; q += blockDim.x) {
        const Value v = value_of(q, channels);
        tile[by_phase(v.place, pairs) * channels + v.channel] =
            x[inside(first + v.place, n) * channels + v.channel];
    }
    __syncthreads();
#pragma unroll 1
    for (int step = 0; step < steps; ++step) along_lines(tile, 1, pairs, own, channels, THERE, step, 1);
    const T* lows = tile + (e.low_phase * pairs + e.low) * channels;
    const T* highs = tile + ((1 - e.low_phase) * pairs + e.high) * channels;
    for (int q = threadIdx.x; q < own * channels; q += blockDim.x) {
        low[begin * channels + q] = gains[0] * lows[q];
        high[begin * channels + q] = gains[1] * highs[q];
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_lifting_inverse_line(
    const T* __restrict__ low, const T* __restrict__ high, T* __restrict__ x, const double* __restrict__ thresholds,
    int how, int taps, int steps, Index n, Index half, int channels, int many)
{
    T* tile = (T*)memory;
    const Ends e = ends_of(BACK);
    const Piece p = samples_of(blockIdx.x, many, n, taps);
    const int pairs = p.own + e.around;
    T* lows = tile + e.low_phase * pairs * channels;
    T* highs = tile + (1 - e.low_phase) * pairs * channels;
    T limit = (T)thresholds[0];
    for (int q = threadIdx.x; q < pairs * channels; q += blockDim.x) {
        const Value v = value_of(q, channels);
        Index k = p.begin + v.place - e.low, d = p.begin + v.place - e.high;
        lows[q] = is_there(&k, half) ? gains[2] * low[k * channels + v.channel] : 0;
        if (channels > 1) limit = (T)thresholds[v.channel];
        highs[q] = is_there(&d, half) ? gains[3] * shrunk(high[d * channels + v.channel], limit, how) : 0;
    }
    __syncthreads();
#pragma unroll 1
    for (int step = steps; step-- > 0;) along_lines(tile, 1, pairs, p.own, channels, BACK, step, -1);
    for (int q = threadIdx.x; q < p.count * channels; q += blockDim.x) {
        const Value v = value_of(q, channels);
        x[p.from * channels + q] = tile[(by_phase(p.odd + v.place, pairs) - e.before) * channels + v.channel];
    }
}
