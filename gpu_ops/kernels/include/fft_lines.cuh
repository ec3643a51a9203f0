// Stockham's transform of many lines of N points by any RADICES whose product is N, which all are known when this is
// compiled: so are all strides, and no thread divides by a number that it reads. A line has T threads, a block has
// LINES lines. Lanes run along the points of a line, or along lines where neighbouring lines lie side by side in
// memory; they may load one way and store the other.
#pragma once
#include "fft_exchange.cuh"

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

// Points from global memory: of this line, or with AHEAD those that a copy has brought since the line before. `own` are
// the thread's places, as many as it has points, a block's threads apart.
template <int RAD>
struct Source {
    const void* __restrict__ x;
    long long step;
    int t;

    __device__ __forceinline__ C* own() const { return (C*)(memory + OWN) + threadIdx.x; }

    __device__ __forceinline__ void fetch(long long begin, bool there) const
    {
        if constexpr (!AHEAD) return;
#pragma unroll
        for (int c = 0; c < butterflies<RAD>(); ++c) {
            const int j = butterfly_of<1, RAD>(t, c);
            const long long place = begin + j * step;
#pragma unroll
            for (int r = 0; r < RAD; ++r) {
                const long long at = there && has<RAD>(j) ? place + r * (N / RAD) * step : 0;
                const void* from = (const char*)x + at * (NUMBERS == COMPLEX_NUMBERS ? sizeof(C) : sizeof(SAMPLE));
                copy_later(own() + (c * RAD + r) * (T * LINES), from, there && has<RAD>(j));
            }
        }
    }

    __device__ __forceinline__ void take(C (&v)[butterflies<RAD>()][RAD], long long begin, bool there) const
    {
        if constexpr (!AHEAD) {
            load_points<RAD>(v, x, begin, step, t, there);
            return;
        }
        wait_for_copies();
#pragma unroll
        for (int c = 0; c < butterflies<RAD>(); ++c)
#pragma unroll
            for (int r = 0; r < RAD; ++r) v[c][r] = own()[(c * RAD + r) * (T * LINES)];
    }
};

// The lines of all blocks, from x to y. With AHEAD a block takes several groups of lines, one after the other, and
// fetches the next one before it transforms this one. `table` has the N twiddles of a line, `half_turns` those of 2 N points up to
// half a turn, `low` and `high` those of the long line that these lines are parts of.
template <int RAD, int... REST>
__device__ __forceinline__ void transform_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ half_turns,
    const C* __restrict__ low, const C* __restrict__ high, unsigned int lines, const Where& from, const Where& to)
{
    const Lane lane = lane_of<LANES_IN>();
    const Source<RAD> source{x, from.step, lane.t};
    const unsigned int apart = gridDim.x * LINES;
    unsigned int first = blockIdx.x * LINES, line = first + lane.line;
    source.fetch(from.begin(line), line < lines);
    do {
        C v[butterflies<RAD>()][RAD];
        source.take(v, from.begin(line), line < lines);
        line += apart;
        if (AHEAD && first + apart < lines) source.fetch(from.begin(line), line < lines);
        stages<Usual, 1, RAD, REST...>(v, lane, table, Store{y, half_turns, Turns{low, high}, first, lines, to});
        first += apart;
        if (AHEAD) __syncthreads();
    } while (AHEAD && first < lines);
}
