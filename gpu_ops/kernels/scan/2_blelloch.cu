// What:    prefix sums of lines by the work-efficient scan of Blelloch (1990), tile by tile
// Idea:    a tree: the up-sweep forms the sums of 2, 4, 8 ... values, half as many on each level; the down-sweep passes
//          to each left child the sum before its parent, and to each right child that plus the sum of the left child. A
//          tile of n values takes about 2 n additions instead of n log n. But nodes of a level are 2, 4, 8 ... values
//          apart: these power-of-two strides cause bank conflicts, up to 32-way
// Shapes:  x, y (lines, n), of which `step` lines are interleaved; sums (lines, tiles)
// Launch:  grid lines * tiles, tiles = ceil(n / (2 * block)), block a power of two; shared 2 * block sums of A. Then
//          the same for the totals of several tiles, and scan_add with grid and block of the tiles
// Traffic: 1 value read and 1 written per element; 1 sum read and 1 written per element where a line has several tiles
// Source:  S1
#include "scan_add.cuh"

extern __shared__ __align__(16) unsigned char memory[];

extern "C" __global__ void scan_blelloch(
    const T* __restrict__ x, R* __restrict__ y, R* __restrict__ sums, long long n, int step, int tiles, int exclusive)
{
    A* tile = (A*)memory;
    const int t = threadIdx.x, threads = blockDim.x;
    const unsigned int line = blockIdx.x / tiles;
    const long long begin = line_begin(line, n, step);
    const long long k = (long long)(blockIdx.x - line * tiles) * 2 * threads + t; // and the one `threads` after it

    const A one = k < n ? (A)x[begin + k * step] : (A)0;
    const A other = k + threads < n ? (A)x[begin + (k + threads) * step] : (A)0;
    tile[t] = one;
    tile[t + threads] = other;

    int d = 1; // values of a child
    for (int nodes = threads; nodes > 0; nodes /= 2, d *= 2) {
        __syncthreads();
        if (t < nodes) {
            const int left = d * (2 * t + 1) - 1;
            tile[left + d] += tile[left];
        }
    }
    if (t == 0) { // the thread that wrote the root
        if (tiles > 1) sums[blockIdx.x] = (R)tile[2 * threads - 1];
        tile[2 * threads - 1] = 0;
    }
    for (int nodes = 1; nodes <= threads; nodes *= 2) {
        d /= 2;
        __syncthreads();
        if (t < nodes) {
            const int left = d * (2 * t + 1) - 1;
            const A before = tile[left + d], sum = tile[left];
            tile[left] = before;
            tile[left + d] = before + sum;
        }
    }
    __syncthreads();

    if (k < n) y[begin + k * step] = (R)(exclusive ? tile[t] : tile[t] + one);
    if (k + threads < n) y[begin + (k + threads) * step] = (R)(exclusive ? tile[t + threads] : tile[t + threads] + other);
}
