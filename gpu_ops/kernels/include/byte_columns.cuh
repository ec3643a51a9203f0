// Bytes of spans (row_span.cuh) column by column: a byte of each of four rows makes a word, for dot products. It serves
// two rows of results, each with weights that leave one of the four out, and as many columns as use it.
#pragma once
#include "row_span.cuh"

// The bytes of the words of rows `o` to `o` + 3 of COUNT, the uppermost lowest. Rows beyond the last are zero.
template <typename Rows, int COUNT, int ALL>
__device__ __forceinline__ void columns_of(const Rows (&spans)[COUNT], int o, unsigned int (&column)[ALL])
{
    #pragma unroll
    for (int k = 0; k < ALL / 4; ++k) {
        const unsigned int a = spans[o].word[k], b = spans[o + 1].word[k], c = spans[o + 2].word[k];
        const unsigned int d = o + 3 < COUNT ? spans[o + 3 < COUNT ? o + 3 : o].word[k] : 0;
        // The first two bytes of two rows in turn, then the last two.
        const unsigned int above[2] = {__byte_perm(a, b, 0x5140), __byte_perm(a, b, 0x7362)};
        const unsigned int below[2] = {__byte_perm(c, d, 0x5140), __byte_perm(c, d, 0x7362)};
        #pragma unroll
        for (int i = 0; i < 4; ++i)
            column[4 * k + i] = __byte_perm(above[i / 2], below[i / 2], i % 2 ? 0x7632 : 0x5410);
    }
}

// `sum` plus four products of unsigned bytes by signed bytes.
__device__ __forceinline__ int dot(unsigned int bytes, int by, int sum)
{
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(bytes), "r"(by), "r"(sum));
    return sum;
}
