// The row warps of the marching box kernels: rows of samples to rows of sums, one row by LANES lanes.
//
// A lane owns OUTPUTS neighbouring outputs. The first is summed from whole blocks of OUTPUTS values, which all lanes
// share, and loose values at the end; the others slide: one value enters, one leaves. Nothing is a difference of sums
// from the row's beginning, so nothing large cancels, and a lane's eleven steps are too few to drift.
#pragma once

// Four samples that are read at once: a struct of our own is read in four parts.
template <typename Sample> struct Vector;
template <> struct Vector<float> { typedef float4 Four; };
template <> struct Vector<unsigned int> { typedef uint4 Four; };
template <> struct Vector<unsigned short> { typedef ushort4 Four; };
template <> struct Vector<unsigned char> { typedef uchar4 Four; };

struct Rows {
    typedef Vector<T>::Four Four;
    static constexpr int FETCHES = (LENGTH / 4 + LANES - 1) / LANES;
    static constexpr int OWN = (LEAD + OUTPUTS - 2) / 4 + 1;  // quads of the values that leave as a window slides
    static constexpr int ENDS = (REST + OUTPUTS - 2) / 4 + 1; // and of those that enter
    static constexpr int ROUNDS = WHOLE > 1 ? (WHOLE - 2) / LANES + 1 : 1; // of blocks beyond the lanes' own

    struct __align__(16) Spots { int v[4]; };

    Memory& memory;
    const T* x;
    int height, width, top, left, count; // left: column of the first value of a row in shared memory
    int task, lane, ahead, base;
    bool interior; // whether the strip lies inside the image, with all that its windows reach
    Quad next[FETCHES];

    // `image` is the channel's first value; the block's first row of outputs is `begin_row`.
    __device__ __forceinline__ Rows(
        Memory& memory, const T* image, int height, int width, int begin_row, int begin_column, int count)
        : memory(memory), x(image), height(height), width(width), top(begin_row - RADIUS),
          left(begin_column - RADIUS - LEAD), count(count), base(0)
    {
        task = (threadIdx.x - 32 * COLUMN_WARPS) / LANES;
        lane = threadIdx.x % LANES;
        interior = ALIGNED && left >= 0 && left + LENGTH <= width;
        // Without a ring, the second half of the tasks sums the rows that leave.
        ahead = task < BATCH ? task : task - BATCH - WINDOW;
        fetch(ahead);
    }

    // Row i of the block's `count` into registers, with its border; any other is zero.
    __device__ __forceinline__ void fetch(int i)
    {
        const int r = i >= 0 && i < count ? border_index(top + i, height) : -1;
        const T* row = x + (long long)r * width * STRIDE;
        // Zeroed before it is asked whether there is such a row: a branch that zeroes them costs a tenth of the speed.
        #pragma unroll
        for (int j = 0; j < FETCHES; ++j) next[j] = Quad{};
        if (r < 0) return;
        if (interior) {
            const Four* fours = (const Four*)(row + left) + lane;
            #pragma unroll
            for (int j = 0; j < FETCHES; ++j)
                if (inside(j)) next[j] = words(__ldg(fours + LANES * j));
        } else {
            #pragma unroll
            for (int j = 0; j < FETCHES; ++j)
                if (inside(j)) next[j] = gathered(row, 4 * (lane + LANES * j));
        }
    }

    __device__ __forceinline__ static Quad words(Four four)
    {
        return {{(Word)four.x, (Word)four.y, (Word)four.z, (Word)four.w}};
    }

    // Values k to k + 3 of a row in shared memory, each from where in the image it lies.
    __device__ __forceinline__ Quad gathered(const T* row, int k) const
    {
        const Spots spots = *(const Spots*)(memory.places + k);
        Quad quad;
        #pragma unroll
        for (int c = 0; c < 4; ++c) {
            // Loaded in any case: four loads on their way at once, and no branch.
            const Word w = (Word)row[max(spots.v[c], 0) * STRIDE];
            quad.v[c] = BORDER == 0 && spots.v[c] < 0 ? (Word)0 : w;
        }
        return quad;
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
            for (int p = 0; p < PLANES; ++p) made[p][o / 4].v[o % 4] = sum.stored(p);
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
            // The last lanes' windows reach into blocks that no lane owns.
            Sum beyond[ROUNDS];
            #pragma unroll
            for (int n = 0; n < ROUNDS; ++n) beyond[n] = block_of(row, min(LANES * (n + 1) + lane, LANES + WHOLE - 2));
            keep(lane, block);
            #pragma unroll
            for (int n = 0; n < ROUNDS; ++n)
                if (LANES * n + lane < WHOLE - 1) keep(LANES * (n + 1) + lane, beyond[n]);
            __syncwarp();
            #pragma unroll
            for (int m = 1; m < WHOLE; ++m) {
                const Sum part = memory.parts[task][lane + m];
                #pragma unroll
                for (int p = 0; p < PLANES; ++p) sum.v[p] += part.v[p];
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
        memory.parts[task][b] = sum;
    }
};
