// Wrong on purpose: a tile shrinks the details of its first level alone
#include "wavelet_whole.cuh"

constexpr int EACH = 4; // coefficients a thread
constexpr int COEFS = EACH * THREADS;
constexpr int LONG = (COEFS - HALF + 1 - ODD) * 2 / 8 * 8;

typedef Strip<1, COEFS, lead_of(-REACH)> ThereStrip;
typedef Strip<1, COEFS, lead_of(2 - ODD - TAPS)> BackStrip;

struct There {
    T row[ThereStrip::LENGTH];
};

struct Back {
    T row[BackStrip::LENGTH];
    T low[COEFS], high[COEFS];
};

// The approximation of level 1, and where NOISE asks for them the details.
extern "C" __global__ void __launch_bounds__(THREADS) wavelet_recomputed_low_signal(
    const S* __restrict__ x, T* __restrict__ low, T* __restrict__ finest, Index n, Index half, int channels,
    Index right, int keeps)
{
    There& shared = *(There*)memory;
    const Extent e = {1, n, channels, (int)(blockIdx.x % channels)};
    const Shift shift = {0, right, 0, 0, 0};
    const Index begin = (Index)(blockIdx.x / channels) * COEFS, left = 2 * begin - REACH - lead_of(-REACH);
    ThereStrip strip(x, e, shift, left, 2 * (half - 1) - REACH + TAPS - left);
    strip.fetch(0, 0, 1);
    strip.put(shared.row);
    __syncthreads();
    for (int pair = threadIdx.x; pair < COEFS / 2; pair += THREADS) {
        const Index k = begin + 2 * pair;
        Pair a, b;
        split_pair<lead_of(-REACH)>(shared.row, pair, a, b);
        if (keeps) store_pair(a, low, k, half, e);
        if (NOISE) store_pair(b, finest, k, half, e);
    }
}

// A block's samples, from those around them and the approximation that came back.
extern "C" __global__ void __launch_bounds__(THREADS) wavelet_recomputed_signal(
    const S* __restrict__ x, const T* __restrict__ back, T* __restrict__ sum, S* __restrict__ out,
    const double* __restrict__ thresholds, Index n, Index half, int channels, Index right, int first, int last,
    double count, int how, int alone)
{
    Back& shared = *(Back*)memory;
    const Extent e = {1, n, channels, (int)(blockIdx.x % channels)};
    const Shift shift = {0, right, first, last, (T)count};
    const T threshold = (T)thresholds[e.channel];
    const Index begin = (Index)(blockIdx.x / channels) * LONG;
    const Index first_k = ((begin + REACH) >> 1) - HALF + 1, last_k = (n - 1 + REACH) >> 1;
    const Index left = 2 * first_k - REACH - lead_of(2 - ODD - TAPS);
    const bool in_fours = aligned(out, e);
    BackStrip strip(x, e, shift, left, 2 * last_k - REACH + TAPS - left);
    strip.fetch(0, 0, 1);
    if (!alone)
        for (int c = threadIdx.x; c < COEFS; c += THREADS)
            shared.low[c] = first_k + c <= last_k ? back[near_held(first_k + c, half) * channels + e.channel] : 0;
    strip.put(shared.row);
    __syncthreads();
    for (int pair = threadIdx.x; pair < COEFS / 2; pair += THREADS) {
        Pair low, high;
        split_pair<lead_of(2 - ODD - TAPS)>(shared.row, pair, low, high);
        if (alone) ((Pair*)shared.low)[pair] = low;
        for (int i = 0; i < 2; ++i) high.v[i] = shrunk(high.v[i], threshold, how);
        ((Pair*)shared.high)[pair] = high;
    }
    __syncthreads();
    for (int four = threadIdx.x; four < LONG / 4 && begin + 4 * four < n; four += THREADS) {
        T v[4];
        join_four(shared.low, shared.high, four, v);
        if (in_fours) store_four(v, out, e, 0, begin + 4 * four);
        else ((Quad*)shared.row)[four] = {v[0], v[1], v[2], v[3]};
    }
    if (in_fours) return;
    __syncthreads();
    for (int c = threadIdx.x; c < LONG && begin + c < n; c += THREADS)
        store_one(shared.row[c], sum, out, e, shift, 0, begin + c);
}

// All levels of a tile of LENGTH samples, a multiple of eight: nothing but samples comes from memory.
extern "C" __global__ void __launch_bounds__(THREADS) wavelet_recomputed_whole(
    const S* __restrict__ x, T* __restrict__ sum, S* __restrict__ out, const double* __restrict__ thresholds, Index n,
    int channels, Index right, int first, int last, double count, int how, int levels, int length)
{
    __shared__ Spans spans;
    T* tile = (T*)memory;
    const Extent e = {1, n, channels, (int)(blockIdx.x % channels)};
    const Shift shift = {0, right, first, last, (T)count};
    const T threshold = (T)thresholds[e.channel];
    const Index begin = (Index)(blockIdx.x / channels) * length, end = min(begin + length, n);
    const bool in_fours = aligned(out, e);
    if (threadIdx.x == 0) find_spans(spans, begin, end, n, levels);
    __syncthreads();
    fetch_window(tile, x, e, shift, spans.window[0]);
    __syncthreads();
    for (int level = 1; level <= levels; ++level) split_level(tile, spans, level, level == levels, level == 1 ? threshold : 0, how);
    for (int level = levels; level >= 1; --level) {
        const Span wanted = spans.wanted[level - 1];
        for (int four = threadIdx.x; 4 * four < wanted.to - wanted.from; four += THREADS) {
            T v[4];
            join_wanted(tile, spans, level, four, v);
            if (level == 1 && in_fours) store_four(v, out, e, 0, begin + 4 * four);
            else ((Quad*)(tile + places[level - 1]))[four] = {v[0], v[1], v[2], v[3]};
        }
        __syncthreads();
    }
    if (in_fours) return;
    for (int c = threadIdx.x; c < end - begin; c += THREADS) store_one(tile[c], sum, out, e, shift, 0, begin + c);
}
