// What:    box filter of integers in one pass down the image, columns first
// Idea:    the running sums of columns need no ring: a thread keeps them in registers, two bytes' sums in a word, and loads
//          the row that leaves a second time, which is in L2 as a rule. Sums of rows are then running sums of these, and each
//          thread has a long run of one row: its first window costs little, and no scan across lanes is needed. All
//          threads do both parts in turn; results are rearranged in shared memory, so that any width is stored in words
// Shapes:  x, y (height, width, GROUP) of 8 or 16 bits
// Launch:  grid (width * GROUP / COLUMNS, segments of `segment` rows), THREADS threads; shared: sizeof(Memory)
// Traffic: 2 samples read and 1 written per value, the second one from L2 where a window of rows fits there; WINDOW - 1
//          more columns per strip, WINDOW - 1 more rows per segment
// Source:  S3
#include "columns_first.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    box_columns(const T* __restrict__ x, T* __restrict__ y, int height, int width, int segment)
{
    Memory& memory = *(Memory*)bytes;
    const int column = blockIdx.x * COLUMNS, begin = blockIdx.y * segment, end = min(begin + segment, height);
    const Strip strip(x, height, width, column - REACH - LEAD);
    const int live = min(COLUMNS, strip.values - column);
    const bool edge = BORDER != 3 && (strip.left < 0 || strip.left + PER * PARTS > strip.values);

    Columns columns;
    if (strip.plain) columns.begin<true>(strip, begin);
    else columns.begin<false>(strip, begin);
    for (int row = begin; row < end; row += ROWS) {
        if (strip.plain) columns.step<true>(strip, memory, row);
        else columns.step<false>(strip, memory, row);
        __syncthreads();
        if (edge) {
            fill_border(strip, memory);
            __syncthreads();
        }
        means_of_run(memory);
        __syncthreads(); // the means are complete, and the tile may be overwritten
        store(memory, y + (long long)row * strip.values + column, strip.values, min(ROWS, end - row), live);
    }
}
