// Wrong on purpose: rows are joined while other threads still make their halves
#include "wavelet_whole.cuh"

constexpr int FILLED = TAPS - 2; // rows of a window before its first coefficient
constexpr int PAD = whole(FILLED, BATCH) * BATCH - FILLED;
constexpr int NEW = BATCH / 2; // rows of coefficients a batch

// Threads that a multiprocessor is to hold, for the compiler to keep to the registers that this leaves: as many as the
// windows of a thread, in words of four bytes, leave without a spill.
constexpr int WORDS = (FILLED + BATCH + 2 * (HALF - 1 + NEW)) * sizeof(T) / 4;
constexpr int RESIDENT = (WORDS + 4 * (INTEGER + BORDER) <= 28 ? 768 : WORDS <= 52 ? 512 : 256) / THREADS;
// On the way there NOISE takes two windows a thread.
constexpr int TWO = 2 * (FILLED + BATCH) * sizeof(T) / 4;
constexpr int RESIDENT_THERE = !NOISE ? RESIDENT : (TWO + 4 * (INTEGER + BORDER) <= 48 ? 512 : 256) / THREADS;

constexpr int COEFS = THREADS / 2; // of a strip on the way back: a thread has a column of either half
constexpr int WIDTH = (COEFS - HALF + 1 - ODD) * 2 / 8 * 8;
static_assert(WIDTH >= 8, "a strip has room for what lies around its samples");

typedef Strip<BATCH, THREADS, lead_of(-REACH)> ThereStrip;
typedef Strip<BATCH, COEFS, lead_of(2 - ODD - TAPS)> BackStrip;

struct There {
    T rows[BATCH][ThereStrip::LENGTH];
    T halves[BATCH][NOISE ? 2 * THREADS : THREADS];
};

struct Back {
    T rows[BATCH][BackStrip::LENGTH];
    T halves[BATCH][2 * COEFS]; // low, then high
};

// A thread's column of a half: the rows that the next coefficients need, oldest first.
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

// The approximation of level 1, and where NOISE asks for them the diagonal details.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT_THERE) wavelet_recomputed_low_image(
    const S* __restrict__ x, T* __restrict__ low, T* __restrict__ finest, int rows, int columns, int half_rows, int half,
    int channels, int height, int down, int right, int keeps)
{
    There& shared = *(There*)memory;
    const Extent e = {rows, columns, channels, (int)(blockIdx.x % channels)};
    const Shift shift = {down, right, 0, 0, 0};
    const int begin = (int)(blockIdx.x / channels) * THREADS, own = begin + threadIdx.x;
    const int left = 2 * begin - REACH - lead_of(-REACH);
    const int first = blockIdx.y * height, count = min(height, half_rows - first);
    const int lines = 2 * count + FILLED;
    const int top = 2 * first - REACH;
    Column lows = {}, highs = {};
    ThereStrip strip(x, e, shift, left, 2 * (half - 1) - REACH + TAPS - left);
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
        if (keeps) lows.take<PITCH>(shared.halves[0] + threadIdx.x);
        if (NOISE) highs.take<PITCH>(shared.halves[0] + THREADS + threadIdx.x);
        if (start < FILLED || own >= half) continue;
#pragma unroll
        for (int k = 0; k < NEW; ++k) {
            const int row = (start - FILLED) / 2 + k;
            if (row >= count) break;
            const Index at = ((Index)(first + row) * half + own) * channels + e.channel;
            if (keeps) low[at] = lows.product(LOW_THERE, k);
            if (NOISE) finest[at] = highs.product(HIGH_THERE, k);
        }
    }
}

// A thread's column on the way back: the coefficients that the next samples need, oldest first.
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
            sum += bank[LOW_BACK + parity + 2 * p] * low[HALF - 1 + k - p];
            sum += bank[HIGH_BACK + parity + 2 * p] * high[HALF - 1 + k - p];
        }
        return sum;
    }
};

// A block's samples, from those around them and the approximation that came back.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) wavelet_recomputed_image(
    const S* __restrict__ x, const T* __restrict__ back, T* __restrict__ sum, S* __restrict__ out,
    const double* __restrict__ thresholds, int rows, int columns, int half_rows, int half, int channels,
    int height, int down, int right, int first, int last, double count, int how, int alone)
{
    Back& shared = *(Back*)memory;
    const Extent e = {rows, columns, channels, (int)(blockIdx.x % channels)};
    const Shift shift = {down, right, first, last, (T)count};
    const T threshold = (T)thresholds[e.channel];
    const int begin = (int)(blockIdx.x / channels) * WIDTH, above = blockIdx.y * height;
    const int below = min(above + height, rows);
    const int first_k = ((above + REACH) >> 1) - HALF + 1, last_k = (below - 1 + REACH) >> 1;
    const int first_column = ((begin + REACH) >> 1) - HALF + 1;
    const int left = 2 * first_column - REACH - lead_of(2 - ODD - TAPS), top = 2 * first_k - REACH;
    const int end = 2 * ((columns - 1 + REACH) >> 1) - REACH + TAPS; // of the samples that the last column needs
    const int lines = 2 * (last_k - first_k + 1) + FILLED;
    const bool is_low = threadIdx.x < COEFS;
    const int own = near_held(first_column + (int)threadIdx.x % COEFS, half) * channels + e.channel;
    Column column = {};
    Coefficients coefs = {};
    const bool in_fours = aligned(out, e);
    BackStrip strip(x, e, shift, left, end - left);
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
        T* place = shared.halves[0] + threadIdx.x;
        column.take<2 * COEFS>(place);
        const int k = first_k + (start - FILLED) / 2;
        if (start >= FILLED) {
            coefs.move_on();
#pragma unroll
            for (int j = 0; j < NEW; ++j) {
                const T high = column.product(HIGH_THERE, j);
                coefs.high[HALF - 1 + j] = shrunk(high, threshold, how);
                if (!is_low) coefs.low[HALF - 1 + j] = shrunk(column.product(LOW_THERE, j), threshold, how);
                else if (alone) coefs.low[HALF - 1 + j] = column.product(LOW_THERE, j);
                else coefs.low[HALF - 1 + j] = back[(Index)near_held(k + j, half_rows) * half * channels + own];
            }
#pragma unroll
            for (int r = 0; r < BATCH; ++r) place[r * 2 * COEFS] = coefs.sample(r / 2, r % 2);
        }
        if (start + BATCH < lines) strip.fetch(top + start + BATCH, 0, lines - start - BATCH);
        if (start < FILLED) continue; // the same for all threads
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
