// Shared memory, named barriers and both kinds of warps of the kernels with a ring buffer: see ring_shape.cuh.
// The including file defines Sum, of some values of a row, and Column, the running sum of a column.
#pragma once
#include "ring_shape.cuh"

// Blocks of a row, with padding, so that the rows which a warp sums at once start in different banks.
constexpr int PARTS = ((2 * LANES + WHOLE - 1) / LANES | 1) * LANES;

// Four values of a row to be summed: words, or two bytes of each, of two rows.
#if PAIRS
struct __align__(8) Samples {
    unsigned int v[2];

    __device__ __forceinline__ Word word(int c) const { return __byte_perm(v[c / 2], 0, c % 2 ? 0x4342 : 0x4140); }
};
#else
struct __align__(16) Samples {
    Word v[4];

    __device__ __forceinline__ Word word(int c) const { return v[c]; }
};
#endif

struct Memory {
    Word ring[SLOTS][COLUMNS * PLANES];       // row sums, the words of a value adjacent; see swapped
    Samples rows[TEAMS * TASKS][LENGTH / 4];  // the samples to be summed
    int positions[LENGTH];                    // their positions in a row of the image, see find_positions
    Sum parts[TEAMS * TASKS][PARTS];          // sums of blocks of OUTPUTS values
};
static_assert(sizeof(Memory) == SHARED, "the plan and the kernel count shared memory differently");

extern __shared__ __align__(16) unsigned char bytes[]; // a Memory

// Four words, moved at once.
struct __align__(16) Quad {
    Word v[4];
};

// Lanes that write two words per value, 24 in all, would conflict with the fourth lane after them: every second group
// of four lanes, by their index in a row, swaps each two quads.
__device__ __forceinline__ int swapped(int lane)
{
    return PLANES > 1 ? lane / 4 % 2 : 0;
}

// The slot for index i of the ring, for i < 2 * SLOTS.
__device__ __forceinline__ int slot(int i)
{
    return i < SLOTS ? i : i - SLOTS;
}

// For all rows: the position in a row of the image for each value of a row in shared memory, including the border, or -1
// for zero. `begin` is the block's first column of outputs.
__device__ __forceinline__ void find_positions(Memory& memory, int begin, int width)
{
    constexpr int BEFORE = REACH + LEAD + GROUP; // adding this number of values makes the division round down
    for (int k = threadIdx.x; k < LENGTH; k += THREADS) {
        const int value = begin - REACH - LEAD + k, pixel = (value + BEFORE * GROUP) / GROUP - BEFORE;
        const int inside = border_index(pixel, width);
        memory.positions[k] = inside < 0 ? -1 : (inside * GROUP + value - pixel * GROUP) * STRIDE;
    }
}

#include "ring_columns.cuh"
#include "ring_rows.cuh"

// A team and the columns synchronise twice a batch, by named barriers: when the batch is complete, and when its slots
// in the ring are free for the batch AHEAD batches later.
constexpr int TEAM_AND_COLUMNS = 32 * (ROW_WARPS / TEAMS + COLUMN_WARPS);
__device__ __forceinline__ int filled(int batch)
{
    return 1 + batch % AHEAD;
}
__device__ __forceinline__ int freed(int batch)
{
    return 1 + AHEAD + batch % AHEAD;
}
