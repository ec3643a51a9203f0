// What:    mean of the square around each pixel, in one trip down the image: rows summed and columns summed at once
// Idea:    a block marches down a strip with the last window of rows' sums in a ring in shared memory. Some warps sum
//          the rows that enter; the others add them to their columns' sums and subtract the rows that leave: running
//          sums in both directions, with no intermediate image, and only the strip's sides are loaded twice
// Shapes:  x, y (height, width, STRIDE) interleaved, a channel a block in z; or (height, width) pixels of four bytes
// Launch:  grid (width / COLUMNS, segments of `segment` rows, STRIDE), THREADS threads; shared: sizeof(Memory)
// Traffic: 1 sample read and 1 written a value at least; 2 * radius columns more a strip, 2 * radius rows a segment
// Source:  S3
#include "box_ring.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    box_ring(const T* __restrict__ x, T* __restrict__ y, int height, int width, int segment)
{
    march(x, y, height, width, segment);
}
