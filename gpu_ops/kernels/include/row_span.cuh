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
#include "edge_pixels.cuh"
#include "unaligned_words.cuh"

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
    if (top >= 0 && top + COUNT <= height) {
        #pragma unroll
        for (int v = 0; v < COUNT; ++v) rows[v] = v ? rows[v - 1] + columns : x + (long long)top * columns;
        return;
    }
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

// The span at element e, which is inside an aligned row.
__device__ __forceinline__ void fetch_inside(const T* __restrict__ at, Span& span)
{
    four(at, span.word + SIDE);
    side(at - REACH, span.word);
    side(at + VECTOR, span.word + SIDE + 4);
}

// Replaces value `i` of the spans of COUNT rows; all values of a span are possible.
template <int COUNT>
__device__ __forceinline__ void replace(Span (&spans)[COUNT], int i, const T (&values)[COUNT])
{
    constexpr int BITS = 8 * sizeof(T);
    const int byte = (FIRST + i) * (int)sizeof(T);
    #pragma unroll
    for (int v = 0; v < COUNT; ++v) {
        unsigned int part[2] = {};
        pack(part, 0, values[v]);
        const unsigned int mask = BITS < 32 ? ((1u << BITS % 32) - 1) << 8 * (byte & 3) : 0xffffffffu;
        const unsigned int bits = BITS < 32 ? part[0] << 8 * (byte & 3) : part[0];
        #pragma unroll
        for (int k = 0; k < WORDS; ++k) {
            const unsigned int old = spans[v].word[k], other = BITS == 64 && k == byte / 4 + 1 ? part[1] : old;
            spans[v].word[k] = k == byte / 4 ? (old & ~mask) | bits : other;
        }
    }
}

// Whether the values beyond an edge are those of the pixel before it, or zeros, and there is one word of them.
constexpr bool BESIDE = BORDER != 3 && HALO == CHANNELS && SIDE == 1;

// Replaces the values of the spans at element e of COUNT rows that are beyond the edges, by BORDER. All are loaded at
// once, unless they are many.
template <int COUNT>
__device__ __forceinline__ void fill_edges(const T* const (&rows)[COUNT], int e, int width, Span (&spans)[COUNT])
{
    if constexpr (BESIDE) {
        copy_pixels<SIDE_BYTES>((REACH - e) * (int)sizeof(T), (REACH + width * CHANNELS - e) * (int)sizeof(T), spans);
        return;
    }
    constexpr int AT_ONCE = HALO <= 4 ? HALO : 1;
    #pragma unroll
    for (int right = 0; right < 2; ++right) {
        #pragma unroll AT_ONCE
        for (int j = 0; j < HALO; ++j) {
            const int column = right ? width + j / CHANNELS : j / CHANNELS - HALO / CHANNELS;
            const int i = column * CHANNELS + j % CHANNELS - e + HALO;
            if (i < 0 || i >= VALUES) continue;
            const int inside = border_index(column, width), index = inside * CHANNELS + j % CHANNELS;
            T values[COUNT];
            #pragma unroll
            for (int v = 0; v < COUNT; ++v) values[v] = inside < 0 || is_zero(rows[v]) ? (T)0 : rows[v][index];
            replace(spans, i, values);
        }
    }
}

// The spans at element e of COUNT aligned rows; rows[v] is where row v begins, see begins_of.
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
    if (RAGGED && e + VECTOR > columns) {
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
    if constexpr (!RAGGED && SIDE <= 4) { // sides are inside or outside as a whole
        fill_edges(rows, (int)e, (int)width, spans);
        return;
    }
    if (!left) gather<0, SIDE>(rows, e, width, spans);
    if (!right) gather<SIDE + 4, WORDS>(rows, e, width, spans);
}

__device__ constexpr int common_factor(int a, int b) { return b ? common_factor(b, a % b) : a; }

// The spans at element e of COUNT rows that are not aligned, from row `top` on.
template <int COUNT>
__device__ __forceinline__ void fetch_shifted(
    const T* __restrict__ x, int top, int height, int e, int width, Span (&spans)[COUNT])
{
    const int columns = width * CHANNELS;
    const bool edge = e < HALO || e + VECTOR + HALO > columns;
    #pragma unroll
    for (int v = 0; v < COUNT; ++v) spans[v] = Span{};
    if (e >= columns) return;
    const T* rows[COUNT];
    if ((long long)top * columns < REACH + VECTOR || (long long)(height - top - COUNT) * columns < BEYOND + VECTOR) {
        const End image(x, x + (long long)height * columns);
        begins_of(x, top, height, columns, rows);
        #pragma unroll
        for (int v = 0; v < COUNT; ++v)
            if (!is_zero(rows[v])) image.shifted(rows[v] + e - REACH, spans[v].word);
        if (edge) fill_edges(rows, e, width, spans);
        return;
    }
    // All vectors that contain a part of a span are inside the image, also at the edges of rows. Rows begin ROW_STEP bytes
    // later in their vectors than the previous ones, so the position of the first row is that of all: for each of its
    // values there is a branch, which shifts by constants.
    const T* const first = x + (long long)top * columns;
    constexpr int APART = ROW_STEP * (COUNT - 2 * (HALO / CHANNELS)) % 16, PHASES = 16 / common_factor(16, APART);
    const int phase = (size_t)(first + e - REACH) & 15;
    const unsigned char* const vectors = (const unsigned char*)(first + e - REACH) - phase;
    #pragma unroll
    for (int k = 0; k < PHASES; ++k) {
        const int known = (APART * k - ROW_STEP * (HALO / CHANNELS) - 4 * SIDE & 15);
        if (phase != known) continue;
        #pragma unroll
        for (int v = 0; v < COUNT; ++v) {
            const int own = (known + v * ROW_STEP) % 16;
            const long long at = (long long)v * columns * (int)sizeof(T) + known - own;
            shifted((const uint4*)(vectors + at), own, spans[v].word);
        }
    }
    if (!edge) return;
    #pragma unroll
    for (int v = 0; v < COUNT; ++v) rows[v] = first + (long long)v * columns;
    fill_edges(rows, e, width, spans);
}

// The spans at element e of COUNT rows of an image, from row `top` on; rows and values beyond an edge by BORDER.
template <int COUNT>
__device__ __forceinline__ void fetch_rows(
    const T* __restrict__ x, int top, int height, int e, int width, Span (&spans)[COUNT])
{
#if ALIGNED
    const T* rows[COUNT];
    begins_of(x, top, height, width * CHANNELS, rows);
    fetch(rows, e, width, spans);
#else
    fetch_shifted(x, top, height, e, width, spans);
#endif
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

// Stores VECTOR packed results from element e of a row on, only those inside the row.
template <typename Index>
__device__ __forceinline__ void put_words(T* __restrict__ row, Index e, Index columns, const unsigned int (&word)[4])
{
    if (EXCHANGE)
        put_exchanged<sizeof(T)>((unsigned char*)row, (int)e * (int)sizeof(T), (int)columns * (int)sizeof(T), word);
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
