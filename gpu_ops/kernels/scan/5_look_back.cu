// What:    running sums of lines in one launch, in which a tile waits for what lies before it and nothing is read twice
// Idea:    a tile tells the sum of its own values at once, and the sum of everything up to its end as soon as it knows it.
//          One warp looks back over the tiles before, 32 at a time, adding sums of tiles until one has told the sum up to
//          its end (decoupled look-back). Blocks take their tiles by a ticket, so a tile that others wait for has begun.
//          Values come in vectors of 16 bytes of results; all loads are under way before the first value is needed
// Shapes:  x, y (lines, n), of which `step` lines are interleaved; words (lines, tiles, 2) of 64 bits; ticket (1)
// Launch:  grid lines * tiles, tiles = ceil(n / (block * VECTORS * EACH)), block of whole warps
// Traffic: 1 value read and 1 written an element; 16 bytes written and read a tile
// Source:  Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016
#include "scan.cuh"

const int MOST_WARPS = 32; // of a block
const int EACH = 16 / sizeof(R); // values of a vector
const int TILE_SUM = 1, SUM_TO_END = 2; // what a tile has told; 0 is nothing

// Values that lie side by side are loaded and stored as one word.
struct __align__(EACH * sizeof(T)) Samples { T values[EACH]; };
struct __align__(16) Sums { R values[EACH]; };

// A sum travels as two words of 64 bits, each with half of its bits and the mark of this launch: a reader that finds both
// marks equal has both halves, in whatever order they came. The mark counts launches by the ticket, so that what an
// earlier launch left behind says nothing, and no step has to clear it.
__device__ __forceinline__ void tell(ulonglong2* place, double sum, unsigned int mark)
{
    const unsigned long long bits = __double_as_longlong(sum), high = (unsigned long long)mark << 32;
    const unsigned long long a = (bits & 0xffffffffull) | high, b = (bits >> 32) | high;
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" : : "l"(place), "l"(a), "l"(b) : "memory");
}

// What a tile has told in this launch, whose marks begin at `first`; 0 where it is nothing yet.
__device__ __forceinline__ int ask(const ulonglong2* place, unsigned int first, double* sum)
{
    unsigned long long a, b;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(place) : "memory");
    *sum = __longlong_as_double((a & 0xffffffffull) | (b << 32));
    const unsigned int mark = (unsigned int)(a >> 32), told = mark - first;
    return mark == (unsigned int)(b >> 32) && (told == TILE_SUM || told == SUM_TO_END) ? (int)told : 0;
}

// What the 32 tiles up to `nearest` have told, in every lane: the sum of those after the last one that knows all before it,
// and of that; whether there is one.
__device__ __forceinline__ double look_back(const ulonglong2* words, int nearest, unsigned int first, int lane, bool* ends)
{
    const int from = nearest - lane;
    double sum = 0;
    int told = from < 0 ? SUM_TO_END : 0; // nothing lies before the line's beginning
    for (;;) {
        if (told == 0) told = ask(words + from * PAD, first, &sum);
        if (!__any_sync(WHOLE_WARP, told == 0)) break;
        if (NAP) __nanosleep(NAP);
    }
    const unsigned int ending = __ballot_sync(WHOLE_WARP, told == SUM_TO_END);
    const int last = ending ? __ffs(ending) - 1 : 31; // the nearest lane that knows all before it
    *ends = ending != 0;
    return warp_total(lane <= last ? sum : 0.0);
}

// The thread's vectors: 32 lanes' vectors lie side by side, and a warp's one after the other.
__device__ __forceinline__ long long place_of(int tile, int v)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return (((long long)tile * WARPS + warp) * VECTORS * 32 + v * 32 + lane) * EACH;
}

__device__ __forceinline__ void load(A (&values)[VECTORS][EACH], const T* __restrict__ x, int tile, long long n, int step)
{
    #pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
        const long long k = place_of(tile, v);
        if (SIDE_BY_SIDE && k + EACH <= n) {
            Samples some;
#if STREAM
            if (sizeof(Samples) == 16) {
                const uint4 w = __ldcs((const uint4*)(x + k));
                memcpy(&some, &w, sizeof(some));
            } else
#endif
            some = *(const Samples*)(x + k);
            #pragma unroll
            for (int j = 0; j < EACH; ++j) values[v][j] = (A)some.values[j];
        } else {
            #pragma unroll
            for (int j = 0; j < EACH; ++j) values[v][j] = k + j < n ? (A)x[(k + j) * step] : (A)0;
        }
    }
}

__device__ __forceinline__ void store(
    const A (&values)[VECTORS][EACH], R* __restrict__ y, R offset, int tile, long long n, int step)
{
    #pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
        const long long k = place_of(tile, v);
        Sums some;
        #pragma unroll
        for (int j = 0; j < EACH; ++j) some.values[j] = offset + (R)values[v][j];
        if (SIDE_BY_SIDE && k + EACH <= n) {
#if STREAM
            uint4 w;
            memcpy(&w, &some, 16);
            __stcs((uint4*)(y + k), w);
#else
            *(Sums*)(y + k) = some;
#endif
        }
        else {
            #pragma unroll
            for (int j = 0; j < EACH; ++j)
                if (k + j < n) y[(k + j) * step] = some.values[j];
        }
    }
}

// The values become the warp's running sums. Returns the sum of the warp.
__device__ __forceinline__ A scan_warp_of_vectors(A (&values)[VECTORS][EACH], int exclusive, int lane)
{
    A sum = 0;
    #pragma unroll
    for (int v = 0; v < VECTORS; ++v) {
        A running = 0;
        #pragma unroll
        for (int j = 0; j < EACH; ++j) {
            const A through = running + values[v][j];
            values[v][j] = exclusive ? running : through;
            running = through;
        }
        const A through = warp_scan(running, lane);
        const A before = sum + lane_before(through, lane);
        #pragma unroll
        for (int j = 0; j < EACH; ++j) values[v][j] += before;
        sum += __shfl_sync(WHOLE_WARP, through, 31);
    }
    return sum;
}

extern "C" __global__ void
#if REGS
__maxnreg__(REGS)
#endif
scan_look_back(
    const T* __restrict__ x, R* __restrict__ y, ulonglong2* words, unsigned long long* ticket, long long n, int step,
    int tiles, int exclusive)
{
    
#if NO_TICKET
    unsigned long long number;
#else
    __shared__ unsigned long long number;
#endif
    __shared__ A totals[MOST_WARPS];
    __shared__ double sums[LOOKERS];
    __shared__ bool ends[LOOKERS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#if NO_TICKET
    number = blockIdx.x | *(volatile unsigned long long*)ticket << 32;
#else
    if (threadIdx.x == 0) {
        number = atomicAdd(ticket, 1ull);
        if ((unsigned int)number == gridDim.x - 1) atomicAdd(ticket, (1ull << 32) - gridDim.x);
    }
    __syncthreads();
#endif
    const unsigned int place = (unsigned int)number, first = (unsigned int)(number >> 32) * 2;
    const unsigned int line = place < tiles ? 0 : place / tiles;
    const int tile = (int)(place - line * tiles);
    const long long begin = line == 0 ? 0 : line_begin(line, n, step);
    ulonglong2* const own = words + (long long)line * tiles * PAD;
    A values[VECTORS][EACH];
    load(values, x + begin, tile, n, step);
    const A sum = scan_warp_of_vectors(values, exclusive, lane);
    if (lane == 0) totals[warp] = sum;
    __syncthreads();
    const A through = warp_scan(lane < WARPS ? totals[lane] : (A)0, lane);
    const A of_warps = warp ? __shfl_sync(WHOLE_WARP, through, warp - 1) : (A)0;
    const A all = __shfl_sync(WHOLE_WARP, through, 31);
    if (threadIdx.x == 0 && tile > 0) tell(own + tile * PAD, (double)all, first + TILE_SUM);
    double far = 0;
    for (int nearest = tile - 1;; nearest -= 32 * LOOKERS) {
        if (warp < LOOKERS) {
            bool end;
            const double some = look_back(own, nearest - 32 * warp, first, lane, &end);
            if (lane == 0) {
                sums[warp] = some;
                ends[warp] = end;
            }
        }
        __syncthreads();
        bool end = false;
        #pragma unroll
        for (int w = 0; w < LOOKERS; ++w)
            if (!end) {
                far += sums[w];
                end = ends[w];
            }
        if (end) break;
        __syncthreads();
    }
    if (threadIdx.x == 0) tell(own + tile * PAD, far + (double)all, first + SUM_TO_END);
#if NO_TICKET
    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) *ticket = (unsigned long long)(unsigned)(number >> 32) + 1;
#endif
    const R offset = (R)(far + (double)of_warps);
    store(values, y + begin, offset, tile, n, step);
}
