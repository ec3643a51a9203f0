// The parts of the kernels that sum columns before rows, for integers: the running sums of columns in registers, a tile
// of them in shared memory, and the means of a tile. The including file has the loop.
//
// A block has COLUMNS = RUNS * RUN neighbouring values of a row, and ROWS rows at a time. In the first half of a step a
// thread has PER neighbouring columns, of eight bytes: it adds the row that enters their windows and subtracts the one
// that leaves, which is loaded a second time, as a rule from L2, and writes the sums of ROWS rows to the tile. In the
// second half a thread has RUN outputs of one row: it sums the first window of each channel from the tile, then slides.
//
// Sums of up to 257 bytes fit 16 bits, so a word has two: of four neighbouring columns, 0 and 2 in the first word, 1 and
// 3 in the second. Sums of 16-bit samples have a word each. T is the sample, GROUP the number of interleaved channels,
// and ALIGNED says that rows are whole words of eight bytes.
#pragma once
#include "border.cuh"
typedef SAMPLE T;

constexpr int WINDOW = 2 * RADIUS + 1, COUNT = WINDOW * WINDOW;
constexpr int REACH = RADIUS * GROUP, SPAN = WINDOW * GROUP; // values on each side of a window's centre; per window
constexpr int ROWS = 16, GROUPS = 24;             // GROUPS values begin and end with whole pixels and whole parts
constexpr int BYTES = sizeof(T), PER = 8 / BYTES; // samples of eight bytes; their sums are a part of the tile
constexpr int COLUMNS = RUNS * RUN, THREADS = ROWS * RUNS;
constexpr int LEAD = (PER - REACH % PER) % PER; // values before the first window, so that the tile starts at a part
constexpr int END = LEAD + SPAN;                // where the first window of a run ends
constexpr int PARTS = RUNS * (RUN / PER) + END / PER + 1;
constexpr int PITCH = (PARTS + 6) / 8 * 8 + 1; // parts from row to row: eight rows start in different banks
constexpr int ROUNDS = (PARTS + THREADS - 1) / THREADS;
constexpr int LOADS = ROUNDS > 1 ? 4 : 8; // rows in flight
static_assert(GROUPS % GROUP == 0 && RUN % GROUPS == 0, "runs of whole groups of whole pixels");

#if PACKED
static_assert(RADIUS <= 128, "the sum of a column of bytes fits 16 bits");
typedef unsigned int Total;
#define PAIRS 0
#include "ring_bytes.cuh"
#else
typedef TOTAL Total;
#endif

// The sums of PER columns.
struct __align__(16) Part {
    unsigned int v[4];

    __device__ __forceinline__ void add(uint2 in) { change<1>(in); }
    __device__ __forceinline__ void subtract(uint2 out) { change<-1>(out); }
    template <int TIMES> __device__ __forceinline__ void change(uint2 bytes)
    {
        constexpr int EVEN = PACKED ? 0x4240 : 0x4410, ODD = PACKED ? 0x4341 : 0x4432;
        v[0] += TIMES * __byte_perm(bytes.x, 0, EVEN), v[1] += TIMES * __byte_perm(bytes.x, 0, ODD);
        v[2] += TIMES * __byte_perm(bytes.y, 0, EVEN), v[3] += TIMES * __byte_perm(bytes.y, 0, ODD);
    }
};

struct Memory {
    Part sums[ROWS][PITCH];
    T means[ROWS][COLUMNS + PER];
};
static_assert(sizeof(Memory) == SHARED, "the plan and the kernel count shared memory differently");
extern __shared__ __align__(16) unsigned char bytes[]; // a Memory

// The block's part of the image.
struct Strip {
    const T* x;
    int height, width, values, left; // values: of a row; left: the first one of the tile, which may be outside
    bool plain;                      // whether no value beyond an edge is loaded
    const unsigned int* last;        // where whole words of the image end
    unsigned int tail;               // the bytes from there on

    __device__ __forceinline__ Strip(const T* x, int height, int width, int left)
        : x(x), height(height), width(width), values(width * GROUP), left(left), tail(0)
    {
        plain = values >= PER && (BORDER != 3 || (left >= 0 && left + PER * PARTS <= values));
        const unsigned char* end = (const unsigned char*)(x + (long long)height * values);
        last = (const unsigned int*)((size_t)end & ~(size_t)3);
        if (!ALIGNED)
            for (int c = 0; (const unsigned char*)last + c < end; ++c)
                tail |= (unsigned int)((const unsigned char*)last)[c] << 8 * c;
    }

    // The samples of row i for part q of the tile; of a row that is `none` or outside a zero border, zero. Where part q
    // is outside the image, it is filled later; a wrapped border is loaded, see `plain`.
    template <bool PLAIN> __device__ __forceinline__ uint2 load(int i, int q, bool none = false) const
    {
        const int inside = border_index(i, height), k = left + PER * q;
        const T* from = x + (long long)max(inside, 0) * values;
        const uint2 found = PLAIN ? at(from, k) : gathered(from, k);
        return none || (BORDER == 0 && inside < 0) ? uint2{0, 0} : found;
    }

    // Without branches, so that the loads of many rows are in flight at once.
    __device__ __forceinline__ uint2 at(const T* from, int k) const
    {
        const int inside = min(max(k, 0), values - PER);
        if (ALIGNED) return __ldg((const uint2*)(from + inside));
        // From the aligned words that contain the eight bytes; a part that ends outside the row has those before its end.
        const int phase = (size_t)(from + inside) & 3, beyond = 8 * BYTES * min(max(k - inside, 0), PER - 1);
        const unsigned int* words = (const unsigned int*)((const unsigned char*)(from + inside) - phase);
        const unsigned int first = __ldg(words), middle = __ldg(words + 1), third = words + 2 < last ? words[2] : tail;
        const unsigned int low = __funnelshift_r(first, middle, 8 * phase), high = __funnelshift_r(middle, third, 8 * phase);
        const unsigned long long both = ((unsigned long long)high << 32 | low) >> beyond;
        return {(unsigned int)both, (unsigned int)(both >> 32)};
    }

    __device__ __noinline__ uint2 gathered(const T* from, int k) const
    {
        constexpr int HALF = PER / 2;
        uint2 found = {0, 0};
        for (int c = 0; c < PER; ++c) {
            const int value = position(k + c);
            const unsigned int bits = value < 0 ? 0 : (unsigned int)from[value] << 8 * BYTES * (c % HALF);
            if (c < HALF) found.x |= bits; else found.y |= bits;
        }
        return found;
    }

    // The image's value for one that may be outside, or -1.
    __device__ __forceinline__ int position(int k) const
    {
        if (k >= 0 && k < values) return k;
        const int pixel = (k + REACH * GROUP + 8 * GROUP) / GROUP - REACH - 8, at = border_index(pixel, width);
        return at < 0 ? -1 : at * GROUP + k - pixel * GROUP;
    }
};

// The running sums of a thread's columns.
struct Columns {
    Part sums[ROUNDS];

    // The window of the row above `row`.
    template <bool PLAIN> __device__ __forceinline__ void begin(const Strip& strip, int row)
    {
        #pragma unroll
        for (int j = 0; j < ROUNDS; ++j) sums[j] = {};
        #pragma unroll 1
        for (int i = 0; i < WINDOW; i += LOADS) {
            uint2 in[LOADS][ROUNDS];
            #pragma unroll
            for (int m = 0; m < LOADS; ++m)
                #pragma unroll
                for (int j = 0; j < ROUNDS; ++j)
                    in[m][j] = strip.load<PLAIN>(row - 1 - RADIUS + i + m, part(j), i + m >= WINDOW);
            #pragma unroll
            for (int m = 0; m < LOADS; ++m)
                #pragma unroll
                for (int j = 0; j < ROUNDS; ++j) sums[j].add(in[m][j]);
        }
    }

    // The sums of ROWS rows of outputs from `row` on.
    template <bool PLAIN> __device__ __forceinline__ void step(const Strip& strip, Memory& memory, int row)
    {
        #pragma unroll 1
        for (int n = 0; n < ROWS; n += LOADS) {
            uint2 in[LOADS][ROUNDS], out[LOADS][ROUNDS];
            #pragma unroll
            for (int m = 0; m < LOADS; ++m)
                #pragma unroll
                for (int j = 0; j < ROUNDS; ++j) {
                    in[m][j] = strip.load<PLAIN>(row + n + m + RADIUS, part(j));
                    out[m][j] = strip.load<PLAIN>(row + n + m - RADIUS - 1, part(j));
                }
            #pragma unroll
            for (int m = 0; m < LOADS; ++m)
                #pragma unroll
                for (int j = 0; j < ROUNDS; ++j) {
                    sums[j].add(in[m][j]);
                    sums[j].subtract(out[m][j]);
                    if (part(j) < PARTS) memory.sums[n + m][part(j)] = sums[j];
                }
        }
    }

    __device__ __forceinline__ static int part(int round) { return threadIdx.x + THREADS * round; }
};

// The sum of value k in a row of the tile.
#if PACKED
__device__ __forceinline__ unsigned short& sum_of(Part* row, int k)
{
    return ((unsigned short*)row)[k / 4 * 4 + k % 2 * 2 + k / 2 % 2];
}
#else
__device__ __forceinline__ unsigned int& sum_of(Part* row, int k)
{
    return ((unsigned int*)row)[k];
}
#endif

// Fills the sums outside the image: they are those of columns inside, in the same row. A wrapped border has been loaded.
__device__ __forceinline__ void fill_border(const Strip& strip, Memory& memory)
{
    const int before = max(-strip.left, 0), end = min(strip.values - strip.left, PER * PARTS);
    const int outside = before + PER * PARTS - end;
    for (int i = threadIdx.x; i < ROWS * outside; i += THREADS) {
        const int n = i / ROWS, k = n < before ? n : end + n - before;
        const int from = strip.position(strip.left + k) - strip.left;
        Part* row = memory.sums[i % ROWS];
        // Windows of outputs do not reach the sums that have no source in the tile.
        sum_of(row, k) = from >= 0 && from < PER * PARTS && BORDER != 0 ? sum_of(row, from) : 0;
    }
}

// A window's mean in the low bits, from its sum, which starts at BEGIN.
#if PACKED
constexpr unsigned int BEGIN = ByteSum::BEGIN;
__device__ __forceinline__ unsigned int mean_of(unsigned int sum)
{
    return ByteSum::mean_of(sum);
}
#else
constexpr unsigned int BEGIN = 0;
__device__ __forceinline__ unsigned int mean_of(unsigned int sum)
{
    return (sum + COUNT / 2) / COUNT;
}

// Adding 2^52 rounds to an integer, the low bits of the double. Means are at least 1 / (2 * COUNT) > 2^-20 from the
// halves; the product's error is below 2^-35.
__device__ __forceinline__ unsigned int mean_of(unsigned long long sum)
{
    return __double2loint(fma((double)sum, 1.0 / COUNT, 4503599627370496.0));
}
#endif

// The sums of a window's values, by channel.
struct Sums {
    Total v[GROUP];

    // Adds value p of a group whose first window begins at LEAD.
    template <int TIMES> __device__ __forceinline__ void add(const Part* group, int p, int channel)
    {
#if PACKED
        const unsigned int word = group[p / 8].v[p % 8 / 4 * 2 + p % 2];
        v[channel] = p / 2 % 2 ? plus_half<1, TIMES>(v[channel], word) : plus_half<0, TIMES>(v[channel], word);
#else
        v[channel] += TIMES * (Total)group[p / 4].v[p % 4];
#endif
    }

    __device__ __forceinline__ void add_group(const Part* from, int begin, int end)
    {
        Part group[GROUPS / PER];
        #pragma unroll
        for (int k = 0; k < GROUPS / PER; ++k) group[k] = from[k];
        #pragma unroll
        for (int p = 0; p < GROUPS; ++p)
            if (p >= begin && p < end) add<1>(group, p, (p - LEAD + GROUPS) % GROUP);
    }

    // The first window of a run that begins at `from`.
    __device__ __forceinline__ void begin(const Part* from)
    {
        constexpr int WHOLE = END / GROUPS, REST = END % GROUPS;
        #pragma unroll
        for (int c = 0; c < GROUP; ++c) v[c] = BEGIN;
        add_group(from, LEAD, WHOLE ? GROUPS : REST);
        if (WHOLE > 1) add_groups(from + GROUPS / PER, WHOLE - 1);
        if (WHOLE && REST) add_group(from + WHOLE * GROUPS / PER, 0, REST);
    }

    // Adds `count` whole groups. Words of two sums are added as they are, modulo 2^32, and their upper halves once more;
    // the difference is the sum of their lower halves. Every sixth word has the same channels.
    __device__ __forceinline__ void add_groups(const Part* from, int count)
    {
        constexpr int KINDS = PACKED ? 6 : 12;
        Total whole[KINDS] = {}, upper[KINDS] = {};
        #pragma unroll 1
        for (int g = 0; g < count; ++g, from += GROUPS / PER) {
            #pragma unroll
            for (int w = 0; w < 4 * GROUPS / PER; ++w) {
                const unsigned int word = from[w / 4].v[w % 4];
                whole[w % KINDS] += word;
                if (PACKED) upper[w % KINDS] += word >> 16;
            }
        }
        #pragma unroll
        for (int w = 0; w < KINDS; ++w) {
            const int p = PACKED ? w / 2 * 4 + w % 2 : w; // the value in the lower half; two further is the upper one
            v[(p - LEAD + GROUPS) % GROUP] += whole[w] - (PACKED ? upper[w] << 16 : 0);
            if (PACKED) v[(p + 2 - LEAD + GROUPS) % GROUP] += upper[w];
        }
    }
};

// The low bytes of four words, or the low halves of two.
__device__ __forceinline__ unsigned int packed(const unsigned int* mean)
{
    if (!PACKED) return __byte_perm(mean[0], mean[1], 0x5410);
    return __byte_perm(__byte_perm(mean[0], mean[1], 0x0040), __byte_perm(mean[2], mean[3], 0x0040), 0x5410);
}

// The means of a thread's run: of row threadIdx.x % ROWS, so that the rows of eight lanes are in different banks.
__device__ __forceinline__ void means_of_run(Memory& memory)
{
    const int row = threadIdx.x % ROWS, run = threadIdx.x / ROWS;
    const Part* from = memory.sums[row] + run * (RUN / PER);
    uint2* to = (uint2*)(memory.means[row] + run * RUN);
    Sums sums;
    sums.begin(from);
    constexpr int N = GROUPS / PER + 1;
    Part leaving[N], entering[N];
    leaving[N - 1] = from[0], entering[N - 1] = from[END / PER];
    #pragma unroll 1
    for (int g = 0; g < RUN / GROUPS; ++g, from += GROUPS / PER, to += GROUPS / PER) {
        leaving[0] = leaving[N - 1], entering[0] = entering[N - 1];
        #pragma unroll
        for (int k = 1; k < N; ++k) leaving[k] = from[k], entering[k] = from[END / PER + k];
        #pragma unroll
        for (int o = 0; o < GROUPS; o += PER) {
            unsigned int mean[PER];
            #pragma unroll
            for (int p = o; p < o + PER; ++p) {
                mean[p - o] = mean_of(sums.v[p % GROUP]);
                sums.add<1>(entering, END % PER + p, p % GROUP);
                sums.add<-1>(leaving, LEAD + p, p % GROUP);
            }
            to[o / PER] = {packed(mean), packed(mean + PER / 2)};
        }
    }
}

// Stores the first `live` means of each of `count` rows; `to` is the first one in the image.
__device__ __forceinline__ void store(const Memory& memory, T* to, int pitch, int count, int live)
{
    const int lane = threadIdx.x % 32;
    for (int row = threadIdx.x / 32; row < count; row += THREADS / 32) {
        const unsigned char* from = (const unsigned char*)memory.means[row];
        unsigned char* line = (unsigned char*)(to + (long long)row * pitch);
        if (ALIGNED) {
            for (int i = lane; i < live / PER; i += 32) ((uint2*)line)[i] = ((const uint2*)from)[i];
            continue;
        }
        // Whole words of the image, shifted from the words of shared memory, and the bytes on both sides of them.
        const int all = live * BYTES, head = min(all, (int)(-(size_t)line & 3)), words = (all - head) / 4;
        for (int i = lane; i < words; i += 32) {
            const unsigned int* pair = (const unsigned int*)from + i;
            ((unsigned int*)(line + head))[i] = __funnelshift_r(pair[0], head ? pair[1] : 0, 8 * head);
        }
        const int byte = lane < head ? lane : lane + 4 * words;
        if (byte < all && lane < all - 4 * words) line[byte] = from[byte];
    }
}
