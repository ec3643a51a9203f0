// The parts of the kernels that sum columns before rows, for integers: running sums of columns in registers, their sums
// along a row, and means. The including file has the loop.
//
// A thread has a chunk of VALUES neighbouring values of a row, of whole pixels. For every row it adds the values that
// enter the windows of its columns and subtracts those that leave, which are loaded a second time, as a rule from L2:
// no ring of rows takes shared memory, so strips are wide. It shares the sums of its columns. The sum of the square that
// ends before its chunk is that of the whole chunks in between, a difference of prefix sums by shuffles, and of the rest
// of another chunk; then the square slides over the thread's own columns, and those that leave are read from shared
// memory, SPAN values before. All is exact modulo 2^32.
//
// Chunks begin at multiples of VALUES in a row of the image, so beyond an edge there are whole chunks too, whose values
// are those of another chunk, maybe in another order. UNIT bytes are the least that are whole chunks and whole copies.
// The outputs of a chunk are REACH values before it; they are stored a row later, after all threads have put theirs into
// shared memory, as whole vectors of the image.
#pragma once
#include "border.cuh"
#include "copy_ahead.cuh"
typedef SAMPLE T;

constexpr int WINDOW = 2 * RADIUS + 1, COUNT = WINDOW * WINDOW;
constexpr int REACH = RADIUS * GROUP, SPAN = WINDOW * GROUP; // values on each side of a window's centre; per window
constexpr int BYTES = sizeof(T), PER_WORD = 4 / BYTES, WORDS = VALUES / PER_WORD, CHUNK = VALUES * BYTES;
constexpr int UNIT = CHUNK % 16 ? 2 * CHUNK : CHUNK, TOGETHER = UNIT / CHUNK; // chunks of a unit
constexpr int SUMS = PACKED ? VALUES / 2 : VALUES;     // words of a chunk's column sums
constexpr int PITCH = SUMS % 8 ? SUMS : SUMS + 4; // eight threads' sums begin in different banks
constexpr int WARPS = THREADS / 32, PARTS = 32 * CHUNK / 16, ROUNDS = (PARTS + 31) / 32; // copies of a warp's row
constexpr int PHASE = REACH % VALUES;              // values of a chunk's outputs that are outputs of the chunk before
constexpr int BACK = SPAN / VALUES, REST = SPAN % VALUES; // the left edge is BACK chunks and REST values before
constexpr int HALO = BACK + 1, SKEW = REACH / VALUES - HALO, BEFORE = HALO + (SKEW & (TOGETHER - 1));
constexpr int OUTPUTS = (THREADS - BEFORE - (PHASE > 0)) / TOGETHER * TOGETHER; // chunks of outputs
constexpr int SHIFT = PHASE * BYTES % 4, LEAD = PHASE * BYTES - SHIFT; // bytes to shift means, and before the first word
static_assert(VALUES % GROUP == 0 && VALUES % 8 == 0 && REST > 0 && OUTPUTS > 0, "chunks of whole pixels and words");
static_assert((STAGES & (STAGES - 1)) == 0, "the stage of a row is the remainder of a power of two");

struct Chunk {
    unsigned int v[WORDS];
};
struct __align__(GROUP > 2 ? 16 : 4 * GROUP) Bases {
    unsigned int v[GROUP > 2 ? 4 : GROUP];
};

struct Memory {
    uint4 rows[STAGES][WARPS][2][PARTS];      // entering and leaving samples of a warp
    unsigned int sums[2][THREADS][PITCH];      // of columns
    Bases edges[2][THREADS], totals[2][WARPS]; // by channel: sums from the warp's start to its chunks' edges; of all
    uint4 means[2][(CHUNK + 15) / 16 + THREADS * CHUNK / 16 + 1]; // of a row
};
static_assert(sizeof(Memory) == SHARED, "the plan and the kernel count shared memory differently");
extern __shared__ __align__(16) unsigned char bytes[]; // a Memory

#if PACKED
static_assert(RADIUS <= 128, "the sum of a column of bytes fits 16 bits");
#define PAIRS 0
#include "ring_bytes.cuh"

// The sums of a chunk's columns of bytes: of whole words, and of bytes 1 and 3; the rest is that of bytes 0 and 2.
struct Columns {
    unsigned int whole[WORDS], odd[WORDS];

    __device__ __forceinline__ void move(const Chunk& in, const Chunk& out)
    {
        #pragma unroll
        for (int k = 0; k < WORDS; ++k) {
            whole[k] += in.v[k] - out.v[k];
            odd[k] += __byte_perm(in.v[k], 0, 0x4341) - __byte_perm(out.v[k], 0, 0x4341);
        }
    }
    __device__ __forceinline__ void pack(unsigned int (&words)[SUMS]) const
    {
        #pragma unroll
        for (int k = 0; k < WORDS; ++k) words[2 * k] = whole[k] - (odd[k] << 8), words[2 * k + 1] = odd[k];
    }
    // A sum and TIMES that of column k.
    template <int TIMES> __device__ __forceinline__ static unsigned int plus(unsigned int sum, const unsigned int* words, int k)
    {
        const unsigned int word = words[k / 4 * 2 + k % 2];
        return k % 4 < 2 ? plus_half<0, TIMES>(sum, word) : plus_half<1, TIMES>(sum, word);
    }
};

constexpr unsigned int BEGIN = ByteSum::BEGIN;
// Four means.
template <bool BRIGHT> __device__ __forceinline__ unsigned int means_of(const unsigned int* sums)
{
    return __byte_perm(__byte_perm(ByteSum::mean_of(sums[0]), ByteSum::mean_of(sums[1]), 0x0040),
        __byte_perm(ByteSum::mean_of(sums[2]), ByteSum::mean_of(sums[3]), 0x0040), 0x5410);
}
#else
static_assert(RADIUS <= 128, "only the largest sums of squares of 16-bit values exceed a word");

// The sums of a chunk's columns of 16-bit values: of whole words and of their upper halves.
struct Columns {
    unsigned int whole[WORDS], upper[WORDS];

    __device__ __forceinline__ void move(const Chunk& in, const Chunk& out)
    {
        #pragma unroll
        for (int k = 0; k < WORDS; ++k) {
            whole[k] += in.v[k] - out.v[k];
            upper[k] += (in.v[k] >> 16) - (out.v[k] >> 16);
        }
    }
    __device__ __forceinline__ void pack(unsigned int (&words)[SUMS]) const
    {
        #pragma unroll
        for (int k = 0; k < WORDS; ++k) words[2 * k] = whole[k] - (upper[k] << 16), words[2 * k + 1] = upper[k];
    }
    template <int TIMES> __device__ __forceinline__ static unsigned int plus(unsigned int sum, const unsigned int* words, int k)
    {
        return sum + TIMES * words[k];
    }
};

constexpr unsigned int BEGIN = COUNT / 2; // rounds half up

// The mean of a sum, to which 2^32 must be added where it is small in spite of BRIGHT samples: a sum beyond 2^32 is less
// than 2^26 beyond.
template <bool BRIGHT> __device__ __forceinline__ unsigned int mean_of(unsigned int sum)
{
    constexpr unsigned long long WORD = 1ull << 32;
    const bool beyond = BRIGHT && sum < 1 << 26;
    return (sum + (beyond ? WORD % COUNT : 0)) / COUNT + (beyond ? WORD / COUNT : 0);
}
template <bool BRIGHT> __device__ __forceinline__ unsigned int means_of(const unsigned int* sums)
{
    return __byte_perm(mean_of<BRIGHT>(sums[0]), mean_of<BRIGHT>(sums[1]), 0x5410);
}
#endif

// Copies 16 bytes past the first-level cache, in which they would take the place of others for nothing.
__device__ __forceinline__ void copy_past(void* to, const void* from)
{
#if __CUDA_ARCH__ >= 800
    const unsigned int address = (unsigned int)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
#else
    copy_ahead<16>(to, from);
#endif
}

// A value that the compiler keeps in a register, because computing it again for every row takes more time.
__device__ __forceinline__ int kept(int value)
{
    asm volatile("mov.b32 %0, %0;" : "+r"(value));
    return value;
}

// The rows of a block: their copies to shared memory, rows ahead of their use, each warp for itself.
struct Rows {
    static constexpr int STAGE = sizeof(Memory::rows[0]), LEAVING = 16 * PARTS; // bytes
    const unsigned char* from[ROUNDS]; // the thread's vectors of a row in the image's first row, or 0: zeros
    int height, top, entering, pitch;  // top: the first row that enters; entering: how many do; pitch in bytes
    int own, to;                       // the thread's chunk and its first vector in a stage, in bytes
    int order;                         // of the pixels in its chunk: as there, reversed, only the first, only the last

    __device__ __forceinline__ Rows(Memory& memory, const T* image, int height, int width, int top, int first, int entering)
        : height(height), top(top), entering(entering), pitch(width * GROUP * BYTES)
    {
        constexpr int COPIES = UNIT / 16; // of a unit
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int units = pitch / UNIT, unit = floored(first + (int)threadIdx.x, TOGETHER);
        #pragma unroll
        for (int j = 0; j < ROUNDS; ++j) {
            const int part = first * CHUNK / 16 + warp * PARTS + lane + 32 * j, in = floored(part, COPIES);
            const int inside = border_index(in, units);
            from[j] = inside < 0 || lane + 32 * j >= PARTS
                ? nullptr : (const unsigned char*)image + inside * UNIT + (part - in * COPIES) * 16;
        }
        const bool outside = unit < 0 || unit >= units, mirrored = floored(unit, units) & 1;
        order = BORDER == 1 && mirrored ? 1 : BORDER == 2 && outside ? (unit < 0 ? 2 : 3) : 0;
        constexpr int OTHERS = TOGETHER - 1;
        const int chunk = order == 1 ? lane ^ OTHERS : order == 2 ? lane & ~OTHERS : order == 3 ? lane | OTHERS : lane;
        own = kept(2 * LEAVING * warp + CHUNK * chunk);
        to = kept(2 * LEAVING * warp + 16 * lane);
        if (BORDER == 0)
            for (int i = lane; i < 2 * PARTS * STAGES; i += 32) memory.rows[i / (2 * PARTS)][warp][0][i % (2 * PARTS)] = {};
        __syncwarp();
        #pragma unroll
        for (int i = 0; i < STAGES - 1; ++i) fetch(memory, i);
    }

    __device__ __forceinline__ static int floored(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

    __device__ __forceinline__ void fetch(Memory& memory, int i) const
    {
        if (i < entering) {
            unsigned char* stage = (unsigned char*)memory.rows + i % STAGES * STAGE + to;
            copy(stage, border_index(top + i, height));
            if (i >= WINDOW) copy(stage + LEAVING, border_index(top + i - WINDOW, height));
        }
        close_group();
    }

    __device__ __forceinline__ void copy(unsigned char* to, int row) const
    {
        if (BORDER == 0 && row < 0) return;
        #pragma unroll
        for (int j = 0; j < ROUNDS; ++j)
            if ((BORDER > 0 && 32 * (j + 1) <= PARTS) || from[j]) copy_past(to + 512 * j, from[j] + (long long)row * pitch);
    }

    // Waits for row i and begins to load a later one.
    __device__ __forceinline__ void next(Memory& memory, int i) const
    {
        wait_for_groups<STAGES - 2>();
        __syncwarp(); // all lanes have copied row i, and read the row before
        fetch(memory, i + STAGES - 1);
    }

    // The thread's chunk of the row that enters as number i, or of the one that leaves then.
    __device__ __forceinline__ Chunk chunk(const Memory& memory, int i, bool leaves) const
    {
        Chunk chunk = {};
        if (BORDER == 0 && border_index(top + i - (leaves ? WINDOW : 0), height) < 0) return chunk;
        const unsigned char* at = (const unsigned char*)memory.rows + i % STAGES * STAGE + own + (leaves ? LEAVING : 0);
        if (CHUNK % 16 == 0) {
            #pragma unroll
            for (int k = 0; k < WORDS; k += 4) *(uint4*)(chunk.v + k) = *(const uint4*)(at + 4 * k);
        } else {
            #pragma unroll
            for (int k = 0; k < WORDS; k += 2) *(uint2*)(chunk.v + k) = *(const uint2*)(at + 4 * k);
        }
        if (order) rearrange(chunk);
        return chunk;
    }

    // The pixels of a chunk outside the image.
    __device__ __forceinline__ void rearrange(Chunk& chunk) const
    {
        constexpr unsigned int MASK = BYTES == 1 ? 0xff : 0xffff;
        const Chunk found = chunk;
        #pragma unroll
        for (int k = 0; k < WORDS; ++k) {
            chunk.v[k] = 0;
            #pragma unroll
            for (int c = 0; c < PER_WORD; ++c) {
                const int value = k * PER_WORD + c, channel = value % GROUP;
                const int source = BORDER == 1 ? VALUES - GROUP - value + 2 * channel : order == 2 ? channel : VALUES - GROUP + channel;
                chunk.v[k] |= (found.v[source / PER_WORD] >> source % PER_WORD * 8 * BYTES & MASK) << c * 8 * BYTES;
            }
        }
    }
};

// The sum of a value and that of the lane `distance` before, if there is one: the shuffle itself says so.
__device__ __forceinline__ unsigned int plus_before(unsigned int value, int distance)
{
    unsigned int sum;
    asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %1, %2, 0, 0xffffffff; @p add.u32 %0, %0, %1; }"
        : "=&r"(sum) : "r"(value), "r"(distance));
    return sum;
}

// Four words of shared memory.
__device__ __forceinline__ void four(const unsigned int* from, unsigned int* to)
{
    const uint4 words = *(const uint4*)from;
    to[0] = words.x, to[1] = words.y, to[2] = words.z, to[3] = words.w;
}

// The sums along a row.
struct Squares {
    unsigned int own[SUMS], before[GROUP]; // of the thread's columns; of the chunks before in the warp

    // Shares the columns with the block.
    __device__ __forceinline__ void share(const Columns& columns, Memory& memory, int buffer)
    {
        columns.pack(own);
        unsigned int* to = memory.sums[buffer][threadIdx.x];
        #pragma unroll
        for (int k = 0; k < SUMS; k += 4) *(uint4*)(to + k) = make_uint4(own[k], own[k + 1], own[k + 2], own[k + 3]);
        unsigned int sums[GROUP] = {};
        Bases edge = {}, all = {};
        #pragma unroll
        for (int k = 0; k < VALUES; ++k) {
            sums[k % GROUP] = Columns::plus<1>(sums[k % GROUP], own, k);
            if (k < VALUES - REST) edge.v[k % GROUP] = sums[k % GROUP];
        }
        #pragma unroll
        for (int c = 0; c < GROUP; ++c) {
            unsigned int sum = sums[c];
            #pragma unroll
            for (int d = 1; d < 32; d *= 2) sum = plus_before(sum, d);
            all.v[c] = sum;
            before[c] = sum - sums[c];
            edge.v[c] += before[c];
        }
        memory.edges[buffer][threadIdx.x] = edge;
        if (threadIdx.x % 32 == 31) memory.totals[buffer][threadIdx.x / 32] = all;
    }

    // The sums of the squares whose right edges are the chunk's columns: the one before them, then slid.
    __device__ __forceinline__ void slide(const Memory& memory, int buffer, unsigned int (&squares)[VALUES]) const
    {
        constexpr int MOST = (HALO + 31) / 32, SPLIT = VALUES - REST, EACH = 4 * VALUES / SUMS; // values of four words
        const int warp = threadIdx.x / 32, chunk = (int)threadIdx.x - HALO;
        const Bases edge = memory.edges[buffer][chunk];
        unsigned int sums[GROUP];
        #pragma unroll
        for (int c = 0; c < GROUP; ++c) sums[c] = before[c] - edge.v[c] + BEGIN;
        #pragma unroll
        for (int m = 1; m <= MOST; ++m) { // warps between
            if (warp < m || chunk >= 32 * (warp - m + 1)) continue;
            const Bases total = memory.totals[buffer][warp - m];
            #pragma unroll
            for (int c = 0; c < GROUP; ++c) sums[c] += total.v[c];
        }
        // Columns leave from SPLIT of one chunk on, then from the next one.
        unsigned int first[SUMS], second[SUMS];
        #pragma unroll
        for (int k = 0; k < VALUES; k += EACH) {
            if (k + EACH > SPLIT) four(memory.sums[buffer][chunk] + k * SUMS / VALUES, first + k * SUMS / VALUES);
            if (k < SPLIT) four(memory.sums[buffer][chunk + 1] + k * SUMS / VALUES, second + k * SUMS / VALUES);
        }
        #pragma unroll
        for (int k = 0; k < VALUES; ++k) {
            unsigned int& sum = sums[k % GROUP];
            sum = Columns::plus<1>(sum, own, k);
            squares[k] = sum = k < REST ? Columns::plus<-1>(sum, first, k + SPLIT) : Columns::plus<-1>(sum, second, k - REST);
        }
    }
};

// Whether 16-bit values are large: of the eight columns before the thread's, which all its squares contain. Where sums may
// exceed a word, a square whose sum does, or could be mistaken for such a one, has almost the same mean as these columns.
__device__ __forceinline__ bool is_bright(const Memory& memory, int buffer)
{
    constexpr int SOME = 8;
    if (PACKED || COUNT < 1 << 16) return false;
    unsigned int columns[SOME], sum = 0;
    #pragma unroll
    for (int k = 0; k < SOME; k += 4) four(memory.sums[buffer][threadIdx.x - 1] + SUMS - SOME + k, columns + k);
    #pragma unroll
    for (int k = 0; k < SOME; ++k) sum += columns[k];
    return sum > SOME * WINDOW * 0xa000u;
}

// Puts a chunk of means where they are in the row of the block, LEAD bytes earlier.
__device__ __forceinline__ void put(Memory& memory, int buffer, const unsigned int (&sums)[VALUES])
{
    constexpr int OFFSET = (CHUNK + 15) / 16 * 16 - LEAD, ALIGN = OFFSET | CHUNK;
    unsigned char* to = (unsigned char*)memory.means[buffer] + OFFSET + ((int)threadIdx.x - BEFORE) * CHUNK;
    unsigned int word[WORDS];
    if (is_bright(memory, buffer)) {
        #pragma unroll
        for (int k = 0; k < WORDS; ++k) word[k] = means_of<true>(sums + k * PER_WORD);
    } else {
        #pragma unroll
        for (int k = 0; k < WORDS; ++k) word[k] = means_of<false>(sums + k * PER_WORD);
    }
    #pragma unroll
    for (int k = 0; k < WORDS; k += 4) {
        if (ALIGN % 16 == 0) {
            *(uint4*)(to + 4 * k) = make_uint4(word[k], word[k + 1], word[k + 2], word[k + 3]);
        } else {
            #pragma unroll
            for (int m = k; m < (k + 4 < WORDS ? k + 4 : WORDS); m += 2)
                if (ALIGN % 8 == 0) *(uint2*)(to + 4 * m) = make_uint2(word[m], word[m + 1]);
                else *(unsigned int*)(to + 4 * m) = word[m], *(unsigned int*)(to + 4 * m + 4) = word[m + 1];
        }
    }
}

// Stores the first `live` bytes of a row of means.
__device__ __forceinline__ void store(const Memory& memory, int buffer, unsigned char* to, int live)
{
    constexpr int ALL = OUTPUTS * CHUNK / 16;
    const uint4* from = memory.means[buffer] + (CHUNK + 15) / 16 + threadIdx.x;
    to += 16 * threadIdx.x;
    #pragma unroll
    for (int i = 0; i < ALL; i += THREADS) {
        if (16 * (i + (int)threadIdx.x) >= live) break;
        uint4 v = from[i];
        if (SHIFT) {
            const unsigned int more = from[i + 1].x;
            v.x = __funnelshift_r(v.x, v.y, 8 * SHIFT), v.y = __funnelshift_r(v.y, v.z, 8 * SHIFT);
            v.z = __funnelshift_r(v.z, v.w, 8 * SHIFT), v.w = __funnelshift_r(v.w, more, 8 * SHIFT);
        }
        *(uint4*)(to + 16 * i) = v;
    }
}
