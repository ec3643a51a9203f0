// The last step of a tiled scan: adds to each tile the sum of all tiles before it.
#pragma once
#include "scan.cuh"

// y (lines, n), of which `step` lines are interleaved; offsets (lines, tiles); one block per tile of `size` values.
extern "C" __global__ void scan_add(
    R* __restrict__ y, const R* __restrict__ offsets, long long n, int step, int tiles, int size)
{
    const unsigned int line = blockIdx.x / tiles;
    const long long begin = line_begin(line, n, step);
    const long long first = (long long)(blockIdx.x - line * tiles) * size;
    const R offset = offsets[blockIdx.x];
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        const long long k = first + i;
        if (k < n) y[begin + k * step] += offset;
    }
}
