// Wrong on purpose: the columns do not wait for the rows
#include "box_ring.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    box_ring(const T* __restrict__ x, T* __restrict__ y, int height, int width, int segment)
{
    Memory& shared = *(Memory*)bytes;
    const int column = blockIdx.x * COLUMNS, row = blockIdx.y * segment, channel = blockIdx.z;
    const int count = min(segment, height - row) + 2 * RADIUS; // rows that enter
    const bool sums_rows = threadIdx.x >= 32 * COLUMN_WARPS;   // the same for a whole warp
    find_places(shared, column, width);
    __syncthreads();
    Rows rows(shared, x + channel, height, width, row, column, sums_rows ? count : 0);
    Columns columns(shared, y + channel, height, width, row, column, sums_rows ? 0 : count);

    for (int i = 0; i < count + BATCH; i += BATCH) {
        if (sums_rows)
            rows.step(i);
        else
            columns.step(i - BATCH);
    }
}
