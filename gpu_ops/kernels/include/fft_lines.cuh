// Shared by the mixed-radix kernels: addresses, twiddle factors and butterflies of many lines of N points, by
// Stockham's method with any RADICES whose product is N. All radices are known at compile time: so are all strides, and
// no thread divides by a variable. A line has T threads, a block LINES lines. Stages exchange points through shared
// memory, both parts of a complex number in one access (PARTS 2), or first all real, then all imaginary parts, which
// takes half the memory (PARTS 1).
#pragma once
#include "fft_butterfly.cuh"

extern __shared__ __align__(16) unsigned char memory[];

enum { ALONG_POINTS, ALONG_LINES };        // what neighbouring lanes process: points of a line, or lines
enum { COMPLEX_NUMBERS, PAIRS, SINGLES };  // NUMBERS, what x contains: complex numbers, pairs of samples, or samples
enum { WHOLE, HALF, UNPACKED };            // ENDS, what is stored: all points, the first half, or the bins of 2 N samples

constexpr int N = LINE_POINTS, T = LINE_THREADS, PASSES = 3 - PARTS;
constexpr int RADIX_LIST[] = {RADICES}, FIRST = RADIX_LIST[0], LAST = RADIX_LIST[sizeof(RADIX_LIST) / sizeof(int) - 1];
constexpr bool POWERS_OF_TWO = (N & (N - 1)) == 0 && (LINES & (LINES - 1)) == 0;
constexpr int ITEM = PARTS * sizeof(R), BANK_BITS = log2_of(128 / ITEM), BANKS = (1 << BANK_BITS) - 1;

// A thread's line in the block, and its index among the threads of that line.
struct Lane {
    int line, t;
};

// Whether lanes run along points or lines in the first and in the last stage. Where both are lines, shared memory
// interleaves them.
template <int FIRST_STAGE, int LAST_STAGE>
struct Along {
    static constexpr int first = FIRST_STAGE, last = LAST_STAGE;
    static constexpr int point_stride = first == ALONG_LINES && last == ALONG_LINES ? LINES : 1;
};

template <int ALONG>
__device__ __forceinline__ Lane lane_of()
{
    const int id = threadIdx.x;
    return ALONG == ALONG_LINES ? Lane{id % LINES, id / LINES} : Lane{id / T, id % T};
}

// Exclusive-or swizzle of an index in shared memory, for powers of two: lanes that store with a stride of SPAN * RAD
// access different banks by the bits in which they differ, and lanes that load with stride 1 still do; so do lanes
// across lines after lanes along points. The function is linear: for an index and an offset without common bits it is
// the exclusive or of both results.
template <typename Lanes, int SPAN, int RAD>
__device__ constexpr int swizzled(int index)
{
    constexpr int done = log2_of(SPAN * Lanes::point_stride), above = done + log2_of(RAD), lines = log2_of(LINES);
    int other = 0;
    if (done < BANK_BITS) other = (index >> above & BANKS >> done) << done;
    if (Lanes::first != Lanes::last && N > BANKS && lines <= BANK_BITS)
        other ^= (index >> log2_of(N) & LINES - 1) << (BANK_BITS - lines);
    return index ^ other;
}

// The address of a point between the stage of radix RAD after SPAN points and the next stage, in bytes of shared
// memory. Lengths other than powers of two are padded by one element after every SPAN * RAD, where RAD is even;
// `padding` is the padding before the point.
template <typename Lanes, int SPAN, int RAD>
__device__ __forceinline__ int address_of(int line, int point, int padding)
{
    constexpr bool interleaved = Lanes::point_stride > 1;
    if constexpr (POWERS_OF_TWO)
        return ITEM * swizzled<Lanes, SPAN, RAD>(interleaved ? point * LINES + line : line * N + point);
    const int index = point + (RAD % 2 ? 0 : padding);
    return ITEM * (interleaved ? index * LINES + line : line * LINE_PITCH + index);
}

// The address of the point `offset` points and `padding` elements further, both known at compile time: the bits of the
// offset that select a bank are combined by an exclusive or, the rest is the immediate offset of the access.
template <typename Lanes, int SPAN, int RAD>
__device__ __forceinline__ int address_plus(int address, int offset, int padding)
{
    if constexpr (POWERS_OF_TWO) {
        const int by = swizzled<Lanes, SPAN, RAD>(offset * Lanes::point_stride);
        return (address ^ (by & BANKS) * ITEM) + (by & ~BANKS) * ITEM;
    }
    return address + (offset + (RAD % 2 ? 0 : padding)) * Lanes::point_stride * ITEM;
}

// Shared memory stores whole complex numbers, or the part that this pass exchanges.
__device__ __forceinline__ void store_shared(int address, C z, int pass)
{
    if constexpr (PARTS == 2) *(C*)(memory + address) = z;
    else *(R*)(memory + address) = pass ? z.y : z.x;
}

__device__ __forceinline__ void load_shared(int address, C& z, int pass)
{
    if constexpr (PARTS == 2) z = *(const C*)(memory + address);
    else (pass ? z.y : z.x) = *(const R*)(memory + address);
}

// Addresses of lines in global memory, in elements: lines are counted along inner (stride 1), then middle, then outer.
struct Layout {
    unsigned int inner, middle;
    long long outer_stride, middle_stride, point_stride;

    __device__ __forceinline__ unsigned int along_middle(unsigned int line) const { return line / inner % middle; }
    __device__ __forceinline__ long long begin(unsigned int line) const
    {
        const unsigned int group = line / inner, outer = group / middle;
        return (long long)(line - group * inner) + (group - outer * middle) * middle_stride + outer * outer_stride;
    }
};

// Butterflies per thread in a stage of radix RAD.
template <int RAD>
__device__ constexpr int butterflies() { return (N / RAD + T - 1) / T; }

// The index of a thread's butterfly c. Where accesses to global memory have 128 bits, in the first and in the last
// stage, two neighbouring butterflies belong to one thread.
template <int SPAN, int RAD>
__device__ __forceinline__ int butterfly_of(int t, int c)
{
    if constexpr (WIDTH == 128 && (SPAN == 1 || SPAN * RAD == N)) return 2 * (t + c / 2 * T) + c % 2;
    return t + c * T;
}

// Whether a stage has this butterfly: the last threads of a line may be idle.
template <int RAD>
__device__ __forceinline__ bool exists(int j) { return N / RAD % T == 0 || j < N / RAD; }

// Powers 1 ... RAD - 1 of w[1]: powers of two are loaded (all, every second one or none) or squared; the others are
// products. An error of w[1] grows with the power.
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

// The butterflies of a thread; their points are first multiplied by the twiddle factors W^(r k) of SPAN * RAD points.
template <int SPAN, int RAD>
__device__ __forceinline__ void stage(C (&v)[butterflies<RAD>()][RAD], int t, const C* __restrict__ table)
{
#pragma unroll
    for (int c = 0; c < butterflies<RAD>(); ++c) {
        if constexpr (SPAN > 1 && RAD > 1) {
            C w[RAD];
            const int k = butterfly_of<SPAN, RAD>(t, c) % SPAN;
            powers<RAD>(w, k * (N / (SPAN * RAD)), [&](int e) { return table[e]; });
#pragma unroll
            for (int r = 1; r < RAD; ++r) v[c][r] = product(v[c][r], w[r]);
        }
        any_butterfly<RAD>(v[c]);
    }
}

// Exchange: the stage of radix RAD stores its points where the next stage, of radix NEXT, loads them.
template <typename Lanes, int SPAN, int RAD, int NEXT>
__device__ __forceinline__ void exchange(
    C (&v)[butterflies<RAD>()][RAD], C (&w)[butterflies<NEXT>()][NEXT], Lane from, Lane to)
{
    constexpr int stride = N / NEXT, group = SPAN * RAD;
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) {
        if (SPAN > 1 || pass) __syncthreads();
#pragma unroll
        for (int c = 0; c < butterflies<RAD>(); ++c) {
            const int j = butterfly_of<SPAN, RAD>(from.t, c), k = j % SPAN;
            const int address = address_of<Lanes, SPAN, RAD>(from.line, (j - k) * RAD + k, j / SPAN);
            if (!exists<RAD>(j)) continue;
#pragma unroll
            for (int r = 0; r < RAD; ++r)
                store_shared(address_plus<Lanes, SPAN, RAD>(address, r * SPAN, 0), v[c][r], pass);
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < butterflies<NEXT>(); ++c) {
            const int j = butterfly_of<group, NEXT>(to.t, c);
            const int address = address_of<Lanes, SPAN, RAD>(to.line, j, j / group);
            if (!exists<NEXT>(j)) continue;
#pragma unroll
            for (int r = 0; r < NEXT; ++r)
                load_shared(address_plus<Lanes, SPAN, RAD>(address, r * stride, r * stride / group), w[c][r], pass);
        }
    }
}

// All stages from that of radix RAD on, whose points are in `v`; `finish` receives those of the last one.
template <typename Lanes, int SPAN, int RAD, int... REST, typename Finish>
__device__ __forceinline__ void stages(
    C (&v)[butterflies<RAD>()][RAD], Lane lane, const C* __restrict__ table, const Finish& finish)
{
    stage<SPAN, RAD>(v, lane.t, table);
    if constexpr (sizeof...(REST) == 0) {
        finish(v, lane);
    } else {
        constexpr int rest[] = {REST...};
        constexpr int along = sizeof...(REST) == 1 ? Lanes::last : Lanes::first;
        const Lane next = along == Lanes::first ? lane : lane_of<along>();
        C w[butterflies<rest[0]>()][rest[0]];
        exchange<Lanes, SPAN, RAD, rest[0]>(v, w, lane, next);
        stages<Lanes, SPAN * RAD, REST...>(w, next, table, finish);
    }
}

struct alignas(PAIR_ALIGNED ? 2 * sizeof(SAMPLE) : sizeof(SAMPLE)) Pair {
    SAMPLE re, im;
};

// Loads a number of x. The index counts samples, or complex numbers where x contains those.
__device__ __forceinline__ C number_at(const void* __restrict__ x, long long index)
{
    if constexpr (NUMBERS == COMPLEX_NUMBERS && WIDTH > 32) return ((const C*)x)[index];
    if constexpr (NUMBERS == COMPLEX_NUMBERS) return complex_of(((const R*)x)[2 * index], ((const R*)x)[2 * index + 1]);
    if constexpr (NUMBERS == SINGLES) return complex_of((R)((const SAMPLE*)x)[index], 0);
    if constexpr (NUMBERS == PAIRS && WIDTH == 32)
        return complex_of((R)((const SAMPLE*)x)[index], (R)((const SAMPLE*)x)[index + 1]);
    const Pair pair = *(const Pair*)((const SAMPLE*)x + index);
    return complex_of((R)pair.re, (R)pair.im);
}
