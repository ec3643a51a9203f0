// What:    3 x 3 mean filter of an image of bytes, 16 bytes of many rows per thread, by dot products
// Idea:    a thread walks down its rows and loads the next two while it computes two: memory and arithmetic overlap,
//          and each row is loaded and prepared once. The bytes of four rows of a column in one word are summed by one
//          dot product, with weights that leave one of the rows out; three such sums make a mean
// Shapes:  x, y (height, width, CHANNELS) interleaved, at addresses that are multiples of 16, CHANNELS 1 to 4; ALIGNED 1
//          where width * CHANNELS bytes are a multiple of 16
// Launch:  2D grid over (width * CHANNELS / 16, height / rows), `rows` even, blocks of whole warps along x and any y, at
//          most THREADS; where rows are not aligned a warp stores 31 vectors of a row
// Traffic: 1 byte read and 1 written per element; 2 of rows + 2 rows are also read by another thread (caches)
// Source:  S1, S4
#include "byte_rows.cuh"

// A sum of nine bytes divided by nine, rounded half up, in byte 2 of the result: 7282 / 2^16 exceeds 1/9 by so little
// that no sum up to 9 * 255 gives too large a result.
__device__ __forceinline__ unsigned int ninth(unsigned int sum) { return sum * 7282 + 32768; }

// The means of a row from sums of three rows.
__device__ __forceinline__ void means_of(const int (&sums)[4 * WORDS], unsigned int (&word)[4])
{
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        unsigned int made[4];
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int* const from = sums + FIRST + 4 * k + i;
            made[i] = ninth(from[0] + from[CHANNELS] + from[2 * CHANNELS]);
        }
        word[k] = __byte_perm(__byte_perm(made[0], made[1], 0x0062), __byte_perm(made[2], made[3], 0x0062), 0x5410);
    }
}

// The bound limits the registers that the compiler may use per thread.
extern "C" __global__ void __launch_bounds__(THREADS) mean2d_packed(
    const Byte* __restrict__ x, Byte* __restrict__ y, int height, int width, int rows)
{
    const int columns = width * CHANNELS;
    const int e = vector_of(blockIdx.x * blockDim.x + threadIdx.x) * VECTOR;
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * rows, bottom = min(top + rows, height);
    if ((ALIGNED && e >= columns) || top >= height) return;  // lanes that exchange words stay together

    const ByteRows image(x, e, height, width);
    Line lines[2];
    Pair pairs[2];
    image.load(top - 1, lines[0]);
    image.load(top, lines[1]);
    pairs[0].take(image, lines);
    image.load(top + 1, lines[0]);
    image.load(top + 2, lines[1]);
    for (int start = top; start < bottom; start += 4) {
        #pragma unroll
        for (int turn = 0; turn < 2; ++turn) { // the pairs take turns
            const int r = start + 2 * turn;
            if (r >= bottom) break;
            Pair &above = pairs[turn], &below = pairs[1 - turn];
            below.take(image, lines);
            if (r + 2 < bottom) {
                image.load(r + 3, lines[0]);
                image.load(r + 4, lines[1]);
            }
            int upper[4 * WORDS], lower[4 * WORDS];
            #pragma unroll
            for (int i = FIRST; i < 4 * WORDS - FIRST; ++i) {
                const unsigned int bytes = column(above, below, i);
                upper[i] = dot(bytes, 0x00010101, 0);
                lower[i] = dot(bytes, 0x01010100, 0);
            }
            unsigned int word[4];
            means_of(upper, word);
            put_row(y + (long long)r * columns, e, columns, word);
            if (r + 1 < bottom) {
                means_of(lower, word);
                put_row(y + (long long)(r + 1) * columns, e, columns, word);
            }
        }
    }
}
