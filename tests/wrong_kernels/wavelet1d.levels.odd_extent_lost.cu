// Wrong on purpose: where details begin comes from halves of the length, as if no level were odd
#include "wavelet_shrink.cuh"
#include "wavelet_span.cuh"

extern __shared__ __align__(16) unsigned char memory[];

// Coefficients of an axis at level 0, 1, ... TOGETHER.
struct Extents {
    Index at[TOGETHER + 1];
};

// What a block has of an axis at each of these levels.
struct Spans {
    Span at[TOGETHER + 1];
};

__device__ __forceinline__ Extents extents_of(Index n, int taps)
{
    Extents found;
    found.at[0] = n;
#pragma unroll
    for (int l = 1; l <= TOGETHER; ++l) found.at[l] = half_of(found.at[l - 1], taps);
    return found;
}

__device__ __forceinline__ Span piece(Index begin, int many, Index n)
{
    return {begin, (int)(n - begin < many ? n - begin : many)};
}

__device__ __forceinline__ Spans spans_there(Index begin, int many, const Extents& n, int taps)
{
    Spans found;
    found.at[TOGETHER] = piece(begin, many, n.at[TOGETHER]);
#pragma unroll
    for (int l = TOGETHER; l > 0; --l) found.at[l - 1] = samples_for(found.at[l], n.at[l - 1], taps);
    return found;
}

__device__ __forceinline__ Spans spans_back(Index begin, int many, const Extents& n, int taps)
{
    Spans found;
    found.at[0] = piece(begin, many, n.at[0]);
#pragma unroll
    for (int l = 0; l < TOGETHER; ++l) found.at[l + 1] = coefficients_for(found.at[l], n.at[l], taps);
    return found;
}

// Where the details of level l begin: behind those of the levels after it.
__device__ __forceinline__ Index begin_of(int l, Index last, const Extents& n, int channels)
{
    Index begin = last;
#pragma unroll
    for (int deeper = TOGETHER; deeper > l; --deeper) begin += (n.at[0] >> deeper) * channels;
    return begin;
}

// Whether coefficient k of level l is one that the piece of the last level from `begin` on writes.
__device__ __forceinline__ bool owns(Index begin, int many, int l, Index k)
{
    return k >= begin << (TOGETHER - l) && k < (begin + many) << (TOGETHER - l);
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
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ pyramid, int taps, Index length, int channels,
    Index start, int many, int room)
{
    T* tile = (T*)memory;
    T* next = tile + room;
    const Index begin = (Index)blockIdx.x * many;
    const Extents n = extents_of(length, taps);
    const Spans spans = spans_there(begin, many, n, taps);
    for (int q = threadIdx.x; q < spans.at[0].count * channels; q += blockDim.x) {
        const Value v = value_of(q, channels);
        tile[q] = x[position_at(spans.at[0], v.place, length) * channels + v.channel];
    }
    __syncthreads();
#pragma unroll
    for (int l = 1; l <= TOGETHER; ++l) {
        T* details = pyramid + begin_of(l, start, n, channels);
        for (int q = threadIdx.x; q < spans.at[l].count * channels; q += blockDim.x) {
            const Value v = value_of(q, channels);
            const Index k = position_at(spans.at[l], v.place, n.at[l]), e = k * channels + v.channel;
            T average, detail;
            make_pair(tile + v.channel, channels, spans.at[l - 1], n.at[l - 1], k, taps, &average, &detail);
            (l < TOGETHER ? next[q] : low[e]) = average;
            if (owns(begin, many, l, k)) details[e] = detail;
        }
        __syncthreads();
        T* const used = tile;
        tile = next;
        next = used;
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_levels_inverse_line(
    const T* __restrict__ low, const T* __restrict__ pyramid, T* __restrict__ x, const double* __restrict__ thresholds,
    int how, int taps, Index length, int channels, Index start, int many, int room)
{
    const Extents n = extents_of(length, taps);
    const Spans spans = spans_back((Index)blockIdx.x * many, many, n, taps);
#pragma unroll
    for (int l = TOGETHER; l > 0; --l) {
        T* averages = (T*)memory + (l % 2 ? 0 : room);
        T* next = (T*)memory + (l % 2 ? room : 0);
        T* highs = averages + spans.at[l].count * channels;
        const T* details = pyramid + begin_of(l, start, n, channels);
        const double* limits = thresholds + (TOGETHER - l) * channels;
        T limit = (T)limits[0];
        for (int q = threadIdx.x; q < spans.at[l].count * channels; q += blockDim.x) {
            const Value v = value_of(q, channels);
            const Index e = position_at(spans.at[l], v.place, n.at[l]) * channels + v.channel;
            if (channels > 1) limit = (T)limits[v.channel];
            if (l == TOGETHER) averages[q] = low[e];
            highs[q] = shrunk(details[e], limit, how);
        }
        __syncthreads();
        for (int q = threadIdx.x; q < spans.at[l - 1].count * channels; q += blockDim.x) {
            const Value v = value_of(q, channels);
            const Index i = position_at(spans.at[l - 1], v.place, n.at[l - 1]);
            const T value =
                make_sample(averages + v.channel, highs + v.channel, channels, spans.at[l], n.at[l], i, taps);
            (l > 1 ? next[q] : x[i * channels + v.channel]) = value;
        }
        __syncthreads();
    }
}
