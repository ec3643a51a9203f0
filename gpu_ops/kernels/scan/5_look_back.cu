// What:    prefix sums of lines in one launch, each value read once
// Idea:    decoupled look-back: a tile publishes its aggregate at once, then one warp scans the predecessors, 32 at a
//          time, adding aggregates until it finds an inclusive prefix; then the tile publishes its own. Blocks take
//          their tiles by a ticket, so every predecessor has started. Values are loaded in vectors of 16 bytes of
//          results. While a tile waits, its scanned values stay in registers and in shared memory: a scanned vector
//          moves to shared memory, and the next one is loaded into its registers. So tiles are large, and many loads
//          are in flight
// Shapes:  x, y (lines, n), of which `step` lines are interleaved; words (lines, tiles, SLOT, 2) of 64 bits, of which
//          the first of each tile are used; ticket (1); both are zero before the first launch
// Launch:  grid lines * tiles, tiles = ceil(n / (THREADS * VECTORS * EACH)), VECTORS = IN_REGISTERS + IN_SHARED, block
//          of THREADS, whole warps; shared IN_SHARED vectors per thread
// Traffic: 1 value read and 1 written per element; 16 bytes written and read per tile
// Source:  Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016
#include "scan.cuh"

const int MOST_WARPS = 32; // per block
const int EACH = 16 / sizeof(R); // values per vector
const int VECTORS = IN_REGISTERS + IN_SHARED; // per thread
const int AGGREGATE = 1, INCLUSIVE_PREFIX = 2; // what a tile has published; 0: nothing yet

// A 64-byte slot per tile: fewer tiles publish to and poll the same cache line.
const int SLOT = 4;

// Contiguous values are loaded and stored as one word.
struct __align__(EACH * sizeof(T)) Samples { T values[EACH]; };
struct __align__(16) Sums { R values[EACH]; };
struct __align__(EACH * sizeof(A)) Values { A values[EACH]; };

extern __shared__ __align__(16) unsigned char memory[];

// A sum is published as two 64-bit words, each with half of its bits and the tag of this launch: a reader that finds
// both tags equal has both halves, in whatever order they arrived. The ticket counts launches, and the tag contains
// that number, so values of an earlier launch are ignored, and no step has to clear them.
__device__ __forceinline__ void publish(ulonglong2* address, double sum, unsigned int tag)
{
    const unsigned long long bits = __double_as_longlong(sum), high = (unsigned long long)tag << 32;
    const unsigned long long a = (bits & 0xffffffffull) | high, b = (bits >> 32) | high;
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" : : "l"(address), "l"(a), "l"(b) : "memory");
}

// What a tile has published in this launch, whose tags begin at `first`; 0: nothing yet.
__device__ __forceinline__ int poll(const ulonglong2* address, unsigned int first, double* sum)
{
    unsigned long long a, b;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(address) : "memory");
    *sum = __longlong_as_double((a & 0xffffffffull) | (b << 32));
    const unsigned int tag = (unsigned int)(a >> 32), status = tag - first;
    return tag == (unsigned int)(b >> 32) && (status == AGGREGATE || status == INCLUSIVE_PREFIX) ? (int)status : 0;
}

// The exclusive prefix of `tile`, in every lane: the sum of all tiles of the line before it. `words` are those of the
// line.
__device__ __forceinline__ double look_back(const ulonglong2* words, int tile, unsigned int first, int lane)
{
    double before = 0;
    for (int from = tile - 1 - lane;; from -= 32) {
        double sum = 0;
        int status = from < 0 ? INCLUSIVE_PREFIX : 0; // before the line the prefix is 0
        do {
            if (status == 0) status = poll(words + from * SLOT, first, &sum);
        } while (__any_sync(WHOLE_WARP, status == 0));
        const unsigned int ends = __ballot_sync(WHOLE_WARP, status == INCLUSIVE_PREFIX);
        const int last = ends ? __ffs(ends) - 1 : 31; // the nearest predecessor with an inclusive prefix
        if (lane <= last) before += sum;
        if (ends) return warp_total(before);
    }
}

// Vector v of the thread, v * 32 vectors after its first one, which begins at x with `left` values of the line to go.
// The vectors of a WHOLE tile are contiguous and complete, so no bound is tested.
template <bool WHOLE>
__device__ __forceinline__ Values load(const T* __restrict__ x, int v, int left, int step)
{
    const int k = v * 32 * EACH;
    Values some;
    if (WHOLE || (SIDE_BY_SIDE && k + EACH <= left)) {
        const Samples samples = *(const Samples*)(x + k);
        #pragma unroll
        for (int j = 0; j < EACH; ++j) some.values[j] = (A)samples.values[j];
    } else {
        #pragma unroll
        for (int j = 0; j < EACH; ++j) some.values[j] = k + j < left ? (A)x[(long long)(k + j) * step] : (A)0;
    }
    return some;
}

template <bool WHOLE>
__device__ __forceinline__ void store(const Values& some, R offset, R* __restrict__ y, int v, int left, int step)
{
    const int k = v * 32 * EACH;
    Sums sums;
    #pragma unroll
    for (int j = 0; j < EACH; ++j) sums.values[j] = offset + (R)some.values[j];
    if (WHOLE || (SIDE_BY_SIDE && k + EACH <= left)) *(Sums*)(y + k) = sums;
    else {
        #pragma unroll
        for (int j = 0; j < EACH; ++j)
            if (k + j < left) y[(long long)(k + j) * step] = sums.values[j];
    }
}

// Inclusive or exclusive scan of one vector per lane; `sum` is the warp's prefix before them. Returns the prefix after
// them.
__device__ __forceinline__ A scan_vectors(Values& some, A sum, int exclusive, int lane)
{
    A running = 0;
    #pragma unroll
    for (int j = 0; j < EACH; ++j) {
        const A through = running + some.values[j];
        some.values[j] = exclusive ? running : through;
        running = through;
    }
    const A through = warp_scan(running, lane), before = sum + lane_before(through, lane);
    #pragma unroll
    for (int j = 0; j < EACH; ++j) some.values[j] += before;
    return sum + __shfl_sync(WHOLE_WARP, through, 31);
}

// Scans the vectors of a warp and returns their sum. Vector v ends in shared memory, v * THREADS after `waiting`, where
// v < IN_SHARED, else in values[v % IN_REGISTERS].
template <bool WHOLE>
__device__ __forceinline__ A scan_warp(
    Values (&values)[IN_REGISTERS], Values* waiting, const T* __restrict__ x, int left, int step, int exclusive, int lane)
{
    #pragma unroll
    for (int v = 0; v < IN_REGISTERS; ++v) values[v] = load<WHOLE>(x, v, left, step);
    A sum = 0;
    #pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
        Values& some = values[v % IN_REGISTERS];
        sum = scan_vectors(some, sum, exclusive, lane);
        if (v < IN_SHARED) {
            waiting[v * THREADS] = some;
            some = load<WHOLE>(x, v + IN_REGISTERS, left, step);
        }
    }
    return sum;
}

template <bool WHOLE>
__device__ __forceinline__ void store_all(
    const Values (&values)[IN_REGISTERS], const Values* waiting, R offset, R* __restrict__ y, int left, int step)
{
    #pragma unroll
    for (int v = 0; v < VECTORS; ++v)
        store<WHOLE>(v < IN_SHARED ? waiting[v * THREADS] : values[v % IN_REGISTERS], offset, y, v, left, step);
}

extern "C" __global__ void __launch_bounds__(THREADS, THREADS_AT_ONCE / THREADS) scan_look_back(
    const T* __restrict__ x, R* __restrict__ y, ulonglong2* words, unsigned long long* ticket, long long n, int step,
    int tiles, int exclusive)
{
    __shared__ unsigned long long number;
    __shared__ A totals[MOST_WARPS];
    __shared__ double exclusive_prefix;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // The lower half counts blocks, the upper half launches.
    if (threadIdx.x == 0) {
        number = atomicAdd(ticket, 1ull);
        if ((unsigned int)number == gridDim.x - 1) atomicAdd(ticket, (1ull << 32) - gridDim.x);
    }
    __syncthreads();
    const unsigned int position = (unsigned int)number, first = (unsigned int)(number >> 32) * 2;
    const unsigned int line = position < tiles ? 0 : position / tiles;
    const int tile = (int)(position - line * tiles);
    // The vectors of 32 lanes are contiguous, and a warp's groups of 32 follow each other.
    const long long tile_begin = (long long)tile * (THREADS * VECTORS * EACH);
    const long long k = tile_begin + (warp * (32 * VECTORS) + lane) * EACH;
    const long long begin = (line == 0 ? 0 : line_begin(line, n, step)) + k * step;
    const int left = (int)max(min(n - k, (long long)(32 * VECTORS * EACH)), 0ll);
    const bool whole = SIDE_BY_SIDE && tile_begin + THREADS * VECTORS * EACH <= n;

    Values values[IN_REGISTERS], *const waiting = (Values*)memory + threadIdx.x;
    A sum, all;
    if (whole) sum = scan_warp<true>(values, waiting, x + begin, left, 1, exclusive, lane);
    else sum = scan_warp<false>(values, waiting, x + begin, left, step, exclusive, lane);
    const A of_warps = warps_before(sum, totals, lane, &all);
    if (threadIdx.x < 32) {
        ulonglong2* const own = words + (long long)line * tiles * SLOT;
        if (lane == 0 && tile > 0) publish(own + tile * SLOT, (double)all, first + AGGREGATE);
        const double prefix = look_back(own, tile, first, lane);
        if (lane == 0) {
            publish(own + tile * SLOT, prefix + (double)all, first + INCLUSIVE_PREFIX);
            exclusive_prefix = prefix;
        }
    }
    __syncthreads();
    const R offset = (R)(exclusive_prefix + (double)of_warps);
    if (whole) store_all<true>(values, waiting, offset, y + begin, left, 1);
    else store_all<false>(values, waiting, offset, y + begin, left, step);
}
