// What:    wavelet denoising that stores no detail coefficients: the inverse recomputes the details of each level
// Idea:    recomputation: the forward transform of a level writes only its approximation, a quarter of an image. The
//          inverse transform reads the level's samples again, recomputes the details, thresholds them, combines them
//          with the approximation from the inverse of the next level, and writes samples. A block streams down a strip
//          of rows: rows are filtered in shared memory, a thread's column of low or high coefficients stays in
//          registers from batch to batch, and rows are synthesised in shared memory. A tile of a signal has all levels
//          where they fit and recomputes its halo: one launch
// Shapes:  signals: x and out (n, channels), low, finest and restored (half, channels); images: x and out (rows,
//          columns, channels), low, finest and restored (half_rows, half, channels); sum as out, for several shifts;
//          thresholds (channels). `stores_low` 0: no approximation is stored; `only_level`: the last level, whose
//          approximation is recomputed as well. NOISE: the finest details are stored as well
// Launch:  THREADS threads. Grid x: strips * channels, a strip is THREADS coefficients forward and WIDTH samples
//          inverse, of signals COEFS and LONG; grid y: segments of `height` rows, of coefficients forward, of samples
//          inverse. Shared memory: a `Forward` or an `Inverse`; for all levels tiles of `length` samples, whose windows
//          start at `indices`
// Traffic: per level 12 bytes per float, read twice and written once, and 2 for its approximation, written and read.
//          Strips overlap by taps - 2 samples forward, twice that inverse, segments likewise; bands of a quarter stay
//          in L2. Signals with all levels in a tile: 8 bytes per float, and (taps - 1) * (2^levels - 1) samples on
//          either side
// Source:  S0
#include "wavelet_whole.cuh"

#if IMAGE

constexpr int FILLED = TAPS - 2; // rows of a window before its first coefficient
constexpr int PAD = whole(FILLED, BATCH) * BATCH - FILLED;
constexpr int NEW = BATCH / 2; // rows of coefficients per batch

// Resident threads per multiprocessor, for which the compiler limits the registers: as many as the windows of a thread,
// in 4-byte words, allow without a spill.
constexpr int WORDS = (FILLED + BATCH + 2 * (HALF - 1 + NEW)) * sizeof(T) / 4;
constexpr int RESIDENT = (WORDS + 4 * (INTEGER + BORDER) <= 28 ? 768 : WORDS <= 52 ? 512 : 256) / THREADS;
// The forward transform with NOISE keeps two windows per thread.
constexpr int TWO = 2 * (FILLED + BATCH) * sizeof(T) / 4;
constexpr int RESIDENT_FORWARD = !NOISE ? RESIDENT : (TWO + 4 * (INTEGER + BORDER) <= 48 ? 512 : 256) / THREADS;

constexpr int COEFS = THREADS / 2; // per strip of the inverse: a thread has a column of low and one of high coefficients
constexpr int WIDTH = (COEFS - HALF + 1 - ODD) * 2 / 8 * 8;
static_assert(WIDTH >= 8, "a strip must have space for the halo of its samples");

typedef Strip<BATCH, THREADS, lead_of(-REACH)> ForwardStrip;
typedef Strip<BATCH, COEFS, lead_of(2 - ODD - TAPS)> InverseStrip;

struct Forward {
    T rows[BATCH][ForwardStrip::LENGTH];
    T halves[BATCH][NOISE ? 2 * THREADS : THREADS];
};

struct Inverse {
    T rows[BATCH][InverseStrip::LENGTH];
    T halves[BATCH][2 * COEFS]; // low, then high
};

// A thread's column of low or high coefficients: the rows for the next coefficients, oldest first.
struct Column {
    T rows[FILLED + BATCH];

    template <int PITCH>
    __device__ __forceinline__ void take(const T* column)
    {
#pragma unroll
        for (int t = 0; t < FILLED; ++t) rows[t] = rows[t + BATCH];
#pragma unroll
        for (int r = 0; r < BATCH; ++r) rows[FILLED + r] = column[r * PITCH];
    }

    __device__ __forceinline__ T product(int of, int k) const
    {
        T sum = 0;
#pragma unroll
        for (int t = 0; t < TAPS; ++t) sum += bank[of + t] * rows[2 * k + t];
        return sum;
    }
};

// The approximation of level 1, and with NOISE the diagonal details.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT_FORWARD) wavelet_recomputed_blocks_low_image(
    const S* __restrict__ x, T* __restrict__ low, T* __restrict__ finest, int rows, int columns, int half_rows,
    int half, int channels, int height, int down, int right, int stores_low)
{
    Forward& shared = *(Forward*)memory;
    const Extent e = {rows, columns, channels, (int)(blockIdx.x % channels)};
    const Shift shift = {down, right, 0, 0, 0};
    const int begin = (int)(blockIdx.x / channels) * THREADS, own = begin + threadIdx.x;
    const int left = 2 * begin - REACH - lead_of(-REACH);
    const int first = blockIdx.y * height, count = min(height, half_rows - first);
    const int lines = 2 * count + FILLED;
    const int top = 2 * first - REACH;
    Column lows = {}, highs = {};
    ForwardStrip strip(x, e, shift, left, 2 * (half - 1) - REACH + TAPS - left);
    strip.fetch(top - PAD, PAD, lines + PAD);
    for (int start = -PAD; start < lines; start += BATCH) {
        strip.put(shared.rows[0]);
        __syncthreads();
#pragma unroll 1
        for (int item = threadIdx.x; item < BATCH * THREADS / 2; item += THREADS) {
            const int r = item / (THREADS / 2), pair = item % (THREADS / 2);
            Pair a, b;
            split_pair<lead_of(-REACH)>(shared.rows[r], pair, a, b);
            ((Pair*)shared.halves[r])[pair] = a;
            if (NOISE) ((Pair*)(shared.halves[r] + THREADS))[pair] = b;
        }
        __syncthreads();
        if (start + BATCH < lines) strip.fetch(top + start + BATCH, 0, lines - start - BATCH);
        constexpr int PITCH = sizeof(shared.halves[0]) / sizeof(T);
        if (stores_low) lows.take<PITCH>(shared.halves[0] + threadIdx.x);
        if (NOISE) highs.take<PITCH>(shared.halves[0] + THREADS + threadIdx.x);
        if (start < FILLED || own >= half) continue;
#pragma unroll
        for (int k = 0; k < NEW; ++k) {
            const int row = (start - FILLED) / 2 + k;
            if (row >= count) break;
            const Index at = ((Index)(first + row) * half + own) * channels + e.channel;
            if (stores_low) low[at] = lows.product(LOW_FORWARD, k);
            if (NOISE) finest[at] = highs.product(HIGH_FORWARD, k);
        }
    }
}

// A thread's column in the inverse: the coefficients for the next samples, oldest first.
struct Coefficients {
    T low[HALF - 1 + NEW], high[HALF - 1 + NEW];

    __device__ __forceinline__ void move_on()
    {
#pragma unroll
        for (int p = 0; p < HALF - 1; ++p) low[p] = low[p + NEW], high[p] = high[p + NEW];
    }

    __device__ __forceinline__ T sample(int k, int parity) const
    {
        T sum = 0;
#pragma unroll
        for (int p = 0; p < HALF; ++p) {
            sum += bank[LOW_INVERSE + parity + 2 * p] * low[HALF - 1 + k - p];
            sum += bank[HIGH_INVERSE + parity + 2 * p] * high[HALF - 1 + k - p];
        }
        return sum;
    }
};

// The samples of a block, from the samples and their halo and the approximation of the next level.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) wavelet_recomputed_blocks_image(
    const S* __restrict__ x, const T* __restrict__ restored, T* __restrict__ sum, S* __restrict__ out,
    const double* __restrict__ thresholds, int rows, int columns, int half_rows, int half, int channels,
    int height, int down, int right, int first, int last, double count, int how, int only_level)
{
    Inverse& shared = *(Inverse*)memory;
    const Extent e = {rows, columns, channels, (int)(blockIdx.x % channels)};
    const Shift shift = {down, right, first, last, (T)count};
    const T threshold = (T)thresholds[e.channel];
    const int begin = (int)(blockIdx.x / channels) * WIDTH, above = blockIdx.y * height;
    const int below = min(above + height, rows);
    const int first_k = ((above + REACH) >> 1) - HALF + 1, last_k = (below - 1 + REACH) >> 1;
    const int first_column = ((begin + REACH) >> 1) - HALF + 1;
    const int left = 2 * first_column - REACH - lead_of(2 - ODD - TAPS), top = 2 * first_k - REACH;
    const int end = 2 * ((columns - 1 + REACH) >> 1) - REACH + TAPS; // of the samples for the last column
    const int lines = 2 * (last_k - first_k + 1) + FILLED;
    const bool is_low = threadIdx.x < COEFS;
    const int own = near_clamped(first_column + (int)threadIdx.x % COEFS, half) * channels + e.channel;
    Column column = {};
    Coefficients coefs = {};
    const bool in_fours = aligned(out, e);
    InverseStrip strip(x, e, shift, left, end - left);
    strip.fetch(top - PAD, PAD, lines + PAD);
    for (int start = -PAD; start < lines; start += BATCH) {
        strip.put(shared.rows[0]);
        __syncthreads();
#pragma unroll 1
        for (int item = threadIdx.x; item < BATCH * COEFS / 2; item += THREADS) {
            const int r = item / (COEFS / 2), pair = item % (COEFS / 2);
            Pair low, high;
            split_pair<lead_of(2 - ODD - TAPS)>(shared.rows[r], pair, low, high);
            ((Pair*)shared.halves[r])[pair] = low;
            ((Pair*)(shared.halves[r] + COEFS))[pair] = high;
        }
        __syncthreads();
        T* address = shared.halves[0] + threadIdx.x;
        column.take<2 * COEFS>(address);
        const int k = first_k + (start - FILLED) / 2;
        if (start >= FILLED) {
            coefs.move_on();
#pragma unroll
            for (int j = 0; j < NEW; ++j) {
                const T high = column.product(HIGH_FORWARD, j);
                coefs.high[HALF - 1 + j] = shrunk(high, threshold, how);
                if (!is_low) coefs.low[HALF - 1 + j] = shrunk(column.product(LOW_FORWARD, j), threshold, how);
                else if (only_level) coefs.low[HALF - 1 + j] = column.product(LOW_FORWARD, j);
                else coefs.low[HALF - 1 + j] = restored[(Index)near_clamped(k + j, half_rows) * half * channels + own];
            }
#pragma unroll
            for (int r = 0; r < BATCH; ++r) address[r * 2 * COEFS] = coefs.sample(r / 2, r % 2);
        }
        if (start + BATCH < lines) strip.fetch(top + start + BATCH, 0, lines - start - BATCH);
        if (start < FILLED) continue; // uniform across the block
        __syncthreads();
#pragma unroll 1
        for (int item = threadIdx.x; item < BATCH * COEFS / 2; item += THREADS) {
            const int r = item / (COEFS / 2), four = item % (COEFS / 2);
            const int row = 2 * k - REACH + r;
            if (four >= WIDTH / 4 || row < above || row >= below || begin + 4 * four >= columns) continue;
            T v[4];
            join_four(shared.halves[r], shared.halves[r] + COEFS, four, v);
            if (in_fours) store_four(v, out, e, row, begin + 4 * four);
            else ((Quad*)shared.rows[r])[four] = {v[0], v[1], v[2], v[3]};
        }
        if (in_fours) continue;
        __syncthreads();
#pragma unroll 1
        for (int item = threadIdx.x; item < BATCH * WIDTH; item += THREADS) {
            const int r = item / WIDTH, c = item % WIDTH;
            const int row = 2 * k - REACH + r;
            if (row >= above && row < below && begin + c < columns)
                store_one(shared.rows[r][c], sum, out, e, shift, row, begin + c);
        }
        __syncthreads();
    }
}

#else

constexpr int EACH = 4; // coefficients per thread
constexpr int COEFS = EACH * THREADS;
constexpr int LONG = (COEFS - HALF + 1 - ODD) * 2 / 8 * 8;

typedef Strip<1, COEFS, lead_of(-REACH)> ForwardStrip;
typedef Strip<1, COEFS, lead_of(2 - ODD - TAPS)> InverseStrip;

struct Forward {
    T row[ForwardStrip::LENGTH];
};

struct Inverse {
    T row[InverseStrip::LENGTH];
    T low[COEFS], high[COEFS];
};

// The approximation of level 1, and with NOISE the details.
extern "C" __global__ void __launch_bounds__(THREADS) wavelet_recomputed_blocks_low_signal(
    const S* __restrict__ x, T* __restrict__ low, T* __restrict__ finest, Index n, Index half, int channels,
    Index right, int stores_low)
{
    Forward& shared = *(Forward*)memory;
    const Extent e = {1, n, channels, (int)(blockIdx.x % channels)};
    const Shift shift = {0, right, 0, 0, 0};
    const Index begin = (Index)(blockIdx.x / channels) * COEFS, left = 2 * begin - REACH - lead_of(-REACH);
    ForwardStrip strip(x, e, shift, left, 2 * (half - 1) - REACH + TAPS - left);
    strip.fetch(0, 0, 1);
    strip.put(shared.row);
    __syncthreads();
    for (int pair = threadIdx.x; pair < COEFS / 2; pair += THREADS) {
        const Index k = begin + 2 * pair;
        Pair a, b;
        split_pair<lead_of(-REACH)>(shared.row, pair, a, b);
        if (stores_low) store_pair(a, low, k, half, e);
        if (NOISE) store_pair(b, finest, k, half, e);
    }
}

// The samples of a block, from the samples and their halo and the approximation of the next level.
extern "C" __global__ void __launch_bounds__(THREADS) wavelet_recomputed_blocks_signal(
    const S* __restrict__ x, const T* __restrict__ restored, T* __restrict__ sum, S* __restrict__ out,
    const double* __restrict__ thresholds, Index n, Index half, int channels, Index right, int first, int last,
    double count, int how, int only_level)
{
    Inverse& shared = *(Inverse*)memory;
    const Extent e = {1, n, channels, (int)(blockIdx.x % channels)};
    const Shift shift = {0, right, first, last, (T)count};
    const T threshold = (T)thresholds[e.channel];
    const Index begin = (Index)(blockIdx.x / channels) * LONG;
    const Index first_k = ((begin + REACH) >> 1) - HALF + 1, last_k = (n - 1 + REACH) >> 1;
    const Index left = 2 * first_k - REACH - lead_of(2 - ODD - TAPS);
    const bool in_fours = aligned(out, e);
    InverseStrip strip(x, e, shift, left, 2 * last_k - REACH + TAPS - left);
    strip.fetch(0, 0, 1);
    if (!only_level)
        for (int c = threadIdx.x; c < COEFS; c += THREADS)
            shared.low[c] =
                first_k + c <= last_k ? restored[near_clamped(first_k + c, half) * channels + e.channel] : 0;
    strip.put(shared.row);
    __syncthreads();
    for (int pair = threadIdx.x; pair < COEFS / 2; pair += THREADS) {
        Pair low, high;
        split_pair<lead_of(2 - ODD - TAPS)>(shared.row, pair, low, high);
        if (only_level) ((Pair*)shared.low)[pair] = low;
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

// All levels of a tile of LENGTH samples, a multiple of eight: only samples are read from global memory.
extern "C" __global__ void __launch_bounds__(THREADS) wavelet_recomputed_blocks_whole(
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
    for (int level = 1; level <= levels; ++level) split_level(tile, spans, level, level == levels, threshold, how);
    for (int level = levels; level >= 1; --level) {
        const Span wanted = spans.wanted[level - 1];
        for (int four = threadIdx.x; 4 * four < wanted.to - wanted.from; four += THREADS) {
            T v[4];
            join_wanted(tile, spans, level, four, v);
            if (level == 1 && in_fours) store_four(v, out, e, 0, begin + 4 * four);
            else ((Quad*)(tile + indices[level - 1]))[four] = {v[0], v[1], v[2], v[3]};
        }
        __syncthreads();
    }
    if (in_fours) return;
    for (int c = threadIdx.x; c < end - begin; c += THREADS) store_one(tile[c], sum, out, e, shift, 0, begin + c);
}

#endif
