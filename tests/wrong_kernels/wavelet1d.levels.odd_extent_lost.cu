// Wrong on purpose: where details begin comes from halves of the length, as if no level were odd
#include "wavelet_shrink.cuh"
#include "wavelet_span.cuh"

#define MOST_TOGETHER 3

extern __shared__ __align__(16) unsigned char memory[];

// An axis at level 0, 1, ... `together`: its coefficients, where the details of a level begin, what a block has of it.
// One thread finds it out for all, into shared memory, because numbers that loops count through have no registers.
struct Axis {
    Index n[MOST_TOGETHER + 1], details[MOST_TOGETHER + 1];
    Span spans[MOST_TOGETHER + 1];
};

// The axis at one level.
struct Level {
    Index n, details;
    Span span;
};

__device__ __forceinline__ Level level_of(const Axis& axis, int l)
{
    return {axis.n[l], axis.details[l], axis.spans[l]};
}

__device__ __forceinline__ bool leads() { return threadIdx.x == 0 && threadIdx.y == 0; }

// Extents, and where details begin, in values: those of the last level at `last`, others behind them.
__device__ __forceinline__ void measure(Axis& axis, int together, Index n, int taps, Index last, int channels)
{
    axis.n[0] = n;
#pragma unroll 1
    for (int l = 1; l <= together; ++l) axis.n[l] = half_of(axis.n[l - 1], taps);
    axis.details[together] = last;
#pragma unroll 1
    for (int l = together; l > 0; --l) axis.details[l - 1] = axis.details[l] + (n >> l) * channels;
}

__device__ __forceinline__ Span piece(Index begin, int many, Index n)
{
    return {begin, (int)(n - begin < many ? n - begin : many)};
}

__device__ __forceinline__ void take_there(Axis& axis, int together, Index begin, int many, int taps)
{
    axis.spans[together] = piece(begin, many, axis.n[together]);
#pragma unroll 1
    for (int l = together; l > 0; --l) axis.spans[l - 1] = samples_for(axis.spans[l], axis.n[l - 1], taps);
}

__device__ __forceinline__ void take_back(Axis& axis, int together, Index begin, int many, int taps)
{
    axis.spans[0] = piece(begin, many, axis.n[0]);
#pragma unroll 1
    for (int l = 0; l < together; ++l) axis.spans[l + 1] = coefficients_for(axis.spans[l], axis.n[l], taps);
}

// Whether coefficient k is one that the piece of the last level from `begin` on writes, which is so many levels after.
__device__ __forceinline__ bool owns(Index begin, int many, int after, Index k)
{
    return k >= begin << after && k < (begin + many) << after;
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

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_levels_forward_line(
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ pyramid, int taps, int together, Index length,
    int channels, Index start, int many, int room)
{
    __shared__ Axis line;
    T* tile = (T*)memory;
    T* next = tile + room;
    const Index begin = (Index)blockIdx.x * many;
    if (leads()) {
        measure(line, together, length, taps, start, channels);
        take_there(line, together, begin, many, taps);
    }
    __syncthreads();
    const Span first = line.spans[0];
    for (int q = threadIdx.x; q < first.count * channels; q += blockDim.x) {
        const Value v = value_of(q, channels);
        tile[q] = x[position_at(first, v.place, length) * channels + v.channel];
    }
    __syncthreads();
#pragma unroll 1
    for (int l = 1; l <= together; ++l) {
        const Level from = level_of(line, l - 1), to = level_of(line, l);
        for (int q = threadIdx.x; q < to.span.count * channels; q += blockDim.x) {
            const Value v = value_of(q, channels);
            const Index k = position_at(to.span, v.place, to.n), e = k * channels + v.channel;
            T average, detail;
            make_pair(tile + v.channel, channels, from.span, from.n, k, taps, &average, &detail);
            if (l < together) next[q] = average;
            else low[e] = average;
            if (owns(begin, many, together - l, k)) pyramid[to.details + e] = detail;
        }
        __syncthreads();
        T* const used = tile;
        tile = next;
        next = used;
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_levels_inverse_line(
    const T* __restrict__ low, const T* __restrict__ pyramid, T* __restrict__ x, const double* __restrict__ thresholds,
    int how, int taps, int together, Index length, int channels, Index start, int many, int room)
{
    __shared__ Axis line;
    if (leads()) {
        measure(line, together, length, taps, start, channels);
        take_back(line, together, (Index)blockIdx.x * many, many, taps);
    }
    __syncthreads();
#pragma unroll 1
    for (int l = together; l > 0; --l) {
        const Level from = level_of(line, l), to = level_of(line, l - 1);
        T* averages = (T*)memory + (l % 2 ? 0 : room);
        T* next = (T*)memory + (l % 2 ? room : 0);
        T* highs = averages + from.span.count * channels;
        const double* limits = thresholds + (together - l) * channels;
        T limit = (T)limits[0];
        for (int q = threadIdx.x; q < from.span.count * channels; q += blockDim.x) {
            const Value v = value_of(q, channels);
            const Index e = position_at(from.span, v.place, from.n) * channels + v.channel;
            if (channels > 1) limit = (T)limits[v.channel];
            if (l == together) averages[q] = low[e];
            highs[q] = shrunk(pyramid[from.details + e], limit, how);
        }
        __syncthreads();
        for (int q = threadIdx.x; q < to.span.count * channels; q += blockDim.x) {
            const Value v = value_of(q, channels);
            const Index i = position_at(to.span, v.place, to.n);
            const T value = make_sample(averages + v.channel, highs + v.channel, channels, from.span, from.n, i, taps);
            if (l > 1) next[q] = value;
            else x[i * channels + v.channel] = value;
        }
        __syncthreads();
    }
}
