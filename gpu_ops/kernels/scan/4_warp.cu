// What:    prefix sums of lines in registers, by shuffles within warps
// Idea:    reduce-then-scan with warp shuffles: no bank conflicts, and the warps of a tile synchronise only once. Tiles
//          are reduced first, then their totals are scanned, and then each tile is scanned from its offset: a value is
//          read twice and written once, whereas adding offsets to scanned tiles would read and write every value again.
//          Three launches scan any length, one is enough for lines of a single tile
// Shapes:  x, y (lines, n), of which `step` lines are interleaved; sums, offsets (lines, tiles), the same memory
// Launch:  scan_warp_sums and scan_warp: grid lines * tiles, tiles = ceil(n / (block * ITEMS)), block of whole warps;
//          scan_warp_offsets: grid lines, block of whole warps
// Traffic: 2 values read and 1 written per element; 1 read and 1 written where a line is one tile
// Source:  S1
#include "scan.cuh"

const int MOST_WARPS = 32; // per block

// The position in its line of a thread's first value; the others follow at distances of 32, so that loads are
// coalesced.
__device__ __forceinline__ long long first_of(unsigned int tile)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return (long long)tile * blockDim.x * ITEMS + warp * (32 * ITEMS) + lane;
}

__device__ __forceinline__ void load(
    A (&values)[ITEMS], const T* __restrict__ x, long long begin, long long first, long long n, int step)
{
    #pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const long long k = first + i * 32;
        values[i] = k < n ? (A)x[begin + k * step] : (A)0;
    }
}

extern "C" __global__ void scan_warp_sums(
    const T* __restrict__ x, R* __restrict__ sums, long long n, int step, int tiles)
{
    __shared__ A totals[MOST_WARPS];
    const int lane = threadIdx.x % 32;
    const unsigned int line = blockIdx.x / tiles;
    A values[ITEMS], sum = 0;
    load(values, x, line_begin(line, n, step), first_of(blockIdx.x - line * tiles), n, step);
    #pragma unroll
    for (int i = 0; i < ITEMS; ++i) sum += values[i];
    A all;
    warps_before(warp_total(sum), totals, lane, &all);
    if (threadIdx.x == 0) sums[blockIdx.x] = (R)all;
}

// One block per line replaces the totals of its tiles by their exclusive prefix sums.
extern "C" __global__ void scan_warp_offsets(R* __restrict__ sums, int tiles)
{
    __shared__ R totals[MOST_WARPS];
    const int lane = threadIdx.x % 32;
    R* const own = sums + (long long)blockIdx.x * tiles;
    R carry = 0;
    for (int first = 0; first < tiles; first += blockDim.x) {
        const int k = first + threadIdx.x;
        const R through = warp_scan(k < tiles ? own[k] : (R)0, lane);
        R all;
        const R before = warps_before(__shfl_sync(WHOLE_WARP, through, 31), totals, lane, &all);
        const R offset = carry + (before + lane_before(through, lane));
        if (k < tiles) own[k] = offset;
        carry += all;
        __syncthreads(); // the next totals of warps overwrite these
    }
}

extern "C" __global__ void scan_warp(
    const T* __restrict__ x, R* __restrict__ y, const R* __restrict__ offsets, long long n, int step, int tiles,
    int exclusive)
{
    __shared__ A totals[MOST_WARPS];
    const int lane = threadIdx.x % 32;
    const unsigned int line = blockIdx.x / tiles;
    const long long begin = line_begin(line, n, step), first = first_of(blockIdx.x - line * tiles);
    A values[ITEMS], running = 0; // all loads are in flight before the first value is used
    load(values, x, begin, first, n, step);
    #pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const A through = warp_scan(values[i], lane);
        values[i] = running + (exclusive ? lane_before(through, lane) : through);
        running += __shfl_sync(WHOLE_WARP, through, 31);
    }
    A all;
    const A before = warps_before(running, totals, lane, &all);
    const R offset = tiles > 1 ? offsets[blockIdx.x] : (R)0;
    #pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
        const long long k = first + i * 32;
        if (k < n) y[begin + k * step] = offset + (R)(before + values[i]);
    }
}
