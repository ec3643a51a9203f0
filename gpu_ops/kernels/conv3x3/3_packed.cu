// What:    3x3 convolution of an image whose rows are moved as 32-bit words, through shared memory
// Idea:    four pixels per thread: four RGB pixels are three words. The lanes of a warp load them coalesced, unpack
//          them in shared memory, and store results in the same way, without conversion or padding
// Shapes:  x, y (height, columns), columns = width * channels, at addresses that are multiples of 8; weights (3, 3)
// Launch:  2D grid over (width / 4, height), block (32, any); shared (2 * blockDim.y + 2) * stride bytes, stride a
//          multiple of 16 and at least 132 * channels samples and 16 bytes
// Traffic: at least 1 sample read and 1 written per value; neighbouring blocks both read the words at the ends of a row
//          segment
// Source:  S1
#include "conv3x3.cuh"

#define PIXELS 128 // pixels of a row per block: four per thread

extern __shared__ __align__(16) unsigned char memory[];

// Word k of an array of that many bytes; the last word may be incomplete.
__device__ __forceinline__ unsigned int load_word(const unsigned char* x, long long k, long long bytes)
{
    if (4 * k + 4 <= bytes) return ((const unsigned int*)x)[k];
    unsigned int word = 0;
    for (int i = 0; 4 * k + i < bytes; ++i) word |= (unsigned int)x[4 * k + i] << (8 * i);
    return word;
}

// A row segment, for the warp that moves it: values first to last. The first value is at byte `begin` of the image, and
// so begin % 4 bytes into its word.
struct Part {
    long long begin;
    int values;
    __device__ Part(int row, int columns, int first, int last)
        : begin(((long long)row * columns + first) * sizeof(T)), values(last - first) {}
    __device__ long long end() const { return begin + (long long)values * sizeof(T); }
    __device__ int phase() const { return begin & 3; }
};

// The largest block, 32 x 32, allows 64 registers per thread.
extern "C" __global__ void __launch_bounds__(1024, 1) conv3x3_packed(
    const T* __restrict__ x, T* __restrict__ y, const W* __restrict__ weights, W bias, W divisor, W offset,
    int height, int columns, int channels, int border, int stride)
{
    const int lane = threadIdx.x;
    const int begin = blockIdx.x * PIXELS * channels;
    const int end = min(begin + PIXELS * channels, columns);
    const int first = max(begin - channels, 0);
    const int last = min(end + channels, columns);
    const int top = blockIdx.y * blockDim.y;
    const int lead = (channels * (int)sizeof(T) + 3) / 4 * 4; // space for the pixel left of the image
    const long long bytes = (long long)height * columns * sizeof(T);

    // Load: one row per warp, one word per lane. Then the values beyond the image's left and right edges, one by one.
    for (int v = threadIdx.y; v < (int)blockDim.y + 2 && top + v - 1 <= height; v += blockDim.y) {
        const int r = inside(top + v - 1, 1, height, border);
        const Part part(max(r, 0), columns, first, last);
        unsigned char* line = memory + v * stride + lead;
        const long long word = part.begin / 4;
        for (long long k = word + lane; 4 * k < part.end(); k += 32)
            ((unsigned int*)line)[k - word] = r < 0 ? 0 : load_word((const unsigned char*)x, k, bytes);
        __syncwarp();
        T* values = (T*)(line + part.phase());
        const bool empty = r < 0 || border == ZERO;
        const T* row = x + (long long)max(r, 0) * columns;
        for (int c = lane; c < channels; c += 32) {
            const int other = columns - channels + c;
            if (begin == 0) values[c - channels] = empty ? (T)0 : row[border == WRAP ? other : c];
            if (end == columns) values[last - first + c] = empty ? (T)0 : row[border == WRAP ? c : other];
        }
    }
    __syncthreads();

    const int row = top + threadIdx.y;
    if (row >= height) return;
    const T* lines[3];
    for (int v = 0; v < 3; ++v) {
        const Part part(max(inside(row + v - 1, 1, height, border), 0), columns, first, last);
        lines[v] = (const T*)(memory + (threadIdx.y + v) * stride + lead + part.phase()) - first;
    }
    const Part part(row, columns, begin, end);
    unsigned char* line = memory + (blockDim.y + 2 + threadIdx.y) * stride;
    T* results = (T*)(line + part.phase()) - begin;
    for (int i = 0; i < 4 * channels; ++i) {
        const int e = begin + 4 * channels * lane + i;
        if (e >= end) break;
        W sum = 0;
        for (int v = 0; v < 3; ++v)
            for (int u = 0; u < 3; ++u)
                sum = add_product(sum, weights[3 * v + u], lines[v][e + (u - 1) * channels]);
        results[e] = finish(sum, bias, divisor, offset);
    }
    __syncwarp();

    // Store: whole words; other blocks also write to the words at the ends, so their bytes are stored one by one.
    const long long word = part.begin / 4;
    for (long long k = word + lane; 4 * k < part.end(); k += 32) {
        const unsigned char* from = line + 4 * (k - word);
        if (4 * k >= part.begin && 4 * k + 4 <= part.end())
            ((unsigned int*)y)[k] = *(const unsigned int*)from;
        else
            for (int i = 0; i < 4; ++i)
                if (4 * k + i >= part.begin && 4 * k + i < part.end()) ((unsigned char*)y)[4 * k + i] = from[i];
    }
}
