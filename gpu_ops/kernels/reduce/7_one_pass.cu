// What:    sum, extremes, mean or variance of each channel, all of them in one pass and one launch
// Idea:    few blocks stay and take 16 bytes a read, several reads under way at once; bytes are added four at a time; squares
//          are taken around a thread's first sample, which costs no division. The block that ends last joins the states of
//          all blocks, always in one order
// Shapes:  x (n, CHANNELS); partial (blocks, CHANNELS) states; figures (columns, CHANNELS); ticket (1), zero before and
//          after a launch
// Launch:  any grid, block of whole warps; shared one state a warp
// Traffic: 1 sample read a sample, 1 state written and read again a block and channel
// Source:  own
#include "reduce_fast.cuh"

const int EACH = 16 / sizeof(T);

__device__ __forceinline__ uint4 read16(const uint4* place)
{
    uint4 w;
#if HINT == 1
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(place));
#elif HINT == 2
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(place));
#elif HINT == 3
    w = __ldcs(place);
#else
    w = __ldg(place);
#endif
    return w;
}

__device__ __forceinline__ void ask(uint4 (&reads)[CHANNELS], const uint4* place)
{
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) reads[c] = read16(place + c);
}

__device__ __forceinline__ void start(Share (&shares)[CHANNELS], const uint4 (&reads)[CHANNELS], const T* x, unsigned thread, long long n)
{
#if !INTEGER && STATISTIC >= 4
    const unsigned groups = (unsigned)(n / EACH);
    const bool has = groups ? thread < groups : thread < n;
    const unsigned lanes = __popc(__ballot_sync(0xffffffffu, has));
    if (lanes == 0) return;
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
        double first = 0;
        if (has) first = groups ? ((const T*)reads)[c] : x[(size_t)thread * CHANNELS + c];
#pragma unroll
        for (int s = WARP / 2; s > 0; s /= 2) first += __shfl_xor_sync(0xffffffffu, first, s);
        shares[c].start(first * __fdividef(1.0f, lanes));
    }
#endif
}

extern "C" __global__ void __launch_bounds__(1024) reduce_one_pass(
    const T* __restrict__ x, unsigned long long* partial, Figure* __restrict__ figures, unsigned long long* ticket, long long n)
{
    __shared__ unsigned long long number;
    unsigned long long taken;
    if (threadIdx.x == 0) taken = atomicAdd(ticket, 1ull);
    const unsigned threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    // Channels follow one another, so as many reads as there are channels hold whole samples.
    const unsigned groups = (unsigned)(n / EACH), rounds = groups / (threads * LOADS);
    const uint4* place = (const uint4*)x + (size_t)thread * CHANNELS;
    Share shares[CHANNELS];
    uint4 reads[LOADS][CHANNELS] = {};
#pragma unroll
    for (int k = 0; k < LOADS; ++k)
        if (k * threads + thread < groups) ask(reads[k], place + (size_t)threads * (k * CHANNELS));
    start(shares, reads[0], x, thread, n);
#if DYN
    const unsigned fixed = rounds * (100 - DYN) / 100;
    for (unsigned r = 1; r < fixed; ++r) {
        place += (size_t)threads * (LOADS * CHANNELS);
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            take(shares, reads[k]);
            ask(reads[k], place + (size_t)threads * (k * CHANNELS));
        }
    }
    const unsigned warps = threads / 32, base = max(fixed, 1) * threads * LOADS, left = 0;
    unsigned chunk = thread / 32;
#pragma unroll
    for (int k = 0; k < LOADS; ++k)
        if (fixed || k * threads + thread < groups) take(shares, reads[k]);
    while (base + chunk * 32 * LOADS < groups) {
        unsigned next;
        const unsigned g = base + chunk * 32 * LOADS + threadIdx.x % 32;
        if (threadIdx.x % 32 == 0) next = atomicAdd((unsigned*)(ticket + 1), 1u);
#pragma unroll
        for (int k = 0; k < LOADS; ++k)
            if (g + k * 32 < groups) ask(reads[k], (const uint4*)x + (size_t)(g + k * 32) * CHANNELS);
#pragma unroll
        for (int k = 0; k < LOADS; ++k)
            if (g + k * 32 < groups) take(shares, reads[k]);
        chunk = __shfl_sync(0xffffffffu, next, 0) + warps;
    }
#elif MERGE
    unsigned left = groups;
    for (unsigned r = 0; r < rounds; ++r) {
        place += (size_t)threads * (LOADS * CHANNELS);
        left -= threads * LOADS;
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            take(shares, reads[k]);
            if (k * threads + thread < left) ask(reads[k], place + (size_t)threads * (k * CHANNELS));
        }
    }
#else
    const unsigned left = groups - rounds * (threads * LOADS); // of the last round, which is not whole
    for (unsigned r = 1; r < rounds; ++r) {
        place += (size_t)threads * (LOADS * CHANNELS);
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            take(shares, reads[k]);
            ask(reads[k], place + (size_t)threads * (k * CHANNELS));
        }
    }
    if (rounds > 0) {
        place += (size_t)threads * (LOADS * CHANNELS);
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            take(shares, reads[k]);
            if (k * threads + thread < left) ask(reads[k], place + (size_t)threads * (k * CHANNELS));
        }
    }
#endif
#pragma unroll
    for (int k = 0; k < LOADS; ++k)
        if (k * threads + thread < left) take(shares, reads[k]);
    const long long last = (long long)groups * EACH + thread; // of less than a read
    if (last < n)
#pragma unroll
        for (int c = 0; c < CHANNELS; ++c) shares[c].add(x[last * CHANNELS + c]);

    Part* const room = (Part*)memory;
    if (threadIdx.x == 0) number = taken;
#pragma unroll 1
    for (int step = 0; step < 2 * CHANNELS; ++step) {
#if DYN
        if (step >= CHANNELS && threadIdx.x == 0) ticket[1] = 0;
#endif
        const int c = step % CHANNELS;
        const bool own = step < CHANNELS;
        Part mine = Part::none();
        if (own) {
#pragma unroll
            for (int k = 0; k < CHANNELS; ++k)
                if (k == c) mine = shares[k].state();
        } else {
            const unsigned mark = (unsigned)(number >> 32) + 1;
            if (threadIdx.x < gridDim.x) mine = told(partial + (threadIdx.x * CHANNELS + c) * WORDS, mark);
            for (unsigned block = threadIdx.x + blockDim.x; block < gridDim.x; block += blockDim.x)
                mine = mine.join(told(partial + (block * CHANNELS + c) * WORDS, mark));
        }
        mine = block_state(mine, room);
        if (threadIdx.x == 0) {
            if (own) tell(partial + (blockIdx.x * CHANNELS + c) * WORDS, mine, (unsigned)(number >> 32) + 1);
            else write_figures(mine, n, figures + c, CHANNELS);
        }
        __syncthreads();
        if (step == CHANNELS - 1 && (unsigned)number != gridDim.x - 1) return;
    }
    if (threadIdx.x == 0) *ticket = ((number >> 32) + 1) << 32;
}
