// The row warps of the box kernels with a ring buffer: from rows of samples to row sums, LANES lanes per row.
//
// A lane computes OUTPUTS neighbouring outputs. The first is the sum of whole blocks of OUTPUTS values and single
// values at the end; the others slide: one value enters, one leaves. A lane loads its own block and the block where its
// window ends anyway, and shares their sums with all lanes of its row. No result is a difference of sums from the start
// of the row, so no large numbers cancel, and eleven steps per lane are too few to drift.
#pragma once

// Four samples in one load; the compiler would split the load of a struct into four.
template <typename Sample> struct Vector;
template <> struct Vector<float> { typedef float4 Four; };
template <> struct Vector<unsigned int> { typedef uint4 Four; };
template <> struct Vector<unsigned short> { typedef ushort4 Four; };
template <> struct Vector<unsigned char> { typedef uchar4 Four; };

struct Rows {
    typedef Vector<T>::Four Four;
    static constexpr int FETCHES = (LENGTH / 4 + LANES - 1) / LANES;
    static constexpr int OWN = (LEAD + OUTPUTS - 2) / 4 + 1;  // quads of leaving values
    static constexpr int ENDS = (REST + OUTPUTS - 2) / 4 + 1; // quads of entering values
    static constexpr int BETWEEN = WHOLE > LANES ? (WHOLE - 1) / LANES : 0; // rounds over blocks that no lane has loaded

    struct __align__(16) Positions { int v[4]; };

    Memory& memory;
    const T* x;
    int height, width, top, left, count; // left: column of the first value of a row in shared memory
    int task, lane;  // the lane's row in shared memory, and its index in that row
    int batch_row, ahead; // its row in a batch of the ring, and among the entering rows
    int base;        // slot of the next batch
    bool interior;   // whether the strip and its halo are inside the image
    Quad next[FETCHES];

    // `image` is the channel's first value; the block's first row of outputs is `begin_row`.
    __device__ __forceinline__ Rows(
        Memory& memory, const T* image, int height, int width, int begin_row, int begin_column, int count)
        : memory(memory), x(image), height(height), width(width), top(begin_row - RADIUS),
          left(begin_column - RADIUS - LEAD), count(count)
    {
        task = (threadIdx.x - 32 * COLUMN_WARPS) / LANES;
        lane = threadIdx.x % LANES;
        interior = ALIGNED && left >= 0 && left + LENGTH <= width;
        batch_row = task % TASKS;
        // Without a ring, the second half of a team sums the rows that leave.
        ahead = batch_row < BATCH ? batch_row : batch_row - BATCH - WINDOW;
        base = task - batch_row;
        fetch(task / TASKS * BATCH + ahead);
    }

    // Loads row i of the block's `count` into registers, with its border; any other row is zero.
    __device__ __forceinline__ void fetch(int i)
    {
        const int r = i >= 0 && i < count ? border_index(top + i, height) : -1;
        const T* row = x + (long long)r * width * STRIDE;
        // Zeroed before the test for the row, because zeroing in a branch costs a tenth of the speed.
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
                if (inside(j)) next[j] = quad(row, 4 * (lane + LANES * j));
        }
    }

    __device__ __forceinline__ static Quad words(Four four)
    {
        return {{(Word)four.x, (Word)four.y, (Word)four.z, (Word)four.w}};
    }

    // Values k to k + 3 of a row in shared memory. Most are inside the image, even in its outer strips; looking up
    // every value there would delay the end of the launch.
    __device__ __forceinline__ Quad quad(const T* row, int k) const
    {
        if (ALIGNED && left + k >= 0 && left + k + 4 <= width) return words(__ldg((const Four*)(row + left + k)));
        return gathered(row, k);
    }

    // The same, each value from its own column of the image.
    __device__ __forceinline__ Quad gathered(const T* row, int k) const
    {
        const Positions positions = *(const Positions*)(memory.positions + k);
        Quad quad;
        #pragma unroll
        for (int c = 0; c < 4; ++c) {
            // Unconditional: four loads in flight at once, and no branch.
            const Word w = (Word)row[max(positions.v[c], 0) * STRIDE];
            quad.v[c] = BORDER == 0 && positions.v[c] < 0 ? (Word)0 : w;
        }
        return quad;
    }

    // Whether a lane has a quad in round j of a row: always, except possibly in the last round.
    __device__ __forceinline__ bool inside(int j) const
    {
        return j < LENGTH / 4 / LANES || lane + LANES * j < LENGTH / 4;
    }

    // Sums the rows that enter from row i on (and those that leave, without a ring) into the ring.
    __device__ __forceinline__ void step(int i)
    {
        Word* row = memory.rows[task];
        __syncwarp(); // all lanes have read the row before
        #pragma unroll
        for (int j = 0; j < FETCHES; ++j)
            if (inside(j)) *(Quad*)(row + 4 * (lane + LANES * j)) = next[j];
        // The loads of the team's next batch are in flight while it sums this batch and the other team works.
        fetch(i + TEAMS * BATCH + ahead);
        __syncwarp();
        sums(row);
        base = slot(base + TEAMS * TASKS);
    }

    __device__ __forceinline__ void sums(const Word* row)
    {
        Quad own[OWN], ends[ENDS];
        #pragma unroll
        for (int k = 0; k < OWN; ++k) own[k] = *(const Quad*)(row + lane * OUTPUTS + 4 * k);
        #pragma unroll
        for (int k = 0; k < ENDS; ++k) ends[k] = *(const Quad*)(row + (lane + WHOLE) * OUTPUTS + 4 * k);
        Sum sum = total(own, LEAD, WHOLE > 0 ? OUTPUTS : REST), end = sum;
        if (REST > 0) end = total(ends, 0, REST);
        if (WHOLE > 1) {
            share(row, own, sum, ends, end);
            __syncwarp();
            #pragma unroll
            for (int m = 1; m < WHOLE; ++m) sum.add(memory.parts[task][lane + m]);
        }
        if (WHOLE > 0 && REST > 0) sum.add(end);
        Quad sums_of_lane[OUTPUTS * PLANES / 4];
        #pragma unroll
        for (int o = 0; o < OUTPUTS; ++o) {
            if (o > 0) {
                const int in = REST + o - 1, out = LEAD + o - 1;
                sum.slide(ends[in / 4].v[in % 4], own[out / 4].v[out % 4]);
            }
            #pragma unroll
            for (int p = 0, w = o * PLANES; p < PLANES; ++p, ++w) sums_of_lane[w / 4].v[w % 4] = sum.stored(p);
        }
        Word* to = memory.ring[slot(base + batch_row)] + lane * OUTPUTS * PLANES;
        #pragma unroll
        for (int k = 0; k < OUTPUTS * PLANES / 4; ++k) *(Quad*)(to + 4 * (k ^ swapped(lane))) = sums_of_lane[k];
    }

    // Stores the sums of all blocks in any lane's window: the lanes' own blocks, those in which windows end, and those
    // in between. `sum` and `end` are the sums of the window's values in the first and in the last block.
    __device__ __forceinline__ void share(const Word* row, const Quad* own, Sum sum, const Quad* ends, Sum end)
    {
        add(sum, own, 0, LEAD);
        if (REST > 0)
            add(end, ends, REST, OUTPUTS);
        else
            end = total(ends, 0, OUTPUTS);
        Sum between[BETWEEN + 1];
        #pragma unroll
        for (int n = 0; n < BETWEEN; ++n) between[n] = block_of(row, min(LANES * (n + 1) + lane, WHOLE - 1));
        keep(lane, sum);
        if (lane + WHOLE >= LANES) keep(lane + WHOLE, end);
        #pragma unroll
        for (int n = 0; n < BETWEEN; ++n)
            if (LANES * (n + 1) + lane < WHOLE) keep(LANES * (n + 1) + lane, between[n]);
    }

    __device__ __forceinline__ Sum block_of(const Word* row, int b) const
    {
        Quad quads[OUTPUTS / 4];
        #pragma unroll
        for (int k = 0; k < OUTPUTS / 4; ++k) quads[k] = *(const Quad*)(row + b * OUTPUTS + 4 * k);
        return total(quads, 0, OUTPUTS);
    }

    // The sum of values `begin` to `end` - 1.
    __device__ __forceinline__ static Sum total(const Quad* values, int begin, int end)
    {
        Sum sum = Sum::of(values[begin / 4].v[begin % 4]);
        add(sum, values, begin + 1, end);
        return sum;
    }

    __device__ __forceinline__ static void add(Sum& sum, const Quad* values, int begin, int end)
    {
        #pragma unroll
        for (int k = begin; k < end; ++k) sum.add(values[k / 4].v[k % 4]);
    }

    __device__ __forceinline__ void keep(int b, const Sum& sum)
    {
        memory.parts[task][b] = sum;
    }
};
