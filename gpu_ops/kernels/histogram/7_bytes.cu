// What:    histogram of bytes in one launch, with private one-byte counts of each thread in shared memory
// Idea:    a plain read and write of a thread's own byte replaces the atomic addition, so equal samples of a warp do
//          not conflict. The 256 counts of a thread are in one bank; those of a block of 64 threads take 16 KB. Two
//          masks per word of four samples and one byte permutation per sample compute the addresses. A count that
//          exceeds 255 carries 256 into the block's wide counts, once for all lanes of a warp with that value
// Shapes:  x (samples) bytes; counts (bins); outside (3); bounds (bins + 1); sums (256); ticket (1)
// Launch:  any grid, block 64
// Traffic: 1 byte read per sample; up to 256 atomic additions per block
// Source:  S3 has one-byte counts per thread; addresses, carries and the single launch are own
#include "histogram_once.cuh"

const int BLOCK = 64;

// Selects bytes of `a` (0...3) and `b` (4...7) by the digits of `which`; a digit plus 8 replicates the byte's sign bit
// eight times.
__device__ __forceinline__ unsigned permute(unsigned a, unsigned b, unsigned which)
{
    unsigned result;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(which));
    return result;
}

// Adds 256 to the value of each lane that is `full`; lanes with the same value add once.
__device__ __noinline__ void carry(unsigned* wide, unsigned level, bool full)
{
    const unsigned here = __activemask();
    unsigned open = __ballot_sync(here, full);
    while (open) {
        const int leader = __ffs(open) - 1;
        const unsigned of_leader = __shfl_sync(here, level, leader);
        const unsigned same = __ballot_sync(here, full && level == of_leader);
        if ((threadIdx.x & 31) == leader) atomicAdd(wide + level, 256u * __popc(same));
        open &= ~same;
    }
}

// Counts the four bytes of a word. `column` is the thread's offset in a row of words, 4 * thread in every byte.
__device__ __forceinline__ void count_word(unsigned char* bytes, unsigned* wide, unsigned word, unsigned column)
{
    // Value v of a thread is counted in byte v & 3 of its word in row v >> 2; rows are 256 bytes apart.
    const unsigned rows = (word >> 2) & 0x3f3f3f3fu, lows = (word & 0x03030303u) | column;
    const unsigned a = permute(lows, rows, 0xcc40), b = permute(lows, rows, 0xdd51);
    const unsigned c = permute(lows, rows, 0xee62), d = permute(lows, rows, 0xff73);
    // Two counts are read before either is written, to overlap the latencies of the reads.
    unsigned na = bytes[a] + 1u, nb = bytes[b] + 1u;
    if (a == b) nb = na + 1;
    bytes[a] = (unsigned char)na;
    bytes[b] = (unsigned char)nb;
    unsigned nc = bytes[c] + 1u, nd = bytes[d] + 1u;
    if (c == d) nd = nc + 1;
    bytes[c] = (unsigned char)nc;
    bytes[d] = (unsigned char)nd;
    // A count that reached 256 is 0 in its byte. If the next sample is equal, it continues from 256 to 257 without
    // another carry.
    if (((na | nb | nc | nd) & 256u) == 0) return;
    carry(wide, word & 255u, na == 256);
    carry(wide, word >> 8 & 255u, nb == 256);
    carry(wide, word >> 16 & 255u, nc == 256);
    carry(wide, word >> 24, nd == 256);
}

extern "C" __global__ void __launch_bounds__(BLOCK) histogram_bytes(
    const T* __restrict__ x, unsigned* __restrict__ counts, unsigned* __restrict__ outside,
    const Bound* __restrict__ bounds, unsigned* sums, unsigned* ticket, long long samples, int bins)
{
    __shared__ __align__(16) unsigned words[64 * BLOCK];
    __shared__ unsigned wide[256];
    const int t = threadIdx.x;
    unsigned char* bytes = (unsigned char*)words;
    for (int n = t; n < 16 * BLOCK; n += BLOCK) ((uint4*)words)[n] = make_uint4(0, 0, 0, 0);
    for (int level = t; level < 256; level += BLOCK) wide[level] = 0;
    __syncthreads();

    const unsigned column = 4u * t * 0x01010101u;
    const long long threads = (long long)gridDim.x * BLOCK, groups = samples / 16;
    const long long thread = (long long)blockIdx.x * BLOCK + t;
    for (long long g = thread; g < groups; g += LOADS * threads) {
        uint4 loads[LOADS];
#pragma unroll
        for (int n = 0; n < LOADS; ++n)
            if (g + n * threads < groups) loads[n] = ((const uint4*)x)[g + n * threads];
#pragma unroll
        for (int n = 0; n < LOADS; ++n) {
            if (g + n * threads >= groups) break;
            count_word(bytes, wide, loads[n].x, column);
            count_word(bytes, wide, loads[n].y, column);
            count_word(bytes, wide, loads[n].z, column);
            count_word(bytes, wide, loads[n].w, column);
        }
    }
    for (long long i = groups * 16 + thread; i < samples; i += threads) atomicAdd(wide + x[i], 1u);
    __syncthreads();

    // One row per thread: four values of all threads, even and odd bytes as two 16-bit sums each.
    unsigned even = 0, odd = 0;
    for (int j = 0; j < BLOCK; ++j) {
        const unsigned word = words[t * BLOCK + ((j + t) & (BLOCK - 1))];
        even += word & 0x00ff00ffu;
        odd += word >> 8 & 0x00ff00ffu;
    }
    const unsigned found[] = {even & 0xffffu, odd & 0xffffu, even >> 16, odd >> 16};
    for (int k = 0; k < 4; ++k) {
        const unsigned sum = found[k] + wide[4 * t + k];
        if (sum > 0) atomicAdd(sums + 4 * t + k, sum);
    }
    if (is_last_block(ticket)) give_levels(sums, counts, outside, bounds, bins, 1);
}
