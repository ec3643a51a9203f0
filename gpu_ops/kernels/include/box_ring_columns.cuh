// The column warps of the marching box kernels: rows of sums to means, PER columns a lane.
#pragma once

constexpr int COUNT = WINDOW * WINDOW; // pixels of a square
// Rows loaded before the first of them is used, to hide shared memory's latency.

#if COMPENSATED
// a + b, and what rounding takes from it, exactly (Knuth's two-sum).
__device__ __forceinline__ float two_sum(float a, float b, float& rest)
{
    const float sum = a + b, part = sum - a;
    rest = (a - (sum - part)) + (b - part);
    return sum;
}

// One column's running sum as two floats: nothing that rounding takes is forgotten (Ogita, Rump and Oishi's Sum2). As
// exact as a double, without the conversions, of which a multiprocessor makes only 16 a clock.
struct Column {
    float total, lost;

    __device__ __forceinline__ void begin(const Memory&) { total = lost = 0; }
    __device__ __forceinline__ void move(const Word* in, const Word* out)
    {
        float of_change, of_sum;
        const float change = two_sum(in[0], -out[0], of_change);
        total = two_sum(total, change, of_sum);
        lost += of_change + of_sum;
    }
    __device__ __forceinline__ T mean() const { return (total + lost) * (1.0f / COUNT); }
};
#elif !BYTES
// The largest whole k with 2^k <= n.
__device__ constexpr int log2_of(int n)
{
    return n < 2 ? 0 : 1 + log2_of(n / 2);
}

// One column's running sum, and what an output makes of it.
struct Column {
    Total total;

    __device__ __forceinline__ void begin(const Memory&) { total = 0; }
    // Floats in double: what rounding leaves behind in a running sum stays there.
    __device__ __forceinline__ void move(const Word* in, const Word* out) { total += (Total)in[0] - (Total)out[0]; }
    __device__ __forceinline__ T mean() const { return mean_of(total); }

    __device__ __forceinline__ static T mean_of(double sum)
    {
        // The ring holds sums of float rows, means of double ones.
        constexpr Part scale = sizeof(Part) == 8 ? 1.0 / WINDOW : 1.0 / COUNT;
        return (T)((Part)sum * scale);
    }
    __device__ __forceinline__ static T mean_of(unsigned int sum)
    {
        // Division by an odd COUNT in one multiplication: MAGIC exceeds 2^(32 + SHIFT) / COUNT by less than 1, and
        // dividends are below 256 * COUNT < 512 * 2^SHIFT: quotients are less than 512 * 2^-32 < 1 / COUNT too large.
        constexpr int SHIFT = log2_of(COUNT);
        constexpr unsigned int MAGIC = (unsigned int)((1ull << (32 + SHIFT)) / COUNT + 1);
        return (T)(__umulhi(sum + COUNT / 2, MAGIC) >> SHIFT);
    }
    __device__ __forceinline__ static T mean_of(unsigned long long sum)
    {
        // Means lie at least 1 / (2 * COUNT) > 2^-20 off the halves; the product's error is below 2^-35.
        return (T)((double)sum * (1.0 / COUNT) + 0.5);
    }
};
#elif RADIUS <= 7
// Sums of up to 257 bytes fit 16 bits: two of them stay in a word, and all rows go in and out in one addition.
struct Column {
    unsigned int total[PLANES];

    __device__ __forceinline__ void begin(const Memory&) { total[0] = total[1] = 0; }
    __device__ __forceinline__ void move(const Word* in, const Word* out)
    {
        #pragma unroll
        for (int p = 0; p < PLANES; ++p) total[p] += in[p] - out[p]; // right in the end: modulo 2^32
    }
    __device__ __forceinline__ T mean() const
    {
        // The quotient is the product's highest byte: MAGIC exceeds 2^24 / COUNT by less than 1, and dividends are
        // below 256 * COUNT: quotients are less than 256 * COUNT / 2^24 < 1 / COUNT too large.
        constexpr unsigned int MAGIC = (1u << 24) / COUNT + 1, HALF = COUNT / 2 * MAGIC;
        unsigned int pairs[PLANES];
        #pragma unroll
        for (int p = 0; p < PLANES; ++p) {
            const unsigned int low = (total[p] & 0xffff) * MAGIC + HALF, high = (total[p] >> 16) * MAGIC + HALF;
            pairs[p] = __byte_perm(low, high, 0x0073);
        }
        return __byte_perm(pairs[0], pairs[1], 0x5140); // bytes 0 and 2, 1 and 3
    }
};
#else
// Four running sums of whole numbers below 2^24, which floats hold exactly: floats are added at twice the rate of
// integers, and need no conversion to be divided.
struct Column {
    static_assert(COUNT < 1 << 16, "radius at most 127");
    unsigned int exponent;   // not a constant: known to the compiler, it would cost an instruction at each use
    float total[2 * PLANES]; // of bytes 0, 1, 2, 3, less 127 * COUNT

    __device__ __forceinline__ void begin(const Memory& memory)
    {
        exponent = memory.exponent[0];
        #pragma unroll
        for (int c = 0; c < 4; ++c) total[c] = -127.0f * COUNT;
    }
    __device__ __forceinline__ void move(const Word* in, const Word* out)
    {
        #pragma unroll
        for (int c = 0; c < 4; ++c) total[c] += half(in[c % 2], c / 2) - half(out[c % 2], c / 2);
    }
    // 2^23 + the lower or the upper 16 bits, which become a float's last bits. In taking out from in, 2^23 goes.
    __device__ __forceinline__ float half(unsigned int pair, int upper) const
    {
        return __uint_as_float(__byte_perm(pair, exponent, upper ? 0x7632 : 0x7610));
    }
    // Adding 2^23 rounds to a whole number, which then is a float's last bits. The mean is at least 1 / (2 * COUNT) >
    // 2^-17 off the halves, COUNT being odd. The rounded 1 / COUNT is off by at most 2^-24 of it, and takes at most
    // 128 * 2^-24 = 2^-17 from a mean between -127 and 128; the multiplication itself does not round.
    __device__ __forceinline__ T mean() const
    {
        unsigned int m[4];
        #pragma unroll
        for (int c = 0; c < 4; ++c) m[c] = __float_as_uint(fmaf(total[c], 1.0f / COUNT, 8388608.0f + 127.0f));
        return __byte_perm(__byte_perm(m[0], m[1], 0x0040), __byte_perm(m[2], m[3], 0x0040), 0x5410);
    }
};
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
        lane = (threadIdx.x - 32 * ROW_WARPS) * PER;
        begin = memory.ring[0][0] + lane;
        live = lane < COLUMNS ? min(PER, width - begin_column - lane) : 0;
        // An output's square is complete with the row a radius below it: 2 * RADIUS rows after the block's first.
        y = image + (begin_row - 2 * RADIUS) * pitch + (long long)(begin_column + lane) * STRIDE;
        #pragma unroll
        for (int c = 0; c < PER; ++c) columns[c].begin(memory);
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
                load(in, newest + k);
                if (i + k >= WINDOW) load(out, oldest + k);
                move(in, out);
                if (i + k >= WINDOW - 1) emit(i + k);
            }
        newest = slot(newest + TASKS);
        oldest = slot(oldest + TASKS);
    }

    // A row enters, a row leaves and a row comes out each time: nothing to ask.
    __device__ __forceinline__ void whole_batch(int i)
    {
        #pragma unroll 1
        for (int k = 0; k < BATCH; k += CHUNK) {
            Some in[CHUNK][PLANES], out[CHUNK][PLANES];
            const int first = slot(newest + k);
            #pragma unroll
            for (int n = 0; n < CHUNK; ++n) {
                load_at(in[n], first + n);
                load(out[n], oldest + k + n);
            }
            #pragma unroll
            for (int n = 0; n < CHUNK; ++n) {
                move(in[n], out[n]);
                emit(i + k + n);
            }
        }
    }

    __device__ __forceinline__ void load(Some* some, int i) const { load_at(some, slot(i)); }

    __device__ __forceinline__ void load_at(Some* some, int row) const
    {
        #pragma unroll
        for (int p = 0; p < PLANES; ++p) some[p] = *(const Some*)(begin + (p * SLOTS + row) * COLUMNS);
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

    __device__ __forceinline__ void emit(int i) const
    {
        T* to = y + i * pitch;
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
