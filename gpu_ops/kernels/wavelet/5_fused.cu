// What:    one level of the inverse wavelet transform in one launch, in shared memory, with fused thresholds
// Idea:    kernel fusion: details are thresholded as the inverse transform loads them, which saves one read and one
//          write of all details. Those in the halo of a tile are thresholded once per tile, which is cheaper than
//          memory traffic
// Shapes:  as 4_shared, whose kernels do the forward transform; thresholds (channels), of images (3, channels):
//          horizontal, vertical, diagonal
// Launch:  grid over the samples of a level, any 2D block (signals: any 1D block), one sample per thread; shared memory
//          for the tiles: their sizes are arguments
// Traffic: 1 value read and 1 written per value, and a halo of taps / 2 coefficients; a separate thresholding launch
//          would read and write each detail once more
// Source:  S0
#include "wavelet_shrink.cuh"
#include "wavelet_tile.cuh"

extern __shared__ __align__(16) unsigned char memory[];

// The thresholds of one channel of a level of an image.
struct Limits {
    T horizontal, vertical, diagonal;
};

__device__ __forceinline__ Limits limits_of(const double* thresholds, int channels, int channel)
{
    return {(T)thresholds[channel], (T)thresholds[channels + channel], (T)thresholds[2 * channels + channel]};
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_fused_inverse_line(
    const T* __restrict__ low, const T* __restrict__ high, T* __restrict__ x,
    const double* __restrict__ thresholds, int how, int taps, Index n, Index half, int channels, int tile_width)
{
    T* lows = (T*)memory;
    T* highs = lows + tile_width;
    const Index begin = (Index)blockIdx.x * blockDim.x, e = begin + threadIdx.x;
    const Index first = first_needed(begin / channels, taps);
    for (int q = threadIdx.x; q < tile_width; q += blockDim.x) {
        const int channel = q % channels;
        const Index from = clamped(first + q / channels, half) * channels + channel;
        lows[q] = low[from];
        highs[q] = shrunk(high[from], (T)thresholds[channel], how);
    }
    __syncthreads();
    if (e >= n * channels) return;
    const Element p = index_of(e, channels);
    x[e] = gather(lows + p.channel, highs + p.channel, channels, p.position, first, taps);
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_fused_inverse_level(
    const T* __restrict__ approximation, const T* __restrict__ horizontal, const T* __restrict__ vertical,
    const T* __restrict__ diagonal, T* __restrict__ x, const double* __restrict__ thresholds, int how, int taps,
    Index rows, Index columns, Index half_rows, Index half_columns, int channels, Index x_pitch, Index pitch,
    Index detail_pitch, int tile_rows, int tile_width)
{
    const int size = tile_rows * tile_width;
    T* tiles = (T*)memory;  // approximation, horizontal, vertical, diagonal
    T* lows = tiles + 4 * size;
    T* highs = lows + blockDim.y * tile_width;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const Index begin = (Index)blockIdx.x * blockDim.x, e = begin + tx;
    const Index first = first_needed(begin / channels, taps);
    const Element p = index_of(e, channels);
    Limits limits = limits_of(thresholds, channels, 0);
    for (Index top = (Index)blockIdx.y * blockDim.y; top < rows; top += line_stride()) {
        const Index first_row = first_needed(top, taps);
        for (int r = ty; r < tile_rows; r += blockDim.y) {
            const Index row = clamped(first_row + r, half_rows);
            for (int q = tx; q < tile_width; q += blockDim.x) {
                const int channel = q % channels;
                const Index column = clamped(first + q / channels, half_columns) * channels + channel;
                if (channels > 1) limits = limits_of(thresholds, channels, channel);
                T* target = tiles + r * tile_width + q;
                target[0] = approximation[row * pitch + column];
                target[size] = shrunk(horizontal[row * detail_pitch + column], limits.horizontal, how);
                target[2 * size] = shrunk(vertical[row * detail_pitch + column], limits.vertical, how);
                target[3 * size] = shrunk(diagonal[row * detail_pitch + column], limits.diagonal, how);
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
