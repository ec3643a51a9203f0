// What:    mean filter of an image with a small square window, ROWS rows of 16 bytes per thread, in registers
// Idea:    row streaming: no taps in memory, no tile and no barrier. A thread loads ROWS + WINDOW - 1 rows of 16 bytes
//          and the neighbouring words, all loads in flight at once; it sums along each row once, and every window that
//          contains the row uses these sums
// Shapes:  x, y (height, width, CHANNELS) interleaved, at addresses that are multiples of 16; ALIGNED 1 where
//          width * CHANNELS samples are a multiple of 16 bytes; ROW_STEP: the bytes by which a row begins later in a
//          vector than the previous one
// Launch:  2D grid over (width * CHANNELS / (16 / sizeof(T)), height / ROWS), any 2D block of at most THREADS; with
//          EXCHANGE blocks are whole warps wide, and a warp stores 31 vectors of a row
// Traffic: at least 1 sample read and 1 written per element; the WINDOW - 1 rows between threads come from the caches
// Source:  S1, S4
#include "mean.cuh"

#define HALO (WINDOW / 2 * CHANNELS)
#define RAGGED !ALIGNED
#include "row_span.cuh"
#include "window_sums.cuh"

constexpr int LINES = ROWS + WINDOW - 1;

// The bound limits the registers that the compiler may use per thread.
extern "C" __global__ void __launch_bounds__(THREADS) mean2d_rows(
    const T* __restrict__ x, T* __restrict__ y, int height, int width)
{
    const int columns = width * CHANNELS;
    const int e = vector_of(blockIdx.x * blockDim.x + threadIdx.x) * VECTOR;
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    if ((!EXCHANGE && e >= columns) || top >= height) return;  // lanes that exchange words stay together

    Span spans[LINES];
    fetch_rows(x, top - WINDOW / 2, height, e, width, spans);

    A across[LINES][VECTOR];
    #pragma unroll
    for (int v = 0; v < LINES; ++v) {
        A line[VALUES];
        #pragma unroll
        for (int i = 0; i < VALUES; ++i) line[i] = weight_of(WINDOW * WINDOW) * (A)value_of(spans[v], i);
        window_sums<VECTOR, CHANNELS>(line, across[v]);
    }
    T means[ROWS][VECTOR];
    #pragma unroll
    for (int i = 0; i < VECTOR; ++i) {
        A line[LINES], sums[ROWS];
        #pragma unroll
        for (int v = 0; v < LINES; ++v) line[v] = across[v][i];
        window_sums<ROWS, 1>(line, sums);
        #pragma unroll
        for (int o = 0; o < ROWS; ++o) means[o][i] = finish(sums[o], WINDOW * WINDOW);
    }
    #pragma unroll
    for (int o = 0; o < ROWS; ++o)
        if (top + o < height) put(y + (long long)(top + o) * columns, e, columns, means[o]);
}
