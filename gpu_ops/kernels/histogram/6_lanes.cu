// What:    histogram in one launch, with several copies of the counts in shared memory
// Idea:    replication: a block has COPIES copies of its counts, interleaved so that with 32 copies each lane adds in
//          its own bank, and equal samples of a warp do not conflict. Samples are loaded 16 bytes at a time, the next
//          ones in flight while the last are counted. A byte is counted by its value and mapped to its bin only at the
//          end, which takes three instructions per sample. The bin of a 16-bit sample is the upper half of a product in
//          fixed point, where the host found a line that is right for all levels (LINE 1); another sample is not compared
//          with the bounds if it is well inside a bin.
//          Few persistent blocks each count a part of the samples and add their counts to the outputs, which the first
//          block clears
// Shapes:  x (pixels, STEP), of which the first `colours` are counted, or their luminance; counts (histograms, bins);
//          outside (3, histograms); bounds (bins + 1); tickets (3)
// Launch:  as many blocks as cover all samples with `reads` loads of 16 bytes per thread; block BLOCK, whole warps;
//          shared bins + 1 bounds, rounded up to 16 bytes, and COPIES counts for each of 256 byte values, or of bins +
//          3 slots, of each histogram
// Traffic: 1 sample read per sample; up to one atomic addition per count and block
// Source:  own
#include "histogram_direct.cuh"

const int EACH = 16 / sizeof(T);
const bool BYTES = sizeof(T) == 1;
const int PERIOD = STEP < EACH ? STEP : EACH;
const int JOINED = COPIES < 4 ? COPIES : 4;  // lanes that sum the copies of a count

// Bounds and scale for the comparison of a sample, and the line of 16-bit samples.
struct Bins {
    const Bound* bounds;
    int bins;
    REAL low, scale, margin;
    unsigned slope;
    long long offset;
};

// 16 bytes that are read once, bypassing the L1 cache.
__device__ __forceinline__ uint4 read_once(const uint4* from)
{
    uint4 read;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(read.x), "=r"(read.y), "=r"(read.z), "=r"(read.w)
        : "l"(from));
    return read;
}

// The slot of a value. More than `margin` from a bin's edge, in bins, the product is right.
__device__ __forceinline__ int quick_slot(T v, const Bins& b)
{
    if (BYTES) return (int)v;
    if (LINE) {
        // The product is unsigned, which takes one multiply-add of 32 by 32 to 64 bits.
        const int k = (int)(((unsigned long long)(unsigned)v * b.slope + (unsigned long long)b.offset) >> 32);
        return (unsigned)k < (unsigned)b.bins ? k : k < 0 ? b.bins : b.bins + 1;
    }
    const REAL at = ((REAL)v - b.low) * b.scale;
    const int k = (int)at;
    const REAL beyond = at - (REAL)k;
    if (at > b.margin && k < b.bins && beyond > b.margin && beyond < 1 - b.margin) return k;
    return slot_of(v, b.bounds, b.bins, b.low, b.scale);
}

// Counts byte `k` of a word, in the copy that `own` points into.
__device__ __forceinline__ void count_byte(unsigned word, int k, unsigned* own)
{
    // A byte permutation and a multiply-add compute the address. For a power of two that the compiler knows it would
    // emit a shift, a mask and an addition.
    unsigned row = COPIES * sizeof(unsigned);
    asm("mov.u32 %0, %0;" : "+r"(row));
    atomicAdd((unsigned*)((char*)own + __byte_perm(word, 0, 0x4440 + k) * row), 1u);
}

// Counts the samples of 16 bytes, the first of which is value `c` of its pixel.
__device__ __forceinline__ void count(const uint4& read, int c, unsigned* own, int slots, int colours, const Bins& b)
{
    const T* some = (const T*)&read;
    const unsigned words[] = {read.x, read.y, read.z, read.w};
    int starts[PERIOD];  // where the colours of the first samples are counted, periodic; -1: nowhere
#pragma unroll
    for (int k = 0; k < PERIOD; ++k) {
        starts[k] = STEP == 1 ? 0 : c < colours ? c * slots * COPIES : -1;
        c = c + 1 == STEP ? 0 : c + 1;
    }
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        const int start = starts[j % PERIOD];
        if (start < 0) continue;
        if (BYTES) count_byte(words[j / 4], j % 4, own + start);
        else atomicAdd(own + start + quick_slot(some[j], b) * COPIES, 1u);
    }
}

// Counts the samples that do not fill 16 bytes, from value `begin` on, or every pixel where the luminance is counted.
__device__ __forceinline__ void count_rest(
    const T* __restrict__ x, long long begin, long long end, int histograms, int grey, unsigned* own, int slots,
    const Bins& b)
{
    const long long threads = (long long)gridDim.x * BLOCK;
    for (long long i = begin + (long long)blockIdx.x * BLOCK + threadIdx.x; i < end; i += threads) {
        const int c = grey ? 0 : (int)(i % STEP);
        if (c >= histograms) continue;
        const T value = grey ? grey_of(x[i * STEP], x[i * STEP + 1], x[i * STEP + 2]) : x[i];
        atomicAdd(own + (c * slots + quick_slot(value, b)) * COPIES, 1u);
    }
}

// Adds a block's copies of its `all` counts, `of_each` per histogram, to the outputs. `level_slots` maps byte values to
// slots.
__device__ __forceinline__ void join(
    const unsigned* own, const unsigned short* level_slots, unsigned* counts, unsigned* outside, int bins, int histograms,
    int of_each, int all)
{
    const int lane = threadIdx.x & 31;
    for (int first = threadIdx.x - lane; first < all * JOINED; first += BLOCK) {
        const int n = (first + lane) / JOINED;
        unsigned sum = 0;
        // Neighbouring counts start with different copies, so that the lanes of a warp read from different banks.
        if (n < all)
            for (int copy = lane % JOINED; copy < COPIES; copy += JOINED)
                sum += own[n * COPIES + ((copy + n * JOINED) & (COPIES - 1))];
        for (int d = 1; d < JOINED; d *= 2) sum += __shfl_xor_sync(~0u, sum, d);
        if (sum == 0 || lane % JOINED > 0) continue;
        const int h = n / of_each, k = n - h * of_each, slot = BYTES ? level_slots[k] : k;
        atomicAdd(slot < bins ? counts + h * bins + slot : outside + (slot - bins) * histograms + h, sum);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) histogram_lanes(
    const T* __restrict__ x, unsigned* counts, unsigned* outside, const Bound* __restrict__ bounds, Tickets* tickets,
    long long pixels, long long reads, int colours, int grey, int bins, REAL low, REAL scale, REAL margin,
    unsigned slope, long long offset)
{
    const int histograms = grey ? 1 : colours, slots = BYTES ? 256 : bins + 3, all = histograms * slots;
    const long long values = pixels * STEP, groups = grey ? 0 : values / EACH;
    const long long first = blockIdx.x * reads + threadIdx.x, end = min((blockIdx.x + 1) * reads, groups);
    const uint4* from = (const uint4*)x + first;
    uint4 next[LOADS];
#pragma unroll
    for (int n = 0; n < LOADS; ++n)
        if (first + n * BLOCK < end) next[n] = read_once(from + n * BLOCK);

    const unsigned ticket = threadIdx.x == 0 ? atomicInc(&tickets->arrived, gridDim.x - 1) : 0;
    const Bins b = {copy_bounds(bounds, bins), bins, low, scale, margin, slope, offset};
    unsigned* own = (unsigned*)(memory + bounds_bytes(bins));
    for (int n = threadIdx.x; n < all * COPIES; n += BLOCK) own[n] = 0;
    __syncthreads();
    clear_if_first(tickets, ticket, counts, outside, bins, histograms);
    __shared__ unsigned short level_slots[BYTES ? 256 : 1];
    for (int level = threadIdx.x; BYTES && level < 256; level += BLOCK)
        level_slots[level] = slot_of((T)level, b.bounds, bins, low, scale);

    own += threadIdx.x % COPIES;
    bool clear = threadIdx.x > 0;  // only thread 0 polls
    int left = first < end ? (int)((end - first + BLOCK - 1) / BLOCK) : 0;
    for (long long at = first * EACH; left > 0; left -= LOADS, at += LOADS * BLOCK * EACH) {
        uint4 now[LOADS];
        from += LOADS * BLOCK;
#pragma unroll
        for (int n = 0; n < LOADS; ++n) {
            now[n] = next[n];
            if (LOADS + n < left) next[n] = read_once(from + n * BLOCK);
        }
#pragma unroll
        for (int n = 0; n < LOADS && n < left; ++n)
            count(now[n], (int)((at + n * BLOCK * EACH) % STEP), own, slots, colours, b);
        if (!clear) clear = is_clear(tickets);
    }
    count_rest(x, groups * EACH, grey ? pixels : values, histograms, grey, own, slots, b);
    while (!clear) clear = is_clear(tickets);
    __syncthreads();

    join(own - threadIdx.x % COPIES, level_slots, counts, outside, bins, histograms, slots, all);
    if (threadIdx.x == 0) leave(tickets);
}
