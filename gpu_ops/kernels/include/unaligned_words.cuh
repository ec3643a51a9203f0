// Words at any address of an image, from the aligned vectors that contain them. Needs T, the type of samples.
#pragma once
#include "shifted_words.cuh"

// The vectors that contain so many words, at any position.
__device__ constexpr int vectors_of(int words) { return (16 - (int)sizeof(T) + 4 * words + 15) / 16; }

// COUNT words of a row, `phase` bytes after the first of the vectors that contain them. All are inside the image.
template <int COUNT>
__device__ __forceinline__ void shifted(const uint4* __restrict__ vectors, int phase, unsigned int (&to)[COUNT])
{
    unsigned int word[4 * vectors_of(COUNT)] = {};
    const int first = phase / 4, last = (phase + 4 * COUNT - 1) / 4;
    #pragma unroll
    for (int k = 0; k < vectors_of(COUNT); ++k) {
        const bool low = first <= 4 * k + 1 && last >= 4 * k, high = first <= 4 * k + 3 && last >= 4 * k + 2;
        if (low && high) {
            const uint4 four = vectors[k];
            word[4 * k] = four.x, word[4 * k + 1] = four.y, word[4 * k + 2] = four.z, word[4 * k + 3] = four.w;
        } else if (low || high) {
            const uint2 two = ((const uint2*)(vectors + k))[high];
            word[4 * k + 2 * high] = two.x, word[4 * k + 2 * high + 1] = two.y;
        }
    }
    take_words<sizeof(T)>(word, first, phase & 3, to);
}

// The end of an image: its last word, if only a part of it is inside, and where it is.
struct End {
    const T *x, *end;
    const unsigned int* at;
    unsigned int word;

    __device__ __forceinline__ End(const T* x, const T* end) : x(x), end(end), word(0)
    {
        const int bytes = (size_t)end & 3;
        const unsigned char* const from = (const unsigned char*)end - bytes;
        at = (const unsigned int*)from;
        #pragma unroll
        for (int i = 0; i < 3; ++i)
            if (sizeof(T) < 4 && i < bytes) word |= (unsigned int)from[i] << 8 * i;
    }

    // Words at any address from aligned vectors, zero where they are outside the image.
    template <int COUNT>
    __device__ __forceinline__ void shifted(const T* from, unsigned int (&to)[COUNT]) const
    {
        const int phase = (size_t)from & 15;
        const uint4* vectors = (const uint4*)((const unsigned char*)from - phase);
        unsigned int all[4 * vectors_of(COUNT)];
        #pragma unroll
        for (int k = 0; k < vectors_of(COUNT); ++k) {
            if (vectors + k >= (const uint4*)x && vectors + k + 1 <= (const uint4*)end) {
                const uint4 four = vectors[k];
                all[4 * k] = four.x, all[4 * k + 1] = four.y, all[4 * k + 2] = four.z, all[4 * k + 3] = four.w;
                continue;
            }
            #pragma unroll
            for (int i = 0; i < 4; ++i) {
                const unsigned int* const one = (const unsigned int*)(vectors + k) + i;
                const bool inside = one >= (const unsigned int*)x && one + 1 <= (const unsigned int*)end;
                all[4 * k + i] = inside ? *one : one == at ? word : 0;
            }
        }
        select_words<sizeof(T)>(all, phase, to);
    }
};
