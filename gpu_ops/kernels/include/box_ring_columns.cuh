// The column warps of the marching box kernels: rows of sums to means, PER columns a lane.
#pragma once

#if BYTES
#include "box_ring_pixels.cuh"
#else
#include "box_ring_values.cuh"
#endif

struct Columns {
    struct __align__(PER * sizeof(Word)) Some { Word v[PER]; };
    struct __align__(PER * sizeof(T)) Means { T v[PER]; };

    Memory& memory;
    const Word* begin;  // the lane's first column in the ring's first slot
    T* y;               // the lane's first column in the first row that the block fetches, a radius above its outputs
    long long pitch;
    int count, lane, live; // live: columns of this lane that are in the image
    int newest, oldest;    // slots of the row that enters with a step, and of the one that leaves
    Column columns[PER];

    __device__ __forceinline__ Columns(
        Memory& memory, T* image, int height, int width, int begin_row, int begin_column, int count)
        : memory(memory), pitch((long long)width * STRIDE), count(count), newest(0),
          oldest(RING ? SLOTS - WINDOW : BATCH)
    {
        lane = threadIdx.x * PER;
        begin = memory.ring[0][0] + lane;
        live = lane < COLUMNS ? min(PER, width - begin_column - lane) : 0;
        // An output's square is complete with the row a radius below it: 2 * RADIUS rows after the block's first.
        y = image + (begin_row - 2 * RADIUS) * pitch + (long long)(begin_column + lane) * STRIDE;
        #pragma unroll
        for (int c = 0; c < PER; ++c) columns[c].begin();
    }

    // Takes the batch of rows that begins with row i of the block's `count`.
    __device__ __forceinline__ void step(int i)
    {
        if (i < 0 || i >= count || live <= 0) return;
        if (i >= WINDOW && i + BATCH <= count)
            whole_batch(i);
        else
            for (int k = 0; k < BATCH && i + k < count; ++k) {
                Some in[PLANES], out[PLANES] = {};
                load(in, slot(newest + k));
                if (i + k >= WINDOW) load(out, slot(oldest + k));
                move(in, out);
                if (i + k >= WINDOW - 1) emit(y + (i + k) * pitch);
            }
        newest = slot(newest + TASKS);
        oldest = slot(oldest + TASKS);
    }

    // A row enters, a row leaves and a row comes out each time: nothing to ask.
    __device__ __forceinline__ void whole_batch(int i)
    {
        T* to = y + i * pitch;
        #pragma unroll 1
        for (int k = 0; k < BATCH; k += CHUNK) {
            const int in = slot(newest + k), out = slot(oldest + k);
            if (out + CHUNK <= SLOTS)
                chunk<false>(in, out, to);
            else
                chunk<true>(in, out, to);
        }
    }

    // CHUNK rows from these slots of the ring; entering rows never wrap around.
    template <bool WRAPS> __device__ __forceinline__ void chunk(int enters, int leaves, T*& to)
    {
        Some in[CHUNK][PLANES], out[CHUNK][PLANES];
        #pragma unroll
        for (int n = 0; n < CHUNK; ++n) {
            load(in[n], enters + n);
            load(out[n], WRAPS ? slot(leaves + n) : leaves + n);
        }
        #pragma unroll
        for (int n = 0; n < CHUNK; ++n) {
            move(in[n], out[n]);
            emit(to);
            to += pitch;
        }
    }

    __device__ __forceinline__ void load(Some* some, int slot) const
    {
        #pragma unroll
        for (int p = 0; p < PLANES; ++p) some[p] = *(const Some*)(begin + (p * SLOTS + slot) * COLUMNS);
    }

    __device__ __forceinline__ void move(const Some* in, const Some* out)
    {
        #pragma unroll
        for (int c = 0; c < PER; ++c) {
            Word enters[PLANES], leaves[PLANES];
            #pragma unroll
            for (int p = 0; p < PLANES; ++p) enters[p] = in[p].v[c], leaves[p] = out[p].v[c];
            columns[c].move(enters, leaves);
        }
    }

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
