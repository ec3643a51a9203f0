// Rows that do not start at multiples of 16 bytes: words at any position, and results as aligned vectors. SIZE is the
// size of an element in bytes; positions are multiples of it, so words of large elements are never divided.
#pragma once

// COUNT words, from word `first` of `word` on and moved by 0 to 3 bytes. Zeros follow the last word.
template <int SIZE, int COUNT, int ALL>
__device__ __forceinline__ void take_words(
    const unsigned int (&word)[ALL], int first, int bytes, unsigned int (&to)[COUNT])
{
    #pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        const unsigned int low = first + k < ALL ? word[first + k] : 0;
        const unsigned int high = first + k + 1 < ALL ? word[first + k + 1] : 0;
        to[k] = SIZE < 4 ? __funnelshift_r(low, high, 8 * bytes) : low;
    }
}

// COUNT words from byte `bytes` of `word` on, which is 0 to 15: selections move words by two and by one.
template <int SIZE, int COUNT, int ALL>
__device__ __forceinline__ void select_words(unsigned int (&word)[ALL], int bytes, unsigned int (&to)[COUNT])
{
    if (bytes & 8) {
        #pragma unroll
        for (int k = 0; k < ALL - 2; ++k) word[k] = word[k + 2];
    }
    if (SIZE < 8 && bytes & 4) {
        #pragma unroll
        for (int k = 0; k < ALL - 1; ++k) word[k] = word[k + 1];
    }
    take_words<SIZE>(word, 0, bytes & 3, to);
}

// The same where all lanes of a warp have the same position and all words have arrived: a branch costs less.
template <int SIZE, int COUNT, int ALL>
__device__ __forceinline__ void branch_words(const unsigned int (&word)[ALL], int bytes, unsigned int (&to)[COUNT])
{
    switch (bytes / 4) {
    case 0: take_words<SIZE>(word, 0, bytes & 3, to); break;
    case 1: take_words<SIZE>(word, 1, bytes & 3, to); break;
    case 2: take_words<SIZE>(word, 2, bytes & 3, to); break;
    default: take_words<SIZE>(word, 3, bytes & 3, to);
    }
}

// Stores the first (HEAD 0) or the last (HEAD 1) `bytes` bytes, 0 to 15, of an aligned vector, in aligned pieces: at
// most one of each size.
template <int SIZE, int HEAD>
__device__ __forceinline__ void put_part(unsigned char* at, int bytes, const unsigned int (&word)[4])
{
    if (bytes & 8) *(uint2*)(at + 8 * HEAD) = HEAD ? make_uint2(word[2], word[3]) : make_uint2(word[0], word[1]);
    if (SIZE < 8 && bytes & 4) {
        const int place = HEAD ? 16 - (bytes & 12) : bytes & 8;
        *(unsigned int*)(at + place) = HEAD ? (place == 4 ? word[1] : word[3]) : (place == 8 ? word[2] : word[0]);
    }
    if (SIZE < 4 && bytes & 3) { // in one word: its first bytes, or its last
        const int place = HEAD ? 15 - (bytes & 12) : bytes & 12;
        unsigned int rest = place & 8 ? (place & 4 ? word[3] : word[2]) : (place & 4 ? word[1] : word[0]);
        if (HEAD) rest = rest >> 8 * (4 - (bytes & 3));
        unsigned char* to = at + (HEAD ? 16 - bytes : place);
        if (HEAD && bytes & 1) *to++ = (unsigned char)rest, rest >>= 8;
        if (bytes & 2) *(unsigned short*)to = (unsigned short)rest, to += 2, rest >>= 16;
        if (!HEAD && bytes & 1) *to = (unsigned char)rest;
    }
}

// Stores all of a row that is shorter than a vector.
template <int SIZE>
__device__ __forceinline__ void put_short(unsigned char* row, int length, const unsigned int (&word)[4])
{
    constexpr int PIECE = SIZE < 4 ? SIZE : 4;
    #pragma unroll
    for (int at = 0; at < 16; at += PIECE) {
        if (at >= length) return;
        const unsigned int rest = word[at / 4] >> 8 * (at % 4);
        if (PIECE == 1) row[at] = (unsigned char)rest;
        else if (PIECE == 2) *(unsigned short*)(row + at) = (unsigned short)rest;
        else *(unsigned int*)(row + at) = rest;
    }
}

// For all lanes of a warp: stores the aligned vectors of a row of `length` bytes, of which a lane has 16 from byte
// `begin` on. Each vector begins `lead` bytes after a lane's own, and ends in the next lane's; the last lane only passes
// its words on. The first lane of a row stores the bytes before its first vector as well.
template <int SIZE>
__device__ __forceinline__ void put_exchanged(
    unsigned char* row, int begin, int length, const unsigned int (&word)[4])
{
    const int lead = -(int)(size_t)row & 15;
    unsigned int both[8], vector[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) both[k] = word[k], both[k + 4] = __shfl_down_sync(0xffffffffu, word[k], 1);
    branch_words<SIZE>(both, lead, vector);
    if (begin == 0) {
        if (length < 16) {
            put_short<SIZE>(row, length, word);
            return;
        }
        const unsigned int own[8] = {0, 0, 0, 0, word[0], word[1], word[2], word[3]};
        unsigned int head[4];
        branch_words<SIZE>(own, lead, head);
        put_part<SIZE, 1>(row + lead - 16, lead, head);
    }
    const int at = begin + lead;
    if (threadIdx.x % 32 == 31 || at >= length) return;
    if (at + 16 <= length)
        *(uint4*)(row + at) = make_uint4(vector[0], vector[1], vector[2], vector[3]);
    else
        put_part<SIZE, 0>(row + at, length - at, vector);
}
