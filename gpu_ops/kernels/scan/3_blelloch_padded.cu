// What:    prefix sums of lines by the scan of Blelloch, without bank conflicts
// Idea:    padding: one element after every row of banks, and one more after every square of banks. Values 2, 4, 8 ...
//          apart are then in different banks on every level of the tree. Padding after the rows alone leaves 2-way
//          conflicts from the level on whose nodes are a row apart
// Shapes:  x, y (lines, n), of which `step` lines are interleaved; sums (lines, tiles)
// Launch:  grid lines * tiles, tiles = ceil(n / (2 * block)), block a power of two; shared index(2 * block - 1) + 1
//          sums of A. Then the same for the totals of several tiles, and scan_add with grid and block of the tiles
// Traffic: 1 value read and 1 written per element; 1 sum read and 1 written per element where a line has several tiles
// Source:  S1
#include "scan_add.cuh"

extern __shared__ __align__(16) unsigned char memory[];

constexpr int BANKS = 128 / sizeof(A); // values in a row of banks: 32 words of 4 bytes

// The padded index of value i of a tile.
__device__ __forceinline__ int index(int i)
{
    return i + i / BANKS + i / (BANKS * BANKS);
}

extern "C" __global__ void scan_blelloch_padded(
    const T* __restrict__ x, R* __restrict__ y, R* __restrict__ sums, long long n, int step, int tiles, int exclusive)
{
    A* tile = (A*)memory;
    const int t = threadIdx.x, threads = blockDim.x;
    const unsigned int line = blockIdx.x / tiles;
    const long long begin = line_begin(line, n, step);
    const long long k = (long long)(blockIdx.x - line * tiles) * 2 * threads + t; // and the one `threads` after it
    const int mine = index(t), second = index(t + threads), root = index(2 * threads - 1);

    const A one = k < n ? (A)x[begin + k * step] : (A)0;
    const A other = k + threads < n ? (A)x[begin + (k + threads) * step] : (A)0;
    tile[mine] = one;
    tile[second] = other;

    int d = 1; // values of a child
    for (int nodes = threads; nodes > 0; nodes /= 2, d *= 2) {
        __syncthreads();
        if (t < nodes) {
            const int left = d * (2 * t + 1) - 1;
            tile[index(left + d)] += tile[index(left)];
        }
    }
    if (t == 0) { // the thread that wrote the root
        if (tiles > 1) sums[blockIdx.x] = (R)tile[root];
        tile[root] = 0;
    }
    for (int nodes = 1; nodes <= threads; nodes *= 2) {
        d /= 2;
        __syncthreads();
        if (t < nodes) {
            const int left = index(d * (2 * t + 1) - 1), right = index(d * (2 * t + 2) - 1);
            const A before = tile[right], sum = tile[left];
            tile[left] = before;
            tile[right] = before + sum;
        }
    }
    __syncthreads();

    if (k < n) y[begin + k * step] = (R)(exclusive ? tile[mine] : tile[mine] + one);
    if (k + threads < n) y[begin + (k + threads) * step] = (R)(exclusive ? tile[second] : tile[second] + other);
}
