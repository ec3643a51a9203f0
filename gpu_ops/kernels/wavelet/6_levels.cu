// What:    several levels of the wavelet transform in one launch, forward and inverse, in shared memory
// Idea:    a block keeps the approximation of each level in shared memory and computes the next level from it: no
//          approximation is written to global memory between the levels of a launch. The halo grows with the number of
//          levels, up to (taps - 2)(2^together - 1) samples. The border rule applies to each level by itself:
//          coefficients beyond the ends of a level are loaded from inside it or from its other end
// Shapes:  x as in 4_shared, low: the approximation of the last of `together` levels; pyramid: all details, those of
//          the last level from (down, right) or from `start` on; thresholds (together, channels), of images (together,
//          3, channels), the last level first; bank as in 4_shared. Sizes named pitch, right, start count values
// Launch:  forward a grid over segments of `many` coefficients of the last level, inverse over segments of `many`
//          samples; any 2D block (signals: any 1D block); shared memory for the tiles, the second of which starts after
//          `capacity` values
// Traffic: 1 value read per `together` levels, and the halo of a tile; each detail written and read once
// Source:  S0, S1
#include "wavelet_shrink.cuh"
#include "wavelet_span.cuh"

#define MOST_TOGETHER 3

extern __shared__ __align__(16) unsigned char memory[];

// An axis at level 0, 1, ... `together`: its coefficients, where the details of a level start, and the span of a block.
// One thread computes it for all, into shared memory: numbers that loops count through cannot be indexed in registers.
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

// Extents, and where details start, in values: those of the last level at `last`, the others after them.
__device__ __forceinline__ void measure(Axis& axis, int together, Index n, int taps, Index last, int channels)
{
    axis.n[0] = n;
#pragma unroll 1
    for (int l = 1; l <= together; ++l) axis.n[l] = half_of(axis.n[l - 1], taps);
    axis.details[together] = last;
#pragma unroll 1
    for (int l = together; l > 0; --l) axis.details[l - 1] = axis.details[l] + axis.n[l] * channels;
}

__device__ __forceinline__ Span piece(Index begin, int many, Index n)
{
    return {begin, (int)(n - begin < many ? n - begin : many)};
}

__device__ __forceinline__ void load_forward(Axis& axis, int together, Index begin, int many, int taps)
{
    axis.spans[together] = piece(begin, many, axis.n[together]);
#pragma unroll 1
    for (int l = together; l > 0; --l) axis.spans[l - 1] = samples_for(axis.spans[l], axis.n[l - 1], taps);
}

__device__ __forceinline__ void load_inverse(Axis& axis, int together, Index begin, int many, int taps)
{
    axis.spans[0] = piece(begin, many, axis.n[0]);
#pragma unroll 1
    for (int l = 0; l < together; ++l) axis.spans[l + 1] = coefficients_for(axis.spans[l], axis.n[l], taps);
}

// Whether coefficient k belongs to the segment of the last level that starts at `begin`, that many levels later.
__device__ __forceinline__ bool owns(Index begin, int many, int after, Index k)
{
    return k >= begin << after && k < (begin + many) << after;
}

// The thresholds of one channel of a level of an image, after that many inverse levels.
struct Limits {
    T horizontal, vertical, diagonal;
};

__device__ __forceinline__ Limits limits_of(const double* thresholds, int before, int channels, int channel)
{
    const double* of = thresholds + before * 3 * channels + channel;
    return {(T)of[0], (T)of[channels], (T)of[2 * channels]};
}

// Value q of a line as a position and a channel.
struct Value {
    int index, channel;
};

__device__ __forceinline__ Value value_of(int q, int channels)
{
    const int index = channels == 1 ? q : q / channels;
    return {index, q - index * channels};
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_levels_forward_line(
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ pyramid, int taps, int together, Index length,
    int channels, Index start, int many, int capacity)
{
    __shared__ Axis line;
    T* tile = (T*)memory;
    T* next = tile + capacity;
    const Index begin = (Index)blockIdx.x * many;
    if (leads()) {
        measure(line, together, length, taps, start, channels);
        load_forward(line, together, begin, many, taps);
    }
    __syncthreads();
    const Span first = line.spans[0];
    for (int q = threadIdx.x; q < first.count * channels; q += blockDim.x) {
        const Value v = value_of(q, channels);
        tile[q] = x[position_at(first, v.index, length) * channels + v.channel];
    }
    __syncthreads();
#pragma unroll 1
    for (int l = 1; l <= together; ++l) {
        const Level from = level_of(line, l - 1), to = level_of(line, l);
        for (int q = threadIdx.x; q < to.span.count * channels; q += blockDim.x) {
            const Value v = value_of(q, channels);
            const Index k = position_at(to.span, v.index, to.n), e = k * channels + v.channel;
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
    int how, int taps, int together, Index length, int channels, Index start, int many, int capacity)
{
    __shared__ Axis line;
    if (leads()) {
        measure(line, together, length, taps, start, channels);
        load_inverse(line, together, (Index)blockIdx.x * many, many, taps);
    }
    __syncthreads();
#pragma unroll 1
    for (int l = together; l > 0; --l) {
        const Level from = level_of(line, l), to = level_of(line, l - 1);
        T* averages = (T*)memory + (l % 2 ? 0 : capacity);
        T* next = (T*)memory + (l % 2 ? capacity : 0);
        T* highs = averages + from.span.count * channels;
        const double* limits = thresholds + (together - l) * channels;
        T limit = (T)limits[0];
        for (int q = threadIdx.x; q < from.span.count * channels; q += blockDim.x) {
            const Value v = value_of(q, channels);
            const Index e = position_at(from.span, v.index, from.n) * channels + v.channel;
            if (channels > 1) limit = (T)limits[v.channel];
            if (l == together) averages[q] = low[e];
            highs[q] = shrunk(pyramid[from.details + e], limit, how);
        }
        __syncthreads();
        for (int q = threadIdx.x; q < to.span.count * channels; q += blockDim.x) {
            const Value v = value_of(q, channels);
            const Index i = position_at(to.span, v.index, to.n);
            const T value = make_sample(averages + v.channel, highs + v.channel, channels, from.span, from.n, i, taps);
            if (l > 1) next[q] = value;
            else x[i * channels + v.channel] = value;
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_levels_forward_tile(
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ pyramid, int taps, int together, Index rows,
    Index columns, int channels, Index x_pitch, Index low_pitch, Index pitch, Index down, Index right, int many_rows,
    int many_columns, int capacity)
{
    __shared__ Axis along, across;
    T* tile = (T*)memory;
    T* lows = tile + capacity;
    const Index left = (Index)blockIdx.x * many_columns;
    if (leads()) {
        measure(along, together, rows, taps, down, 1);
        measure(across, together, columns, taps, right, channels);
        load_forward(across, together, left, many_columns, taps);
    }
    __syncthreads();
    for (Index top = (Index)blockIdx.y * many_rows; top < along.n[together]; top += (Index)gridDim.y * many_rows) {
        if (leads()) load_forward(along, together, top, many_rows, taps);
        __syncthreads();
        const Span lines = along.spans[0], first = across.spans[0];
        for (int r = threadIdx.y; r < lines.count; r += blockDim.y) {
            const T* line = x + position_at(lines, r, rows) * x_pitch;
            for (int q = threadIdx.x; q < first.count * channels; q += blockDim.x) {
                const Value v = value_of(q, channels);
                tile[r * first.count * channels + q] =
                    line[position_at(first, v.index, columns) * channels + v.channel];
            }
        }
        __syncthreads();
#pragma unroll 1
        for (int l = 1; l <= together; ++l) {
            const Level from = level_of(across, l - 1), to = level_of(across, l), above = level_of(along, l - 1);
            const int before = from.span.count * channels, after = to.span.count * channels;
            T* highs = lows + above.span.count * after;
            for (int q = threadIdx.x; q < after; q += blockDim.x) {
                const Value v = value_of(q, channels);
                const Index k = position_at(to.span, v.index, to.n);
                for (int r = threadIdx.y; r < above.span.count; r += blockDim.y)
                    make_pair(tile + r * before + v.channel, channels, from.span, from.n, k, taps,
                              lows + r * after + q, highs + r * after + q);
            }
            __syncthreads();
            const Level below = level_of(along, l);
            for (int r = threadIdx.y; r < below.span.count; r += blockDim.y) {
                const Index row = position_at(below.span, r, below.n);
                T* horizontal = pyramid + (below.details + row) * pitch;
                T* vertical = pyramid + row * pitch + to.details;
                T* diagonal = horizontal + to.details;
                for (int q = threadIdx.x; q < after; q += blockDim.x) {
                    const Value v = value_of(q, channels);
                    const Index column = position_at(to.span, v.index, to.n), e = column * channels + v.channel;
                    T average, detail;
                    make_pair(lows + q, after, above.span, above.n, row, taps, &average, &detail);
                    if (l < together) tile[r * after + q] = average;
                    else low[row * low_pitch + e] = average;
                    if (owns(top, many_rows, together - l, row) && owns(left, many_columns, together - l, column)) {
                        horizontal[e] = detail;
                        make_pair(highs + q, after, above.span, above.n, row, taps, &average, &detail);
                        vertical[e] = average;
                        diagonal[e] = detail;
                    }
                }
            }
            __syncthreads();
        }
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_levels_inverse_tile(
    const T* __restrict__ low, const T* __restrict__ pyramid, T* __restrict__ x, const double* __restrict__ thresholds,
    int how, int taps, int together, Index rows, Index columns, int channels, Index x_pitch, Index low_pitch,
    Index pitch, Index down, Index right, int many_rows, int many_columns, int capacity)
{
    __shared__ Axis along, across;
    T* tiles = (T*)memory;  // approximation, horizontal, vertical, diagonal
    T* lows = tiles + capacity;
    if (leads()) {
        measure(along, together, rows, taps, down, 1);
        measure(across, together, columns, taps, right, channels);
        load_inverse(across, together, (Index)blockIdx.x * many_columns, many_columns, taps);
    }
    for (Index top = (Index)blockIdx.y * many_rows; top < rows; top += (Index)gridDim.y * many_rows) {
        if (leads()) load_inverse(along, together, top, many_rows, taps);
        __syncthreads();
#pragma unroll 1
        for (int l = together; l > 0; --l) {
            const Level from = level_of(across, l), below = level_of(along, l), above = level_of(along, l - 1);
            const int before = from.span.count * channels, size = below.span.count * before;
            Limits limits = limits_of(thresholds, together - l, channels, 0);
            for (int r = threadIdx.y; r < below.span.count; r += blockDim.y) {
                const Index row = position_at(below.span, r, below.n);
                const T* horizontal = pyramid + (below.details + row) * pitch;
                const T* vertical = pyramid + row * pitch + from.details;
                const T* diagonal = horizontal + from.details;
                for (int q = threadIdx.x; q < before; q += blockDim.x) {
                    const Value v = value_of(q, channels);
                    const Index e = position_at(from.span, v.index, from.n) * channels + v.channel;
                    T* target = tiles + r * before + q;
                    if (channels > 1) limits = limits_of(thresholds, together - l, channels, v.channel);
                    if (l == together) target[0] = low[row * low_pitch + e];
                    target[size] = shrunk(horizontal[e], limits.horizontal, how);
                    target[2 * size] = shrunk(vertical[e], limits.vertical, how);
                    target[3 * size] = shrunk(diagonal[e], limits.diagonal, how);
                }
            }
            __syncthreads();
            T* highs = lows + above.span.count * before;
            for (int r = threadIdx.y; r < above.span.count; r += blockDim.y) {
                const Index i = position_at(above.span, r, above.n);
                for (int q = threadIdx.x; q < before; q += blockDim.x) {
                    const T* column = tiles + q;
                    T* target = lows + r * before + q;
                    *target = make_sample(column, column + size, before, below.span, below.n, i, taps);
                    target[highs - lows] =
                        make_sample(column + 2 * size, column + 3 * size, before, below.span, below.n, i, taps);
                }
            }
            __syncthreads();
            const Level to = level_of(across, l - 1);
            const int after = to.span.count * channels;
            for (int r = threadIdx.y; r < above.span.count; r += blockDim.y) {
                T* line = x + position_at(above.span, r, above.n) * x_pitch;
                for (int q = threadIdx.x; q < after; q += blockDim.x) {
                    const Value v = value_of(q, channels);
                    const Index i = position_at(to.span, v.index, to.n);
                    const int at = r * before + v.channel;
                    const T value = make_sample(lows + at, highs + at, channels, from.span, from.n, i, taps);
                    if (l > 1) tiles[r * after + q] = value;
                    else line[i * channels + v.channel] = value;
                }
            }
            __syncthreads();
        }
    }
}
