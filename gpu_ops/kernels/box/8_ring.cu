// What:    box filter in one pass down the image: rows and columns are summed at the same time
// Idea:    row streaming with a ring buffer: a block streams down a strip of columns and keeps the row sums of the last
//          window in a ring buffer in shared memory. Warp specialisation: row warps sum the rows that enter; column
//          warps add them to the running sums of their columns and subtract the rows that leave. All sums are running
//          sums, there is no intermediate image, and only the edges of a strip are loaded twice. Named barriers let
//          both kinds of warps work at the same time
// Shapes:  x, y (height, width, GROUP * STRIDE) interleaved, GROUP channels per block and STRIDE blocks in z; or
//          (height, width) pixels of four bytes
// Launch:  grid (width * GROUP / COLUMNS, segments of `segment` rows, STRIDE), THREADS threads; shared: sizeof(Memory)
// Traffic: at least 1 sample read and 1 written per value; 2 * radius more columns per strip, 2 * radius more rows per
//          segment
// Source:  S3
typedef SAMPLE T;
typedef WORD Word;
typedef SLIDE Part;
typedef TOTAL Total;
constexpr int PLANES = PIXELS ? 2 : 1;  // the four bytes of a pixel are summed in two words, each with two 16-bit sums
#include "ring_shape.cuh"
#include "ring_sums.cuh"
#if PIXELS
#include "ring_pixels.cuh"
#elif PAIRS
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
    box_ring(const T* __restrict__ x, T* __restrict__ y, int height, int width, int segment)
{
    stream_rows(x, y, height, width, segment);
}
