// What:    3 x 3 mean filter of an image of bytes, 16 bytes by ROWS rows per thread, packed arithmetic
// Idea:    bytes are not unpacked one by one: the even bytes and the odd bytes of a word are two pairs of 16-bit
//          numbers, and one addition adds both numbers of a pair, since nine bytes sum to 12 bits; byte permutations
//          give the neighbours
// Shapes:  x, y (height, width, CHANNELS) interleaved, at addresses that are multiples of 16, CHANNELS 1 to 4; ALIGNED 1
//          where width * CHANNELS bytes are a multiple of 16
// Launch:  2D grid over (width * CHANNELS / 16, height / ROWS), any 2D block of at most THREADS; with
//          EXCHANGE blocks are whole warps wide, and a warp stores 31 vectors of a row
// Traffic: at least 1 byte read and 1 written per element; 2 of ROWS + 2 rows are also read by another thread (caches)
// Source:  S1, S4
#include "mean.cuh"

#define HALO CHANNELS
#define RAGGED !ALIGNED
#include "row_span.cuh"

constexpr int LINES = ROWS + 2;
static_assert(sizeof(T) == 1 && CHANNELS <= 4, "packed sums need bytes and at most 4 channels");

// Bytes 0 and 2 of a word, and bytes 1 and 3, each as a pair of 16-bit numbers: one instruction each.
__device__ __forceinline__ unsigned int even_bytes(unsigned int word) { return word & 0x00ff00ffu; }
__device__ __forceinline__ unsigned int odd_bytes(unsigned int word) { return __byte_perm(word, 0, 0x4341); }

// The upper number of one pair and the lower number of the next.
__device__ __forceinline__ unsigned int between(unsigned int low, unsigned int high)
{
    return __byte_perm(low, high, 0x5432);
}

// Sums of three neighbours, CHANNELS bytes apart, for the even and for the odd bytes of word k.
__device__ __forceinline__ void sum_along(
    const unsigned int (&even)[WORDS], const unsigned int (&odd)[WORDS], int k, unsigned int& evens, unsigned int& odds)
{
    if (CHANNELS == 1) {
        const unsigned int both = even[k] + odd[k];
        evens = between(odd[k - 1], odd[k]) + both;
        odds = both + between(even[k], even[k + 1]);
    } else if (CHANNELS == 2) {
        evens = between(even[k - 1], even[k]) + even[k] + between(even[k], even[k + 1]);
        odds = between(odd[k - 1], odd[k]) + odd[k] + between(odd[k], odd[k + 1]);
    } else if (CHANNELS == 3) {
        evens = odd[k - 1] + even[k] + between(odd[k], odd[k + 1]);
        odds = between(even[k - 1], even[k]) + odd[k] + even[k + 1];
    } else {
        evens = even[k - 1] + even[k] + even[k + 1];
        odds = odd[k - 1] + odd[k] + odd[k + 1];
    }
}

// A sum of nine bytes divided by nine, rounded half up, in byte 2 of the result: 7282 / 2^16 exceeds 1/9 by so little
// that no sum up to 9 * 255 gives too large a result.
__device__ __forceinline__ unsigned int ninth(unsigned int sum) { return sum * 7282 + 32768; }

// The means of two pairs of sums, packed as the four bytes of a word.
__device__ __forceinline__ unsigned int means_of(unsigned int evens, unsigned int odds)
{
    const unsigned int low = __byte_perm(ninth(evens & 0xffff), ninth(odds & 0xffff), 0x0062);
    const unsigned int high = __byte_perm(ninth(evens >> 16), ninth(odds >> 16), 0x0062);
    return __byte_perm(low, high, 0x5410);
}

// The bound limits the registers that the compiler may use per thread.
extern "C" __global__ void __launch_bounds__(THREADS) mean2d_packed(
    const T* __restrict__ x, T* __restrict__ y, int height, int width)
{
    const int columns = width * CHANNELS;
    const int e = vector_of(blockIdx.x * blockDim.x + threadIdx.x) * VECTOR;
    const int top = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    if ((!EXCHANGE && e >= columns) || top >= height) return;  // lanes that exchange words stay together

    Span spans[LINES];
    fetch_rows(x, top - 1, height, e, width, spans);

    // Vertical sums first, a whole word at a time: adding a row is one instruction per pair.
    #pragma unroll
    for (int o = 0; o < ROWS; ++o) {
        if (top + o >= height) return;
        unsigned int even[WORDS], odd[WORDS], word[4];
        #pragma unroll
        for (int k = 0; k < WORDS; ++k) {
            const unsigned int a = spans[o].word[k], b = spans[o + 1].word[k], c = spans[o + 2].word[k];
            even[k] = even_bytes(a) + even_bytes(b) + even_bytes(c);
            odd[k] = odd_bytes(a) + odd_bytes(b) + odd_bytes(c);
        }
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
            unsigned int evens, odds;
            sum_along(even, odd, SIDE + k, evens, odds);
            word[k] = means_of(evens, odds);
        }
        put_words(y + (long long)(top + o) * columns, e, columns, word);
    }
}
