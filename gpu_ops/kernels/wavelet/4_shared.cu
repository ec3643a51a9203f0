// What:    a whole level of the wavelet transform in one launch, forward and inverse, in shared memory
// Idea:    shared-memory tiling: neighbouring outputs share samples, so a block loads its samples and their halo once;
//          the forward transform of an image filters along rows and then along columns, without global memory between
//          the passes
// Shapes:  signals: x (n, channels), low and high (half, channels); images: x (rows, columns, channels), four bands
//          (half_rows, half_columns, channels), details with the same pitch; bank: low and high forward, reversed, then
//          low and high inverse. Sizes named width count values: columns * channels
// Launch:  grid over the results of a level, any 2D block (signals: any 1D block), one result or four per thread;
//          shared memory for the tiles: their sizes are arguments
// Traffic: 1 value read and 1 written per value, and the halo of a tile: taps - 2 samples, or taps / 2 coefficients
// Source:  S0, S1
#include "wavelet.cuh"

#define MOST_TAPS 64
#define LOW_FORWARD 0
#define HIGH_FORWARD MOST_TAPS
#define LOW_INVERSE (2 * MOST_TAPS)
#define HIGH_INVERSE (3 * MOST_TAPS)

__constant__ T bank[4 * MOST_TAPS];

extern __shared__ __align__(16) unsigned char memory[];

// The coefficient that a tile stores for k: with the symmetric border no sample needs one beyond the ends.
__device__ __forceinline__ Index clamped(Index k, Index half)
{
#if BORDER == 0
    return around(k, half);
#else
    return k < 0 ? 0 : k < half ? k : half - 1;
#endif
}

// The first coefficient that contributes to sample i.
__device__ __forceinline__ Index first_needed(Index i, int taps) { return ((i + reach_of(taps)) >> 1) - taps / 2 + 1; }

// The dot product of taps values of a tile, with stride `stride`, and the taps from `of` on.
__device__ __forceinline__ T product(const T* tile, int stride, int of, int taps)
{
    T sum = 0;
    for (int t = 0; t < taps; ++t) sum += bank[of + t] * tile[t * stride];
    return sum;
}

// Sample i from the coefficients of two tiles, which start with coefficient `first`.
__device__ __forceinline__ T gather(const T* low, const T* high, int stride, Index i, Index first, int taps)
{
    const Index last = i + reach_of(taps);
    T sum = 0;
    for (int t = (int)(last & 1); t < taps; t += 2) {
        const int k = (int)((last - t) / 2 - first) * stride;
        sum += bank[LOW_INVERSE + t] * low[k];
        sum += bank[HIGH_INVERSE + t] * high[k];
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_shared_forward_line(
    const T* __restrict__ x, T* __restrict__ low, T* __restrict__ high, int taps, Index n, Index half, int channels,
    int tile_width)
{
    T* tile = (T*)memory;
    const Index begin = (Index)blockIdx.x * blockDim.x, e = begin + threadIdx.x;
    const Index first = 2 * (begin / channels) - reach_of(taps);
    for (int q = threadIdx.x; q < tile_width; q += blockDim.x)
        tile[q] = x[inside(first + q / channels, n) * channels + q % channels];
    __syncthreads();
    if (e >= half * channels) return;
    const Element p = index_of(e, channels);
    const T* own = tile + (int)(p.position - begin / channels) * 2 * channels + p.channel;
    low[e] = product(own, channels, LOW_FORWARD, taps);
    high[e] = product(own, channels, HIGH_FORWARD, taps);
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_shared_inverse_line(
    const T* __restrict__ low, const T* __restrict__ high, T* __restrict__ x, int taps, Index n, Index half,
    int channels, int tile_width)
{
    T* lows = (T*)memory;
    T* highs = lows + tile_width;
    const Index begin = (Index)blockIdx.x * blockDim.x, e = begin + threadIdx.x;
    const Index first = first_needed(begin / channels, taps);
    for (int q = threadIdx.x; q < tile_width; q += blockDim.x) {
        const Index from = clamped(first + q / channels, half) * channels + q % channels;
        lows[q] = low[from];
        highs[q] = high[from];
    }
    __syncthreads();
    if (e >= n * channels) return;
    const Element p = index_of(e, channels);
    x[e] = gather(lows + p.channel, highs + p.channel, channels, p.position, first, taps);
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_shared_forward_level(
    const T* __restrict__ x, T* __restrict__ approximation, T* __restrict__ horizontal, T* __restrict__ vertical,
    T* __restrict__ diagonal, int taps, Index rows, Index columns, Index half_rows, Index half_columns, int channels,
    Index x_pitch, Index pitch, Index detail_pitch, int tile_rows, int tile_width)
{
    T* tile = (T*)memory;
    T* lows = tile + tile_rows * tile_width;
    T* highs = lows + tile_rows * blockDim.x;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const Index begin = (Index)blockIdx.x * blockDim.x, e = begin + tx;
    const Index first = 2 * (begin / channels) - reach_of(taps);
    const Element p = index_of(e, channels);
    const int own = (int)(p.position - begin / channels) * 2 * channels + p.channel;
    for (Index top = (Index)blockIdx.y * blockDim.y; top < half_rows; top += line_stride()) {
        for (int r = ty; r < tile_rows; r += blockDim.y) {
            const T* line = x + inside(2 * top - reach_of(taps) + r, rows) * x_pitch;
            for (int q = tx; q < tile_width; q += blockDim.x)
                tile[r * tile_width + q] = line[inside(first + q / channels, columns) * channels + q % channels];
        }
        __syncthreads();
        for (int r = ty; r < tile_rows; r += blockDim.y) {
            lows[r * blockDim.x + tx] = product(tile + r * tile_width + own, channels, LOW_FORWARD, taps);
            highs[r * blockDim.x + tx] = product(tile + r * tile_width + own, channels, HIGH_FORWARD, taps);
        }
        __syncthreads();
        const Index k = top + ty;
        if (k < half_rows && e < half_columns * channels) {
            const int at = 2 * ty * blockDim.x + tx;
            approximation[k * pitch + e] = product(lows + at, blockDim.x, LOW_FORWARD, taps);
            horizontal[k * detail_pitch + e] = product(lows + at, blockDim.x, HIGH_FORWARD, taps);
            vertical[k * detail_pitch + e] = product(highs + at, blockDim.x, LOW_FORWARD, taps);
            diagonal[k * detail_pitch + e] = product(highs + at, blockDim.x, HIGH_FORWARD, taps);
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_shared_inverse_level(
    const T* __restrict__ approximation, const T* __restrict__ horizontal, const T* __restrict__ vertical,
    const T* __restrict__ diagonal, T* __restrict__ x, int taps, Index rows, Index columns, Index half_rows,
    Index half_columns, int channels, Index x_pitch, Index pitch, Index detail_pitch, int tile_rows, int tile_width)
{
    const int size = tile_rows * tile_width;
    T* tiles = (T*)memory;  // approximation, horizontal, vertical, diagonal
    T* lows = tiles + 4 * size;
    T* highs = lows + blockDim.y * tile_width;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const Index begin = (Index)blockIdx.x * blockDim.x, e = begin + tx;
    const Index first = first_needed(begin / channels, taps);
    const Element p = index_of(e, channels);
    for (Index top = (Index)blockIdx.y * blockDim.y; top < rows; top += line_stride()) {
        const Index first_row = first_needed(top, taps);
        for (int r = ty; r < tile_rows; r += blockDim.y) {
            const Index row = clamped(first_row + r, half_rows);
            for (int q = tx; q < tile_width; q += blockDim.x) {
                const Index column = clamped(first + q / channels, half_columns) * channels + q % channels;
                T* target = tiles + r * tile_width + q;
                target[0] = approximation[row * pitch + column];
                target[size] = horizontal[row * detail_pitch + column];
                target[2 * size] = vertical[row * detail_pitch + column];
                target[3 * size] = diagonal[row * detail_pitch + column];
            }
        }
        __syncthreads();
        for (int q = tx; q < tile_width; q += blockDim.x) {
            const T* column = tiles + q;
            const int at = ty * tile_width + q;
            lows[at] = gather(column, column + size, tile_width, top + ty, first_row, taps);
            highs[at] = gather(column + 2 * size, column + 3 * size, tile_width, top + ty, first_row, taps);
        }
        __syncthreads();
        const int line = ty * tile_width + p.channel;
        if (top + ty < rows && e < columns * channels)
            x[(top + ty) * x_pitch + e] = gather(lows + line, highs + line, channels, p.position, first, taps);
        __syncthreads();
    }
}
