// What:    3 x 3 mean filter of an image of bytes, 16 bytes by ROWS rows per thread, by dot products
// Idea:    bytes are not unpacked one by one: the bytes of four rows of a column in one word are summed by one dot
//          product, with weights that leave one of the rows out, and serve two rows of results; three such sums make a
//          mean. In rows that are not aligned, each thread's vectors begin where the two rows of results have theirs
// Shapes:  x, y (height, width, CHANNELS) interleaved, at addresses that are multiples of 16, CHANNELS 1 to 4; ALIGNED 1
//          where width * CHANNELS bytes are a multiple of 16; ROW_STEP: the bytes by which a row begins later in a
//          vector than the previous one
// Launch:  2D grid over (width * CHANNELS / 16, height / ROWS), 24 bytes more where rows are not aligned; any 2D block of
//          at most THREADS
// Traffic: at least 1 byte read and 1 written per element; 2 of ROWS + 2 rows are also read by another thread (caches)
// Source:  S1, S4
#include "mean.cuh"

#define HALO CHANNELS
#define RAGGED !ALIGNED
#include "byte_pairs.cuh"

constexpr int LINES = ROWS + 2;
static_assert(sizeof(T) == 1 && CHANNELS <= 4 && ROWS % 2 == 0, "sums are of bytes, of two rows at a time");

// A sum of nine bytes divided by nine, rounded half up, in byte 2 of the result: 7282 / 2^16 exceeds 1/9 by so little
// that no sum up to 9 * 255 gives too large a result.
__device__ __forceinline__ unsigned int ninth(unsigned int sum) { return sum * 7282 + 32768; }

// The means of a row, packed, from the bytes of columns from `first` on, of which `rows` takes three.
template <int ALL>
__device__ __forceinline__ void means_of(
    const unsigned int (&column)[ALL], int first, int rows, unsigned int (&word)[4])
{
    int sums[VALUES];
    #pragma unroll
    for (int i = 0; i < VALUES; ++i) sums[i] = dot(column[first + i], rows, 0);
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        unsigned int mean[4];
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int* const from = sums + 4 * k + i;
            mean[i] = ninth(from[0] + from[CHANNELS] + from[2 * CHANNELS]);
        }
        word[k] = __byte_perm(__byte_perm(mean[0], mean[1], 0x0062), __byte_perm(mean[2], mean[3], 0x0062), 0x5410);
    }
}

// The bound limits the registers that the compiler may use per thread.
extern "C" __global__ void __launch_bounds__(THREADS) mean2d_packed(
    const T* __restrict__ x, T* __restrict__ y, int height, int width)
{
    const int columns = width * CHANNELS, t = blockIdx.x * blockDim.x + threadIdx.x;
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    if (top >= height) return;

#if ALIGNED
    const int e = t * VECTOR;
    if (e >= columns) return;
    Span spans[LINES];
    fetch_rows(x, top - 1, height, e, width, spans);

    #pragma unroll
    for (int o = 0; o < ROWS; o += 2) {
        unsigned int column[4 * WORDS], word[4];
        columns_of(spans, o, column);
        #pragma unroll
        for (int row = 0; row < 2; ++row) {
            if (top + o + row >= height) return;
            means_of(column, FIRST, 0x00010101 << 8 * row, word);
            put_words(y + (long long)(top + o + row) * columns, e, columns, word);
        }
    }
#else
    const auto means = [](const unsigned int (&column)[4 * PAIR_WORDS], int first, int row, unsigned int (&word)[4]) {
        means_of(column, first, 0x00010101 << 8 * row, word);
    };
    each_pair<ROWS>(x, y, t, top, height, columns, means);
#endif
}
