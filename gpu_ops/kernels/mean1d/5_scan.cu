// What:    moving average of any length of a signal with a few interleaved channels, from prefix sums of a tile
// Idea:    the work does not grow with the window: a block scans its tile once, piece by piece (prefix[k] is the sum of
//          all pieces before k), and a window is the difference of two prefix sums plus the values at both ends. A
//          piece is VECTOR samples of all channels, so that any number of channels is read and written 16 bytes at a
//          time
// Shapes:  x, y (n, CHANNELS), at addresses that are multiples of 16; all of x finite
// Launch:  grid ceil(n / ((BLOCK * STEPS - 1 - reach) * VECTOR)) for pieces of VECTOR = 16 / sizeof(T) samples and
//          reach = (SHIFT + window) / VECTOR of them; block BLOCK, whole warps; PHASE = window / 2 % VECTOR; shared for
//          each channel 16 * BLOCK * STEPS bytes, padded(BLOCK * STEPS) + 1 prefixes of A and one more for each warp;
//          with several channels 16 * BLOCK bytes for each of them to arrange results
// Traffic: 1 sample read and 1 written per element; neighbouring blocks both read a fraction reach / (BLOCK * STEPS) of
//          the samples
// Source:  S4
#include "mean.cuh"

typedef PARTIAL Q; // sums of a few values: float, double or unsigned int
// A, sums of a whole tile: double for floats, so that their differences are exact enough for a float; or unsigned int,
// whose differences are exact even if the tile's sum overflows.

constexpr int VECTOR = 16 / sizeof(T);
constexpr int WARPS = BLOCK / 32;
constexpr int PIECES = BLOCK * STEPS; // per tile, halo included
constexpr int SHIFT = (VECTOR - PHASE) % VECTOR; // samples from the beginning of a piece to that of its first window
constexpr int WHOLE = (SHIFT + 2 * VECTOR - 2) / VECTOR; // the first piece that is inside all windows of a piece
constexpr int REST = (SHIFT + 2 * PHASE + 1) % VECTOR; // samples of the last piece that are in the first window

extern __shared__ __align__(16) unsigned char memory[];

union Piece {
    uint4 words[CHANNELS];
    T values[VECTOR * CHANNELS];

    __device__ __forceinline__ T value(int sample, int channel) const { return values[sample * CHANNELS + channel]; }
};

// One element of padding every 128 bytes avoids bank conflicts between threads with STEPS neighbouring elements each.
template <typename E>
__device__ __forceinline__ int padded(int k)
{
    return k + k / (128 / (int)sizeof(E));
}

constexpr int PREFIXES = PIECES + PIECES / (128 / (int)sizeof(A)) + 1; // per channel, with padding

__device__ __forceinline__ Piece piece_at(const uint4* tile, int k)
{
    Piece piece;
    #pragma unroll
    for (int c = 0; c < CHANNELS; ++c) piece.words[c] = tile[k * CHANNELS + c];
    return piece;
}

// Loads the tile's pieces into shared memory, and from there to the threads: own[s] is piece s * BLOCK + threadIdx.x.
__device__ __forceinline__ void fetch_tile(
    const T* __restrict__ x, long long first, long long n, int radius, uint4* tile, Piece (&own)[STEPS])
{
    if (first >= 0 && first + PIECES * VECTOR <= n) {
        const uint4* from = (const uint4*)(x + first * CHANNELS) + threadIdx.x;
        uint4 words[STEPS * CHANNELS];
        #pragma unroll
        for (int s = 0; s < STEPS * CHANNELS; ++s) words[s] = from[s * BLOCK];
        #pragma unroll
        for (int s = 0; s < STEPS * CHANNELS; ++s) tile[s * BLOCK + threadIdx.x] = words[s];
        if (CHANNELS == 1) { // then the words are the thread's own pieces
            #pragma unroll
            for (int s = 0; s < STEPS; ++s) own[s].words[0] = words[s];
            return;
        }
    } else {
        // The few blocks at the ends load value by value. Values beyond the last window are in no difference.
        #pragma unroll 1
        for (int i = threadIdx.x; i < PIECES * VECTOR * CHANNELS; i += BLOCK) {
            const int sample = i / CHANNELS, channel = i % CHANNELS;
            const long long p = first + sample < n + radius ? border_index(first + sample, n) : -1;
            ((T*)tile)[i] = p < 0 ? (T)0 : x[p * CHANNELS + channel];
        }
    }
    __syncthreads();
    #pragma unroll
    for (int s = 0; s < STEPS; ++s) own[s] = piece_at(tile, s * BLOCK + threadIdx.x);
}

// prefix[padded(k)], k = 0 to PIECES, of a channel from the pieces' sums in the same memory: all sums are read before the first
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
    if (threadIdx.x == BLOCK - 1) prefix[padded<A>(PIECES)] = base + sum;
}

// The means of piece j. Its windows begin SHIFT samples after piece j, one after the other; they contain the pieces from
// j + WHOLE on and end in pieces j + reach and j + reach + 1.
__device__ __forceinline__ Piece means_of(const uint4* tile, const A* prefix, int j, int reach, int window)
{
    const Piece left[2] = {piece_at(tile, j), piece_at(tile, j + 1)};
    const Piece right[2] = {piece_at(tile, j + reach), piece_at(tile, j + reach + 1)};
    Piece means;
    #pragma unroll
    for (int c = 0; c < CHANNELS; ++c, prefix += PREFIXES) {
        Q ends[VECTOR], sum = 0; // the part of each window before piece j + WHOLE
        ends[VECTOR - 1] = 0;
        #pragma unroll
        for (int i = WHOLE * VECTOR - 1; i >= SHIFT; --i) {
            sum += (Q)left[i / VECTOR].value(i % VECTOR, c);
            if (i - SHIFT < VECTOR) ends[i - SHIFT] = sum;
        }
        sum = (Q)(prefix[padded<A>(j + reach)] - prefix[padded<A>(j + WHOLE)]);
        #pragma unroll
        for (int i = 0; i < REST; ++i) sum += (Q)right[0].value(i, c);
        #pragma unroll
        for (int o = 0; o < VECTOR; ++o) {
            const Q total = sum + ends[o];
#if INTEGER
            means.values[o * CHANNELS + c] = finish(total, window);
#else
            means.values[o * CHANNELS + c] = (T)(total * ((Q)1 / window));
#endif
            sum += (Q)right[(REST + o) / VECTOR].value((REST + o) % VECTOR, c);
        }
    }
    return means;
}

// Stores a warp's means at `to`, where each of its lanes has a whole piece: several channels by way of its own part of
// shared memory, so that neighbouring lanes write neighbouring words.
__device__ __forceinline__ void put_pieces(uint4* to, const Piece& means, uint4* arranged)
{
    const int lane = threadIdx.x % 32;
    if (CHANNELS == 1) {
        to[lane] = means.words[0];
        return;
    }
    arranged += (threadIdx.x - lane) * CHANNELS;
    __syncwarp();
    #pragma unroll
    for (int c = 0; c < CHANNELS; ++c) arranged[lane * CHANNELS + c] = means.words[c];
    __syncwarp();
    #pragma unroll
    for (int c = 0; c < CHANNELS; ++c) to[c * 32 + lane] = arranged[c * 32 + lane];
}

extern "C" __global__ void __launch_bounds__(BLOCK) mean1d_scan(
    const T* __restrict__ x, T* __restrict__ y, long long n, int window)
{
    uint4* tile = (uint4*)memory;
    uint4* arranged = tile + PIECES * CHANNELS;
    A* prefix = (A*)(arranged + (CHANNELS > 1 ? BLOCK * CHANNELS : 0));
    A* totals = prefix + PREFIXES * CHANNELS;
    const int radius = window / 2;
    const int reach = (SHIFT + window) / VECTOR;
    const int outputs = PIECES - 1 - reach; // pieces of results per block
    const long long begin = (long long)blockIdx.x * outputs * VECTOR;

    Piece own[STEPS];
    fetch_tile(x, begin - (radius + VECTOR - 1) / VECTOR * VECTOR, n, radius, tile, own);
    #pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
        Q* partial = (Q*)(prefix + c * PREFIXES);
        #pragma unroll
        for (int s = 0; s < STEPS; ++s) {
            Q sum = 0;
            #pragma unroll
            for (int i = 0; i < VECTOR; ++i) sum += (Q)own[s].value(i, c);
            partial[padded<Q>(s * BLOCK + threadIdx.x)] = sum;
        }
    }
    __syncthreads();
    #pragma unroll
    for (int c = 0; c < CHANNELS; ++c)
        scan((const Q*)(prefix + c * PREFIXES), prefix + c * PREFIXES, totals + c * WARPS);
    __syncthreads();

    for (int j = threadIdx.x; j < outputs; j += BLOCK) {
        const long long e = begin + (long long)j * VECTOR;
        const int first = j - threadIdx.x % 32; // of the warp
        const bool whole = first + 32 <= outputs && begin + (first + 32ll) * VECTOR <= n;
        if (e >= n) return;
        const Piece means = means_of(tile, prefix, j, reach, window);
        if (whole) {
            put_pieces((uint4*)(y + (begin + (long long)first * VECTOR) * CHANNELS), means, arranged);
        } else {
            #pragma unroll // otherwise the means would go through local memory
            for (int i = 0; i < VECTOR * CHANNELS; ++i)
                if (e + i / CHANNELS < n) y[e * CHANNELS + i] = means.values[i];
        }
    }
}
