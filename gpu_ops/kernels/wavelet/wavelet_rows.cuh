// Rows of an image and of its bands, for one independent warp per strip: each lane copies its own part of the next rows
// asynchronously, so no thread waits for another. RESIDENT: warps per multiprocessor. 32 lanes of EACH samples complete
// a strip without its halo: WIDTH_FORWARD, WIDTH_JOIN, WIDTH_INVERSE. IN_FOURS: rows are whole vectors of four samples;
// otherwise threads access contiguous samples one by one, and exchange them through shared memory. APART: the distance
// of neighbouring samples, which is the number of channels where these are interleaved; a block has a warp for each of
// them, so every access is contiguous and serves all channels. Bands have each channel in a plane.
#pragma once

#include "copy_ahead.cuh"
#include "early_launch.cuh"
#include "wavelet_lanes.cuh"

constexpr int PAIRS = EACH / 2; // low or high coefficients per lane
constexpr int DEPTH = 3;        // steps whose rows are in flight
constexpr int AT_A_TIME = 4;    // the same where two levels share a launch

// Halo that lanes at both ends of a warp cannot compute: coefficients, samples of given coefficients, and samples of
// computed coefficients.
constexpr int HALO_FORWARD = whole(BEFORE, EACH), HALO_FORWARD_AFTER = whole(AFTER, EACH);
constexpr int HALO_JOIN = whole(2 * EARLIER, EACH), HALO_JOIN_AFTER = whole(2 * LATER, EACH);
constexpr int HALO_INVERSE = whole(BEFORE + 2 * EARLIER, EACH), HALO_INVERSE_AFTER = whole(AFTER + 2 * LATER, EACH);
constexpr int WIDTH_FORWARD = (32 - HALO_FORWARD - HALO_FORWARD_AFTER) * EACH;
constexpr int WIDTH_JOIN = (32 - HALO_JOIN - HALO_JOIN_AFTER) * EACH;
constexpr int WIDTH_INVERSE = (32 - HALO_INVERSE - HALO_INVERSE_AFTER) * EACH;
static_assert(WIDTH_INVERSE > 0, "some lane must have its complete halo");

constexpr int ROW = 32 * EACH / 4, BAND_ROW = 32 * PAIRS / 2; // vectors of four and of two in a warp's row
// The threads of a block, and the blocks of a multiprocessor.
constexpr int THREADS_OF_BLOCK = 32 * APART, BLOCKS = RESIDENT / APART > 0 ? RESIDENT / APART : 1;
// The distance of channels in shared memory, in vectors of four: contiguous samples of all channels are in other banks.
constexpr int PLANE = APART > 1 ? ROW + (32 / APART + 3) / 4 : ROW;

// The channel of a warp.
__device__ __forceinline__ int channel() { return APART > 1 ? threadIdx.y : blockIdx.z; }

// The lane's vector of four in a row of all channels, and its pair.
__device__ __forceinline__ int own_four() { return threadIdx.y * PLANE + threadIdx.x; }
__device__ __forceinline__ int own_pair() { return threadIdx.y * BAND_ROW + threadIdx.x; }

// Sample `i` of the EACH of a thread, if a row's samples are dealt out one by one: its number in the row of a warp, its
// channel, and its place in shared memory.
struct Dealt {
    int number, of, place;

    __device__ __forceinline__ Dealt(int i)
    {
        const int at = THREADS_OF_BLOCK * i + 32 * threadIdx.y + threadIdx.x;
        number = at / APART, of = at % APART, place = 4 * PLANE * of + number;
    }
};

// All warps that exchange samples.
__device__ __forceinline__ void meet()
{
    if (APART > 1) __syncthreads();
    else __syncwarp();
}

// Coefficients of an image have the units of both axes, and the scale of rows.
__device__ __forceinline__ T unit(Unit down, Unit right)
{
    constexpr T AFTER_FORWARD = 1 << FORWARD_BITS, AFTER_BOTH = AFTER_FORWARD * (1 << INVERSE_BITS);
    const T scale = right == INVERSE ? AFTER_BOTH : right == OF_LOW || right == OF_HIGH ? AFTER_FORWARD : 1 / AFTER_FORWARD;
    return unit(down) * unit(right) * scale;
}

// Maps a row of samples, or of coefficients, not far beyond the edges, by the border. Of the candidates for a position
// the smallest, compared as unsigned, is the one inside.
__device__ __forceinline__ unsigned row_of(int row, int rows)
{
#if BORDER == 0
    const unsigned period = rows + rows % 2, upper = row, once = min(upper, upper + period);
    return min(min(once, once - period), rows - 1u);
#else
    const int once = max(row, -1 - row);
    return min(once, 2 * rows - 1 - once);
#endif
}

__device__ __forceinline__ unsigned clamped_row_of(int row, int half_rows)
{
#if BORDER == 0
    const unsigned upper = row, once = min(upper, upper + half_rows);
    return min(once, once - half_rows);
#else
    return min(max(row, 0), half_rows - 1);
#endif
}

// Where the channel of a warp begins in a band, and where its samples do; interleaved ones are those of all channels.
template <typename V>
__device__ __forceinline__ V* plane_of(V* bands, int rows, int columns)
{
    return bands + (size_t)channel() * rows * columns;
}
template <typename V>
__device__ __forceinline__ V* channel_of(V* samples, int rows, int columns)
{
    return APART > 1 ? samples : plane_of(samples, rows, columns);
}

#if IN_FOURS
// The samples of a lane, in vectors of four. Those beyond an edge are contiguous as well, mirrored ones from last to
// first.
struct Samples {
    const Four* x;
    unsigned own[EACH / 4], rows, pitch; // in vectors of four
    bool mirrored[EACH / 4];

    __device__ __forceinline__ Samples(const S* x, int rows, int columns, int left)
        : x((const Four*)x), rows(rows), pitch(columns / 4)
    {
#pragma unroll
        for (int f = 0; f < EACH / 4; ++f) {
            const int begin = near(left + 4 * f, columns), end = near(left + 4 * f + 3, columns);
            own[f] = min(begin, end) / 4;
            mirrored[f] = begin > end;
        }
    }

    // Copies a row asynchronously; `address` is the lane's vector in shared memory, interleaved across lanes.
    __device__ __forceinline__ void prefetch(int row, int, int, Four* address) const
    {
        const unsigned begin = row_of(row, rows) * pitch;
#pragma unroll
        for (int f = 0; f < EACH / 4; ++f) copy_ahead<sizeof(Four)>(address + 32 * f, x + (begin + own[f]));
    }

    __device__ __forceinline__ void take(int, int, const Four* address, T (&v)[EACH]) const
    {
#pragma unroll
        for (int f = 0; f < EACH / 4; ++f) {
            const Four four = address[32 * f];
#pragma unroll
            for (int i = 0; i < 4; ++i) v[4 * f + i] = (T)(BORDER != 0 && mirrored[f] ? four.v[3 - i] : four.v[i]);
        }
    }
};
#else
// A sample that an earlier launch may have written: the compiler must not load it before the wait for that launch.
__device__ __forceinline__ unsigned char sample_at(const unsigned char* from)
{
    unsigned value;
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(value) : "l"(from));
    return (unsigned char)value;
}
__device__ __forceinline__ unsigned short sample_at(const unsigned short* from)
{
    unsigned short value;
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(value) : "l"(from));
    return value;
}
__device__ __forceinline__ float sample_at(const float* from)
{
    float value;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(from));
    return value;
}

// The samples of a block's row, one by one: a thread loads four of them into registers, contiguous across threads, and
// takes its own four from shared memory when they are needed.
struct Samples {
    static_assert(EACH == 4, "a lane takes four samples");
    const S* x;
    unsigned own[EACH], rows, pitch;
    S ahead[AT_A_TIME][2][EACH];

    __device__ __forceinline__ Samples(const S* x, int rows, int columns, int left)
        : x(x), rows(rows), pitch(columns * APART)
    {
        const int first = left - (int)threadIdx.x * EACH;
#pragma unroll
        for (int i = 0; i < EACH; ++i) own[i] = near(first + Dealt(i).number, columns) * APART + Dealt(i).of;
    }

    __device__ __forceinline__ void prefetch(int row, int slot, int r, Four*)
    {
        const unsigned begin = row_of(row, rows) * pitch;
#pragma unroll
        for (int i = 0; i < EACH; ++i) ahead[slot][r][i] = sample_at(x + (begin + own[i]));
    }

    // `address` is the lane's vector in the slot's row of shared memory: all have read the one before it, since they met
    // at the other slots.
    __device__ __forceinline__ void take(int slot, int r, Four* address, T (&v)[EACH]) const
    {
        S* row = (address - own_four())->v;
#pragma unroll
        for (int i = 0; i < EACH; ++i) row[Dealt(i).place] = ahead[slot][r][i];
        meet();
        const Four four = *address;
#pragma unroll
        for (int i = 0; i < EACH; ++i) v[i] = (T)four.v[i];
    }
};
#endif

// The coefficients of a lane in a row of a band, from number `k` on.
struct Coefficients {
    unsigned own[PAIRS], half_rows, half;

    __device__ __forceinline__ Coefficients(int half_rows, int half, int k) : half_rows(half_rows), half(half)
    {
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) own[i] = near_clamped(k + i, half);
    }

    // Copies a row asynchronously; `address` is the lane's pair in shared memory, interleaved across lanes.
    __device__ __forceinline__ void prefetch(const T* band, int row, Pair* address) const
    {
        const unsigned begin = clamped_row_of(row, half_rows) * half;
#pragma unroll
        for (int i = 0; i < PAIRS; i += 2) {
            T* to = address[32 * (i / 2)].v;
            copy_ahead<PAIRED && BORDER == 0 ? sizeof(Pair) : sizeof(T)>(to, band + (begin + own[i]));
            if (!PAIRED || BORDER != 0) copy_ahead<sizeof(T)>(to + 1, band + (begin + own[i + 1]));
        }
    }

    __device__ __forceinline__ void take(const Pair* address, T unit, T (&v)[PAIRS]) const
    {
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) v[i] = address[32 * (i / 2)].v[i % 2] * unit;
    }
};

__device__ __forceinline__ void store_band(const T (&v)[PAIRS], T unit, T* band, int row, int k, int half)
{
    T* line = band + (unsigned)(row * half + k);
#pragma unroll
    for (int i = 0; i < PAIRS; i += 2) {
        if (!PAIRED) {
            for (int j = i; j < i + 2; ++j)
                if (k + j < half) line[j] = v[j] * unit;
        } else if (k + i < half)
            *(Pair*)(line + i) = {v[i] * unit, v[i + 1] * unit};
    }
}

// The rows from `above` to `below` that a segment writes, of a lane's columns from `left` on.
struct Written {
    S* out;
    int above, left, columns;
    unsigned count, pitch; // in samples

    __device__ __forceinline__ Written(S* out, int above, int below, int columns, int left, bool mine)
        : out(out), above(above), left(left), columns(columns), count(below - above), pitch(columns * APART)
    {
#if IN_FOURS
        if (!mine || left >= columns) count = 0;
#else
        // The columns of a warp: from `left` to the first beyond.
        const unsigned lanes = __ballot_sync(ALL_LANES, mine);
        first = left - (int)threadIdx.x * EACH;
        this->left = first + EACH * (__ffs(lanes) - 1);
        this->columns = min(columns, first + EACH * (32 - __clz(lanes)));
#endif
    }

    // The two rows that the inverse along columns yields, completed by coefficients of number k.
    __device__ __forceinline__ void store(const T (&l)[2][PAIRS], const T (&h)[2][PAIRS], int k) const
    {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int at = 2 * k - REACH + r;
            T row[EACH];
            join_row(l[r], h[r], row);
            if ((unsigned)(at - above) >= count) continue;
#pragma unroll
            for (int f = 0; f < EACH; f += 4) {
                Four four;
#pragma unroll
                for (int i = 0; i < 4; ++i) four.v[i] = sample_of(row[f + i] * unit(INVERSE, INVERSE));
                store_four(four, out + (size_t)at * pitch, f, r);
            }
        }
    }

#if IN_FOURS
    __device__ __forceinline__ void store_four(const Four& four, S* line, int f, int) const
    {
        if (left + f < columns) *(Four*)(line + left + f) = four;
    }
#else
    int first; // column of the first lane's first sample

    // One by one, contiguous across threads. Rows alternate between two buffers: when all meet at one of them, all have
    // read the other.
    __device__ __forceinline__ void store_four(const Four& four, S* line, int, int r) const
    {
        __shared__ Four made[2][APART * PLANE];
        made[r][own_four()] = four;
        meet();
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const Dealt dealt(i);
            const int column = first + dealt.number;
            if (column >= left && column < columns)
                line[(unsigned)column * APART + dealt.of] = made[r][dealt.place / 4].v[dealt.place % 4];
        }
    }
#endif
};

// A lane's columns of all bands.
struct Columns {
    Splitting lows[PAIRS], highs[PAIRS];
    Joining low[PAIRS], high[PAIRS];

    // Forward along columns, in place: low and high of two rows become the coefficients that they complete.
    __device__ __forceinline__ void split(T (&l)[2][PAIRS], T (&h)[2][PAIRS])
    {
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) {
            lows[i].take<ONLY_LEVEL, true>(l[0][i], l[1][i], l[0][i], l[1][i]);
            highs[i].take<true, true>(h[0][i], h[1][i], h[0][i], h[1][i]);
        }
    }

    // Inverse along columns: coefficients become low and high of the two rows that they complete. Details that are low
    // one way and high the other have the same unit.
    __device__ __forceinline__ void join(T (&l)[2][PAIRS], T (&h)[2][PAIRS], const T (&arrived)[PAIRS], T mixed, T fine)
    {
#pragma unroll
        for (int i = 0; i < PAIRS; ++i) {
            low[i].take(ONLY_LEVEL ? l[0][i] : arrived[i], shrunk(l[1][i], mixed), l[0][i], l[1][i]);
            high[i].take(shrunk(h[0][i], mixed), shrunk(h[1][i], fine), h[0][i], h[1][i]);
        }
    }
};
