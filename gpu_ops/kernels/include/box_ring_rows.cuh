// The row warps of the marching box kernels: rows of samples to rows of sums, one row by LANES lanes.
//
// A lane owns OUTPUTS neighbouring outputs. The first is summed from whole blocks of OUTPUTS values, which all lanes
// share, and loose values at the end; the others slide: one value enters, one leaves. Nothing is a difference of sums
// from the row's beginning, so nothing large cancels, and a lane's eleven steps are too few to drift.
#pragma once

// The sum of some values of a row.
struct Sum {
    Part v[PLANES];

    __device__ __forceinline__ void add(Word w)
    {
#if BYTES
        v[0] += w & 0x00ff00ff;            // bytes 0 and 2: sums of up to 257 fit 16 bits
        v[1] += __byte_perm(w, 0, 0x4341); // bytes 1 and 3
#else
        v[0] += (Part)w;
#endif
    }

    __device__ __forceinline__ void slide(Word in, Word out)
    {
#if BYTES
        v[0] += (in & 0x00ff00ff) - (out & 0x00ff00ff); // of both at once, and right in the end: modulo 2^32
        v[1] += __byte_perm(in, 0, 0x4341) - __byte_perm(out, 0, 0x4341);
#else
        v[0] += (Part)in - (Part)out;
#endif
    }
};

// What of a row's sum goes into the ring: doubles as a mean, which a float holds whatever the samples are.
__device__ __forceinline__ Word stored(double sum)
{
    return (Word)(sum * (1.0 / WINDOW));
}
template <typename Exact> __device__ __forceinline__ Word stored(Exact sum)
{
    return (Word)sum;
}

struct Rows {
    static constexpr int FETCHES = (LENGTH / 4 + LANES - 1) / LANES;
    static constexpr int OWN = (LEAD + OUTPUTS - 2) / 4 + 1;  // quads of the values that leave as a window slides
    static constexpr int ENDS = (REST + OUTPUTS - 2) / 4 + 1; // and of those that enter

    struct __align__(4 * sizeof(T)) Four { T v[4]; };
    struct __align__(16) Spots { int v[4]; };

    Memory& memory;
    const T* x;
    int height, width, top, left, count; // left: column of the first value of a row in shared memory
    int task, lane, ahead, base;
    Quad next[FETCHES];

    // `image` is the channel's first value; the block's first row of outputs is `begin_row`.
    __device__ __forceinline__ Rows(
        Memory& memory, const T* image, int height, int width, int begin_row, int begin_column, int count)
        : memory(memory), x(image), height(height), width(width), top(begin_row - RADIUS),
          left(begin_column - RADIUS - LEAD), count(count), base(0)
    {
        task = threadIdx.x / LANES;
        lane = threadIdx.x % LANES;
        // Without a ring, the second half of the tasks sums the rows that leave.
        ahead = task < BATCH ? task : task - BATCH - WINDOW;
        fetch(ahead);
    }

    // Row i of the block's `count` into registers, with its border; any other is zero.
    __device__ __forceinline__ void fetch(int i)
    {
        const int r = i >= 0 && i < count ? border_index(top + i, height) : -1;
        #pragma unroll
        for (int j = 0; j < FETCHES; ++j) next[j] = Quad{};
        if (r < 0) return;
        const T* row = x + (long long)r * width * STRIDE;
        #pragma unroll
        for (int j = 0; j < FETCHES; ++j) {
            const int k = 4 * (lane + LANES * j);
            const int column = left + k;
            if (!inside(j)) continue;
            if (ALIGNED && column >= 0 && column + 4 <= width) {
                const Four four = *(const Four*)(row + column);
                #pragma unroll
                for (int c = 0; c < 4; ++c) next[j].v[c] = (Word)four.v[c];
            } else {
                const Spots spots = *(const Spots*)(memory.places + k);
                #pragma unroll
                for (int c = 0; c < 4; ++c) {
                    // Loaded in any case: four loads on their way at once, and no branch.
                    const Word w = (Word)row[max(spots.v[c], 0) * STRIDE];
                    next[j].v[c] = BORDER == 0 && spots.v[c] < 0 ? (Word)0 : w;
                }
            }
        }
    }

    // Whether a lane has a quad in round j of a row: in all but the last, it does.
    __device__ __forceinline__ bool inside(int j) const
    {
        return j < LENGTH / 4 / LANES || lane + LANES * j < LENGTH / 4;
    }

    // Sums the rows that enter from row i on (and those that leave, without a ring) into the ring.
    __device__ __forceinline__ void step(int i)
    {
        if (i < 0 || i >= count) return;
        Word* row = memory.rows[task];
        #pragma unroll
        for (int j = 0; j < FETCHES; ++j)
            if (inside(j)) *(Quad*)(row + 4 * (lane + LANES * j)) = next[j];
        // The next batch is on its way while this one is summed, the barrier and the wait for the columns included.
        fetch(i + BATCH + ahead);
        __syncwarp();
        sums(row);
        base = slot(base + TASKS);
    }

    __device__ __forceinline__ void sums(const Word* row)
    {
        Quad own[OWN], ends[ENDS];
        #pragma unroll
        for (int k = 0; k < OWN; ++k) own[k] = *(const Quad*)(row + lane * OUTPUTS + 4 * k);
        Sum sum = first(row, own);
        #pragma unroll
        for (int k = 0; k < ENDS; ++k) ends[k] = *(const Quad*)(row + (lane + WHOLE) * OUTPUTS + 4 * k);
        if (WHOLE > 0) {
            #pragma unroll
            for (int k = 0; k < REST; ++k) sum.add(ends[k / 4].v[k % 4]);
        }
        Quad made[PLANES][OUTPUTS / 4];
        #pragma unroll
        for (int o = 0; o < OUTPUTS; ++o) {
            if (o > 0) {
                const int in = REST + o - 1, out = LEAD + o - 1;
                sum.slide(ends[in / 4].v[in % 4], own[out / 4].v[out % 4]);
            }
            #pragma unroll
            for (int p = 0; p < PLANES; ++p) made[p][o / 4].v[o % 4] = stored(sum.v[p]);
        }
        const int place = slot(base + task);
        #pragma unroll
        for (int p = 0; p < PLANES; ++p) {
            #pragma unroll
            for (int k = 0; k < OUTPUTS / 4; ++k)
                *(Quad*)&memory.ring[p][place][lane * OUTPUTS + 4 * k] = made[p][k];
        }
    }

    // A lane's first window as far as it lies in whole blocks; all of it, where it ends in the lane's own block.
    __device__ __forceinline__ Sum first(const Word* row, const Quad* own)
    {
        Sum sum = {};
        #pragma unroll
        for (int k = LEAD; k < (WHOLE > 0 ? OUTPUTS : REST); ++k) sum.add(own[k / 4].v[k % 4]);
        if (WHOLE > 1) {
            Sum block = sum;
            #pragma unroll
            for (int k = 0; k < LEAD; ++k) block.add(own[k / 4].v[k % 4]);
            keep(lane, block);
            // The last lanes' windows reach into blocks that no lane owns.
            for (int b = LANES + lane; b < LANES + WHOLE - 1; b += LANES) keep(b, block_of(row, b));
            __syncwarp();
            #pragma unroll 8
            for (int m = 1; m < WHOLE; ++m) {
                #pragma unroll
                for (int p = 0; p < PLANES; ++p) sum.v[p] += memory.parts[task][p][lane + m];
            }
        }
        return sum;
    }

    __device__ __forceinline__ Sum block_of(const Word* row, int b) const
    {
        Sum sum = {};
        #pragma unroll
        for (int k = 0; k < OUTPUTS / 4; ++k) {
            const Quad quad = *(const Quad*)(row + b * OUTPUTS + 4 * k);
            #pragma unroll
            for (int c = 0; c < 4; ++c) sum.add(quad.v[c]);
        }
        return sum;
    }

    __device__ __forceinline__ void keep(int b, const Sum& sum)
    {
        #pragma unroll
        for (int p = 0; p < PLANES; ++p) memory.parts[task][p][b] = sum.v[p];
    }
};
