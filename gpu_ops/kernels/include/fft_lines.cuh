// Stockham's transform of many lines of N points by any RADICES whose product is N, which all are known when this is
// compiled: so are all strides, and no thread divides by a number that it reads. A line has T threads, a block has LINES
// lines. Lanes run along the points of a line, or along lines where neighbouring lines lie side by side in memory; they
// may load one way and store the other. Stages exchange their points through shared memory, the real parts and the
// imaginary ones in planes of their own, or one after the other in the same plane (PLANES 1).
#pragma once
#include "fft_butterfly.cuh"

extern __shared__ __align__(16) unsigned char memory[];

enum { ALONG_POINTS, ALONG_LINES };
enum { COMPLEX_NUMBERS, PAIRS, SINGLES };
enum { WHOLE, HALF, UNPACKED };

constexpr int N = LINE_POINTS, T = LINE_THREADS;
constexpr bool POWERS_OF_TWO = (N & (N - 1)) == 0 && (LINES & (LINES - 1)) == 0;
constexpr bool INTERLEAVED = LANES_IN == ALONG_LINES && LANES_OUT == ALONG_LINES;
constexpr int BANK_BITS = sizeof(R) == 8 ? 4 : 5;

struct Lane {
    int line, t;
};

template <int ALONG>
__device__ __forceinline__ Lane lane_of()
{
    const int id = threadIdx.x;
    return ALONG == ALONG_LINES ? Lane{id % LINES, id / LINES} : Lane{id / T, id % T};
}

// Where a point of a line is in a plane between the stage of radix RAD after `SPAN` points and the next one. Powers of
// two: lanes that store SPAN * RAD apart find banks of their own by an exclusive or with the bits in which they differ,
// and lanes that load in order keep theirs. Else a place stays free after every SPAN * RAD, where RAD is even.
template <int SPAN, int RAD>
__device__ __forceinline__ int place_of(int line, int point)
{
    if constexpr (POWERS_OF_TWO) {
        constexpr int done = log2_of(SPAN) + (INTERLEAVED ? log2_of(LINES) : 0), bits = log2_of(RAD);
        int place = INTERLEAVED ? point * LINES + line : line * PLANE + point;
        if constexpr (done < BANK_BITS) {
            constexpr int mask = (1 << (BANK_BITS - done)) - 1;
            place ^= ((place >> (done + bits)) & mask) << done;
        }
        if constexpr (LANES_IN != LANES_OUT) {
            constexpr int lines = log2_of(LINES) < BANK_BITS ? log2_of(LINES) : BANK_BITS;
            place ^= (line & ((1 << lines) - 1)) << (BANK_BITS - lines);
        }
        return place;
    } else {
        const int place = RAD % 2 ? point : point + point / (SPAN * RAD);
        return INTERLEAVED ? place * LINES + line : line * PLANE + place;
    }
}

// Where the points of a line lie in global memory: lines are counted along inner, then middle, then outer.
struct Where {
    unsigned int inner, middle;
    long long outer_apart, middle_apart, step;

    __device__ __forceinline__ unsigned int along_middle(unsigned int line) const { return line / inner % middle; }
    __device__ __forceinline__ long long begin(unsigned int line) const
    {
        const unsigned int group = line / inner, outer = group / middle;
        return (long long)(line - group * inner) + (group - outer * middle) * middle_apart + outer * outer_apart;
    }
};

template <int RAD>
__device__ constexpr int butterflies() { return (N / RAD + T - 1) / T; }

template <int RAD>
__device__ __forceinline__ bool has(int j) { return N / RAD % T == 0 || j < N / RAD; }

// Powers 1 ... RAD - 1 of w[1]: those of two are squares, or looked up where `twiddles` has them, the others products.
template <int RAD, typename Twiddles>
__device__ __forceinline__ void powers(C (&w)[RAD], int first, const Twiddles& twiddles)
{
#pragma unroll
    for (int r = 1; r < RAD; ++r) {
        const int top = 1 << log2_of(r);
        if (r != top) w[r] = times(w[top], w[r - top]);
        else if (r == 1 || LOOKUPS > 1) w[r] = twiddles(r * first);
        else w[r] = times(w[top / 2], w[top / 2]);
    }
}

// The butterflies of a thread, each point r turned before by W^(r k) of SPAN * RAD points.
template <int SPAN, int RAD>
__device__ __forceinline__ void stage(C (&v)[butterflies<RAD>()][RAD], int t, const C* __restrict__ table)
{
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); ++c) {
        if constexpr (SPAN > 1 && RAD > 1) {
            C w[RAD];
            const int k = (t + c * T) % SPAN;
            powers<RAD>(w, k * (N / (SPAN * RAD)), [&](int place) { return table[place]; });
#pragma unroll
            for (int r = 1; r < RAD; ++r) v[c][r] = times(v[c][r], w[r]);
        }
        any_butterfly<RAD>(v[c]);
    }
}

__device__ __forceinline__ R& part_of(C& z, int part) { return part ? z.y : z.x; }

// What the stage of radix RAD leaves goes to where the next one, of radix NEXT, looks for it.
template <int SPAN, int RAD, int NEXT, int ALONG_THEN>
__device__ __forceinline__ void exchange(
    C (&v)[butterflies<RAD>()][RAD], C (&w)[butterflies<NEXT>()][NEXT], Lane now, Lane then)
{
    R* plane = (R*)memory;
#pragma unroll
    for (int pass = 0; pass < 3 - PLANES; ++pass) {
        if (SPAN > 1 || pass) __syncthreads();
#pragma unroll
        for (int part = pass; part < pass + PLANES; ++part)
#pragma unroll
            for (int c = 0; c < butterflies<RAD>(); ++c) {
                const int j = now.t + c * T, k = j % SPAN;
#pragma unroll
                for (int r = 0; r < RAD; ++r) {
                    const int place = place_of<SPAN, RAD>(now.line, (j - k) * RAD + k + r * SPAN);
                    if (has<RAD>(j)) plane[part % PLANES * ROOM + place] = part_of(v[c][r], part);
                }
            }
        __syncthreads();
#pragma unroll
        for (int part = pass; part < pass + PLANES; ++part)
#pragma unroll
            for (int c = 0; c < butterflies<NEXT>(); ++c) {
                const int j = then.t + c * T;
#pragma unroll
                for (int r = 0; r < NEXT; ++r) {
                    const int place = place_of<SPAN, RAD>(then.line, j + r * (N / NEXT));
                    if (has<NEXT>(j)) part_of(w[c][r], part) = plane[part % PLANES * ROOM + place];
                }
            }
    }
}

// The numbers that are read: complex ones, neighbouring samples as real and imaginary parts, or samples alone. A line's
// place is counted in those.
struct alignas(PAIR_ALIGNED ? 2 * sizeof(SAMPLE) : sizeof(SAMPLE)) Pair {
    SAMPLE re, im;
};

__device__ __forceinline__ C number_at(const void* __restrict__ x, long long place)
{
    if constexpr (NUMBERS == COMPLEX_NUMBERS) return ((const C*)x)[place];
    if constexpr (NUMBERS == SINGLES) return complex_of((R)((const SAMPLE*)x)[place], 0);
    const Pair pair = *(const Pair*)((const SAMPLE*)x + place);
    return complex_of((R)pair.re, (R)pair.im);
}

// W^e of a long line whose parts are lines of N points: one table has steps of 1 << LOW_BITS, the other what remains.
struct Turns {
    const C* __restrict__ low;
    const C* __restrict__ high;

    __device__ __forceinline__ C operator()(long long e) const
    {
        return times(high[e >> LOW_BITS], low[e & ((1 << LOW_BITS) - 1)]);
    }
};

// Point k of the results is turned by W^(m k), m the line's place along middle.
template <int RAD>
__device__ __forceinline__ void turn_results(
    C (&v)[butterflies<RAD>()][RAD], int t, long long m, const Turns& turns)
{
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); ++c) {
        const int j = t + c * T;
        C w[RAD];
        w[0] = complex_of(1, 0);
        if constexpr (RAD > 1) w[1] = turns(m * (N / RAD));
#pragma unroll
        for (int r = 2; r < RAD; ++r) {
            const int top = 1 << log2_of(r);
            w[r] = r == top ? times(w[top / 2], w[top / 2]) : times(w[top], w[r - top]);
        }
        if (!has<RAD>(j)) continue;
        const C first = turns(m * j);
#pragma unroll
        for (int r = 0; r < RAD; ++r) v[c][r] = times(v[c][r], r ? times(first, w[r]) : first);
    }
}

// N complex numbers were 2 N real samples: their spectrum is that of the even samples and of the odd ones, which are
// Z[k] + conj Z[N - k] and Z[k] - conj Z[N - k] by halves, the odd ones turned. Both ends of k are stored at once.
template <int RAD>
__device__ __forceinline__ void unpack(
    C (&v)[butterflies<RAD>()][RAD], Lane now, bool stored, C* __restrict__ to, long long step,
    const C* __restrict__ half_turns)
{
    constexpr int pairs = (N / 2 + T) / T;
    R* plane = (R*)memory;
    C one[pairs], other[pairs];
#pragma unroll
    for (int pass = 0; pass < 3 - PLANES; ++pass) {
        __syncthreads();
#pragma unroll
        for (int part = pass; part < pass + PLANES; ++part)
#pragma unroll
            for (int c = 0; c < butterflies<RAD>(); ++c)
#pragma unroll
                for (int r = 0; r < RAD; ++r) {
                    const int j = now.t + c * T, place = now.line * N + j + r * (N / RAD);
                    if (has<RAD>(j)) plane[part % PLANES * ROOM + place] = part_of(v[c][r], part);
                }
        __syncthreads();
#pragma unroll
        for (int part = pass; part < pass + PLANES; ++part)
#pragma unroll
            for (int c = 0; c < pairs; ++c) {
                const int k = now.t + c * T;
                const R* line = plane + part % PLANES * ROOM + now.line * N;
                if (k > N / 2) continue;
                part_of(one[c], part) = line[k];
                part_of(other[c], part) = line[k ? N - k : 0];
            }
    }
#pragma unroll
    for (int c = 0; c < pairs; ++c) {
        const int k = now.t + c * T;
        if (k > N / 2 || !stored) continue;
        const C even = complex_of((one[c].x + other[c].x) / 2, (one[c].y - other[c].y) / 2);
        const C odd = complex_of((one[c].y + other[c].y) / 2, (other[c].x - one[c].x) / 2);
        const C turned = times(odd, half_turns[k]);
        to[k * step] = plus(even, turned);
        to[(N - k) * step] = complex_of(even.x - turned.x, turned.y - even.y);
    }
}

struct Task {
    C* __restrict__ y;
    const C* __restrict__ table;
    const C* __restrict__ half_turns;
    Turns turns;
    unsigned int first, lines;
    Where to;
};

template <int RAD>
__device__ __forceinline__ void finish(C (&v)[butterflies<RAD>()][RAD], Lane lane, const Task& task)
{
    const unsigned int line = task.first + lane.line;
    const bool stored = line < task.lines;
    if (TURNED) turn_results<RAD>(v, lane.t, task.to.along_middle(line), task.turns);
    C* to = task.y + task.to.begin(line);
    if constexpr (ENDS == UNPACKED) {
        unpack<RAD>(v, lane, stored, to, task.to.step, task.half_turns);
        return;
    }
    if (!stored) return;
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); ++c) {
        const int j = lane.t + c * T;
        if (!has<RAD>(j)) continue;
#pragma unroll
        for (int r = 0; r < RAD; ++r) {
            const int k = j + r * (N / RAD);
            if (ENDS == WHOLE || k <= N / 2) to[k * task.to.step] = v[c][r];
        }
    }
}

// The stages from the one of radix RAD on, whose points are in `v`.
template <int SPAN, int RAD, int... REST>
__device__ __forceinline__ void stages(C (&v)[butterflies<RAD>()][RAD], Lane lane, const Task& task)
{
    stage<SPAN, RAD>(v, lane.t, task.table);
    if constexpr (sizeof...(REST) == 0) {
        finish<RAD>(v, lane, task);
    } else {
        constexpr int rest[] = {REST...};
        constexpr int along = sizeof...(REST) == 1 ? LANES_OUT : LANES_IN;
        const Lane then = along == LANES_IN ? lane : lane_of<along>();
        C w[butterflies<rest[0]>()][rest[0]];
        exchange<SPAN, RAD, rest[0], along>(v, w, lane, then);
        stages<SPAN * RAD, REST...>(w, then, task);
    }
}

// The lines of all blocks, from x to y. `table` has the N twiddles of a line, `half_turns` those of 2 N points up to a
// quarter of a turn, `low` and `high` those of the long line that these lines are parts of.
template <int RAD, int... REST>
__device__ __forceinline__ void transform_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ half_turns,
    const C* __restrict__ low, const C* __restrict__ high, unsigned int lines, const Where& from, const Where& to)
{
    const Lane lane = lane_of<LANES_IN>();
    const unsigned int first = blockIdx.x * LINES, line = first + lane.line;
    const long long begin = from.begin(line);
    C v[butterflies<RAD>()][RAD];
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); ++c)
#pragma unroll
        for (int r = 0; r < RAD; ++r) {
            const int j = lane.t + c * T;
            v[c][r] = complex_of(0, 0);
            if (line < lines && has<RAD>(j)) v[c][r] = number_at(x, begin + (j + r * (N / RAD)) * from.step);
        }
    stages<1, RAD, REST...>(v, lane, Task{y, table, half_turns, Turns{low, high}, first, lines, to});
}
