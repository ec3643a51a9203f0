// What:    3x3 convolution of an image, ROWS rows of 16 bytes per thread, in registers
// Idea:    row streaming in registers: no tile and no barrier. A thread loads ROWS + 2 rows of 16 bytes and the
//          neighbouring words, all loads in flight at once, and each row contributes to three results. For bytes and
//          small integer weights one dp4a computes three products and three sums, and a multiplication or a shift
//          replaces the division where that is exact. PAIRED: bytes in rows that are not aligned; each thread's vectors
//          begin where the two rows of results have theirs
// Shapes:  x, y (height, width, CHANNELS) interleaved, at addresses that are multiples of 16; ALIGNED 1 where
//          width * CHANNELS samples are a multiple of 16 bytes; ROW_STEP: the bytes by which a row begins later in a
//          vector than the previous one; weights: the symbol, rows first, or for dp4a its columns as bytes of taps
// Launch:  2D grid over (width * CHANNELS / (16 / sizeof(T)), height / ROWS), any 2D block of at most THREADS; with
//          EXCHANGE blocks are whole warps wide, and a warp stores 31 vectors of a row; with PAIRED rows are 24 bytes
//          longer
// Traffic: at least 1 sample read and 1 written per value; the two rows between threads come from the caches
// Source:  S1
#include "conv3x3.cuh"

#define HALO CHANNELS
#define RAGGED !ALIGNED
#if PAIRED
#include "byte_pairs.cuh"
#else
#include "byte_columns.cuh"
#endif

constexpr int LINES = ROWS + 2;

#if BYTES
__constant__ int taps[3];
#else
__constant__ W weights[9];
#endif

// A sum that includes the bias, as a sample. DIVISION 1: by 1; 2: the upper half of a product with magic = 2^32 /
// divisor, rounded up; 3: by 2^magic; 0: any other division. The quotient of a sum whose quotient is not a sample is
// outside the range of samples on the same side, and clamped.
__device__ __forceinline__ int divided(int sum, int magic)
{
    return DIVISION == 2 ? __mulhi(sum, magic) : DIVISION == 3 ? sum >> magic : sum;
}

#if BYTES
// Two sums clamped to bytes, below the lower half of `above`.
__device__ __forceinline__ unsigned int two_bytes(int low, int high, unsigned int above)
{
    unsigned int word;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(high), "r"(low), "r"(above));
    return word;
}

// The results of the first or the second row of two, from columns from `first` on: a word of a column serves both rows,
// with the weights of a column, and three columns; the neighbouring values along a row are other words.
template <int ALL>
__device__ __forceinline__ void results_of(
    const unsigned int (&column)[ALL], int first, int row, int bias, int magic, unsigned int (&word)[4])
{
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        int sums[4];
        #pragma unroll
        for (int i = 0; i < 4; ++i) {
            sums[i] = bias;
            #pragma unroll
            for (int u = 0; u < 3; ++u)
                sums[i] = dot(column[first + 4 * k + i + u * CHANNELS], taps[u] << 8 * row, sums[i]);
            sums[i] = divided(sums[i], magic);
        }
        word[k] = two_bytes(sums[0], sums[1], two_bytes(sums[2], sums[3], 0));
    }
}
#else
// A sum as a sample.
__device__ __forceinline__ T finished(W sum, W bias, W divisor, W offset, int magic)
{
    if (!DIVISION) return finish(sum, bias, divisor, offset);
    return (T)min(max(divided((int)sum, magic), 0), (int)(T)-1);
}

// Adds row v of LINES rows to the sums of the results that contain it: result row o uses weight row v - o.
__device__ __forceinline__ void add_line(const Span& span, int v, W (&sums)[ROWS][VECTOR])
{
    #pragma unroll
    for (int i = 0; i < VECTOR; ++i) {
        #pragma unroll
        for (int u = 0; u < 3; ++u) {
            const T value = value_of(span, i + u * CHANNELS);
            #pragma unroll
            for (int o = 0; o < ROWS; ++o)
                if (o <= v && v < o + 3) sums[o][i] = add_product(sums[o][i], weights[3 * (v - o) + u], value);
        }
    }
}
#endif

// The bound limits the registers that the compiler may use per thread.
extern "C" __global__ void __launch_bounds__(THREADS) conv3x3_rows(
    const T* __restrict__ x, T* __restrict__ y, W bias, W divisor, W offset, int magic, int height, int width)
{
    const int columns = width * CHANNELS, t = blockIdx.x * blockDim.x + threadIdx.x;
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    if (top >= height) return;

#if PAIRED
    const auto results = [&](
        const unsigned int (&column)[4 * PAIR_WORDS], int first, int row, unsigned int (&word)[4]) {
        results_of(column, first, row, (int)bias, magic, word);
    };
    each_pair<ROWS>(x, y, t, top, height, columns, results);
#else
    const int e = vector_of(t) * VECTOR;
    if (!EXCHANGE && e >= columns) return; // lanes that exchange words stay together
    Span spans[LINES];
    fetch_rows(x, top - 1, height, e, width, spans);

#if BYTES
    #pragma unroll
    for (int o = 0; o < ROWS; o += 2) {
        unsigned int column[4 * WORDS], word[4];
        columns_of(spans, o, column);
        #pragma unroll
        for (int row = 0; row < 2 && o + row < ROWS; ++row) {
            if (top + o + row >= height) return;
            results_of(column, FIRST, row, (int)bias, magic, word);
            put_words(y + (long long)(top + o + row) * columns, e, columns, word);
        }
    }
#else
    W sums[ROWS][VECTOR];
    #pragma unroll
    for (int o = 0; o < ROWS; ++o) {
        #pragma unroll
        for (int i = 0; i < VECTOR; ++i) sums[o][i] = DIVISION ? bias : (W)0;
    }
    // Rows are added in order, and so are the products of each result, so the sums equal the other variants' to the
    // last bit.
    #pragma unroll
    for (int v = 0; v < LINES; ++v) add_line(spans[v], v, sums);
    #pragma unroll
    for (int o = 0; o < ROWS; ++o) {
        if (top + o >= height) return;
        T results[VECTOR];
        #pragma unroll
        for (int i = 0; i < VECTOR; ++i) results[i] = finished(sums[o][i], bias, divisor, offset, magic);
        put(y + (long long)(top + o) * columns, e, columns, results);
    }
#endif
#endif
}
