// The column warps of the kernels with a ring buffer: from row sums to means, PER columns per lane.
#pragma once

struct Columns {
    struct __align__(PER * PLANES * sizeof(Word)) Some { Word v[PER * PLANES]; };
    struct __align__(PER * sizeof(T)) Means { T v[PER]; };

    Memory& memory;
    const Word* begin;  // the lane's first column in the ring's first slot
    T* y;               // the lane's first column in the first row that the block fetches, a radius above its outputs
    long long pitch;
    int count, lane, live; // count: rows that enter; live: columns of this lane that are in the image
    int newest, oldest;    // slots of the entering row and of the leaving row of a step
    Column columns[PER];

    __device__ __forceinline__ Columns(
        Memory& memory, T* image, int height, int width, int begin_row, int begin_column, int count)
        : memory(memory), pitch((long long)width * GROUP * STRIDE), count(count), newest(0),
          oldest(RING ? SLOTS - LAG : BATCH)
    {
        lane = threadIdx.x * PER;
        begin = memory.ring[0] + PLANES * (lane ^ 2 * swapped(lane / OUTPUTS));
        live = lane < COLUMNS ? min(PER, width * GROUP - begin_column - lane) : 0;
        // An output's square is complete with the row one radius below it: 2 * RADIUS rows after the block's first.
        y = image + (begin_row - 2 * RADIUS) * pitch + (long long)(begin_column + lane) * STRIDE;
        #pragma unroll
        for (int c = 0; c < PER; ++c) columns[c].begin();
    }

    // Processes the batch of rows, or of pairs of rows, that begins with number i.
    __device__ __forceinline__ void step(int i)
    {
        if (live > 0) {
            T* to = y + i * PACK * pitch;
            #pragma unroll 1
            for (int k = 0; k < BATCH; k += CHUNK, to += CHUNK * PACK * pitch)
                any_chunk(i + k, slot(newest + k), slot(oldest + k), to);
        }
        newest = slot(newest + TASKS);
        oldest = slot(oldest + TASKS);
    }

    __device__ __forceinline__ void any_chunk(int first, int enters, int leaves, T* to)
    {
        if ((first + CHUNK) * PACK > count || (first < LAG && first + CHUNK >= LAG))
            row_by_row(first, enters, leaves, to);
        else if (first < LAG)
            chunk<false, false>(enters, leaves, to);
        else if (leaves + CHUNK <= SLOTS)
            chunk<true, false>(enters, leaves, to);
        else
            chunk<true, true>(enters, leaves, to);
    }

    // The chunk with the first output, or with the last.
    __device__ __forceinline__ void row_by_row(int first, int enters, int leaves, T* to)
    {
        for (int n = 0; n < CHUNK && (first + n) * PACK < count; ++n, to += PACK * pitch) {
            const Some in = load(enters + n), out = first + n < LAG ? Some{} : load(slot(leaves + n));
            const int row = (first + n) * PACK; // the first output is of row 2 * RADIUS
            move(in, out, row >= 2 * RADIUS, row + 1 >= 2 * RADIUS && row + 1 < count, to);
        }
    }

    // CHUNK rows from these slots of the ring; entering rows never wrap around. Until the first window is FULL, no row
    // leaves and no result is stored.
    template <bool FULL, bool WRAPS> __device__ __forceinline__ void chunk(int enters, int leaves, T* to)
    {
        Some in[CHUNK], out[CHUNK] = {};
        #pragma unroll
        for (int n = 0; n < CHUNK; ++n) {
            in[n] = load(enters + n);
            if (FULL) out[n] = load(WRAPS ? slot(leaves + n) : leaves + n);
        }
        #pragma unroll
        for (int n = 0; n < CHUNK; ++n) {
            move(in[n], out[n], FULL, FULL, to);
            to += PACK * pitch;
        }
    }

    // Moves the windows down by a row, or by a pair of rows, and stores the means where they are asked for.
    __device__ __forceinline__ void move(const Some& in, const Some& out, bool first, bool second, T* to)
    {
        #pragma unroll
        for (int c = 0; c < PER; ++c) columns[c].move(in.v + c * PLANES, out.v + c * PLANES);
        if (first) emit(to);
#if PAIRS
        #pragma unroll
        for (int c = 0; c < PER; ++c) columns[c].move_second(in.v[c], out.v[c]);
        if (second) emit(to + pitch);
#endif
    }

    __device__ __forceinline__ Some load(int slot) const { return *(const Some*)(begin + slot * COLUMNS * PLANES); }

    __device__ __forceinline__ void emit(T* to) const
    {
        if (ALIGNED) { // then the width is a multiple of PER, and all columns are live
            Means means;
            #pragma unroll
            for (int c = 0; c < PER; ++c) means.v[c] = columns[c].mean();
            *(Means*)to = means;
        } else {
            #pragma unroll
            for (int c = 0; c < PER; ++c)
                if (c < live) to[(long long)c * STRIDE] = columns[c].mean();
        }
    }
};
