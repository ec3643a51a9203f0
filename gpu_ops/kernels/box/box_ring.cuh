// Shared memory, named barriers and both kinds of warps of the box kernels with a ring buffer: see box_ring_shape.cuh.
// The including file defines Sum, of some values of a row, and Column, the running sum of a column.
#pragma once
#include "box_ring_shape.cuh"

// Blocks of a row, with padding, so that the rows which a warp sums at once start in different banks.
constexpr int PARTS = ((2 * LANES + WHOLE - 1) / LANES | 1) * LANES;

struct Memory {
    Word ring[SLOTS][COLUMNS * PLANES];  // row sums, the words of a value adjacent; see swapped
    Word rows[TEAMS * TASKS][LENGTH];    // the samples to be summed
    int positions[LENGTH];               // their columns in the image, see find_positions
    Sum parts[TEAMS * TASKS][PARTS];     // sums of blocks of OUTPUTS values
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

// For all rows: the column of the image for each value of a row in shared memory, including the border, or -1 for zero.
// `begin` is the block's first column of outputs.
__device__ __forceinline__ void find_positions(Memory& memory, int begin, int width)
{
    for (int k = threadIdx.x; k < LENGTH; k += THREADS)
        memory.positions[k] = border_index(begin - RADIUS - LEAD + k, width);
}

#include "box_ring_columns.cuh"
#include "box_ring_rows.cuh"

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
