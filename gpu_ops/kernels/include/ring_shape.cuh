// The shape of a block of the kernels with a ring buffer of rows. A block streams down COLUMNS columns once, from
// `count` rows of samples to row sums and from these to means, in batches of BATCH rows:
//
//   row warps      load rows, sum their windows and store the sums in a ring buffer of rows: see ring_rows.cuh
//   column warps   add the row that enters a column's window, subtract the one that leaves: see ring_columns.cuh
//
// All warps work at the same time. The row warps are two teams that alternate, one batch each, and the ring has AHEAD
// batches more than the window: a team waits only until its next slots in the ring are free, the column warps only for
// the next batch. No barrier stops the whole block, and a late warp delays only the warps that need its results.
//
// RADIUS is a constant, so the layout of shared memory and the values at both ends of a window are known at compile
// time. A block has GROUP interleaved channels, so a column is a value of a row, and windows have every GROUP-th value;
// neighbouring values are STRIDE samples apart: 1, or all channels where a block has one. ALIGNED says that rows start
// at multiples of four samples, and STRIDE is 1. LANES lanes sum a row, so a warp sums 32 / LANES rows at once; a lane
// of the column warps has PER columns, and loads CHUNK rows before it uses the first, to hide the latency of shared
// memory. RING is 0 where no ring fits: then the rows that leave are loaded and summed a second time. SHARED is the
// size of `Memory` that the plan computed, BLOCKS the number of resident blocks per multiprocessor, for which the
// compiler limits the registers.
//
// With PAIRS, samples are bytes, and a word has two values of 16 bits, of two rows one below the other: what is said of
// a row is then true of a pair of rows. Sums of words are right modulo 2^32, and so are their differences: where both
// sums fit 16 bits, up to 257 bytes, they are in the two halves.
//
// The including file defines the types T (of the image), Word (of a value of a row and of the ring), Part (of a row's
// sum) and Total (of a column's sum), and PLANES, the words per value.
#pragma once
#include "border.cuh"
#include "named_barrier.cuh"

constexpr int OUTPUTS = 12; // values of a row that a lane computes: a multiple of 4 that is no multiple of 8, so that
                            // eight lanes that access 16 bytes each with a stride of OUTPUTS words have no bank
                            // conflict; and of 1 to 4 channels
constexpr int COLUMNS = LANES * OUTPUTS;
constexpr int WINDOW = 2 * RADIUS + 1;
constexpr int COUNT = WINDOW * WINDOW;          // pixels of a square
constexpr int PACK = PAIRS ? 2 : 1;             // rows of a word
constexpr int LAG = PAIRS ? RADIUS : WINDOW;    // how many rows, or pairs of rows, enter before the first one leaves
constexpr int TEAMS = 2;
constexpr int TASKS = ROW_WARPS / TEAMS * (32 / LANES); // rows that a team sums at once
constexpr int BATCH = RING ? TASKS : TASKS / 2;         // entering rows among these; without a ring, the others leave
constexpr int COLUMN_WARPS = (COLUMNS / PER + 31) / 32;
constexpr int THREADS = 32 * (ROW_WARPS + COLUMN_WARPS);

// A row starts LEAD values before the first window, so that its loads are aligned where the strip is.
constexpr int REACH = RADIUS * GROUP, SPAN = WINDOW * GROUP; // values on each side of a window's centre; per window
constexpr int LEAD = (4 - REACH % 4) % 4;
constexpr int WHOLE = (LEAD + SPAN) / OUTPUTS; // blocks of OUTPUTS values from a lane's own to where its window ends
constexpr int REST = (LEAD + SPAN) % OUTPUTS;  // and the values of its window in that one
constexpr int NEEDED = (COLUMNS + 2 * REACH + LEAD + 3) / 4 * 4, OF_BLOCKS = (LANES + WHOLE) * OUTPUTS;
constexpr int LENGTH = NEEDED > OF_BLOCKS ? NEEDED : OF_BLOCKS;

static_assert(OUTPUTS % GROUP == 0, "a block of values begins with the first channel");
static_assert(BATCH % CHUNK == 0, "a batch must be a multiple of CHUNK rows");

// Rows of the ring: whole chunks, so that no chunk of entering rows wraps around. Where it contains no window, each
// batch has its entering and its leaving rows there.
constexpr int SLOTS = RING ? (LAG + AHEAD * BATCH + CHUNK - 1) / CHUNK * CHUNK : AHEAD * TASKS;
