// Wrong on purpose: samples behind the last whole 16 bytes are not counted
#include "histogram_direct.cuh"

const int EACH = 16 / sizeof(T);
const bool BYTES = sizeof(T) == 1;
const int TURN = STEP < EACH ? STEP : EACH;
const int JOINED = COPIES < 4 ? COPIES : 4;  // lanes that add the copies of a count

// What a sample is compared with.
struct Bins {
    const Bound* bounds;
    int bins;
    REAL low, scale, margin;
};

// 16 bytes that are read once, past the first-level cache.
__device__ __forceinline__ uint4 read_once(const uint4* from)
{
    uint4 read;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(read.x), "=r"(read.y), "=r"(read.z), "=r"(read.w)
        : "l"(from));
    return read;
}

// The slot of a value. Farther from a bin's edge than `margin`, in bins, the product is right.
__device__ __forceinline__ int quick_slot(T v, const Bins& b)
{
    if (BYTES) return (int)v;
    const REAL at = ((REAL)v - b.low) * b.scale;
    const int k = (int)at;
    const REAL beyond = at - (REAL)k;
    if (at > b.margin && k < b.bins && beyond > b.margin && beyond < 1 - b.margin) return k;
    return slot_of(v, b.bounds, b.bins, b.low, b.scale);
}

// Counts byte `k` of a word, in the copy that `own` points into.
__device__ __forceinline__ void count_byte(unsigned word, int k, unsigned* own)
{
    // A byte permutation and a product with sum make the address. Of a power of two that it knows the compiler would
    // make a shift, a mask and a sum.
    unsigned row = COPIES * sizeof(unsigned);
    asm("mov.u32 %0, %0;" : "+r"(row));
    atomicAdd((unsigned*)((char*)own + __byte_perm(word, 0, 0x4440 + k) * row), 1u);
}

// Counts the samples of 16 bytes, the first of which is value `c` of its pixel.
__device__ __forceinline__ void count(const uint4& read, int c, unsigned* own, int slots, int colours, const Bins& b)
{
    const T* some = (const T*)&read;
    const unsigned words[] = {read.x, read.y, read.z, read.w};
    int starts[TURN];  // where the colours of the first samples are counted, which those of the others repeat; -1: nowhere
#pragma unroll
    for (int k = 0; k < TURN; ++k) {
        starts[k] = STEP == 1 ? 0 : c < colours ? c * slots * COPIES : -1;
        c = c + 1 == STEP ? 0 : c + 1;
    }
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        const int start = starts[j % TURN];
        if (start < 0) continue;
        if (BYTES) count_byte(words[j / 4], j % 4, own + start);
        else atomicAdd(own + start + quick_slot(some[j], b) * COPIES, 1u);
    }
}

// Counts what does not fill 16 bytes, from value `begin` on, or every pixel where the luminance counts.
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

// Adds a block's copies of its `all` counts, `of_each` for each histogram, to the outputs. A level of bytes has its slot
// in `level_slots`.
__device__ __forceinline__ void join(
    const unsigned* own, const unsigned short* level_slots, unsigned* counts, unsigned* outside, int bins, int histograms,
    int of_each, int all)
{
    const int lane = threadIdx.x & 31;
    for (int first = threadIdx.x - lane; first < all * JOINED; first += BLOCK) {
        const int n = (first + lane) / JOINED;
        unsigned sum = 0;
        // Neighbouring counts begin with other copies, so that the lanes of a warp read in different banks.
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
    const T* __restrict__ x, unsigned* counts, unsigned* outside, const Bound* __restrict__ bounds, Turns* turns,
    long long pixels, long long reads, int colours, int grey, int bins, REAL low, REAL scale, REAL margin)
{
    const int histograms = grey ? 1 : colours, slots = BYTES ? 256 : bins + 3, all = histograms * slots;
    const long long values = pixels * STEP, groups = grey ? 0 : values / EACH;
    const long long first = blockIdx.x * reads + threadIdx.x, end = min((blockIdx.x + 1) * reads, groups);
    const uint4* from = (const uint4*)x + first;
    uint4 next[LOADS];
#pragma unroll
    for (int n = 0; n < LOADS; ++n)
        if (first + n * BLOCK < end) next[n] = read_once(from + n * BLOCK);

    const unsigned turn = threadIdx.x == 0 ? atomicInc(&turns->come, gridDim.x - 1) : 0;
    const Bins b = {copy_bounds(bounds, bins), bins, low, scale, margin};
    unsigned* own = (unsigned*)(memory + bounds_bytes(bins));
    for (int n = threadIdx.x; n < all * COPIES; n += BLOCK) own[n] = 0;
    __syncthreads();
    clear_if_first(turns, turn, counts, outside, bins, histograms);
    __shared__ unsigned short level_slots[BYTES ? 256 : 1];
    for (int level = threadIdx.x; BYTES && level < 256; level += BLOCK)
        level_slots[level] = slot_of((T)level, b.bounds, bins, low, scale);

    own += threadIdx.x % COPIES;
    bool clear = threadIdx.x > 0;  // only thread 0 looks
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
        if (!clear) clear = is_clear(turns);
    }
    count_rest(x, grey ? 0 : values, grey ? pixels : values, histograms, grey, own, slots, b);
    while (!clear) clear = is_clear(turns);
    __syncthreads();

    join(own - threadIdx.x % COPIES, level_slots, counts, outside, bins, histograms, slots, all);
    if (threadIdx.x == 0) leave(turns);
}
