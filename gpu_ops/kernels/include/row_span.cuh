// A thread's VECTOR neighbouring values of a row, 16 bytes, and a halo of HALO values on either side, in registers as
// words. Needs T, CHANNELS, BORDER (see border.cuh), HALO (radius * CHANNELS values), ALIGNED: 1 if rows start at
// multiples of 16 bytes, and RAGGED: 1 if the last vector of a row may be incomplete. In aligned rows a thread loads
// its own vector with one access, and the halo with the fewest words: it loads its neighbours' words again instead of
// shuffling them, because they are in the L1 cache. In other rows it loads whole words, from the word in which its
// values start, and shifts them into position. The position of an element in a row is an Index: int, or long long for
// the single row of a signal.
#pragma once
#include "border.cuh"

constexpr int VECTOR = 16 / sizeof(T);
constexpr int SIDE_BYTES = HALO * sizeof(T);
constexpr int SIDE = SIDE_BYTES <= 4 ? 1 : SIDE_BYTES <= 8 ? 2 : (SIDE_BYTES + 15) / 16 * 4; // words on either side
constexpr int WORDS = 4 + 2 * SIDE;
constexpr int VALUES = VECTOR + 2 * HALO;
constexpr int REACH = SIDE * 4 / sizeof(T); // values in the words of a side
constexpr int FIRST = REACH - HALO;         // the first value that is used
// How far a row must extend beyond a thread's words: shifting needs one more word on either side.
constexpr int MARGIN = ALIGNED ? REACH : REACH + 4;

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

// A whole span at any address, each word from the two aligned words that it spans.
__device__ __forceinline__ void shifted(const T* __restrict__ from, unsigned int* to)
{
    const int phase = (size_t)from & 3;
    const unsigned int* words = (const unsigned int*)((const unsigned char*)from - phase);
    unsigned int low = words[0];
    #pragma unroll
    for (int k = 0; k < WORDS; ++k) {
        const unsigned int high = words[k + 1];
        to[k] = __funnelshift_r(low, high, 8 * phase);
        low = high;
    }
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
    return e >= MARGIN && e + VECTOR + MARGIN <= columns;
}

// The span at element e, which is inside the row.
__device__ __forceinline__ void fetch_inside(const T* __restrict__ at, Span& span)
{
    if (ALIGNED) {
        four(at, span.word + SIDE);
        side(at - REACH, span.word);
        side(at + VECTOR, span.word + SIDE + 4);
    } else if (sizeof(T) < 4) {
        shifted(at - REACH, span.word);
    } else {
        #pragma unroll
        for (int i = 0; i < VALUES; ++i) pack(span.word, FIRST + i, at[i - HALO]);
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

// Stores VECTOR packed results from element e of a row on, only those inside the row.
template <typename Index>
__device__ __forceinline__ void put_words(T* __restrict__ row, Index e, Index columns, const unsigned int (&word)[4])
{
    T* at = row + e;
    const int phase = sizeof(T) < 4 ? (size_t)at & 3 : 0;
    if (ALIGNED && (!RAGGED || e + VECTOR <= columns)) {
        *(uint4*)at = make_uint4(word[0], word[1], word[2], word[3]);
    } else if (sizeof(T) >= 4) {
        #pragma unroll
        for (int i = 0; i < VECTOR; ++i)
            if (e + i < columns) unpack(word, i, at[i]);
    } else if (RAGGED && e + VECTOR > columns) {
        // The last few values of a row are stored one by one, in a loop: see gather.
        unsigned int rest[4] = {word[0], word[1], word[2], word[3]};
        #pragma unroll 1
        for (int i = 0; e + i < columns; ++i) {
            unpack(rest, 0, at[i]);
            #pragma unroll
            for (int k = 0; k < 4; ++k) rest[k] = __funnelshift_r(rest[k], k < 3 ? rest[k + 1] : 0, 8 * sizeof(T));
        }
    } else if (phase == 0) {
        #pragma unroll
        for (int k = 0; k < 4; ++k) ((unsigned int*)at)[k] = word[k];
    } else {
        // Three whole words lie between the ends; other threads also write to the words at the ends.
        const int lead = 4 - phase;
        unsigned int* whole = (unsigned int*)((unsigned char*)at + lead);
        #pragma unroll
        for (int k = 0; k < 3; ++k) whole[k] = __funnelshift_r(word[k], word[k + 1], 8 * lead);
        #pragma unroll
        for (int i = 0; i < 4 / (int)sizeof(T); ++i) {
            const int end = i * (int)sizeof(T) < lead ? i : VECTOR - 4 / (int)sizeof(T) + i;
            const unsigned int half = i * (int)sizeof(T) < lead ? word[0] : word[3];
            unpack(&half, i, at[end]);
        }
    }
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
