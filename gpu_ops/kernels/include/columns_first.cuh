// The parts of the kernels that sum columns before rows, for bytes: the running sums of columns in registers, a tile of
// them in shared memory, and the means of a tile. The including file has the loop.
//
// A block has COLUMNS = RUNS * RUN neighbouring values of a row, and ROWS rows at a time. In the first half of a step a
// thread has eight neighbouring columns: it adds the row that enters their windows and subtracts the one that leaves,
// which is loaded a second time, as a rule from L2, and writes the sums of ROWS rows to the tile. In the second half a
// thread has RUN outputs of one row: it sums the first window of each channel from the tile, then slides.
//
// Sums of up to 257 bytes fit 16 bits, so a word has two: of four neighbouring columns, 0 and 2 in the first word, 1 and
// 3 in the second. GROUP is the number of interleaved channels, ALIGNED says that rows are whole words of eight bytes.
#pragma once
#include "border.cuh"
typedef unsigned char T;
#define PAIRS 0

constexpr int WINDOW = 2 * RADIUS + 1, COUNT = WINDOW * WINDOW;
constexpr int REACH = RADIUS * GROUP, SPAN = WINDOW * GROUP; // values on each side of a window's centre; per window
constexpr int ROWS = 16, RUN = 96, GROUPS = 24;              // GROUPS values begin and end with whole pixels and octets
constexpr int COLUMNS = RUNS * RUN, THREADS = ROWS * RUNS;
constexpr int LEAD = (8 - REACH % 8) % 8; // values before the first window, so that the tile starts at an octet
constexpr int END = LEAD + SPAN;          // where the first window of a run ends
constexpr int OCTETS = (RUNS - 1) * (RUN / 8) + END / 8 + RUN / 8 + 1;
constexpr int PITCH = (OCTETS + 6) / 8 * 8 + 1; // octets from row to row: eight rows start in different banks
constexpr int ROUNDS = (OCTETS + THREADS - 1) / THREADS;
constexpr int LOADS = 4; // rows in flight
static_assert(GROUPS % GROUP == 0 && RADIUS <= 128, "whole pixels; the sum of a column fits 16 bits");

#include "ring_bytes.cuh"

// The sums of eight columns, or eight bytes of a row.
struct __align__(16) Octet {
    unsigned int v[4];

    __device__ __forceinline__ void add(uint2 in) { change<1>(in); }
    __device__ __forceinline__ void subtract(uint2 out) { change<-1>(out); }
    template <int TIMES> __device__ __forceinline__ void change(uint2 bytes)
    {
        v[0] += TIMES * __byte_perm(bytes.x, 0, 0x4240), v[1] += TIMES * __byte_perm(bytes.x, 0, 0x4341);
        v[2] += TIMES * __byte_perm(bytes.y, 0, 0x4240), v[3] += TIMES * __byte_perm(bytes.y, 0, 0x4341);
    }
};

struct Memory {
    Octet sums[ROWS][PITCH];
    unsigned char means[ROWS][COLUMNS + 8];
};
static_assert(sizeof(Memory) == SHARED, "the plan and the kernel count shared memory differently");
extern __shared__ __align__(16) unsigned char bytes[]; // a Memory

// The block's part of the image.
struct Strip {
    const T* x;
    int height, width, values, left; // values: of a row; left: the first one of the tile, which may be outside
    long long pitch;                 // as values

    __device__ __forceinline__ const T* row(int i) const
    {
        const int inside = border_index(i, height);
        return inside < 0 ? nullptr : x + inside * pitch;
    }

    // Bytes of row `from` for octet q; zero where it is outside the image, except that a wrapped border has its values.
    __device__ __forceinline__ uint2 load(const T* from, int q) const
    {
        const int k = left + 8 * q;
        if (!from) return {0, 0};
        if (k >= 0 && k + 8 <= values) return inside(from, k);
        if (BORDER == 3) return gathered(from, k);
        if (ALIGNED || k < 0 || k >= values) return {0, 0};
        if (values < 8) return gathered(from, k);
        const uint2 last = inside(from, values - 8); // its end is that of the row
        const int beyond = 8 * (k + 8 - values);
        const unsigned long long shifted = ((unsigned long long)last.y << 32 | last.x) >> beyond;
        return {(unsigned int)shifted, (unsigned int)(shifted >> 32)};
    }

    __device__ __forceinline__ uint2 inside(const T* from, int k) const
    {
        if (ALIGNED) return __ldg((const uint2*)(from + k));
        // From the aligned words that contain the eight bytes; at the image's end, the last one may reach beyond it.
        const int phase = (size_t)(from + k) & 3;
        const unsigned int* words = (const unsigned int*)(from + k - phase);
        if ((const T*)(words + 3) > x + height * pitch) return gathered(from, k);
        const unsigned int middle = __ldg(words + 1);
        return {__funnelshift_r(__ldg(words), middle, 8 * phase), __funnelshift_r(middle, __ldg(words + 2), 8 * phase)};
    }

    __device__ __forceinline__ uint2 gathered(const T* from, int k) const
    {
        uint2 found = {0, 0};
        for (int c = 0; c < 8; ++c) {
            const int value = position(k + c, BORDER == 3);
            const unsigned int byte = value < 0 ? 0 : (unsigned int)from[value] << 8 * (c & 3);
            if (c < 4) found.x |= byte; else found.y |= byte;
        }
        return found;
    }

    // The image's value for one that may be outside, or -1.
    __device__ __forceinline__ int position(int k, bool beyond) const
    {
        if (k >= 0 && k < values) return k;
        if (!beyond) return -1;
        const int pixel = (k + REACH * GROUP + 8 * GROUP) / GROUP - REACH - 8, at = border_index(pixel, width);
        return at < 0 ? -1 : at * GROUP + k - pixel * GROUP;
    }
};

// The running sums of a thread's columns.
struct Columns {
    Octet sums[ROUNDS];

    // The rows before the first output's lowest one.
    __device__ __forceinline__ void begin(const Strip& strip, int row)
    {
        #pragma unroll
        for (int j = 0; j < ROUNDS; ++j) sums[j] = {};
        #pragma unroll 1
        for (int i = 0; i < 2 * RADIUS; i += 2 * LOADS) {
            uint2 in[2 * LOADS][ROUNDS];
            #pragma unroll
            for (int m = 0; m < 2 * LOADS; ++m)
                load(strip, i + m < 2 * RADIUS ? strip.row(row - RADIUS + i + m) : nullptr, in[m]);
            #pragma unroll
            for (int m = 0; m < 2 * LOADS; ++m)
                #pragma unroll
                for (int j = 0; j < ROUNDS; ++j) sums[j].add(in[m][j]);
        }
    }

    __device__ __forceinline__ void load(const Strip& strip, const T* from, uint2 (&found)[ROUNDS]) const
    {
        #pragma unroll
        for (int j = 0; j < ROUNDS; ++j) {
            const int q = threadIdx.x + THREADS * j;
            found[j] = q < OCTETS ? strip.load(from, q) : uint2{0, 0};
        }
    }

    // The sums of ROWS rows of outputs from `row` on; no row leaves the first window of all.
    __device__ __forceinline__ void step(const Strip& strip, Memory& memory, int row, bool first)
    {
        #pragma unroll 1
        for (int n = 0; n < ROWS; n += LOADS) {
            uint2 in[LOADS][ROUNDS], out[LOADS][ROUNDS];
            #pragma unroll
            for (int m = 0; m < LOADS; ++m) {
                const int i = row + n + m;
                load(strip, strip.row(i + RADIUS), in[m]);
                load(strip, first && n + m == 0 ? nullptr : strip.row(i - RADIUS - 1), out[m]);
            }
            #pragma unroll
            for (int m = 0; m < LOADS; ++m)
                #pragma unroll
                for (int j = 0; j < ROUNDS; ++j) {
                    const int q = threadIdx.x + THREADS * j;
                    sums[j].add(in[m][j]);
                    sums[j].subtract(out[m][j]);
                    if (q < OCTETS) memory.sums[n + m][q] = sums[j];
                }
        }
    }
};

// The half word of value k in a row of the tile.
__device__ __forceinline__ unsigned short& half_of(Octet* row, int k)
{
    return ((unsigned short*)row)[k / 4 * 4 + k % 2 * 2 + k / 2 % 2];
}

// Fills the sums outside the image: they are those of columns inside, in the same row. A wrapped border has been loaded.
__device__ __forceinline__ void fill_border(const Strip& strip, Memory& memory)
{
    const int before = max(-strip.left, 0), end = min(strip.values - strip.left, 8 * OCTETS);
    const int outside = before + 8 * OCTETS - end;
    for (int i = threadIdx.x; i < ROWS * outside; i += THREADS) {
        const int n = i / ROWS, k = n < before ? n : end + n - before;
        const int from = strip.position(strip.left + k, true) - strip.left;
        Octet* row = memory.sums[i % ROWS];
        // Windows of outputs do not reach the sums that have no source in the tile.
        half_of(row, k) = from >= 0 && from < 8 * OCTETS && BORDER != 0 ? half_of(row, from) : 0;
    }
}

// The sums of a window's values, by channel.
struct Sums {
    unsigned int v[GROUP];

    // Adds value p of a group whose first window begins at LEAD.
    template <int TIMES> __device__ __forceinline__ void add(const Octet* group, int p, int channel)
    {
        const unsigned int word = group[p / 8].v[p % 8 / 4 * 2 + p % 2];
        v[channel] = p / 2 % 2 ? plus_half<1, TIMES>(v[channel], word) : plus_half<0, TIMES>(v[channel], word);
    }

    __device__ __forceinline__ void add_group(const Octet* from, int begin, int end)
    {
        Octet group[GROUPS / 8];
        #pragma unroll
        for (int k = 0; k < GROUPS / 8; ++k) group[k] = from[k];
        #pragma unroll
        for (int p = 0; p < GROUPS; ++p)
            if (p >= begin && p < end) add<1>(group, p, (p - LEAD + GROUPS) % GROUP);
    }

    // The first window of a run that begins at `from`.
    __device__ __forceinline__ void begin(const Octet* from)
    {
        constexpr int WHOLE = END / GROUPS, REST = END % GROUPS;
        #pragma unroll
        for (int c = 0; c < GROUP; ++c) v[c] = ByteSum::BEGIN;
        add_group(from, LEAD, WHOLE ? GROUPS : REST);
        #pragma unroll 1
        for (int g = 1; g < WHOLE; ++g) add_group(from + g * GROUPS / 8, 0, GROUPS);
        if (WHOLE && REST) add_group(from + WHOLE * GROUPS / 8, 0, REST);
    }
};

// The low bytes of four words.
__device__ __forceinline__ unsigned int packed(const unsigned int* mean)
{
    return __byte_perm(__byte_perm(mean[0], mean[1], 0x0040), __byte_perm(mean[2], mean[3], 0x0040), 0x5410);
}

// The means of a thread's run: of row threadIdx.x % ROWS, so that the rows of eight lanes are in different banks.
__device__ __forceinline__ void means_of_run(Memory& memory)
{
    const int row = threadIdx.x % ROWS, run = threadIdx.x / ROWS;
    const Octet* from = memory.sums[row] + run * (RUN / 8);
    uint2* to = (uint2*)(memory.means[row] + run * RUN);
    Sums sums;
    sums.begin(from);
    constexpr int N = GROUPS / 8 + 1;
    Octet leaving[N], entering[N];
    leaving[N - 1] = from[0], entering[N - 1] = from[END / 8];
    #pragma unroll 1
    for (int g = 0; g < RUN / GROUPS; ++g, from += GROUPS / 8, to += GROUPS / 8) {
        leaving[0] = leaving[N - 1], entering[0] = entering[N - 1];
        #pragma unroll
        for (int k = 1; k < N; ++k) leaving[k] = from[k], entering[k] = from[END / 8 + k];
        #pragma unroll
        for (int o = 0; o < GROUPS; o += 8) {
            unsigned int mean[8];
            #pragma unroll
            for (int p = o; p < o + 8; ++p) {
                mean[p - o] = ByteSum::mean_of(sums.v[p % GROUP]);
                sums.add<1>(entering, END % 8 + p, p % GROUP);
                sums.add<-1>(leaving, LEAD + p, p % GROUP);
            }
            to[o / 8] = {packed(mean), packed(mean + 4)};
        }
    }
}

// Stores the first `live` means of each of `count` rows; `to` is the first one in the image.
__device__ __forceinline__ void store(const Memory& memory, T* to, long long pitch, int count, int live)
{
    for (int row = threadIdx.x / 32; row < count; row += THREADS / 32) {
        const unsigned char* from = memory.means[row];
        T* line = to + row * pitch;
        if (ALIGNED) {
            for (int i = threadIdx.x % 32; i < live / 8; i += 32) ((uint2*)line)[i] = ((const uint2*)from)[i];
            continue;
        }
        // Whole words of the image, shifted from the words of shared memory, and the bytes on both sides of them.
        const int head = min(live, (int)(-(size_t)line & 3)), words = (live - head) / 4, rest = live - head - 4 * words;
        for (int i = threadIdx.x % 32; i < words; i += 32) {
            const unsigned int* pair = (const unsigned int*)from + i;
            ((unsigned int*)(line + head))[i] = __funnelshift_r(pair[0], head ? pair[1] : 0, 8 * head);
        }
        const int lane = threadIdx.x % 32, byte = lane < head ? lane : head + 4 * words + lane - head;
        if (lane < head + rest) line[byte] = from[byte];
    }
}
