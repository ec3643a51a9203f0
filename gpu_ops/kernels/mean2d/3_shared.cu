// What:    mean filter of an image with a square window, taps in constant memory, tile and halo in shared memory
// Idea:    neighbouring outputs share pixels: the block loads each once, and the window slides in shared memory
// Shapes:  x, y (height, width, CHANNELS) interleaved; taps: the first window^2 of the symbol, rows first
// Launch:  2D grid over (width * CHANNELS, height), any 2D block of bx x by; a thread's OUTPUTS rows are by apart;
//          shared (by * OUTPUTS + window - 1) * (bx + (window - 1) * CHANNELS) samples
// Traffic: at least 1 sample read and 1 written per element; neighbouring blocks read the halo again
// Source:  S1, S4
#include "mean.cuh"

__constant__ A taps[63 * 63];
extern __shared__ __align__(16) unsigned char memory[];

extern "C" __global__ void mean2d_shared(
    const T* __restrict__ x, T* __restrict__ y, int height, int width, int window)
{
    T* tile = (T*)memory;
    const int radius = window / 2;
    const int halo = radius * CHANNELS;
    const int columns = width * CHANNELS;
    const int begin = blockIdx.x * blockDim.x;
    const int top = blockIdx.y * OUTPUTS * blockDim.y;
    const int live_columns = min((int)blockDim.x, columns - begin);
    const int live_rows = min((int)blockDim.y * OUTPUTS, height - top);
    const int stride = live_columns + 2 * halo;
    const long long pitch = columns;

    // The block loads only what live outputs need, so blocks at the edges read nothing past the image.
    for (int v = threadIdx.y; v < live_rows + 2 * radius; v += blockDim.y) {
        const int r = border_index(top + v - radius, height);
        for (int i = threadIdx.x; i < stride; i += blockDim.x) {
            // begin + i counts elements from one halo before the image: it is not negative, so the division is a floor.
            const int index = (begin + i) / CHANNELS;
            const int c = border_index(index - radius, width);
            const bool inside = r >= 0 && c >= 0;
            tile[v * stride + i] = inside ? x[r * pitch + c * CHANNELS + (begin + i - index * CHANNELS)] : (T)0;
        }
    }
    __syncthreads();

    if ((int)threadIdx.x >= live_columns) return;
    for (int o = threadIdx.y; o < live_rows; o += blockDim.y) {
        A sum = 0;
        for (int v = 0; v < window; ++v)
            for (int u = 0; u < window; ++u)
                sum += taps[v * window + u] * (A)tile[(o + v) * stride + threadIdx.x + u * CHANNELS];
        y[(top + o) * pitch + begin + threadIdx.x] = finish(sum, window * window);
    }
}
