// What:    a whole level of the wavelet transform in one launch, forward and inverse, by lifting steps in shared memory
// Idea:    lifting: the two filters of a wavelet factor into short steps, each of which adds weighted even samples to
//          the odd ones, or the other way round. Low and high share them, which takes half the multiplications, and
//          every step works in place, so one tile is enough. The inverse undoes the steps in reverse order. On border
//          samples, lifting computes the same coefficients as the filters
// Shapes:  as 4_shared: a line, or an image and its four bands; thresholds (channels), of images (3, channels):
//          horizontal, vertical, diagonal. moves, weights, ends, gains: the steps, see below. Sizes named pitch count
//          values
// Launch:  forward a grid over segments of `many` coefficients of a level, inverse over segments of 2 * many samples;
//          any 2D block (signals: any 1D block); shared memory for one tile of pairs: a segment and its halo
// Traffic: 1 value read and 1 written per value, and the halo of a tile; each detail written and read once
// Source:  S0; Daubechies and Sweldens 1998
#include "wavelet.cuh"
#include "wavelet_shrink.cuh"

#define MOST_STEPS 8
#define MOST_WEIGHTS 4
#define FORWARD 0
#define INVERSE 1

// For each direction and step: the phase that it changes, 0 even or 1 odd; the offset from a pair to its first sample
// of the other phase, and how many there are; the first pair of a tile that it changes, and how far beyond a segment
// the last one is.
__constant__ int moves[2 * MOST_STEPS * 5];
__constant__ T weights[MOST_STEPS * MOST_WEIGHTS];
// For each direction: pairs in the halo of a segment; the offset of a tile's first pair from its segment; the phase
// that becomes low; the offsets of low and high in a tile.
__constant__ int ends[2 * 5];
// The gains of low and high, forward and inverse.
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

// The update of a step: samples of the other phase, `stride` from each other, times its weights.
__device__ __forceinline__ T addition(const T* source, int stride, int step, int count)
{
    T sum = 0;
    for (int j = 0; j < count; ++j) sum += weights[step * MOST_WEIGHTS + j] * source[j * stride];
    return sum;
}

// `many` from `begin` on, or as many as exist before `end`.
__device__ __forceinline__ int piece(Index begin, int many, Index end)
{
    return (int)(end - begin < many ? end - begin : many);
}

// A segment of samples of the inverse: `count` from `from` on. They start with the even or the odd sample of a pair, as
// coefficients count pairs, and occupy `own` pairs from `begin` on.
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

// Whether coefficient k is one of `half`, and which: with the symmetric border no sample needs the others, whose
// contributions cancel in the steps.
__device__ __forceinline__ bool exists(Index* k, Index half)
{
#if BORDER == 0
    *k = around(*k, half);
    return true;
#else
    return *k >= 0 && *k < half;
#endif
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

// The position of sample number `index` in a tile of that many pairs: even samples come first, then odd ones.
__device__ __forceinline__ int by_phase(int index, int pairs) { return (index & 1) * pairs + (index >> 1); }

// A step along `lines` lines of a tile, with the sign of its direction.
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
    __syncthreads();
}

// A step across lines, for two ranges of `count` values of each line.
__device__ __forceinline__ void across_lines(
    T* tile, int width, int one, int other, int count, int pairs, int own, int way, int step, T sign)
{
    const Move m = move_of(way, step);
    for (int r = m.begin + threadIdx.y; r < own + m.more; r += blockDim.y) {
        T* target = tile + (m.target * pairs + r) * width;
        const T* source = tile + ((1 - m.target) * pairs + r + m.first) * width;
        for (int q = threadIdx.x; q < 2 * count; q += blockDim.x) {
            const int at = q < count ? one + q : other + q - count;
            target[at] += sign * addition(source + at, width, step, m.count);
        }
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_lifting_forward_line(
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ high, int taps, int steps, Index n, Index half,
    int channels, int many)
{
    T* tile = (T*)memory;
    const Ends e = ends_of(FORWARD);
    const Index begin = (Index)blockIdx.x * many, first = 2 * (begin + e.before) - reach_of(taps);
    const int own = piece(begin, many, half), pairs = own + e.around;
    for (int q = threadIdx.x; q < 2 * pairs * channels; q += blockDim.x) {
        const Value v = value_of(q, channels);
        tile[by_phase(v.index, pairs) * channels + v.channel] =
            x[inside(first + v.index, n) * channels + v.channel];
    }
    __syncthreads();
#pragma unroll 1
    for (int step = 0; step < steps; ++step) along_lines(tile, 1, pairs, own, channels, FORWARD, step, 1);
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
    const Ends e = ends_of(INVERSE);
    const Piece p = samples_of(blockIdx.x, many, n, taps);
    const int pairs = p.own + e.around;
    T* lows = tile + e.low_phase * pairs * channels;
    T* highs = tile + (1 - e.low_phase) * pairs * channels;
    T limit = (T)thresholds[0];
    for (int q = threadIdx.x; q < pairs * channels; q += blockDim.x) {
        const Value v = value_of(q, channels);
        Index k = p.begin + v.index - e.low, d = p.begin + v.index - e.high;
        lows[q] = exists(&k, half) ? gains[2] * low[k * channels + v.channel] : 0;
        if (channels > 1) limit = (T)thresholds[v.channel];
        highs[q] = exists(&d, half) ? gains[3] * shrunk(high[d * channels + v.channel], limit, how) : 0;
    }
    __syncthreads();
#pragma unroll 1
    for (int step = steps; step-- > 0;) along_lines(tile, 1, pairs, p.own, channels, INVERSE, step, -1);
    for (int q = threadIdx.x; q < p.count * channels; q += blockDim.x) {
        const Value v = value_of(q, channels);
        x[p.from * channels + q] = tile[(by_phase(p.odd + v.index, pairs) - e.before) * channels + v.channel];
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_lifting_forward_tile(
    const T* __restrict__ x, T* __restrict__ approximation, T* __restrict__ horizontal, T* __restrict__ vertical,
    T* __restrict__ diagonal, int taps, int steps, Index rows, Index columns, Index half_rows, Index half_columns,
    int channels, Index x_pitch, Index pitch, Index detail_pitch, int many_rows, int many_columns)
{
    T* tile = (T*)memory;
    const Ends e = ends_of(FORWARD);
    const Index left = (Index)blockIdx.x * many_columns, first = 2 * (left + e.before) - reach_of(taps);
    const int own = piece(left, many_columns, half_columns), pairs = own + e.around;
    const int width = 2 * pairs * channels, count = own * channels;
    const int lows = (e.low_phase * pairs + e.low) * channels, highs = ((1 - e.low_phase) * pairs + e.high) * channels;
    for (Index top = (Index)blockIdx.y * many_rows; top < half_rows; top += (Index)gridDim.y * many_rows) {
        const Index first_row = 2 * (top + e.before) - reach_of(taps);
        const int own_rows = piece(top, many_rows, half_rows), pairs_down = own_rows + e.around;
        for (int r = threadIdx.y; r < 2 * pairs_down; r += blockDim.y) {
            const T* line = x + inside(first_row + r, rows) * x_pitch;
            T* target = tile + by_phase(r, pairs_down) * width;
            for (int q = threadIdx.x; q < width; q += blockDim.x) {
                const Value v = value_of(q, channels);
                target[by_phase(v.index, pairs) * channels + v.channel] =
                    line[inside(first + v.index, columns) * channels + v.channel];
            }
        }
        __syncthreads();
#pragma unroll 1
        for (int step = 0; step < steps; ++step)
            along_lines(tile, 2 * pairs_down, pairs, own, channels, FORWARD, step, 1);
#pragma unroll 1
        for (int step = 0; step < steps; ++step)
            across_lines(tile, width, lows, highs, count, pairs_down, own_rows, FORWARD, step, 1);
        const T* low_rows = tile + (e.low_phase * pairs_down + e.low) * width;
        const T* high_rows = tile + ((1 - e.low_phase) * pairs_down + e.high) * width;
        for (int r = threadIdx.y; r < own_rows; r += blockDim.y)
            for (int q = threadIdx.x; q < count; q += blockDim.x) {
                const Index row = top + r, at = left * channels + q;
                const int line = r * width + q;
                approximation[row * pitch + at] = gains[0] * gains[0] * low_rows[line + lows];
                horizontal[row * detail_pitch + at] = gains[0] * gains[1] * high_rows[line + lows];
                vertical[row * detail_pitch + at] = gains[0] * gains[1] * low_rows[line + highs];
                diagonal[row * detail_pitch + at] = gains[1] * gains[1] * high_rows[line + highs];
            }
        __syncthreads();
    }
}

// Loads a band for the inverse: coefficients of all pairs of a tile in its quarter, thresholded where the band has
// thresholds.
struct Quarter {
    const T* band;
    const double* thresholds;
    Index pitch, top, left;
    T gain;
};

__device__ __forceinline__ void fill(
    T* target, int width, int pairs_down, int values, int channels, const Quarter& of, Index half_rows,
    Index half_columns, int how)
{
    if (threadIdx.y >= pairs_down || threadIdx.x >= values) return;  // nothing to load
    T limit = of.thresholds ? (T)of.thresholds[0] : 0;
    for (int r = threadIdx.y; r < pairs_down; r += blockDim.y) {
        Index row = of.top + r;
        const bool row_forward = exists(&row, half_rows);
        for (int q = threadIdx.x; q < values; q += blockDim.x) {
            const Value v = value_of(q, channels);
            Index column = of.left + v.index;
            T value = 0;
            if (exists(&column, half_columns) && row_forward) {
                value = of.band[row * of.pitch + column * channels + v.channel];
                if (of.thresholds && channels > 1) limit = (T)of.thresholds[v.channel];
                if (of.thresholds) value = shrunk(value, limit, how);
            }
            target[r * width + q] = of.gain * value;
        }
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_lifting_inverse_tile(
    const T* __restrict__ approximation, const T* __restrict__ horizontal, const T* __restrict__ vertical,
    const T* __restrict__ diagonal, T* __restrict__ x, const double* __restrict__ thresholds, int how, int taps,
    int steps, Index rows, Index columns, Index half_rows, Index half_columns, int channels, Index x_pitch, Index pitch,
    Index detail_pitch, int many_rows, int many_columns)
{
    T* tile = (T*)memory;
    const Ends e = ends_of(INVERSE);
    const Piece across = samples_of(blockIdx.x, many_columns, columns, taps);
    const int pairs = across.own + e.around, values = pairs * channels, width = 2 * values;
    const int lows = e.low_phase * values, highs = values - lows;
    const T* bands[4] = {approximation, horizontal, vertical, diagonal};
    for (Index number = blockIdx.y; 2 * number * many_rows < rows; number += gridDim.y) {
        const Piece down = samples_of(number, many_rows, rows, taps);
        const int pairs_down = down.own + e.around;
        T* low_rows = tile + e.low_phase * pairs_down * width;
        T* high_rows = tile + (1 - e.low_phase) * pairs_down * width;
#pragma unroll
        for (int b = 0; b < 4; ++b) {  // bit 0: high along columns, bit 1: high along rows
            const Quarter of = {bands[b], b ? thresholds + (b - 1) * channels : nullptr, b ? detail_pitch : pitch,
                                down.begin - (b & 1 ? e.high : e.low), across.begin - (b & 2 ? e.high : e.low),
                                gains[2 + (b & 1)] * gains[2 + (b >> 1)]};
            T* quarter = (b & 1 ? high_rows : low_rows) + (b & 2 ? highs : lows);
            fill(quarter, width, pairs_down, values, channels, of, half_rows, half_columns, how);
        }
        __syncthreads();
#pragma unroll 1
        for (int step = steps; step-- > 0;)
            across_lines(tile, width, 0, values, values, pairs_down, down.own, INVERSE, step, -1);
#pragma unroll 1
        for (int step = steps; step-- > 0;)
            along_lines(tile, 2 * pairs_down, pairs, across.own, channels, INVERSE, step, -1);
        for (int r = threadIdx.y; r < down.count; r += blockDim.y) {
            const T* line = tile + (by_phase(down.odd + r, pairs_down) - e.before) * width;
            T* target = x + (down.from + r) * x_pitch + across.from * channels;
            for (int q = threadIdx.x; q < across.count * channels; q += blockDim.x) {
                const Value v = value_of(q, channels);
                target[q] = line[(by_phase(across.odd + v.index, pairs) - e.before) * channels + v.channel];
            }
        }
        __syncthreads();
    }
}
