// What:    mean filter of an image in one pass down the image, at the same cost for any window
// Idea:    running sums in both directions: a block streams down a strip of columns; row warps sum the rows that enter
//          and store them in a ring buffer in shared memory, column warps add them to the running sums of their columns
//          and subtract the rows that leave. A window twice as wide only has twice the halo. The ring has all channels
//          of a pixel side by side; for bytes it has two rows in each word, so that one addition adds two values
// Shapes:  x, y (height, width, GROUP * STRIDE) interleaved, GROUP channels per block and STRIDE blocks in z; all of x
//          finite
// Launch:  grid (width * GROUP / COLUMNS, segments of `segment` rows, STRIDE), THREADS threads; shared: sizeof(Memory)
// Traffic: at least 1 sample read and 1 written per value; WINDOW - 1 more columns per strip, WINDOW - 1 more rows per
//          segment
// Source:  S3, S4
typedef SAMPLE T;
typedef WORD Word;
typedef SLIDE Part;
typedef TOTAL Total;
constexpr int PLANES = 1;
#include "ring_shape.cuh"
#include "ring_sums.cuh"
#if PAIRS
#include "ring_bytes.cuh"
#else
#include "ring_values.cuh"
#endif
#include "ring.cuh"

// One block per COLUMNS columns of `segment` rows. Slot i of the ring is row i, or pair of rows i, modulo SLOTS of those
// that enter.
__device__ __forceinline__ void stream_rows(const T* __restrict__ x, T* __restrict__ y, int height, int width, int segment)
{
    Memory& shared = *(Memory*)bytes;
    const int column = blockIdx.x * COLUMNS, row = blockIdx.y * segment, channel = blockIdx.z;
    const int count = min(segment, height - row) + 2 * RADIUS;  // rows that enter
    find_positions(shared, column, width);
    __syncthreads();

    // Uniform across a warp. The column warps have most work and come first, so that all schedulers get some.
    const int row_warp = threadIdx.x / 32 - COLUMN_WARPS;
    if (row_warp >= 0) {
        // A team sums every second batch n, once the column warps have freed the slots of batch n - AHEAD.
        Rows rows(shared, x + channel, height, width, row, column, count);
        for (int n = row_warp / (ROW_WARPS / TEAMS); n * BATCH * PACK < count; n += TEAMS) {
            if (n >= AHEAD) barrier_wait<TEAM_AND_COLUMNS>(freed(n));
            rows.step(n * BATCH);
            barrier_arrive<TEAM_AND_COLUMNS>(filled(n));
        }
    } else {
        // The column warps process every batch as soon as it is complete, and free its slots if another batch needs
        // them.
        Columns columns(shared, y + channel, height, width, row, column, count);
        for (int n = 0; n * BATCH * PACK < count; ++n) {
            barrier_wait<TEAM_AND_COLUMNS>(filled(n));
            columns.step(n * BATCH);
            if ((n + AHEAD) * BATCH * PACK < count) barrier_arrive<TEAM_AND_COLUMNS>(freed(n));
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    mean2d_ring(const T* __restrict__ x, T* __restrict__ y, int height, int width, int segment)
{
    stream_rows(x, y, height, width, segment);
}
