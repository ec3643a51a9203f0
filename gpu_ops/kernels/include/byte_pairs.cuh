// Two rows of results of an image of bytes in rows that are not aligned, 16 bytes of each per thread, stored as aligned
// vectors without an exchange between lanes: a thread's second row begins where its vectors do, APART bytes later in the
// row than its first. Both are known at compile time, as are the positions of all rows in their vectors, because the
// first row of results is aligned. Needs HALO = CHANNELS and ROW_STEP, see row_span.cuh.
#pragma once
#include "byte_columns.cuh"

constexpr int APART = (16 - ROW_STEP + 8) % 16 - 8;
constexpr int LEFT = (HALO + (APART < 0 ? -APART : 0) + 3) / 4, RIGHT = (HALO + (APART > 0 ? APART : 0) + 3) / 4; // words
constexpr int PAIR_WORDS = LEFT + 4 + RIGHT;
constexpr int OUTSIDE = 64; // bytes by which a thread's vectors begin before a row, or end after it, at most

struct Row {
    unsigned int word[PAIR_WORDS];
};

// Where the vector of thread t begins in the row `top` of `columns` bytes; those of thread 0 begin at byte 0 of both
// rows or before.
__device__ __forceinline__ int begin_of(int t, int top, int columns)
{
    const int lead = -((unsigned int)top * columns) & 15;
    return 16 * t + lead - (APART > 0 && lead - 16 + APART > 0 ? 32 : 16);
}

// Replaces the pixels beyond the edges of the row, which are bytes `begin` and `end` of the words, by those of its other
// end, which are loaded.
__device__ __forceinline__ void wrap_pixels(
    const T* __restrict__ x, int top, int height, int columns, int begin, int end, Row (&rows)[4])
{
    const T* from[4];
    begins_of(x, top, height, columns, from);
    #pragma unroll 1
    for (int j = -HALO; j < HALO; ++j) {
        const int at = j < 0 ? begin + j : end + j, index = j < 0 ? columns + j : j;
        if (at < 0 || at >= 4 * PAIR_WORDS) continue;
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const unsigned int value = from[v][index];
            #pragma unroll
            for (int k = 0; k < PAIR_WORDS; ++k)
                if (k == at / 4) rows[v].word[k] = rows[v].word[k] & ~(255u << 8 * (at & 3)) | value << 8 * (at & 3);
        }
    }
}

// The rows from the one above `top` on, LEFT words before byte e to RIGHT words after its vector.
__device__ __forceinline__ void fetch_pair(
    const T* __restrict__ x, int top, int height, int e, int columns, Row (&rows)[4])
{
    const int from = e - 4 * LEFT;
    if (e + APART >= columns && e >= columns) return; // neither row has a byte here
    if ((top - 1ll) * columns >= OUTSIDE && (long long)(height - top - 3) * columns >= OUTSIDE) {
        const unsigned char* const first = x + (top - 1ll) * columns + from;
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int phase = (v - 1) * ROW_STEP - 4 * LEFT & 15;
            shifted((const uint4*)(first + (long long)v * columns - phase), phase, rows[v].word);
        }
    } else {
        const End image(x, x + (long long)height * columns);
        const T* begins[4];
        begins_of(x, top - 1, height, columns, begins);
        #pragma unroll
        for (int v = 0; v < 4; ++v) {
            rows[v] = Row{};
            if (!is_zero(begins[v])) image.shifted(begins[v] + from, rows[v].word);
        }
    }
    const int begin = -from, end = columns - from;
    if (begin <= 0 && end >= 4 * PAIR_WORDS) return;
    if (BORDER == 3) wrap_pixels(x, top - 1, height, columns, begin, end, rows);
    else copy_pixels<HALO>(begin, end, rows);
}

// Stores a vector that begins at byte e of a row, at an aligned address; only its bytes inside the row.
__device__ __forceinline__ void put_vector(T* __restrict__ row, int e, int columns, const unsigned int (&word)[4])
{
    unsigned char* const at = row + e;
    if (e >= 0 && e + 16 <= columns) *(uint4*)at = make_uint4(word[0], word[1], word[2], word[3]);
    else if (e >= 0) put_part<1, 0>(at, max(columns - e, 0), word);
    else if (e + 16 <= columns) put_part<1, 1>(at, max(e + 16, 0), word);
    else {
        #pragma unroll
        for (int i = 0; i < 16; ++i)
            if (e + i >= 0 && e + i < columns) at[i] = (unsigned char)(word[i / 4] >> 8 * (i % 4));
    }
}

// COUNT rows from `top` on: `results` gets the bytes of columns (see columns_of), the first that a row of results uses,
// and whether it is the first or the second of a pair, and makes its words.
template <int COUNT, typename Results>
__device__ __forceinline__ void each_pair(
    const T* __restrict__ x, T* __restrict__ y, int t, int top, int height, int columns, const Results& results)
{
    constexpr int PAIRS = (COUNT + 1) / 2;
    Row rows[PAIRS][4];
    #pragma unroll
    for (int i = 0; i < PAIRS; ++i)
        fetch_pair(x, top + 2 * i, height, begin_of(t, top + 2 * i, columns), columns, rows[i]);
    #pragma unroll
    for (int o = 0; o < COUNT; ++o) {
        if (top + o >= height) return;
        unsigned int column[4 * PAIR_WORDS], word[4];
        columns_of(rows[o / 2], 0, column);
        results(column, 4 * LEFT - HALO + o % 2 * APART, o % 2, word);
        const int e = begin_of(t, top + o / 2 * 2, columns) + o % 2 * APART;
        put_vector(y + (long long)(top + o) * columns, e, columns, word);
    }
}
