// What:    wavelet denoising of a periodic signal with a given threshold, whole: all levels of a tile by one warp
// Idea:    a lane has EACH neighbouring samples in registers and makes all their levels there: low and high of each,
//          thresholds, and back. Neighbours' values come by shuffles, so no thread waits for another warp, and only the
//          way from memory to lanes goes through shared memory, for whole lines. What lanes at the ends of a warp lack
//          is made once more by the next warp
// Shapes:  x and out (n, channels), n even at all levels; sum as out, for several shifts; thresholds (channels)
// Launch:  THREADS threads, a multiple of 32; grid over warps: tiles * channels, a tile is what 32 lanes of EACH
//          samples can make: WIDTH; 2^LEVELS divides EACH. Shared memory: 32 * PITCH values of type T a warp
// Traffic: 8 bytes a float, and what warps make once more: (taps - 1) * (2^LEVELS - 1) samples on either side, in whole
//          lanes
// Source:  S0
#include "wavelet_lanes.cuh"

constexpr int AROUND = (1 << LEVELS) - 1; // how often what a level needs around its samples lies around those of a lane
constexpr int LOST = whole((BEFORE + 2 * EARLIER) * AROUND, EACH), LOST_AFTER = whole((AFTER + 2 * LATER) * AROUND, EACH);
constexpr int TILE = 32 * EACH, WIDTH = TILE - (LOST + LOST_AFTER) * EACH;
constexpr int PITCH = EACH + 4; // then the fours of eight lanes lie in all banks
static_assert(WIDTH > 0 && EACH % (1 << LEVELS) == 0 && BORDER == 0, "lanes have all levels of some samples");

// Where in shared memory sample `i` of a tile lies.
__device__ __forceinline__ int place_of(int i) { return i / EACH * PITCH + i % EACH; }

// A level of a lane's samples, and those after it: there, thresholds, and back.
template <int N, int MORE>
__device__ __forceinline__ void denoise(T (&row)[2 * N], T threshold)
{
    T low[N], high[N];
    split_row<true, true>(row, low, high);
#pragma unroll
    for (int k = 0; k < N; ++k) high[k] = shrunk(high[k], threshold);
    if constexpr (MORE > 0) denoise<N / 2, MORE - 1>(low, threshold);
    join_row(low, high, row);
}

// From memory to a warp's tile: the samples from `left` on, round the ends of the signal.
__device__ __forceinline__ void fetch_tile(T* tile, const S* x, const Extent& e, const Shift& shift, Index left, int lane)
{
    if (aligned(x, e) && left >= 0 && left + TILE <= e.columns) {
#pragma unroll
        for (int f = 0; f < EACH / 4; ++f) {
            const int i = 4 * (32 * f + lane);
            const Four four = ((const Four*)(x + left))[32 * f + lane];
            *(Quad*)(tile + place_of(i)) = {(T)four.v[0], (T)four.v[1], (T)four.v[2], (T)four.v[3]};
        }
        return;
    }
#pragma unroll 4
    for (int i = lane; i < TILE; i += 32) {
        Index at = near(left + i, e.columns);
        if (SHIFTED) at = unshifted(at, shift.right, e.columns);
        tile[place_of(i)] = (T)x[at * e.channels + e.channel];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) wavelet_lanes_signal(
    const S* __restrict__ x, T* __restrict__ sum, S* __restrict__ out, const double* __restrict__ thresholds, Index n,
    int channels, Index right, int first, int last, double count, Index tiles)
{
    const Index warp = (Index)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (warp >= tiles * channels) return;
    const Extent e = {1, n, channels, (int)(warp % channels)};
    const Shift shift = {0, right, first, last, (T)count};
    const Index left = warp / channels * WIDTH - LOST * EACH;
    T* tile = (T*)memory + threadIdx.x / 32 * (32 * PITCH);
    T row[EACH];
    fetch_tile(tile, x, e, shift, left, lane);
    __syncwarp();
#pragma unroll
    for (int f = 0; f < EACH; f += 4) {
        const Quad quad = *(const Quad*)(tile + lane * PITCH + f);
#pragma unroll
        for (int i = 0; i < 4; ++i) row[f + i] = quad.v[i];
    }
    denoise<EACH / 2, LEVELS - 1>(row, (T)thresholds[e.channel]);
#pragma unroll
    for (int f = 0; f < EACH; f += 4)
        *(Quad*)(tile + lane * PITCH + f) = {row[f], row[f + 1], row[f + 2], row[f + 3]};
    __syncwarp();
    const bool in_fours = aligned(out, e);
#pragma unroll 4
    for (int i = LOST * EACH + 4 * lane; i < TILE - LOST_AFTER * EACH; i += 128) {
        const Quad quad = *(const Quad*)(tile + place_of(i));
        if (in_fours && left + i < n) store_four(quad.v, out, e, 0, left + i);
        for (int j = 0; !in_fours && j < 4 && left + i + j < n; ++j)
            store_one(quad.v[j], sum, out, e, shift, 0, left + i + j);
    }
}
