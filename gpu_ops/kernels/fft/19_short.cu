// What:    Fourier transforms of many short lines without a prime factor above 13, limited by global memory bandwidth
// Idea:    13_mixed_radix has the lanes of a warp along the points of a line: lines shorter than a warp give them
//          addresses far apart in global memory. Here a block copies all its lines, one contiguous piece of memory, into
//          shared memory by neighbouring lanes, and stores results likewise: the lengths of the lines do not matter to
//          global memory. Between, neighbouring lanes have neighbouring lines, which are an odd number of complex numbers
//          apart in shared memory, so that no access has a bank conflict, whatever the radix. All lanes of a warp have
//          the same twiddle factors. A line of one radix stays in the registers of its thread. Bins of real samples are
//          computed as they are stored, as in 12_packed
// Shapes:  x samples or complex (lines, points), y complex (lines, BINS); table (N): exp(-2 pi i k / N); split_table
//          (N + 1): exp(-pi i k / N)
// Launch:  grid over the lines, blocks of LINE_THREADS per line times LINES lines; shared LINE_PITCH complex numbers per
//          line
// Traffic: 1 number read and 1 written per point
// Source:  S2
constexpr int PARTS = 2, WIDTH = 64, LOOKUPS = 4;
#include "fft_lines.cuh"

constexpr int THREADS = T * LINES, STEP = NUMBERS == PAIRS ? 2 : 1;
constexpr int BINS = ENDS == UNPACKED ? N + 1 : ENDS == HALF ? N / 2 + 1 : N;
constexpr int LOADS = (LINES * N + THREADS - 1) / THREADS, STORES = (LINES * BINS + THREADS - 1) / THREADS;

// The stages from that of radix RAD on, of a line in shared memory: each stores its points where the next one loads
// them. A line of one thread needs no barrier between its stages.
template <int SPAN, int RAD, int... REST>
__device__ __forceinline__ void short_stages(C* line, int t, const C* __restrict__ table)
{
    C v[butterflies<RAD>()][RAD];
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); ++c) {
        const int j = t + c * T;
        if (!exists<RAD>(j)) continue;
#pragma unroll
        for (int r = 0; r < RAD; ++r) v[c][r] = line[j + r * (N / RAD)];
    }
    stage<SPAN, RAD>(v, t, table);
    if (T > 1) __syncthreads();
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); ++c) {
        const int j = t + c * T, k = j % SPAN;
        if (!exists<RAD>(j)) continue;
#pragma unroll
        for (int r = 0; r < RAD; ++r) line[(j - k) * RAD + k + r * SPAN] = v[c][r];
    }
    if (T > 1) __syncthreads();
    if constexpr (sizeof...(REST) > 0) short_stages<SPAN * RAD, REST...>(line, t, table);
}

// Bin k of a line's transform in shared memory.
__device__ __forceinline__ C bin_of(const C* line, int k, const C* __restrict__ split_table)
{
    if constexpr (ENDS != UNPACKED) return line[k];
    const C here = line[k < N ? k : 0], mirrored = line[k ? N - k : 0];
    const C even = complex_of((here.x + mirrored.x) / 2, (here.y - mirrored.y) / 2);
    const C odd = complex_of((here.y + mirrored.y) / 2, (mirrored.x - here.x) / 2);
    return plus(even, product(odd, split_table[k]));
}

extern "C" __global__ void __launch_bounds__(THREADS) fft_short_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ split_table,
    long long lines)
{
    C* const here = (C*)memory;
    const long long first = blockIdx.x * (long long)LINES;
    const int count = lines - first < LINES ? lines - first : LINES;

    // All loads of a thread are in flight before it stores the first one.
    C v[LOADS];
#pragma unroll
    for (int load = 0; load < LOADS; ++load) {
        const int i = threadIdx.x + load * THREADS;
        v[load] = i < count * N ? number_at(x, (first * N + i) * STEP) : complex_of(0, 0);
    }
#pragma unroll
    for (int load = 0; load < LOADS; ++load) {
        const int i = threadIdx.x + load * THREADS;
        if (LINES * N % THREADS == 0 || i < LINES * N) here[i / N * LINE_PITCH + i % N] = v[load];
    }
    __syncthreads();

    const Lane lane = lane_of<ALONG_LINES>();
    short_stages<1, RADICES>(here + lane.line * LINE_PITCH, lane.t, table);
    if (T == 1) __syncthreads();

    C* const to = y + first * BINS;
#pragma unroll
    for (int store = 0; store < STORES; ++store) {
        const int i = threadIdx.x + store * THREADS;
        if (i < count * BINS) to[i] = bin_of(here + i / BINS * LINE_PITCH, i % BINS, split_table);
    }
}
