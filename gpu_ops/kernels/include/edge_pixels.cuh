// The pixels beyond the edges of a row, in registers. Needs BORDER, see border.cuh.
#pragma once

// Replaces the pixels of PIXEL bytes before byte `begin` and from byte `end` on of the words of COUNT rows by those beside
// them, or by zeros. These are in the same words, so nothing is loaded again: words are moved by a pixel, and the bytes
// beyond an edge are taken of the moved ones.
template <int PIXEL, typename Row, int COUNT>
__device__ __forceinline__ void copy_pixels(int begin, int end, Row (&rows)[COUNT])
{
    constexpr int WORDS_OF_ROW = sizeof(Row) / 4;
    #pragma unroll
    for (int k = 0; k < WORDS_OF_ROW; ++k) {
        const unsigned int inside = __funnelshift_lc(0, 0xffffffffu, 8 * max(begin - 4 * k, 0));
        #pragma unroll
        for (int v = 0; v < COUNT; ++v) {
            unsigned int* const word = rows[v].word + k;
            const unsigned int moved = __funnelshift_rc(*word, k + 1 < WORDS_OF_ROW ? word[1] : 0, 8 * PIXEL);
            *word = *word & inside | (BORDER ? moved & ~inside : 0);
        }
    }
    #pragma unroll
    for (int k = WORDS_OF_ROW - 1; k >= 0; --k) {
        const unsigned int beyond = __funnelshift_lc(0, 0xffffffffu, 8 * max(end - 4 * k, 0));
        #pragma unroll
        for (int v = 0; v < COUNT; ++v) {
            unsigned int* const word = rows[v].word + k;
            const unsigned int moved = __funnelshift_lc(k > 0 ? word[-1] : 0, *word, 8 * PIXEL);
            *word = *word & ~beyond | (BORDER ? moved & beyond : 0);
        }
    }
}
