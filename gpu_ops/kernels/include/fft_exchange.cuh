// The stages of many lines of N points, and how they exchange their points through shared memory: both parts of a
// complex number in one access (PARTS 2), or all real parts before all imaginary ones, which takes half the memory
// (PARTS 1).
#pragma once
#include "fft_ahead.cuh"

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
