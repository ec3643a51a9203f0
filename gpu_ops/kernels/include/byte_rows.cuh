// Rows of bytes of an image, from top to bottom: a thread has 16 neighbouring bytes of each row and CHANNELS bytes on
// either side, in six words, and the next two rows are on their way. A byte of each of four rows makes a word, for dot
// products. Needs CHANNELS (1 to 4), BORDER (as in border.cuh), ALIGNED: 1 if rows start at multiples of 16 bytes; of
// other rows a thread loads the aligned vectors that contain its bytes, and the lanes of a warp, which have the same row,
// exchange words of their results to store aligned vectors.
#pragma once

typedef unsigned char Byte;

constexpr int VECTOR = 16, WORDS = 6;
constexpr int RAW = ALIGNED ? WORDS : 12; // words that contain a thread's six
constexpr int FIRST = 4 - CHANNELS;       // the first byte of the words that is used

// The words of a row as loaded, `phase` bytes before the thread's first, and the pixels beyond both edges.
struct Line {
    unsigned int word[RAW], left, right;
    int phase;
};

// COUNT words from byte `bytes` of `word` on, 0 to 15. All lanes of a warp have the same position, so a branch moves
// whole words: selections would take two instructions each.
template <int COUNT, int ALL>
__device__ __forceinline__ void shift_words(const unsigned int (&word)[ALL], int bytes, unsigned int (&to)[COUNT])
{
    const auto take = [&](int first) {
        #pragma unroll
        for (int k = 0; k < COUNT; ++k) {
            const unsigned int high = first + k + 1 < ALL ? word[first + k + 1] : 0;
            to[k] = __funnelshift_r(word[first + k], high, 8 * (bytes & 3));
        }
    };
    switch (bytes / 4) {
    case 0: take(0); break;
    case 1: take(1); break;
    case 2: take(2); break;
    default: take(3);
    }
}

// Stores the first (HEAD 0) or the last (HEAD 1) `bytes` bytes of an aligned vector, in aligned pieces: at most one of
// each size.
template <int HEAD>
__device__ __forceinline__ void put_part(Byte* at, int bytes, const unsigned int (&word)[4])
{
    if (bytes & 8) *(uint2*)(at + 8 * HEAD) = HEAD ? make_uint2(word[2], word[3]) : make_uint2(word[0], word[1]);
    if (bytes & 4) {
        const int place = HEAD ? 16 - (bytes & 12) : bytes & 8;
        *(unsigned int*)(at + place) = HEAD ? (place == 4 ? word[1] : word[3]) : (place == 8 ? word[2] : word[0]);
    }
    if (bytes & 3) { // in one word: its first bytes, or its last
        const int place = HEAD ? 15 - (bytes & 12) : bytes & 12;
        unsigned int rest = place & 8 ? (place & 4 ? word[3] : word[2]) : (place & 4 ? word[1] : word[0]);
        if (HEAD) rest = rest >> 8 * (4 - (bytes & 3));
        Byte* to = at + (HEAD ? 16 - (bytes & 15) : place);
        if (HEAD && bytes & 1) *to++ = (Byte)rest, rest >>= 8;
        if (bytes & 2) *(unsigned short*)to = (unsigned short)rest, to += 2, rest >>= 16;
        if (!HEAD && bytes & 1) *to = (Byte)rest;
    }
}

// Position i, -1 to n or beyond, of n mapped to inside: one step beyond an edge by BORDER, further ones anywhere.
__device__ __forceinline__ int beside(int i, int n)
{
#if BORDER == 3
    i = i < 0 ? i + n : i >= n ? i - n : i;
#endif
    return min(max(i, 0), n - 1);
}

// A thread's bytes `e` to `e` + 15 of each row of an image. A thread beyond the end of a row has the last ones, and
// stores nothing.
struct ByteRows {
    const Byte* x;
    int height, columns, e, before, after; // bytes of a row: the first of 16, of four before them and of four after
    int left, right;                       // the first bytes of the pixels whose values are those beyond the edges
    int at_right;                          // the number of bytes up to the right edge
    bool edge;

    __device__ __forceinline__ ByteRows(const Byte* x, int at, int height, int width)
        : x(x), height(height), columns(width * CHANNELS), e(min(at, (columns - 1) / VECTOR * VECTOR)),
          before(max(e - 4, 0)), after(min(e + VECTOR, columns - 4)), left(beside(-1, width) * CHANNELS),
          right(beside(width, width) * CHANNELS), at_right(columns - e),
          edge(e == 0 || at_right < VECTOR + CHANNELS)
    {
    }

    // The pixel that begins at byte `at` of a row, in the lowest bytes.
    __device__ __forceinline__ unsigned int pixel(const Byte* row, int at) const
    {
        unsigned int word = 0;
        #pragma unroll
        for (int c = 0; c < CHANNELS; ++c) word |= (unsigned int)row[at + c] << 8 * c;
        return word;
    }

    // An aligned vector that contains a part of a row of the image; 0 outside the image, which may end within it.
    __device__ __forceinline__ uint4 inside(const Byte* vector) const
    {
        const Byte* const end = x + (long long)height * columns;
        if (vector >= x && vector + 16 <= end) return *(const uint4*)vector;
        unsigned int word[4] = {};
        #pragma unroll 1
        for (int i = 0; i < 15 && vector >= x && vector + i < end; ++i) {
            const unsigned int byte = (unsigned int)vector[i] << 8 * (i % 4);
            #pragma unroll
            for (int k = 0; k < 4; ++k) word[k] |= k == i / 4 ? byte : 0;
        }
        return make_uint4(word[0], word[1], word[2], word[3]);
    }

    __device__ __forceinline__ void put(Line& line, int k, const uint4& four) const
    {
        line.word[k] = four.x, line.word[k + 1] = four.y, line.word[k + 2] = four.z, line.word[k + 3] = four.w;
    }

    __device__ __forceinline__ void load(int at, Line& line) const
    {
        const int number = beside(at, height);
        const Byte* const row = x + (long long)number * columns;
#if ALIGNED
        line.word[0] = *(const unsigned int*)(row + before);
        put(line, 1, *(const uint4*)(row + e));
        line.word[5] = *(const unsigned int*)(row + after);
#else
        line.phase = (size_t)(row + e - 4) & 15;
        const Byte* const vectors = row + e - 4 - line.phase;
        // Of rows with neighbours on both sides all vectors are inside the image.
        if (number > 0 && number < height - 1 && columns >= 3 * VECTOR) {
            put(line, 0, *(const uint4*)vectors);
            put(line, 4, *(const uint4*)(vectors + 16));
            put(line, 8, line.phase > 8 ? *(const uint4*)(vectors + 32) : make_uint4(0, 0, 0, 0));
        } else {
            #pragma unroll
            for (int k = 0; k < 3; ++k) put(line, 4 * k, inside(vectors + 16 * k));
        }
#endif
        if (edge && BORDER != 0) line.left = pixel(row, left), line.right = pixel(row, right);
        if (BORDER == 0 && number != at) line = Line{};
    }

    // The words of a row, those beyond its edges included.
    __device__ __forceinline__ void words(const Line& line, unsigned int (&word)[WORDS]) const
    {
#if ALIGNED
        #pragma unroll
        for (int k = 0; k < WORDS; ++k) word[k] = line.word[k];
#else
        shift_words(line.word, line.phase, word);
#endif
        if (!edge) return;
        const unsigned int first = BORDER ? line.left : 0, last = BORDER ? line.right : 0;
        if (e == 0) word[0] = first << 8 * FIRST;
        if (at_right >= VECTOR + CHANNELS) return;
        const int byte = at_right + 4, shift = 8 * (byte & 3);
        const unsigned int mask = 0xffffffffu >> (32 - 8 * CHANNELS);
        const unsigned int low = last << shift, high = __funnelshift_l(last, 0, shift);
        const unsigned int low_mask = mask << shift, high_mask = __funnelshift_l(mask, 0, shift);
        #pragma unroll
        for (int k = 1; k < WORDS; ++k) {
            const unsigned int old = word[k], next = k == byte / 4 + 1 ? (old & ~high_mask) | high : old;
            word[k] = k == byte / 4 ? (old & ~low_mask) | low : next;
        }
    }
};

// The bytes of two rows in turn: two words for each.
struct Pair {
    unsigned int word[2 * WORDS];

    __device__ __forceinline__ void take(const ByteRows& rows, const Line (&lines)[2])
    {
        unsigned int a[WORDS], b[WORDS];
        rows.words(lines[0], a);
        rows.words(lines[1], b);
        #pragma unroll
        for (int k = 0; k < WORDS; ++k)
            word[2 * k] = __byte_perm(a[k], b[k], 0x5140), word[2 * k + 1] = __byte_perm(a[k], b[k], 0x7362);
    }
};

// Byte i of four rows in one word, the uppermost lowest.
__device__ __forceinline__ unsigned int column(const Pair& above, const Pair& below, int i)
{
    return __byte_perm(above.word[i / 2], below.word[i / 2], i % 2 ? 0x7632 : 0x5410);
}

// `sum` plus four products of unsigned bytes by signed bytes.
__device__ __forceinline__ int dot(unsigned int bytes, int by, int sum)
{
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(bytes), "r"(by), "r"(sum));
    return sum;
}

// The number of the vector of thread t of a row. Where lanes exchange words the last lane of a warp has the vector of
// the next warp's first lane: it only passes its words on.
__device__ __forceinline__ int vector_of(int t) { return ALIGNED ? t : t - t / 32; }

// Stores 16 results of a row, only those inside it. For all lanes of a warp where rows are not aligned: each aligned
// vector begins `lead` bytes after a lane's own and ends in the next lane's; the first lane of a row stores the bytes
// before its first vector as well.
__device__ __forceinline__ void put_row(Byte* row, int e, int columns, const unsigned int (&word)[4])
{
    if (ALIGNED) {
        *(uint4*)(row + e) = make_uint4(word[0], word[1], word[2], word[3]);
        return;
    }
    const int lead = -(int)(size_t)row & 15;
    unsigned int both[8], vector[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) both[k] = word[k], both[k + 4] = __shfl_down_sync(0xffffffffu, word[k], 1);
    shift_words(both, lead, vector);
    if (e == 0) {
        if (columns < VECTOR) {
            #pragma unroll
            for (int i = 0; i < VECTOR; ++i)
                if (i < columns) row[i] = word[i / 4] >> 8 * (i % 4);
            return;
        }
        const unsigned int own[8] = {0, 0, 0, 0, word[0], word[1], word[2], word[3]};
        unsigned int head[4];
        shift_words(own, lead, head);
        put_part<1>(row + lead - VECTOR, lead, head);
    }
    const int begin = e + lead;
    if (threadIdx.x % 32 == 31 || begin >= columns) return;
    if (begin + VECTOR <= columns)
        *(uint4*)(row + begin) = make_uint4(vector[0], vector[1], vector[2], vector[3]);
    else
        put_part<0>(row + begin, columns - begin, vector);
}
