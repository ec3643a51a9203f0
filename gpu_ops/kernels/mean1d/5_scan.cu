// What:    moving average of any length of a signal with one channel, from prefix sums of a tile
// Idea:    the work does not grow with the window: a block scans its tile once, vector by vector (prefix[k] is the sum
//          of all vectors before k), and a window is the difference of two prefix sums plus the values at both ends
// Shapes:  x, y (n), at addresses that are multiples of 16; all of x finite
// Launch:  grid ceil(n / ((BLOCK * STEPS - 1 - reach) * VECTOR)) for vectors of VECTOR = 16 / sizeof(T) values and
//          reach = (SHIFT + window) / VECTOR of them; block BLOCK, whole warps; PHASE = window / 2 % VECTOR; shared
//          16 * BLOCK * STEPS bytes, padded(BLOCK * STEPS) + 1 prefixes of A and one more for each warp
// Traffic: 1 sample read and 1 written per element; neighbouring blocks both read a fraction reach / (BLOCK * STEPS) of
//          the samples
// Source:  S4
#include "mean.cuh"

typedef PARTIAL Q; // sums of a few values: float, double or unsigned int
// A, sums of a whole tile: double for floats, so that their differences are exact enough for a float; or unsigned int,
// whose differences are exact even if the tile's sum overflows.

constexpr int VECTOR = 16 / sizeof(T);
constexpr int WARPS = BLOCK / 32;
constexpr int VECTORS = BLOCK * STEPS; // per tile, halo included
constexpr int SHIFT = (VECTOR - PHASE) % VECTOR; // values from the beginning of a vector to that of its first window
constexpr int WHOLE = (SHIFT + 2 * VECTOR - 2) / VECTOR; // the first vector that lies inside all windows of a vector
constexpr int REST = (SHIFT + 2 * PHASE + 1) % VECTOR; // values of the last vector that are in the first window

extern __shared__ __align__(16) unsigned char memory[];

union Piece {
    uint4 words;
    T values[VECTOR];
};

// One element of padding every 128 bytes avoids bank conflicts between threads with STEPS neighbouring elements each.
template <typename E>
__device__ __forceinline__ int padded(int k)
{
    return k + k / (128 / (int)sizeof(E));
}

// Loads the tile's vectors into shared memory, and from there to the threads: own[s] is vector s * BLOCK + threadIdx.x.
__device__ __forceinline__ void fetch_tile(
    const T* __restrict__ x, long long first, long long n, int radius, uint4* tile, Piece (&own)[STEPS])
{
    if (first >= 0 && first + VECTORS * VECTOR <= n) {
        #pragma unroll
        for (int s = 0; s < STEPS; ++s)
            own[s].words = *(const uint4*)(x + first + (s * BLOCK + (int)threadIdx.x) * VECTOR);
        #pragma unroll
        for (int s = 0; s < STEPS; ++s) tile[s * BLOCK + threadIdx.x] = own[s].words;
        return;
    }
    // The few blocks at the ends load value by value. Values beyond the last window are in no difference.
    #pragma unroll 1
    for (int i = threadIdx.x; i < VECTORS * VECTOR; i += BLOCK) {
        const long long p = first + i < n + radius ? border_index(first + i, n) : -1;
        ((T*)tile)[i] = p < 0 ? (T)0 : x[p];
    }
    __syncthreads();
    #pragma unroll
    for (int s = 0; s < STEPS; ++s) own[s].words = tile[s * BLOCK + threadIdx.x];
}

// prefix[padded(k)], k = 0 to VECTORS, from the vectors' sums in the same memory: all sums are read before the first
// prefix is written. A thread sums STEPS neighbours, a warp scans the sums of its threads, and each warp adds the
// totals of the warps before it.
__device__ __forceinline__ void scan(const Q* partial, A* prefix, A* totals)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    A mine[STEPS], sum = 0;
    #pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        mine[s] = sum;
        sum += (A)partial[padded<Q>(threadIdx.x * STEPS + s)];
    }
    A through = sum;
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const A other = __shfl_up_sync(0xffffffffu, through, d);
        if (lane >= d) through += other;
    }
    if (lane == 31) totals[warp] = through;
    __syncthreads();
    A base = through - sum;
    #pragma unroll
    for (int w = 0; w < WARPS - 1; ++w)
        if (w < warp) base += totals[w];
    #pragma unroll
    for (int s = 0; s < STEPS; ++s) prefix[padded<A>(threadIdx.x * STEPS + s)] = base + mine[s];
    if (threadIdx.x == BLOCK - 1) prefix[padded<A>(VECTORS)] = base + sum;
}

// The means of vector j. Its windows begin SHIFT values after vector j, one after the other; they contain the vectors
// from j + WHOLE on and end in vectors j + reach and j + reach + 1.
__device__ __forceinline__ uint4 means_of(const uint4* tile, const A* prefix, int j, int reach, int window)
{
    Piece left[2], right[2], means;
    left[0].words = tile[j], left[1].words = tile[j + 1];
    right[0].words = tile[j + reach], right[1].words = tile[j + reach + 1];

    Q ends[VECTOR], sum = 0; // the part of each window before vector j + WHOLE
    ends[VECTOR - 1] = 0;
    #pragma unroll
    for (int i = WHOLE * VECTOR - 1; i >= SHIFT; --i) {
        sum += (Q)left[i / VECTOR].values[i % VECTOR];
        if (i - SHIFT < VECTOR) ends[i - SHIFT] = sum;
    }
    sum = (Q)(prefix[padded<A>(j + reach)] - prefix[padded<A>(j + WHOLE)]);
    #pragma unroll
    for (int i = 0; i < REST; ++i) sum += (Q)right[0].values[i];
    #pragma unroll
    for (int o = 0; o < VECTOR; ++o) {
        const Q total = sum + ends[o];
#if INTEGER
        means.values[o] = finish(total, window);
#else
        means.values[o] = (T)(total * ((Q)1 / window));
#endif
        sum += (Q)right[(REST + o) / VECTOR].values[(REST + o) % VECTOR];
    }
    return means.words;
}

extern "C" __global__ void __launch_bounds__(BLOCK) mean1d_scan(
    const T* __restrict__ x, T* __restrict__ y, long long n, int window)
{
    uint4* tile = (uint4*)memory;
    Q* partial = (Q*)(tile + VECTORS);
    A* prefix = (A*)(tile + VECTORS);
    A* totals = prefix + padded<A>(VECTORS) + 1;
    const int radius = window / 2;
    const int reach = (SHIFT + window) / VECTOR;
    const int outputs = VECTORS - 1 - reach; // vectors of results per block
    const long long begin = (long long)blockIdx.x * outputs * VECTOR;

    Piece own[STEPS];
    fetch_tile(x, begin - (radius + VECTOR - 1) / VECTOR * VECTOR, n, radius, tile, own);
    #pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        Q sum = 0;
        #pragma unroll
        for (int i = 0; i < VECTOR; ++i) sum += (Q)own[s].values[i];
        partial[padded<Q>(s * BLOCK + threadIdx.x)] = sum;
    }
    __syncthreads();
    scan(partial, prefix, totals);
    __syncthreads();

    for (int j = threadIdx.x; j < outputs; j += BLOCK) {
        const long long e = begin + (long long)j * VECTOR;
        if (e >= n) return;
        Piece means;
        means.words = means_of(tile, prefix, j, reach, window);
        if (e + VECTOR <= n) {
            *(uint4*)(y + e) = means.words;
        } else {
            #pragma unroll // otherwise the means would go through local memory
            for (int i = 0; i < VECTOR; ++i)
                if (e + i < n) y[e + i] = means.values[i];
        }
    }
}
