// Shared memory, named barriers and both kinds of warps of the marching box kernels: see box_ring_shape.cuh. The file
// that includes this has defined Sum, of some values of a row, and Column, the running sum of a column.
#pragma once
#include "box_ring_shape.cuh"

// Blocks of a row, and so many more that the rows which a warp sums at once begin in different banks.
constexpr int PARTS = ((2 * LANES + WHOLE - 1) / LANES | 1) * LANES;

struct Memory {
    Word ring[SLOTS][COLUMNS * PLANES];  // sums of rows, a value's words together; see swapped
    Word rows[TEAMS * TASKS][LENGTH];    // the samples that are summed
    int positions[LENGTH];               // their columns in the image, see find_positions
    Sum parts[TEAMS * TASKS][PARTS];     // sums of blocks of OUTPUTS values
};
static_assert(sizeof(Memory) == SHARED, "the plan and the kernel count shared memory differently");

extern __shared__ __align__(16) unsigned char bytes[]; // a Memory

// Four words that are moved at once.
struct __align__(16) Quad {
    Word v[4];
};

// Lanes that write two words for each of their values, 24 in all, would have bank conflicts with the fourth lane after
// them: every other four lanes, by their index in a row, have each two quads swapped.
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
