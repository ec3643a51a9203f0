// What:    wavelet denoising of a periodic signal with a given threshold: all levels of a tile by one independent warp
// Idea:    registers and warp shuffles: a lane has EACH neighbouring samples in registers and computes all their levels
//          there: low and high, thresholds, inverse. Neighbours' values come by shuffles, so no warp waits for another,
//          and only the transfer between memory and lanes goes through shared memory, to be coalesced. What lanes at
//          the ends of a warp lack is recomputed by the next warp
// Shapes:  x and out (n, channels), n even at all levels; sum as out, for several shifts
// Launch:  one warp per block. Grid x: tiles of WIDTH samples, which 32 lanes of EACH samples complete; y: channels.
//          2^LEVELS divides EACH. Shared memory: 32 * PITCH values of type T
// Traffic: 8 bytes per float, and what warps recompute: (taps - 1) * (2^LEVELS - 1) samples on either side, in whole
//          lanes
// Source:  S0
#include "wavelet_lanes.cuh"

constexpr int AROUND = (1 << LEVELS) - 1; // the halo of all levels as a multiple of that of one level
constexpr int HALO = whole((BEFORE + 2 * EARLIER) * AROUND, EACH);
constexpr int HALO_AFTER = whole((AFTER + 2 * LATER) * AROUND, EACH);
constexpr int TILE = 32 * EACH, WIDTH = TILE - (HALO + HALO_AFTER) * EACH;
constexpr int PITCH = EACH + 4; // so the vectors of four of eight lanes cover all banks
// The number of resident warps for which registers suffice.
constexpr int RESIDENT = EACH == 32 && TAPS <= 8 ? 32 : FORM != SUMS || EACH < 64 ? 20 : 16;
static_assert(WIDTH > 0 && EACH % (1 << LEVELS) == 0 && BORDER == 0, "some samples must have all their levels in a warp");

// The index in shared memory of sample `i` of a tile.
__device__ __forceinline__ unsigned index_of(unsigned i) { return i / EACH * PITCH + i % EACH; }

// A level of a lane's samples and the levels after it: forward, thresholds, inverse. The threshold is in units of
// samples.
template <int N, int MORE>
__device__ __forceinline__ void denoise(T (&row)[2 * N], T threshold)
{
    T low[N], high[N];
    split_row<true, true>(row, low, high);
#pragma unroll
    for (int k = 0; k < N; ++k) high[k] = shrunk(high[k], threshold * unit(BY_HIGH));
    if constexpr (MORE > 0) denoise<N / 2, MORE - 1>(low, threshold * unit(BY_LOW));
    join_row(low, high, row);
#pragma unroll
    for (int i = 0; i < 2 * N; ++i) row[i] *= unit(INVERSE);
}

// Loads the tile: the samples from `left` on, periodic at the ends of the signal; in one access where it is `inside`.
__device__ __forceinline__ void fetch_tile(
    T* tile, const S* x, const Extent& e, const Shift& shift, Index left, bool inside)
{
    if (inside && aligned(x, e)) {
        const Four* fours = (const Four*)(x + left) + threadIdx.x;
#pragma unroll
        for (int f = 0; f < EACH / 4; ++f) {
            const Four four = fours[32 * f];
            *(Quad*)(tile + index_of(4 * (32 * f + threadIdx.x))) = {
                (T)four.v[0], (T)four.v[1], (T)four.v[2], (T)four.v[3]};
        }
        return;
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < TILE; i += 32) {
        Index at = near(left + i, e.columns);
        if (SHIFTED) at = unshifted(at, shift.right, e.columns);
        tile[index_of(i)] = (T)x[at * e.channels + e.channel];
    }
}

// Stores the samples of the tile that have all levels.
__device__ __forceinline__ void store_tile(
    const T* tile, T* sum, S* out, const Extent& e, const Shift& shift, Index left, bool inside)
{
    constexpr int BEGIN = HALO * EACH;
    if (inside && aligned(out, e)) {
        Four* fours = (Four*)(out + left + BEGIN) + threadIdx.x;
#pragma unroll
        for (int f = 0; 128 * f < WIDTH; ++f) {
            const int i = 4 * (32 * f + threadIdx.x);
            const Quad quad = *(const Quad*)(tile + HALO * PITCH + index_of(i));
            Four four;
            for (int j = 0; j < 4; ++j) four.v[j] = sample_of(quad.v[j]);
            if (WIDTH % 128 == 0 || i < WIDTH) fours[32 * f] = four;
        }
        return;
    }
#pragma unroll 1
    for (int i = BEGIN + threadIdx.x; i < BEGIN + WIDTH && left + i < e.columns; i += 32)
        store_one(tile[index_of(i)], sum, out, e, shift, 0, left + i);
}

extern "C" __global__ void __launch_bounds__(32, RESIDENT) wavelet_warp_registers(
    const S* __restrict__ x, T* __restrict__ sum, S* __restrict__ out, Index n, int channels, Index right, int first,
    int last, double count, double threshold)
{
    const Extent e = {1, n, channels, (int)blockIdx.y};
    const Shift shift = {0, right, first, last, (T)count};
    const Index left = (Index)blockIdx.x * WIDTH - HALO * EACH;
    const bool inside = left >= 0 && left + TILE <= n;
    T* tile = (T*)memory;
    Quad* own = (Quad*)(tile + threadIdx.x * PITCH);
    T row[EACH];
    fetch_tile(tile, x, e, shift, left, inside);
    __syncwarp();
#pragma unroll
    for (int f = 0; f < EACH / 4; ++f)
        for (int i = 0; i < 4; ++i) row[4 * f + i] = own[f].v[i];
    denoise<EACH / 2, LEVELS - 1>(row, (T)threshold);
#pragma unroll
    for (int f = 0; f < EACH / 4; ++f) own[f] = {row[4 * f], row[4 * f + 1], row[4 * f + 2], row[4 * f + 3]};
    __syncwarp();
    store_tile(tile, sum, out, e, shift, left, inside);
}
