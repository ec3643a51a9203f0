// The row warps of the kernels with a ring buffer: from rows of samples to row sums, LANES lanes per row.
//
// A lane computes OUTPUTS neighbouring outputs. The first of each channel is the sum of whole blocks of OUTPUTS values
// and single values at the end; the others slide: one value enters, one leaves. A lane loads its own block and the
// block where its window ends anyway, and shares their sums with all lanes of its row. No result of floats is a
// difference of sums from the start of the row, so no large numbers cancel, and eleven steps per lane are too few to
// drift. Integers are exact: where their windows have many blocks, they are the difference of two prefix sums.
#pragma once

// Four neighbouring samples of a row, or of both rows of a pair, as they are in the image: nothing waits for a load until
// they are unpacked.
struct Loaded {
    static constexpr int WORDS = PAIRS ? 2 : sizeof(T);
    unsigned int v[WORDS];

    // From an aligned address.
    __device__ __forceinline__ void load(const T* from)
    {
        if constexpr (WORDS == 1) {
            v[0] = __ldg((const unsigned int*)from);
        } else if constexpr (WORDS == 2) {
            const uint2 words = __ldg((const uint2*)from);
            v[0] = words.x, v[1] = words.y;
        } else {
            #pragma unroll
            for (int k = 0; k < WORDS; k += 4) {
                const uint4 words = __ldg((const uint4*)from + k / 4);
                v[k] = words.x, v[k + 1] = words.y, v[k + 2] = words.z, v[k + 3] = words.w;
            }
        }
    }

    // Sets sample c of values that are still zero.
    __device__ __forceinline__ void put(int c, T value)
    {
        if constexpr (sizeof(T) < 4) {
            v[c * sizeof(T) / 4] |= (unsigned int)value << 8 * sizeof(T) * c % 32;
        } else {
            *(T*)(v + c * sizeof(T) / 4) = value;
        }
    }

    __device__ __forceinline__ Samples samples() const
    {
#if PAIRS
        return {{__byte_perm(v[0], v[1], 0x5140), __byte_perm(v[0], v[1], 0x7362)}}; // the bytes of both, side by side
#else
        Samples samples;
        #pragma unroll
        for (int c = 0; c < 4; ++c) {
            if constexpr (sizeof(T) == 1)
                samples.v[c] = (Word)__byte_perm(v[0], 0, 0x4440 + c);
            else if constexpr (sizeof(T) == 2)
                samples.v[c] = (Word)__byte_perm(v[c / 2], 0, c % 2 ? 0x4432 : 0x4410);
            else
                samples.v[c] = *(const T*)(v + c * sizeof(T) / 4);
        }
        return samples;
#endif
    }
};

struct Rows {
    static constexpr int FETCHES = (LENGTH / 4 + LANES - 1) / LANES;
    static constexpr int SLIDES = OUTPUTS - GROUP; // outputs that are no first ones
    // Quads of leaving and of entering values, at least whole blocks.
    static constexpr int OWN = (LEAD + SLIDES - 1) / 4 + 1 > OUTPUTS / 4 ? (LEAD + SLIDES - 1) / 4 + 1 : OUTPUTS / 4;
    static constexpr int ENDS = (REST + SLIDES - 1) / 4 + 1 > OUTPUTS / 4 ? (REST + SLIDES - 1) / 4 + 1 : OUTPUTS / 4;
    static constexpr int BETWEEN = WHOLE > LANES ? (WHOLE - 1) / LANES : 0; // rounds over blocks that no lane has loaded
    static constexpr int FEW = 8; // blocks up to which adding them is less work than prefix sums
    static constexpr bool SCANS = (Part)0.5f == (Part)0 && WHOLE > FEW;
    static constexpr int EACH = (2 * LANES + WHOLE - 1) / LANES; // blocks per lane of the prefix sums

    struct __align__(16) Positions { int v[4]; };
#if PAIRS
    typedef unsigned short Kept; // a sample in shared memory
#else
    typedef Word Kept;
#endif

    Memory& memory;
    const T* x;
    int height, top, left, count; // left: position of the first value of a row in shared memory
    int columns;     // values of a row of the image
    int task, lane;  // the lane's row in shared memory, and its index in that row
    int batch_row, ahead; // its row in a batch of the ring, and among the entering rows
    int base;        // slot of the next batch
    bool interior;   // whether the strip and its halo are inside the image
    bool copies;     // whether values outside the image are copies of values that the same row has in shared memory
    Loaded next[FETCHES];

    // `image` is the channel's first value; the block's first row of outputs is `begin_row`.
    __device__ __forceinline__ Rows(
        Memory& memory, const T* image, int height, int width, int begin_row, int begin_column, int count)
        : memory(memory), x(image), height(height), top(begin_row - RADIUS), left(begin_column - REACH - LEAD),
          count(count), columns(width * GROUP)
    {
        task = (threadIdx.x - 32 * COLUMN_WARPS) / LANES;
        lane = threadIdx.x % LANES;
        interior = ALIGNED && left >= 0 && left + LENGTH <= columns;
        const int last = min(left + LENGTH, columns); // of the row's values, the first one outside
        copies = BORDER == 0 || (BORDER != 3 && GROUP - left <= last && columns - REACH - GROUP - 4 >= left);
        batch_row = task % TASKS;
        // Without a ring, the second half of a team sums the rows that leave.
        ahead = batch_row < BATCH ? batch_row : batch_row - BATCH - LAG;
        base = task - batch_row;
        fetch(task / TASKS * BATCH + ahead);
    }

    // The image's row that is row i of those which enter, with its border; zero for any other.
    __device__ __forceinline__ const T* row_at(int i) const
    {
        const int r = i >= 0 && i < count ? border_index(top + i, height) : -1;
        return r < 0 ? nullptr : x + (long long)r * columns * STRIDE;
    }

    // Loads row i of the block, or pair of rows i, into registers.
    __device__ __forceinline__ void fetch(int i)
    {
        const T* rows[PACK];
        #pragma unroll
        for (int p = 0; p < PACK; ++p) rows[p] = row_at(i * PACK + p);
        // Zeroed before the test for the row, because zeroing in a branch costs a tenth of the speed.
        #pragma unroll
        for (int j = 0; j < FETCHES; ++j) next[j] = Loaded{};
        if (!rows[0] && !rows[PACK - 1]) return;
        if (interior && rows[0] && rows[PACK - 1]) {
            #pragma unroll
            for (int j = 0; j < FETCHES; ++j)
                if (inside(j)) next[j] = loaded(rows, lane + LANES * j);
        } else {
            #pragma unroll
            for (int j = 0; j < FETCHES; ++j)
                if (inside(j)) next[j] = quad(rows, 4 * (lane + LANES * j));
        }
    }

    // Whether all of values k to k + 3 are outside the image, and copied where any window needs them.
    __device__ __forceinline__ bool outside(int k) const { return left + k + 4 <= 0 || left + k >= columns; }

    // Fills the values outside the image with copies, at the latency of shared memory: strips at the edges must not delay
    // the end of the launch.
    __device__ __forceinline__ void copy_border(Samples* row) const
    {
        #pragma unroll 1
        for (int k = 4 * lane; k < LENGTH; k += 4 * LANES) {
            if (!outside(k) || left + k >= columns + REACH) continue;
            const Positions positions = *(const Positions*)(memory.positions + k);
            Kept* samples = (Kept*)row;
            #pragma unroll
            for (int c = 0; c < 4; ++c) samples[k + c] = samples[positions.v[c] / STRIDE - left];
        }
        __syncwarp();
    }

    __device__ __forceinline__ Loaded loaded(const T* const (&rows)[PACK], int k) const
    {
        Loaded four;
#if PAIRS
        four.v[0] = __ldg((const unsigned int*)(rows[0] + left) + k);
        four.v[1] = __ldg((const unsigned int*)(rows[1] + left) + k);
#else
        four.load(rows[0] + left + 4 * k);
#endif
        return four;
    }

    // Values k to k + 3 of a row in shared memory. Most are inside the image, even in its outer strips; looking up
    // every value there would delay the end of the launch.
    __device__ __forceinline__ Loaded quad(const T* const (&rows)[PACK], int k) const
    {
        Loaded four = {};
        if (copies && outside(k)) return four;
#if PAIRS
        #pragma unroll
        for (int p = 0; p < PACK; ++p)
            if (rows[p]) four.v[p] = four_bytes(rows[p], k);
#else
        if (ALIGNED && left + k >= 0 && left + k + 4 <= columns) {
            four.load(rows[0] + left + k);
            return four;
        }
        const Positions positions = *(const Positions*)(memory.positions + k);
        #pragma unroll
        for (int c = 0; c < 4; ++c) {
            // Unconditional: four loads in flight at once, and no branch.
            const T value = rows[0][max(positions.v[c], 0)];
            four.put(c, BORDER == 0 && positions.v[c] < 0 ? (T)0 : value);
        }
#endif
        return four;
    }

#if PAIRS
    // In rows that are not aligned, from the two aligned words that contain the four bytes.
    __device__ __forceinline__ unsigned int four_bytes(const T* row, int k) const
    {
        const int first = left + k;
        if (ALIGNED && first >= 0 && first + 4 <= columns) return __ldg((const unsigned int*)(row + first));
        if (STRIDE == 1 && first >= 4 && first + 8 <= columns) {
            const int phase = (size_t)(row + first) & 3;
            const unsigned int* words = (const unsigned int*)(row + first - phase);
            return __funnelshift_r(__ldg(words), __ldg(words + 1), 8 * phase);
        }
        const Positions positions = *(const Positions*)(memory.positions + k);
        unsigned int word = 0;
        #pragma unroll
        for (int c = 0; c < 4; ++c) {
            const unsigned int value = row[max(positions.v[c], 0)];
            word |= (BORDER == 0 && positions.v[c] < 0 ? 0 : value) << 8 * c;
        }
        return word;
    }
#endif

    // Whether a lane has a quad in round j of a row: always, except possibly in the last round.
    __device__ __forceinline__ bool inside(int j) const
    {
        return j < LENGTH / 4 / LANES || lane + LANES * j < LENGTH / 4;
    }

    // Sums the rows that enter from row i on (and those that leave, without a ring) into the ring.
    __device__ __forceinline__ void step(int i)
    {
        Samples* row = memory.rows[task];
        __syncwarp(); // all lanes have read the row before
        #pragma unroll
        for (int j = 0; j < FETCHES; ++j)
            if (inside(j)) row[lane + LANES * j] = next[j].samples();
        // The loads of the team's next batch are in flight while it sums this batch and the other team works.
        fetch(i + TEAMS * BATCH + ahead);
        __syncwarp();
        if (BORDER != 0 && copies && !interior) copy_border(row);
        sums(row);
        base = slot(base + TEAMS * TASKS);
    }

    __device__ __forceinline__ void sums(const Samples* row)
    {
        Samples own[OWN], ends[ENDS];
        #pragma unroll
        for (int k = 0; k < OWN; ++k) own[k] = row[lane * OUTPUTS / 4 + k];
        #pragma unroll
        for (int k = 0; k < ENDS; ++k) ends[k] = row[(lane + WHOLE) * OUTPUTS / 4 + k];
        Sum sum = total(own, LEAD, WHOLE > 0 ? OUTPUTS : REST), end = sum;
        if (REST > 0) end = total(ends, 0, REST);
        if (WHOLE > 1) {
            share(row, own, sum, ends, end);
            __syncwarp();
            if (SCANS) {
                scan();
                sum.add(memory.parts[task][lane + WHOLE]);
                sum.subtract(memory.parts[task][lane + 1]);
            } else {
                #pragma unroll
                for (int m = 1; m < WHOLE; ++m) sum.add(memory.parts[task][lane + m]);
            }
        }
        if (WHOLE > 0 && REST > 0) sum.add(end);
        Quad sums_of_lane[OUTPUTS * PLANES / 4];
        #pragma unroll
        for (int o = 0; o < OUTPUTS; ++o) {
            const int channel = o % GROUP;
            if (o >= GROUP) {
                const int in = REST + o - GROUP, out = LEAD + o - GROUP;
                sum.slide(channel, ends[in / 4].word(in % 4), own[out / 4].word(out % 4));
            }
            #pragma unroll
            for (int p = 0, w = o * PLANES; p < PLANES; ++p, ++w)
                sums_of_lane[w / 4].v[w % 4] = sum.stored(channel, p);
        }
        Word* to = memory.ring[slot(base + batch_row)] + lane * OUTPUTS * PLANES;
        #pragma unroll
        for (int k = 0; k < OUTPUTS * PLANES / 4; ++k) *(Quad*)(to + 4 * (k ^ swapped(lane))) = sums_of_lane[k];
    }

    // Stores the sums of all blocks in any lane's window: the lanes' own blocks, those in which windows end, and those
    // in between. `sum` and `end` are the sums of the window's values in the first and in the last block.
    __device__ __forceinline__ void share(const Samples* row, const Samples* own, Sum sum, const Samples* ends, Sum end)
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

    // Replaces the blocks' sums by the sum of all blocks before each: a lane adds EACH neighbours, and shuffles add the
    // lanes before it.
    __device__ __forceinline__ void scan()
    {
        Sum* first = memory.parts[task] + lane * EACH;
        Sum before[EACH], all = {};
        #pragma unroll
        for (int k = 0; k < EACH; ++k) {
            before[k] = all;
            if (lane * EACH + k < LANES + WHOLE) all.add(first[k]);
        }
        Sum through = all;
        #pragma unroll
        for (int d = 1; d < LANES; d *= 2) {
            Sum other;
            #pragma unroll
            for (int p = 0; p < GROUP * PLANES; ++p) other.v[p] = __shfl_up_sync(0xffffffffu, through.v[p], d, LANES);
            if (lane >= d) through.add(other);
        }
        through.subtract(all);
        #pragma unroll
        for (int k = 0; k < EACH; ++k) {
            before[k].add(through);
            if (lane * EACH + k < LANES + WHOLE) first[k] = before[k];
        }
        __syncwarp();
    }

    __device__ __forceinline__ Sum block_of(const Samples* row, int b) const
    {
        Samples quads[OUTPUTS / 4];
        #pragma unroll
        for (int k = 0; k < OUTPUTS / 4; ++k) quads[k] = row[b * OUTPUTS / 4 + k];
        return total(quads, 0, OUTPUTS);
    }

    // The channel of value k of a block, counted from that of the block's first output.
    __device__ __forceinline__ static constexpr int channel_of(int k) { return (k - LEAD + OUTPUTS) % GROUP; }

    // The sums of values `begin` to `end` - 1.
    __device__ __forceinline__ static Sum total(const Samples* values, int begin, int end)
    {
        Sum sum = {};
        #pragma unroll
        for (int k = begin; k < min(begin + GROUP, end); ++k)
            sum.start(channel_of(k), values[k / 4].word(k % 4));
        add(sum, values, begin + GROUP, end);
        return sum;
    }

    __device__ __forceinline__ static void add(Sum& sum, const Samples* values, int begin, int end)
    {
        #pragma unroll
        for (int k = begin; k < end; ++k) sum.add(channel_of(k), values[k / 4].word(k % 4));
    }

    __device__ __forceinline__ void keep(int b, const Sum& sum)
    {
        memory.parts[task][b] = sum;
    }
};
