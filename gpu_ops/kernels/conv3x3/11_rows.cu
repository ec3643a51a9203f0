// What:    3x3 convolution of an image, ROWS rows of 16 bytes per thread, in registers
// Idea:    row streaming in registers: no tile and no barrier. A thread loads ROWS + 2 rows of 16 bytes and the
//          neighbouring words, all loads in flight at once, and each row contributes to three results. For bytes and
//          small integer weights one dp4a computes three products and three sums, and a multiplication replaces the
//          division where that is exact
// Shapes:  x, y (height, width, CHANNELS) interleaved, at addresses that are multiples of 16; ALIGNED 1 where
//          width * CHANNELS samples are a multiple of 16 bytes; weights: the symbol, rows first, or for dp4a its rows as
//          bytes of taps
// Launch:  2D grid over (width * CHANNELS / (16 / sizeof(T)), height / ROWS), any 2D block of at most THREADS; with
//          EXCHANGE blocks are whole warps wide, and a warp stores 31 vectors of a row
// Traffic: at least 1 sample read and 1 written per value; the two rows between threads come from the caches
// Source:  S1
#include "conv3x3.cuh"

#define HALO CHANNELS
#define RAGGED !ALIGNED
#include "row_span.cuh"

constexpr int LINES = ROWS + 2;

#if BYTES
__constant__ int taps[3];
#else
__constant__ W weights[9];
#endif

// A sum that includes the bias, as a sample: clamped to 0 … most = (top + 1) * divisor - 1, so that its quotient fits.
// DIVISION 1: by 1; 2: the upper half of a product with magic = 2^32 / divisor, rounded up; 0: any other division.
__device__ __forceinline__ T finish_whole(int sum, unsigned int magic, int most)
{
    const unsigned int n = min(max(sum, 0), most);
    return (T)(DIVISION == 2 ? __umulhi(n, magic) : n);
}

#if BYTES
// `sum` plus four products of unsigned bytes by signed bytes.
__device__ __forceinline__ int dot(unsigned int bytes, int by, int sum)
{
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(bytes), "r"(by), "r"(sum));
    return sum;
}

// Bytes i, i + CHANNELS and i + 2 * CHANNELS of a span in one word, and a fourth byte that the taps ignore: one
// permutation if the three are in two neighbouring words, else two.
__device__ __forceinline__ unsigned int three(const Span& span, int i)
{
    const int a = FIRST + i, b = a + CHANNELS, c = b + CHANNELS, base = a / 4 * 4;
    if (c < base + 8) {
        const unsigned int next = span.word[a / 4 + 1 < WORDS ? a / 4 + 1 : a / 4];
        return __byte_perm(span.word[a / 4], next, (a - base) | (b - base) << 4 | (c - base) << 8);
    }
    const unsigned int two = __byte_perm(span.word[a / 4], span.word[b / 4], a % 4 | (4 + b % 4) << 4);
    return __byte_perm(two, span.word[c / 4], 0x0010 | (4 + c % 4) << 8);
}
#endif

// Adds row v of LINES rows to the sums of the results that contain it: result row o uses weight row v - o.
__device__ __forceinline__ void add_line(const Span& span, int v, W (&sums)[ROWS][VECTOR])
{
    #pragma unroll
    for (int i = 0; i < VECTOR; ++i) {
#if BYTES
        const unsigned int bytes = three(span, i);
        #pragma unroll
        for (int o = 0; o < ROWS; ++o)
            if (o <= v && v < o + 3) sums[o][i] = dot(bytes, taps[v - o], sums[o][i]);
#else
        #pragma unroll
        for (int u = 0; u < 3; ++u) {
            const T value = value_of(span, i + u * CHANNELS);
            #pragma unroll
            for (int o = 0; o < ROWS; ++o)
                if (o <= v && v < o + 3) sums[o][i] = add_product(sums[o][i], weights[3 * (v - o) + u], value);
        }
#endif
    }
}

// The bound limits the registers that the compiler may use per thread.
extern "C" __global__ void __launch_bounds__(THREADS) conv3x3_rows(
    const T* __restrict__ x, T* __restrict__ y, W bias, W divisor, W offset, unsigned int magic, int most, int height,
    int width)
{
    const int columns = width * CHANNELS;
    const int e = vector_of(blockIdx.x * blockDim.x + threadIdx.x) * VECTOR;
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    if ((!EXCHANGE && e >= columns) || top >= height) return;  // lanes that exchange words stay together

    Span spans[LINES];
    fetch_rows(x, top - 1, height, e, width, spans);

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
        for (int i = 0; i < VECTOR; ++i)
            results[i] = DIVISION ? finish_whole(sums[o][i], magic, most) : finish(sums[o][i], bias, divisor, offset);
        put(y + (long long)(top + o) * columns, e, columns, results);
    }
}
