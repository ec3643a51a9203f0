// What:    prefix sums of lines by the scan of Hillis and Steele (1986), tile by tile
// Idea:    one thread per value: each step adds the element d positions before, and d doubles until it spans the tile.
//          All threads work in all steps, so a tile of n values takes n log n additions where n would do. A tile also
//          writes its total; the totals are scanned by the same kernel and then added to the following tiles
// Shapes:  x, y (lines, n), of which `step` lines are interleaved; sums (lines, tiles)
// Launch:  grid lines * tiles, tiles = ceil(n / block), any block; shared 2 * block sums of A. Then the same for the
//          totals of several tiles, and scan_add with grid and block of the tiles
// Traffic: 1 value read and 1 written per element; 1 sum read and 1 written per element where a line has several tiles
// Source:  S1
#include "scan_add.cuh"

extern __shared__ __align__(16) unsigned char memory[];

extern "C" __global__ void scan_hillis_steele(
    const T* __restrict__ x, R* __restrict__ y, R* __restrict__ sums, long long n, int step, int tiles, int exclusive)
{
    const int t = threadIdx.x;
    const unsigned int line = blockIdx.x / tiles;
    const long long begin = line_begin(line, n, step);
    const long long k = (long long)(blockIdx.x - line * tiles) * blockDim.x + t;

    // Double buffering: no thread writes what another thread still reads in this step, so one barrier per step is
    // enough.
    A* from = (A*)memory;
    A* to = from + blockDim.x;
    A sum = k < n ? (A)x[begin + k * step] : (A)0;
    from[t] = sum;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t >= d) sum += from[t - d];
        to[t] = sum;
        __syncthreads();
        A* const read = from;
        from = to, to = read;
    }

    if (k < n) y[begin + k * step] = (R)(!exclusive ? sum : t > 0 ? from[t - 1] : (A)0);
    if (tiles > 1 && t == blockDim.x - 1) sums[blockIdx.x] = (R)sum;
}
