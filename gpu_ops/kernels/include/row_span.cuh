// A thread's VECTOR neighbouring values of a row, 16 bytes, and a halo of HALO values on either side, in registers as
// words. Needs T, CHANNELS, BORDER (see border.cuh), HALO (radius * CHANNELS values), ALIGNED: 1 if rows start at
// multiples of 16 bytes, RAGGED: 1 if the last vector of a row may be incomplete, and EXCHANGE: 1 if rows are not aligned
// and blocks are whole warps wide. In aligned rows a thread loads its own vector with one access, and the halo with the
// fewest words: it loads its neighbours' words again instead of shuffling them, because they are in the L1 cache. In
// other rows it loads the aligned vectors that contain its values, and shifts them into position; with EXCHANGE the lanes
// of a warp shift their results as well, by words of the next lane, and store aligned vectors. The position of an element
// in a row is an Index: int, or long long for the single row of a signal.
#pragma once
#include "border.cuh"

constexpr int VECTOR = 16 / sizeof(T);
constexpr int SIDE_BYTES = HALO * sizeof(T);
constexpr int SIDE = SIDE_BYTES <= 4 ? 1 : SIDE_BYTES <= 8 ? 2 : (SIDE_BYTES + 15) / 16 * 4; // words on either side
constexpr int WORDS = 4 + 2 * SIDE;
constexpr int VALUES = VECTOR + 2 * HALO;
constexpr int REACH = SIDE * 4 / sizeof(T); // values in the words of a side
constexpr int FIRST = REACH - HALO;         // the first value that is used
// How far a row must extend beyond a thread's vector: the aligned vectors that contain the words on the right may end
// later. Those on the left begin inside the image, which is aligned.
constexpr int BEYOND = ALIGNED ? REACH : REACH + VECTOR - 1;

struct Span {
    unsigned int word[WORDS];
};

__device__ __forceinline__ void unpack(const unsigned int* word, int index, unsigned char& value)
{
    value = word[index / 4] >> index % 4 * 8;
}
__device__ __forceinline__ void unpack(const unsigned int* word, int index, unsigned short& value)
{
    value = word[index / 2] >> index % 2 * 16;
}
__device__ __forceinline__ void unpack(const unsigned int* word, int index, float& value)
{
    value = __uint_as_float(word[index]);
}
__device__ __forceinline__ void unpack(const unsigned int* word, int index, double& value)
{
    value = __hiloint2double(word[2 * index + 1], word[2 * index]);
}

// Inserts into words that are still zero.
__device__ __forceinline__ void pack(unsigned int* word, int index, unsigned char value)
{
    word[index / 4] |= (unsigned int)value << index % 4 * 8;
}
__device__ __forceinline__ void pack(unsigned int* word, int index, unsigned short value)
{
    word[index / 2] |= (unsigned int)value << index % 2 * 16;
}
__device__ __forceinline__ void pack(unsigned int* word, int index, float value)
{
    word[index] = __float_as_uint(value);
}
__device__ __forceinline__ void pack(unsigned int* word, int index, double value)
{
    word[2 * index] = __double2loint(value);
    word[2 * index + 1] = __double2hiint(value);
}

// Value i of a span: 0 to HALO - 1 come before the vector.
__device__ __forceinline__ T value_of(const Span& span, int i)
{
    T value;
    unpack(span.word, FIRST + i, value);
    return value;
}

// The start addresses of COUNT rows, from row `top` on; 0 for a row of zeros.
template <int COUNT>
__device__ __forceinline__ void begins_of(
    const T* __restrict__ x, int top, int height, int columns, const T* (&rows)[COUNT])
{
    #pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        const int r = border_index(top + v, height);
        rows[v] = r < 0 ? nullptr : x + (long long)r * columns;
    }
}

__device__ __forceinline__ bool is_zero(const T* row) { return BORDER == 0 && !row; }

// Four words of a span, from word `to` on.
__device__ __forceinline__ void four(const T* __restrict__ from, unsigned int* to)
{
    const uint4 words = *(const uint4*)from;
    to[0] = words.x, to[1] = words.y, to[2] = words.z, to[3] = words.w;
}

// SIDE words of a span, from word `to` on.
__device__ __forceinline__ void side(const T* __restrict__ from, unsigned int* to)
{
    if (SIDE == 1) {
        *to = *(const unsigned int*)from;
    } else if (SIDE == 2) {
        const uint2 two = *(const uint2*)from;
        to[0] = two.x, to[1] = two.y;
    } else {
        #pragma unroll
        for (int k = 0; k < SIDE; k += 4) four(from + k * 4 / (int)sizeof(T), to + k);
    }
}

// Moves words to the front: by two and by one word, as bits 3 and 2 of `bytes` say, and where elements are smaller than
// a word by bytes as well. The first COUNT words are right.
template <int COUNT, int ALL>
__device__ __forceinline__ void shift_words(unsigned int (&word)[ALL], int bytes)
{
    if (sizeof(T) < 16 && bytes & 8) {
        #pragma unroll
        for (int k = 0; k < ALL - 2; ++k) word[k] = word[k + 2];
    }
    if (sizeof(T) < 8 && bytes & 4) {
        #pragma unroll
        for (int k = 0; k < ALL - 1; ++k) word[k] = word[k + 1];
    }
    if (sizeof(T) < 4) {
        #pragma unroll
        for (int k = 0; k < COUNT; ++k) word[k] = __funnelshift_r(word[k], word[k + 1 < ALL ? k + 1 : k], 8 * (bytes & 3));
    }
}

// A whole span at any address, from the aligned vectors that contain it.
__device__ __forceinline__ void shifted(const T* __restrict__ from, unsigned int* to)
{
    constexpr int MOST = (16 - (int)sizeof(T) + 4 * WORDS + 15) / 16;
    const int phase = (size_t)from & 15;
    const uint4* vectors = (const uint4*)((const unsigned char*)from - phase);
    unsigned int word[4 * MOST];
    #pragma unroll
    for (int k = 0; k < MOST; ++k) {
        // Uniform across a warp, and for all vectors but the last always true.
        const uint4 four = phase + 4 * WORDS > 16 * k ? vectors[k] : make_uint4(0, 0, 0, 0);
        word[4 * k] = four.x, word[4 * k + 1] = four.y, word[4 * k + 2] = four.z, word[4 * k + 3] = four.w;
    }
    shift_words<WORDS>(word, phase);
    #pragma unroll
    for (int k = 0; k < WORDS; ++k) to[k] = word[k];
}

// `index` mapped into a row; it is at most REACH before the row or anywhere beyond. -1 for zero.
template <typename Index>
__device__ __forceinline__ Index index_of(Index index, Index width)
{
    constexpr int BEFORE = (REACH + CHANNELS - 1) / CHANNELS; // columns; with them the division rounds down
    const Index column = (index + BEFORE * CHANNELS) / CHANNELS - BEFORE;
    const Index inside = border_index(column, width);
    return inside < 0 ? -1 : inside * CHANNELS + (index - column * CHANNELS);
}

// Loads words `from` to `to` - 1 of the spans value by value, at any position; BORDER gives the values beyond an edge.
// The position of a value is the same in all rows, so it is computed once. The values of a word are in a loop: the few
// threads at the edges do not justify more code.
template <int from, int to, int COUNT, typename Index>
__device__ __forceinline__ void gather(const T* const (&rows)[COUNT], Index e, Index width, Span (&spans)[COUNT])
{
    constexpr int BITS = 8 * sizeof(T);
    #pragma unroll
    for (int first = from * 32 / BITS; first < to * 32 / BITS; first += BITS < 32 ? 32 / BITS : 1) {
        #pragma unroll 1
        for (int i = first; i < first + (BITS < 32 ? 32 / BITS : 1); ++i) {
            const Index index = index_of(e - REACH + i, width);
            #pragma unroll
            for (int v = 0; v < COUNT; ++v) {
                const T value = index < 0 || is_zero(rows[v]) ? (T)0 : rows[v][index];
                if constexpr (BITS < 32) {
                    unsigned int& word = spans[v].word[first * BITS / 32];
                    word = word >> BITS | (unsigned int)value << (32 - BITS);
                } else {
                    pack(spans[v].word, first, value);
                }
            }
        }
    }
}

// Whether the words of the span at element e are inside the row.
template <typename Index>
__device__ __forceinline__ bool is_inside(Index e, Index columns)
{
    return e >= REACH && e + VECTOR + BEYOND <= columns;
}

// The span at element e, which is inside the row.
__device__ __forceinline__ void fetch_inside(const T* __restrict__ at, Span& span)
{
    if (ALIGNED) {
        four(at, span.word + SIDE);
        side(at - REACH, span.word);
        side(at + VECTOR, span.word + SIDE + 4);
    } else {
        shifted(at - REACH, span.word);
    }
}

// The spans at element e of COUNT rows; rows[v] is where row v begins, see begins_of.
template <int COUNT, typename Index>
__device__ __forceinline__ void fetch(const T* const (&rows)[COUNT], Index e, Index width, Span (&spans)[COUNT])
{
    const Index columns = width * CHANNELS;
    #pragma unroll
    for (int v = 0; v < COUNT; ++v) spans[v] = Span{};
    if (is_inside(e, columns)) {
        #pragma unroll
        for (int v = 0; v < COUNT; ++v)
            if (!is_zero(rows[v])) fetch_inside(rows[v] + e, spans[v]);
        return;
    }
    if (!ALIGNED || (RAGGED && e + VECTOR > columns)) {
        gather<0, WORDS>(rows, e, width, spans);
        return;
    }
    const bool left = e >= REACH, right = e + VECTOR + REACH <= columns;
    #pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        if (is_zero(rows[v])) continue;
        four(rows[v] + e, spans[v].word + SIDE);
        if (left) side(rows[v] + e - REACH, spans[v].word);
        if (right) side(rows[v] + e + VECTOR, spans[v].word + SIDE + 4);
    }
    if (!left) gather<0, SIDE>(rows, e, width, spans);
    if (!right) gather<SIDE + 4, WORDS>(rows, e, width, spans);
}

// The number of the vector of thread t of a row. With EXCHANGE the last lane of a warp has the vector of the next warp's
// first lane: it only passes its words on.
__device__ __forceinline__ int vector_of(int t) { return EXCHANGE ? t - t / 32 : t; }

// Stores the first `count` of VECTOR packed elements one by one.
__device__ __forceinline__ void put_some(T* __restrict__ at, int count, const unsigned int (&word)[4])
{
    if constexpr (sizeof(T) >= 4) {
        #pragma unroll
        for (int i = 0; i < VECTOR; ++i)
            if (i < count) unpack(word, i, at[i]);
    } else {
        // In a loop: see gather.
        unsigned int rest[4] = {word[0], word[1], word[2], word[3]};
        #pragma unroll 1
        for (int i = 0; i < count && i < VECTOR; ++i) {
            unpack(rest, 0, at[i]);
            #pragma unroll
            for (int k = 0; k < 4; ++k) rest[k] = __funnelshift_r(rest[k], k < 3 ? rest[k + 1] : 0, 8 * sizeof(T));
        }
    }
}

// For all lanes of a warp: stores the aligned vectors of a row. Each begins `lead` elements after a lane's own, and
// ends in the next lane's.
template <typename Index>
__device__ __forceinline__ void put_exchanged(T* __restrict__ row, Index e, Index columns, const unsigned int (&word)[4])
{
    const int bytes = -(int)(size_t)row & 15, lead = bytes / (int)sizeof(T);
    unsigned int both[8];
    #pragma unroll
    for (int k = 0; k < 4; ++k) both[k] = word[k], both[k + 4] = __shfl_down_sync(0xffffffffu, word[k], 1);
    shift_words<4>(both, bytes);
    if (e == 0) put_some(row, min(lead, (int)columns), word);
    const Index begin = e + lead;
    if (threadIdx.x % 32 == 31 || begin >= columns) return;
    const unsigned int shifted[4] = {both[0], both[1], both[2], both[3]};
    if (begin + VECTOR <= columns)
        *(uint4*)(row + begin) = make_uint4(shifted[0], shifted[1], shifted[2], shifted[3]);
    else
        put_some(row + begin, (int)(columns - begin), shifted);
}

// Stores VECTOR packed results from element e of a row on, only those inside the row.
template <typename Index>
__device__ __forceinline__ void put_words(T* __restrict__ row, Index e, Index columns, const unsigned int (&word)[4])
{
    if (EXCHANGE)
        put_exchanged(row, e, columns, word);
    else if (ALIGNED && (!RAGGED || e + VECTOR <= columns))
        *(uint4*)(row + e) = make_uint4(word[0], word[1], word[2], word[3]);
    else
        put_some(row + e, (int)min(columns - e, (Index)VECTOR), word);
}

// Stores VECTOR results from element e on, only those inside the row.
template <typename Index>
__device__ __forceinline__ void put(T* __restrict__ row, Index e, Index columns, const T (&values)[VECTOR])
{
    unsigned int word[4] = {};
    #pragma unroll
    for (int i = 0; i < VECTOR; ++i) pack(word, i, values[i]);
    put_words(row, e, columns, word);
}
