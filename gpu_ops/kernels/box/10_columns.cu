// What:    box filter of integers in one pass down the image, columns first
// Idea:    the running sums of columns need no ring buffer: a thread keeps those of a few columns in registers and loads
//          the row that leaves a second time, which is in L2 as a rule. Along the row, windows slide over the sums of the
//          thread's own columns and of those that leave, from shared memory; its first one is a difference of prefix
//          sums of whole chunks, by shuffles. Two columns of bytes are a word. Strips are wide, since only one row of sums
//          has to fit: few columns are loaded for two strips
// Shapes:  x, y (height, width, GROUP) of 8 or 16 bits, at addresses that are multiples of 16; width * GROUP samples are
//          whole units
// Launch:  grid (width * GROUP / (OUTPUTS * VALUES), segments of `segment` rows), THREADS threads; shared: sizeof(Memory)
// Traffic: 2 samples read and 1 written per value, the second one from L2 where a window of rows fits there; WINDOW - 1
//          more columns per strip, WINDOW more rows per segment
// Source:  S3
#include "columns_first.cuh"

constexpr int UNROLLED = 2; // rows, so that both buffers have constant addresses

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    box_columns(const T* __restrict__ x, T* __restrict__ y, int height, int width, int segment)
{
    Memory& memory = *(Memory*)bytes;
    const int chunk = blockIdx.x * OUTPUTS, begin = blockIdx.y * segment, count = min(segment, height - begin);
    const Rows rows(memory, x, height, width, begin - RADIUS - 1, chunk + REACH / VALUES - BEFORE, count + WINDOW);
    const int live = min(OUTPUTS * CHUNK, rows.pitch - chunk * CHUNK);
    unsigned char* to = (unsigned char*)y + (long long)begin * rows.pitch + chunk * CHUNK;

    Columns columns = {};
    #pragma unroll 1
    for (int i = 0; i < WINDOW; ++i) {
        rows.next(memory, i);
        columns.move(rows.chunk(memory, i, false), Chunk{});
    }
    #pragma unroll UNROLLED
    for (int k = 0; k < count; ++k) {
        rows.next(memory, WINDOW + k);
        columns.move(rows.chunk(memory, WINDOW + k, false), rows.chunk(memory, WINDOW + k, true));
        Squares squares;
        squares.share(columns, memory, k % 2);
        __syncthreads(); // this row's columns and the last row's means are complete
        if (threadIdx.x >= BEFORE) {
            unsigned int sums[VALUES];
            squares.slide(memory, k % 2, sums);
            put(memory, k % 2, sums);
        }
        if (k > 0) {
            store(memory, (k - 1) % 2, to, live);
            to += rows.pitch;
        }
    }
    __syncthreads();
    store(memory, (count - 1) % 2, to, live);
}
