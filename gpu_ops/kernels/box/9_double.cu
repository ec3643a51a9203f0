// What:    mean of the square around each pixel, in one trip down the image, with rows summed in double
// Idea:    the ring's march, but rows are summed in double and stored as means: this avoids the rounding errors of float
//          additions, and no sum exceeds a float; the price is the conversions and a slower addition
// Shapes:  x, y (height, width, STRIDE) interleaved, a channel a block in z
// Launch:  grid (width / COLUMNS, segments of `segment` rows, STRIDE), THREADS threads; shared: sizeof(Memory)
// Traffic: 1 sample read and 1 written a value at least; 2 * radius columns more a strip, 2 * radius rows a segment
// Source:  S3
#include "box_ring.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    box_double(const T* __restrict__ x, T* __restrict__ y, int height, int width, int segment)
{
    march(x, y, height, width, segment);
}
