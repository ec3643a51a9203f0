// Shared by the box kernels that march: a block owns COLUMNS columns and goes down them once, from `count` rows to the
// rows' sums and from these to means, in batches of BATCH rows.
//
//   row warps      fetch rows, sum their windows and leave the sums in a ring of rows: see box_ring_rows.cuh
//   column warps   add the row that enters a column's window, take off the one that leaves: see box_ring_columns.cuh
//
// All warps work at the same time. The row warps are two teams that take turns, a batch each, and the ring has room for
// four batches beside the window: a team waits only until its next place in the ring is free, the columns only for the
// next batch. No barrier stops the whole block, and a late warp delays only the warps that need its results.
//
// RADIUS is a constant, so the compiler knows the layout of shared memory and the values at both ends of a window.
// SAMPLE, WORD, SLIDE and TOTAL name the types below; BYTES is 1 where a sample is four bytes of a pixel.
// A value and its neighbour in a row are STRIDE samples apart. ALIGNED says that rows begin at multiples of four
// samples, and STRIDE is 1. LANES lanes sum a row, so a warp sums 32 / LANES side by side; a lane of the column warps
// has PER columns, and loads CHUNK rows before it uses the first, to hide shared memory's latency. RING is 0 where no
// ring fits: then the rows that leave are fetched and summed a second time. COMPENSATED is 1 where a column of floats is
// summed as two floats. SHARED is the size of `Memory` that the plan reckons with, BLOCKS how many blocks a
// multiprocessor is to hold, for the compiler to keep to the registers that this leaves.
#pragma once
#include "border.cuh"
#include "named_barrier.cuh"

typedef SAMPLE T;    // of the image
typedef WORD Word;   // of a row of samples and of the ring in shared memory
typedef SLIDE Part;  // the type of a row's sum
typedef TOTAL Total; // the type of a column's sum

constexpr int OUTPUTS = 12; // values a lane makes of a row: a multiple of 4 that is no multiple of 8, so that eight
                            // lanes that access 16 bytes each, OUTPUTS words apart, meet in no bank
constexpr int COLUMNS = LANES * OUTPUTS;
constexpr int WINDOW = 2 * RADIUS + 1;
constexpr int COUNT = WINDOW * WINDOW;          // pixels of a square
constexpr int PLANES = BYTES ? 2 : 1;           // words of a value: bytes are summed in pairs of 16 bits
constexpr int TEAMS = 2;
constexpr int TASKS = ROW_WARPS / TEAMS * (32 / LANES); // rows that a team sums at once
constexpr int BATCH = RING ? TASKS : TASKS / 2;         // of these enter; the others leave, where no ring has kept them
constexpr int AHEAD = 2 * TEAMS;                        // batches that the ring holds beside the window
constexpr int COLUMN_WARPS = (COLUMNS / PER + 31) / 32;
constexpr int THREADS = 32 * (ROW_WARPS + COLUMN_WARPS);

// A row is kept from LEAD values before the first window on, so that its fetches are aligned where the strip is.
constexpr int LEAD = (4 - RADIUS % 4) % 4;
constexpr int LENGTH = (COLUMNS + 2 * RADIUS + LEAD + 3) / 4 * 4;
constexpr int WHOLE = (LEAD + WINDOW) / OUTPUTS; // blocks of OUTPUTS values from a lane's own to where its window ends
constexpr int REST = (LEAD + WINDOW) % OUTPUTS;  // and the values of its window in that one

static_assert(BATCH % CHUNK == 0, "a batch is whole chunks");

// Rows of the ring: in whole chunks, so that no chunk of entering rows wraps around. Where there is no window in it,
// each batch has its entering and its leaving rows there.
constexpr int SLOTS = RING ? (WINDOW + AHEAD * BATCH + CHUNK - 1) / CHUNK * CHUNK : AHEAD * TASKS;

#include "box_ring_sums.cuh"

// Blocks of a row, and so many more that the rows which a warp sums at once begin in different banks.
constexpr int PARTS = ((2 * LANES + WHOLE - 1) / LANES | 1) * LANES;

struct Memory {
    Word ring[SLOTS][COLUMNS * PLANES];  // sums of rows, a value's words together; see swapped
    Word rows[TEAMS * TASKS][LENGTH];    // what they are made of
    int places[LENGTH];                  // where in the image these lie, see find_places
    Sum parts[TEAMS * TASKS][PARTS];     // sums of blocks of OUTPUTS values
};
static_assert(sizeof(Memory) == SHARED, "the plan and the kernel count shared memory differently");

extern __shared__ __align__(16) unsigned char bytes[]; // a Memory

// Four words that are moved at once.
struct __align__(16) Quad {
    Word v[4];
};

// Lanes that write two words for each of their values, 24 in all, would meet in a bank with the fourth lane after them:
// every other four lanes, by their place in a row, have each two quads swapped.
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
__device__ __forceinline__ void find_places(Memory& memory, int begin, int width)
{
    for (int k = threadIdx.x; k < LENGTH; k += THREADS)
        memory.places[k] = border_index(begin - RADIUS - LEAD + k, width);
}

#include "box_ring_columns.cuh"
#include "box_ring_rows.cuh"

// A team and the columns meet twice a batch: when the batch is complete, and when its place in the ring is free for the
// batch that comes AHEAD batches later.
constexpr int MEET = 32 * (ROW_WARPS / TEAMS + COLUMN_WARPS);
__device__ __forceinline__ int made(int batch)
{
    return 1 + batch % AHEAD;
}
__device__ __forceinline__ int freed(int batch)
{
    return 1 + AHEAD + batch % AHEAD;
}

// The work of a block.
__device__ __forceinline__ void march(const T* __restrict__ x, T* __restrict__ y, int height, int width, int segment)
{
    Memory& shared = *(Memory*)bytes;
    const int column = blockIdx.x * COLUMNS, row = blockIdx.y * segment, channel = blockIdx.z;
    const int count = min(segment, height - row) + 2 * RADIUS; // rows that enter
    find_places(shared, column, width);
    __syncthreads();
    // The same for a whole warp. The column warps have most to do and come first, so that all schedulers get some.
    const int row_warp = threadIdx.x / 32 - COLUMN_WARPS;
    if (row_warp >= 0) {
        Rows rows(shared, x + channel, height, width, row, column, count);
        for (int n = row_warp / (ROW_WARPS / TEAMS); n * BATCH < count; n += TEAMS) {
            if (n >= AHEAD) barrier_wait<MEET>(freed(n));
            rows.step(n * BATCH);
            barrier_arrive<MEET>(made(n));
        }
    } else {
        Columns columns(shared, y + channel, height, width, row, column, count);
        for (int n = 0; n * BATCH < count; ++n) {
            barrier_wait<MEET>(made(n));
            columns.step(n * BATCH);
            if ((n + AHEAD) * BATCH < count) barrier_arrive<MEET>(freed(n));
        }
    }
}
