// Stockham's transform of many lines of N points by any RADICES whose product is N, which all are known when this is
// compiled: so are all strides, and no thread divides by a number that it reads. A line has T threads, a block has
// LINES lines. Lanes run along the points of a line, or along lines where neighbouring lines lie side by side in
// memory; they may load one way and store the other. Stages exchange their points through shared memory, both parts of
// a complex number in one access (PARTS 2), or all real parts before all imaginary ones, which takes half the memory
// (PARTS 1).
#pragma once
#include "fft_butterfly.cuh"

extern __shared__ __align__(16) unsigned char memory[];

enum { ALONG_POINTS, ALONG_LINES };
enum { COMPLEX_NUMBERS, PAIRS, SINGLES };
enum { WHOLE, HALF, UNPACKED };

constexpr int N = LINE_POINTS, T = LINE_THREADS, PASSES = 3 - PARTS;
constexpr bool POWERS_OF_TWO = (N & (N - 1)) == 0 && (LINES & (LINES - 1)) == 0;
constexpr int ITEM = PARTS * sizeof(R), BANK_BITS = log2_of(128 / ITEM), BANKS = (1 << BANK_BITS) - 1;

struct Lane {
    int line, t;
};

// What lanes run along at first and at last. Where that is lines, their points lie side by side in shared memory too.
template <int FIRST, int LAST>
struct Along {
    static constexpr int first = FIRST, last = LAST, beside = FIRST == ALONG_LINES && LAST == ALONG_LINES ? LINES : 1;
};

typedef Along<LANES_IN, LANES_OUT> Usual;

template <int ALONG>
__device__ __forceinline__ Lane lane_of()
{
    const int id = threadIdx.x;
    return ALONG == ALONG_LINES ? Lane{id % LINES, id / LINES} : Lane{id / T, id % T};
}

// Powers of two: lanes that store SPAN * RAD apart find banks of their own by an exclusive or with the bits in which
// they differ, and lanes that load in order keep theirs; so do lanes across lines after lanes along points. The
// function is linear: of a place and a step without common bits it is that of both, joined by exclusive or.
template <typename Lanes, int SPAN, int RAD>
__device__ constexpr int swizzled(int place)
{
    constexpr int done = log2_of(SPAN * Lanes::beside), above = done + log2_of(RAD), lines = log2_of(LINES);
    int other = 0;
    if (done < BANK_BITS) other = (place >> above & BANKS >> done) << done;
    if (Lanes::first != Lanes::last && N > BANKS && lines <= BANK_BITS)
        other ^= (place >> log2_of(N) & LINES - 1) << (BANK_BITS - lines);
    return place ^ other;
}

// Where point `point` of a line is between the stage of radix RAD after SPAN points and the next one, in bytes. Other
// lengths leave a place free after every SPAN * RAD, where RAD is even; `gaps` are those before the point.
template <typename Lanes, int SPAN, int RAD>
__device__ __forceinline__ int place_of(int line, int point, int gaps)
{
    constexpr bool beside = Lanes::beside > 1;
    if constexpr (POWERS_OF_TWO)
        return ITEM * swizzled<Lanes, SPAN, RAD>(beside ? point * LINES + line : line * N + point);
    const int place = point + (RAD % 2 ? 0 : gaps);
    return ITEM * (beside ? place * LINES + line : line * PLANE + place);
}

// The place of the point that lies `step` points and `gaps` gaps beyond, both known when this is compiled: the part of
// the step that changes banks by an exclusive or, the rest as an offset of the access.
template <typename Lanes, int SPAN, int RAD>
__device__ __forceinline__ int beyond(int place, int step, int gaps)
{
    if constexpr (POWERS_OF_TWO) {
        const int by = swizzled<Lanes, SPAN, RAD>(step * Lanes::beside);
        return (place ^ (by & BANKS) * ITEM) + (by & ~BANKS) * ITEM;
    }
    return place + (step + (RAD % 2 ? 0 : gaps)) * Lanes::beside * ITEM;
}

// A number's place in shared memory takes the whole number, or the part that this pass exchanges.
__device__ __forceinline__ void put(int place, C z, int pass)
{
    if constexpr (PARTS == 2) *(C*)(memory + place) = z;
    else *(R*)(memory + place) = pass ? z.y : z.x;
}

__device__ __forceinline__ void get(int place, C& z, int pass)
{
    if constexpr (PARTS == 2) z = *(const C*)(memory + place);
    else (pass ? z.y : z.x) = *(const R*)(memory + place);
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

// The butterfly of a thread: of the first and the last stage, whose points are in global memory, two neighbouring ones
// where accesses are 128 bits wide.
template <int SPAN, int RAD>
__device__ __forceinline__ int butterfly_of(int t, int c)
{
    if constexpr (WIDTH == 128 && (SPAN == 1 || SPAN * RAD == N)) return 2 * (t + c / 2 * T) + c % 2;
    return t + c * T;
}

template <int RAD>
__device__ __forceinline__ bool has(int j) { return N / RAD % T == 0 || j < N / RAD; }

// Powers 1 ... RAD - 1 of w[1]: those of two are looked up, all, every second one or none, or squares; the others are
// products. An error of w[1] grows with the power that is made of it.
template <int RAD, typename Twiddles>
__device__ __forceinline__ void powers(C (&w)[RAD], int first, const Twiddles& twiddles)
{
#pragma unroll
    for (int r = 1; r < RAD; ++r) {
        const int top = 1 << log2_of(r);
        if (r != top) w[r] = product(w[top], w[r - top]);
        else if (r == 1 || LOOKUPS == 4 || (LOOKUPS == 2 && r == 4)) w[r] = twiddles(r * first);
        else w[r] = product(w[top / 2], w[top / 2]);
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
            const int k = butterfly_of<SPAN, RAD>(t, c) % SPAN;
            powers<RAD>(w, k * (N / (SPAN * RAD)), [&](int place) { return table[place]; });
#pragma unroll
            for (int r = 1; r < RAD; ++r) v[c][r] = product(v[c][r], w[r]);
        }
        any_butterfly<RAD>(v[c]);
    }
}

// What the stage of radix RAD leaves goes to where the next one, of radix NEXT, looks for it.
template <typename Lanes, int SPAN, int RAD, int NEXT>
__device__ __forceinline__ void exchange(
    C (&v)[butterflies<RAD>()][RAD], C (&w)[butterflies<NEXT>()][NEXT], Lane now, Lane then)
{
    constexpr int apart = N / NEXT, group = SPAN * RAD;
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) {
        if (SPAN > 1 || pass) __syncthreads();
#pragma unroll
        for (int c = 0; c < butterflies<RAD>(); ++c) {
            const int j = butterfly_of<SPAN, RAD>(now.t, c), k = j % SPAN;
            const int place = place_of<Lanes, SPAN, RAD>(now.line, (j - k) * RAD + k, j / SPAN);
            if (!has<RAD>(j)) continue;
#pragma unroll
            for (int r = 0; r < RAD; ++r) put(beyond<Lanes, SPAN, RAD>(place, r * SPAN, 0), v[c][r], pass);
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < butterflies<NEXT>(); ++c) {
            const int j = butterfly_of<group, NEXT>(then.t, c);
            const int place = place_of<Lanes, SPAN, RAD>(then.line, j, j / group);
            if (!has<NEXT>(j)) continue;
#pragma unroll
            for (int r = 0; r < NEXT; ++r)
                get(beyond<Lanes, SPAN, RAD>(place, r * apart, r * apart / group), w[c][r], pass);
        }
    }
}

// The numbers that are read: complex ones, neighbouring samples as real and imaginary parts, or samples alone. A line's
// place is counted in those.
struct alignas(PAIR_ALIGNED ? 2 * sizeof(SAMPLE) : sizeof(SAMPLE)) Pair {
    SAMPLE re, im;
};

struct alignas(2 * sizeof(C)) Two {
    C one, other;
};

__device__ __forceinline__ C number_at(const void* __restrict__ x, long long place)
{
    if constexpr (NUMBERS == COMPLEX_NUMBERS && WIDTH > 32) return ((const C*)x)[place];
    if constexpr (NUMBERS == COMPLEX_NUMBERS) return complex_of(((const R*)x)[2 * place], ((const R*)x)[2 * place + 1]);
    if constexpr (NUMBERS == SINGLES) return complex_of((R)((const SAMPLE*)x)[place], 0);
    if constexpr (NUMBERS == PAIRS && WIDTH == 32)
        return complex_of((R)((const SAMPLE*)x)[place], (R)((const SAMPLE*)x)[place + 1]);
    const Pair pair = *(const Pair*)((const SAMPLE*)x + place);
    return complex_of((R)pair.re, (R)pair.im);
}

__device__ __forceinline__ void keep(C* __restrict__ y, C z)
{
    if constexpr (WIDTH > 32) *y = z;
    else {
        ((R*)y)[0] = z.x;
        ((R*)y)[1] = z.y;
    }
}

// W^e of a long line whose parts are lines of N points: one table has steps of 1 << LOW_BITS, the other what remains.
struct Turns {
    const C* __restrict__ low;
    const C* __restrict__ high;

    __device__ __forceinline__ C operator()(long long e) const
    {
        return product(high[e >> LOW_BITS], low[e & ((1 << LOW_BITS) - 1)]);
    }
};

// Point k of the results is turned by W^(m k), m the line's place along middle.
template <int RAD>
__device__ __forceinline__ void turn_results(
    C (&v)[butterflies<RAD>()][RAD], int t, long long m, const Turns& turns)
{
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); ++c) {
        const int j = butterfly_of<N / RAD, RAD>(t, c);
        C w[RAD];
        powers<RAD>(w, 1, [&](int r) { return turns(m * (N / RAD) * r); });
        if (!has<RAD>(j)) continue;
        const C first = turns(m * j);
#pragma unroll
        for (int r = 0; r < RAD; ++r) v[c][r] = product(v[c][r], r ? product(first, w[r]) : first);
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
    C one[pairs], other[pairs];
    const int line = now.line * N;
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) {
        __syncthreads();
#pragma unroll
        for (int c = 0; c < butterflies<RAD>(); ++c) {
            const int j = butterfly_of<N / RAD, RAD>(now.t, c);
            if (!has<RAD>(j)) continue;
#pragma unroll
            for (int r = 0; r < RAD; ++r) put(ITEM * (line + j) + ITEM * r * (N / RAD), v[c][r], pass);
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < pairs; ++c) {
            const int k = now.t + c * T;
            if (k > N / 2) continue;
            get(ITEM * (line + k), one[c], pass);
            get(ITEM * (line + (k ? N - k : 0)), other[c], pass);
        }
    }
#pragma unroll
    for (int c = 0; c < pairs; ++c) {
        const int k = now.t + c * T;
        if (k > N / 2 || !stored) continue;
        const C even = complex_of((one[c].x + other[c].x) / 2, (one[c].y - other[c].y) / 2);
        const C odd = complex_of((one[c].y + other[c].y) / 2, (other[c].x - one[c].x) / 2);
        const C turned = product(odd, half_turns[k]);
        to[k * step] = plus(even, turned);
        to[(N - k) * step] = complex_of(even.x - turned.x, turned.y - even.y);
    }
}

// What the last stage leaves goes to global memory.
struct Store {
    C* __restrict__ y;
    const C* __restrict__ half_turns;
    Turns turns;
    unsigned int first, lines;
    Where to;

    template <int RAD>
    __device__ __forceinline__ void operator()(C (&v)[butterflies<RAD>()][RAD], Lane lane) const;
};

template <int RAD>
__device__ __forceinline__ void Store::operator()(C (&v)[butterflies<RAD>()][RAD], Lane lane) const
{
    const unsigned int line = first + lane.line;
    const bool stored = line < lines;
    if (TURNED) turn_results<RAD>(v, lane.t, to.along_middle(line), turns);
    C* begin = y + to.begin(line);
    if constexpr (ENDS == UNPACKED) {
        unpack<RAD>(v, lane, stored, begin, to.step, half_turns);
        return;
    }
    if (!stored) return;
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); c += WIDTH == 128 ? 2 : 1) {
        const int j = butterfly_of<N / RAD, RAD>(lane.t, c);
        if (!has<RAD>(j)) continue;
        C* own = begin + j * to.step;
#pragma unroll
        for (int r = 0; r < RAD; ++r, own += N / RAD * to.step) {
            if constexpr (WIDTH == 128) *(Two*)own = Two{v[c][r], v[c + 1][r]};
            else if (ENDS == WHOLE || j + r * (N / RAD) <= N / 2) keep(own, v[c][r]);
        }
    }
}

// The stages from the one of radix RAD on, whose points are in `v`; `finish` gets what the last one leaves.
template <typename Lanes, int SPAN, int RAD, int... REST, typename Finish>
__device__ __forceinline__ void stages(
    C (&v)[butterflies<RAD>()][RAD], Lane lane, const C* __restrict__ table, const Finish& finish)
{
    stage<SPAN, RAD>(v, lane.t, table);
    if constexpr (sizeof...(REST) == 0) {
        finish.template operator()<RAD>(v, lane);
    } else {
        constexpr int rest[] = {REST...};
        constexpr int along = sizeof...(REST) == 1 ? Lanes::last : Lanes::first;
        const Lane then = along == Lanes::first ? lane : lane_of<along>();
        C w[butterflies<rest[0]>()][rest[0]];
        exchange<Lanes, SPAN, RAD, rest[0]>(v, w, lane, then);
        stages<Lanes, SPAN * RAD, REST...>(w, then, table, finish);
    }
}

// The points of the first stage, from global memory; of lines beyond the last one zeros.
template <int RAD>
__device__ __forceinline__ void load_points(
    C (&v)[butterflies<RAD>()][RAD], const void* __restrict__ x, long long begin, long long step, int t, bool there)
{
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); c += WIDTH == 128 ? 2 : 1) {
        const int j = butterfly_of<1, RAD>(t, c);
        const bool read = there && has<RAD>(j);
        long long place = begin + j * step;
#pragma unroll
        for (int r = 0; r < RAD; ++r, place += N / RAD * step) {
            if constexpr (WIDTH == 128) {
                const Two two = read ? *(const Two*)((const SAMPLE*)x + place) : Two{};
                v[c][r] = two.one;
                v[c + 1][r] = two.other;
            } else {
                v[c][r] = read ? number_at(x, place) : complex_of(0, 0);
            }
        }
    }
}

// The lines of all blocks, from x to y. `table` has the N twiddles of a line, `half_turns` those of 2 N points up to
// half a turn, `low` and `high` those of the long line that these lines are parts of.
template <int RAD, int... REST>
__device__ __forceinline__ void transform_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ half_turns,
    const C* __restrict__ low, const C* __restrict__ high, unsigned int lines, const Where& from, const Where& to)
{
    const Lane lane = lane_of<LANES_IN>();
    const unsigned int first = blockIdx.x * LINES, line = first + lane.line;
    C v[butterflies<RAD>()][RAD];
    load_points<RAD>(v, x, from.begin(line), from.step, lane.t, line < lines);
    stages<Usual, 1, RAD, REST...>(v, lane, table, Store{y, half_turns, Turns{low, high}, first, lines, to});
}
