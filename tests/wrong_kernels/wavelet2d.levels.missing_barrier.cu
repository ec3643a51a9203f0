// Wrong on purpose: the columns of a level are read before all its rows are there
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
    for (int deeper = TOGETHER; deeper > l; --deeper) begin += n.at[deeper] * channels;
    return begin;
}

// Whether coefficient k of level l is one that the piece of the last level from `begin` on writes.
__device__ __forceinline__ bool owns(Index begin, int many, int l, Index k)
{
    return k >= begin << (TOGETHER - l) && k < (begin + many) << (TOGETHER - l);
}

// The thresholds of one channel of a level of an image.
struct Limits {
    T horizontal, vertical, diagonal;
};

__device__ __forceinline__ Limits limits_of(const double* thresholds, int level, int channels, int channel)
{
    const double* of = thresholds + (TOGETHER - level) * 3 * channels + channel;
    return {(T)of[0], (T)of[channels], (T)of[2 * channels]};
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

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_levels_forward_tile(
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ pyramid, int taps, Index rows, Index columns,
    int channels, Index x_pitch, Index low_pitch, Index pitch, Index down, Index right, int many_rows,
    int many_columns, int room)
{
    T* tile = (T*)memory;
    T* lows = tile + room;
    const Extents height = extents_of(rows, taps), width = extents_of(columns, taps);
    const Index left = (Index)blockIdx.x * many_columns;
    const Spans across = spans_there(left, many_columns, width, taps);
    for (Index top = (Index)blockIdx.y * many_rows; top < height.at[TOGETHER]; top += (Index)gridDim.y * many_rows) {
        const Spans along = spans_there(top, many_rows, height, taps);
        const int all = across.at[0].count * channels;
        for (int r = threadIdx.y; r < along.at[0].count; r += blockDim.y) {
            const T* line = x + position_at(along.at[0], r, rows) * x_pitch;
            for (int q = threadIdx.x; q < all; q += blockDim.x) {
                const Value v = value_of(q, channels);
                tile[r * all + q] = line[position_at(across.at[0], v.place, columns) * channels + v.channel];
            }
        }
        __syncthreads();
#pragma unroll
        for (int l = 1; l <= TOGETHER; ++l) {
            const int before = across.at[l - 1].count * channels, after = across.at[l].count * channels;
            T* highs = lows + along.at[l - 1].count * after;
            for (int r = threadIdx.y; r < along.at[l - 1].count; r += blockDim.y)
                for (int q = threadIdx.x; q < after; q += blockDim.x) {
                    const Value v = value_of(q, channels);
                    const Index k = position_at(across.at[l], v.place, width.at[l]);
                    make_pair(tile + r * before + v.channel, channels, across.at[l - 1], width.at[l - 1], k, taps,
                              lows + r * after + q, highs + r * after + q);
                }
            T* horizontal = pyramid + begin_of(l, down, height, 1) * pitch;
            T* vertical = pyramid + begin_of(l, right, width, channels);
            T* diagonal = horizontal + begin_of(l, right, width, channels);
            for (int r = threadIdx.y; r < along.at[l].count; r += blockDim.y)
                for (int q = threadIdx.x; q < after; q += blockDim.x) {
                    const Value v = value_of(q, channels);
                    const Index row = position_at(along.at[l], r, height.at[l]);
                    const Index column = position_at(across.at[l], v.place, width.at[l]);
                    const Index e = column * channels + v.channel, at = row * pitch + e;
                    T average, detail;
                    make_pair(lows + q, after, along.at[l - 1], height.at[l - 1], row, taps, &average, &detail);
                    (l < TOGETHER ? tile[r * after + q] : low[row * low_pitch + e]) = average;
                    if (owns(top, many_rows, l, row) && owns(left, many_columns, l, column)) {
                        horizontal[at] = detail;
                        make_pair(highs + q, after, along.at[l - 1], height.at[l - 1], row, taps, &average, &detail);
                        vertical[at] = average;
                        diagonal[at] = detail;
                    }
                }
            __syncthreads();
        }
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_levels_inverse_tile(
    const T* __restrict__ low, const T* __restrict__ pyramid, T* __restrict__ x, const double* __restrict__ thresholds,
    int how, int taps, Index rows, Index columns, int channels, Index x_pitch, Index low_pitch, Index pitch,
    Index down, Index right, int many_rows, int many_columns, int room)
{
    T* tiles = (T*)memory;  // approximation, horizontal, vertical, diagonal
    T* lows = tiles + room;
    const Extents height = extents_of(rows, taps), width = extents_of(columns, taps);
    const Spans across = spans_back((Index)blockIdx.x * many_columns, many_columns, width, taps);
    for (Index top = (Index)blockIdx.y * many_rows; top < rows; top += (Index)gridDim.y * many_rows) {
        const Spans along = spans_back(top, many_rows, height, taps);
#pragma unroll
        for (int l = TOGETHER; l > 0; --l) {
            const int before = across.at[l].count * channels, after = across.at[l - 1].count * channels;
            const int size = along.at[l].count * before;
            const T* horizontal = pyramid + begin_of(l, down, height, 1) * pitch;
            const T* vertical = pyramid + begin_of(l, right, width, channels);
            const T* diagonal = horizontal + begin_of(l, right, width, channels);
            Limits limits = limits_of(thresholds, l, channels, 0);
            for (int r = threadIdx.y; r < along.at[l].count; r += blockDim.y)
                for (int q = threadIdx.x; q < before; q += blockDim.x) {
                    const Value v = value_of(q, channels);
                    const Index row = position_at(along.at[l], r, height.at[l]);
                    const Index e = position_at(across.at[l], v.place, width.at[l]) * channels + v.channel;
                    const Index at = row * pitch + e;
                    T* target = tiles + r * before + q;
                    if (channels > 1) limits = limits_of(thresholds, l, channels, v.channel);
                    if (l == TOGETHER) target[0] = low[row * low_pitch + e];
                    target[size] = shrunk(horizontal[at], limits.horizontal, how);
                    target[2 * size] = shrunk(vertical[at], limits.vertical, how);
                    target[3 * size] = shrunk(diagonal[at], limits.diagonal, how);
                }
            __syncthreads();
            T* highs = lows + along.at[l - 1].count * before;
            for (int r = threadIdx.y; r < along.at[l - 1].count; r += blockDim.y)
                for (int q = threadIdx.x; q < before; q += blockDim.x) {
                    const Index i = position_at(along.at[l - 1], r, height.at[l - 1]);
                    const T* column = tiles + q;
                    const int at = r * before + q;
                    lows[at] = make_sample(column, column + size, before, along.at[l], height.at[l], i, taps);
                    highs[at] =
                        make_sample(column + 2 * size, column + 3 * size, before, along.at[l], height.at[l], i, taps);
                }
            __syncthreads();
            for (int r = threadIdx.y; r < along.at[l - 1].count; r += blockDim.y)
                for (int q = threadIdx.x; q < after; q += blockDim.x) {
                    const Value v = value_of(q, channels);
                    const Index row = position_at(along.at[l - 1], r, height.at[l - 1]);
                    const Index column = position_at(across.at[l - 1], v.place, width.at[l - 1]);
                    const int line = r * before + v.channel;
                    const T value = make_sample(lows + line, highs + line, channels, across.at[l], width.at[l], column,
                                                taps);
                    (l > 1 ? tiles[r * after + q] : x[row * x_pitch + column * channels + v.channel]) = value;
                }
            __syncthreads();
        }
    }
}
