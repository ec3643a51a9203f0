// What:    complete wavelet denoising with Haar and a given threshold: all levels forward, thresholds, inverse
// Idea:    Haar coefficients of a level depend on 2 or 2 * 2 coefficients of the level before and on no others, so
//          blocks of 2^LEVELS samples a side are independent. A thread computes two levels of its four samples (4 * 4
//          pixels) in registers, and the threads of a block compute the others in shared memory, in place. No
//          coefficient is written to global memory. An odd axis repeats its last sample before the next level, with
//          either border
// Shapes:  signals: x and out (n, channels); images: x and out (rows, columns, channels); sum likewise, for MANY shifts
// Launch:  signals: grid over 16 samples per thread, 2^LEVELS divides 16 * threads; images: 2D grid over 4 * 4 pixels
//          per thread, 2^LEVELS divides 4 * threads along x and along y; a thread's rows are one grid apart. Shared
//          memory: 4 values of type T per thread for signals, 1 for images. One launch per shift
// Traffic: 1 sample read and 1 written, 4 at once where rows are aligned; per further shift 1 sum read and 1 written
// Source:  S0, S1
#include "wavelet_sample.cuh"
#include "wavelet_shrink.cuh"

#define SIDE 4
#define PATCHES 4
#define OWN_LEVELS 2

struct __align__(4 * sizeof(S) > 16 ? 16 : 4 * sizeof(S)) Four {
    S v[SIDE];
};

extern __shared__ __align__(16) unsigned char memory[];

// Circular shifts: `down` and `right` is the shift, `first` starts the sum over the shifts, `last` ends it with the
// mean of `count`.
struct Shift {
    Index down, right;
    int first, last;
    T count;
};

// The extent of an image, or of a signal as one row.
struct Extent {
    Index rows, columns;
    int channels;
};

__device__ __forceinline__ Index unshifted(Index i, Index by, Index n) { return i < by ? i - by + n : i - by; }

// Whether rows of one channel start where four samples can be loaded at once.
__device__ __forceinline__ bool in_fours(const S* x, const S* out, const Extent& e)
{
    const size_t indices = (size_t)x | (size_t)out;
    return !MANY && e.channels == 1 && e.columns % SIDE == 0 && indices % sizeof(Four) == 0;
}

// Four samples of a row from `column` on; 0 beyond the end.
__device__ __forceinline__ void load(
    const S* x, const Extent& e, Index row, Index column, int channel, const Shift& shift, bool fours, T* v)
{
    if (fours) {
        Four four = {};
        if (row < e.rows && column < e.columns) four = *(const Four*)(x + row * e.columns + column);
        for (int i = 0; i < SIDE; ++i) v[i] = (T)four.v[i];
        return;
    }
    const Index from = row < e.rows ? unshifted(row, shift.down, e.rows) * e.columns : 0;
    for (int i = 0; i < SIDE; ++i)
        v[i] = row < e.rows && column + i < e.columns
            ? (T)x[(from + unshifted(column + i, shift.right, e.columns)) * e.channels + channel]
            : 0;
}

// Indexed in groups of four, so that the compiler sees the alignment and emits one store.
__device__ __forceinline__ void store_four(const T* v, S* out, const Extent& e, Index row, Index column)
{
    Four four;
    for (int i = 0; i < SIDE; ++i) four.v[i] = sample_of(v[i]);
    if (row < e.rows && column < e.columns) ((Four*)out)[row * (e.columns / SIDE) + column / SIDE] = four;
}

__device__ __forceinline__ void store(
    const T* v, T* sum, S* out, const Extent& e, Index row, Index column, int channel, const Shift& shift)
{
    if (row >= e.rows) return;
    const Index to = unshifted(row, shift.down, e.rows) * e.columns;
    for (int i = 0; i < SIDE && column + i < e.columns; ++i) {
        const Index at = (to + unshifted(column + i, shift.right, e.columns)) * e.channels + channel;
#if MANY
        const T total = shift.first ? v[i] : sum[at] + v[i];
        if (shift.last) out[at] = sample_of(total / shift.count);
        else sum[at] = total;
#else
        out[at] = sample_of(v[i]);
#endif
    }
}

// Coefficients of an axis of n after that many levels.
__device__ __forceinline__ Index extent_at(Index n, int level) { return (n + ((Index)1 << level) - 1) >> level; }

// Forward step: an average and a difference, thresholded, replace two neighbours; without a second one the first
// repeats.
__device__ __forceinline__ void analyse(T& a, T& b, bool second, T threshold, int how)
{
    const T half = (T)0.70710678118654752440, other = second ? b : a, sample = a;
    a = (sample + other) * half;
    b = shrunk((sample - other) * half, threshold, how);
}

__device__ __forceinline__ void synthesise(T& a, T& b)
{
    const T half = (T)0.70710678118654752440, low = a, high = b;
    a = (low + high) * half;
    b = (low - high) * half;
}

// The same for a square a b | c d: an average, and vertical, horizontal and diagonal details.
__device__ __forceinline__ void analyse(T& a, T& b, T& c, T& d, bool right, bool below, T threshold, int how)
{
    const T top = right ? b : a, bottom = below ? c : a, corner = below ? (right ? d : c) : top;
    const T s = a + top, t = a - top, u = bottom + corner, w = bottom - corner;
    a = (s + u) * (T)0.5;
    b = shrunk((t + w) * (T)0.5, threshold, how);
    c = shrunk((s - u) * (T)0.5, threshold, how);
    d = shrunk((t - w) * (T)0.5, threshold, how);
}

__device__ __forceinline__ void synthesise(T& a, T& b, T& c, T& d)
{
    const T s = a + c, u = a - c, t = b + d, w = b - d;
    a = (s + t) * (T)0.5;
    b = (s - t) * (T)0.5;
    c = (u + w) * (T)0.5;
    d = (u - w) * (T)0.5;
}

// Levels 3 to LEVELS of `count` averages in order, which start with number `begin` of an axis of n samples.
__device__ __forceinline__ void shared_levels(T* tile, int count, Index begin, Index n, T threshold, int how)
{
    for (int level = OWN_LEVELS + 1; level <= LEVELS; ++level) {
        const int step = 1 << (level - OWN_LEVELS - 1);
        const Index extent = extent_at(n, level - 1);
        for (int q = threadIdx.x; q < count / (2 * step); q += blockDim.x) {
            T* at = tile + 2 * q * step;
            analyse(at[0], at[step], begin / step + 2 * q + 1 < extent, threshold, how);
            if (level == LEVELS) synthesise(at[0], at[step]);
        }
        __syncthreads();
    }
    for (int level = LEVELS - 1; level > OWN_LEVELS; --level) {
        const int step = 1 << (level - OWN_LEVELS - 1);
        for (int q = threadIdx.x; q < count / (2 * step); q += blockDim.x)
            synthesise(tile[2 * q * step], tile[(2 * q + 1) * step]);
        __syncthreads();
    }
}

// The same for a tile with one average per thread, which starts with (top, left).
__device__ __forceinline__ void shared_levels(T* tile, Index top, Index left, const Extent& e, T threshold, int how)
{
    const int width = blockDim.x, q = threadIdx.y * blockDim.x + threadIdx.x;
    for (int level = OWN_LEVELS + 1; level <= LEVELS; ++level) {
        const int step = 1 << (level - OWN_LEVELS - 1), across = width / (2 * step);
        const int row = q / across, column = q % across;
        if (row < blockDim.y / (2 * step)) {
            T* at = tile + 2 * row * step * width + 2 * column * step;
            const bool right = left / step + 2 * column + 1 < extent_at(e.columns, level - 1);
            const bool below = top / step + 2 * row + 1 < extent_at(e.rows, level - 1);
            T* other = at + step * width;
            analyse(at[0], at[step], other[0], other[step], right, below, threshold, how);
            if (level == LEVELS) synthesise(at[0], at[step], other[0], other[step]);
        }
        __syncthreads();
    }
    for (int level = LEVELS - 1; level > OWN_LEVELS; --level) {
        const int step = 1 << (level - OWN_LEVELS - 1), across = width / (2 * step);
        const int row = q / across, column = q % across;
        T* at = tile + 2 * row * step * width + 2 * column * step;
        if (row < blockDim.y / (2 * step)) synthesise(at[0], at[step], at[step * width], at[step * width + step]);
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_blocks_signal(
    const S* __restrict__ x, T* __restrict__ sum, S* __restrict__ out, Index n, int channels, Index right, int first,
    int last, double count, double value, int how)
{
    const Extent e = {1, n, channels};
    const Shift shift = {0, right, first, last, (T)count};
    const Index begin = (Index)blockIdx.x * PATCHES * blockDim.x;
    const bool fours = in_fours(x, out, e);
    const T threshold = (T)value;
    T* tile = (T*)memory;
    T v[PATCHES][SIDE];
    for (int channel = 0; channel < channels; ++channel) {
        for (int p = 0; p < PATCHES; ++p) {
            const Index patch = begin + p * blockDim.x + threadIdx.x;
            load(x, e, 0, patch * SIDE, channel, shift, fours, v[p]);
        }
        for (int p = 0; p < PATCHES; ++p) {
            const Index patch = begin + p * blockDim.x + threadIdx.x;
            for (int i = 0; i < SIDE; i += 2) analyse(v[p][i], v[p][i + 1], patch * SIDE + i + 1 < n, threshold, how);
            if (LEVELS > 1) analyse(v[p][0], v[p][2], patch * 2 + 1 < extent_at(n, 1), threshold, how);
            if (LEVELS > OWN_LEVELS) tile[p * blockDim.x + threadIdx.x] = v[p][0];
        }
        if (LEVELS > OWN_LEVELS) {
            __syncthreads();
            shared_levels(tile, PATCHES * blockDim.x, begin, n, threshold, how);
        }
        for (int p = 0; p < PATCHES; ++p) {
            const Index patch = begin + p * blockDim.x + threadIdx.x;
            if (LEVELS > OWN_LEVELS) v[p][0] = tile[p * blockDim.x + threadIdx.x];
            if (LEVELS > 1) synthesise(v[p][0], v[p][2]);
            for (int i = 0; i < SIDE; i += 2) synthesise(v[p][i], v[p][i + 1]);
            if (fours) store_four(v[p], out, e, 0, patch * SIDE);
            else store(v[p], sum, out, e, 0, patch * SIDE, channel, shift);
        }
    }
}

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_blocks_image(
    const S* __restrict__ x, T* __restrict__ sum, S* __restrict__ out, Index rows, Index columns, int channels,
    Index down, Index right, int first, int last, double count, double value, int how)
{
    const Extent e = {rows, columns, channels};
    const Shift shift = {down, right, first, last, (T)count};
    const Index left = (Index)blockIdx.x * blockDim.x, column = left + threadIdx.x;
    const bool fours = in_fours(x, out, e);
    const T threshold = (T)value;
    T* tile = (T*)memory;
    T* own = tile + threadIdx.y * blockDim.x + threadIdx.x;
    T v[SIDE][SIDE];
    for (Index top = (Index)blockIdx.y * blockDim.y; top * SIDE < rows; top += (Index)gridDim.y * blockDim.y) {
        const Index row = top + threadIdx.y;
        for (int channel = 0; channel < channels; ++channel) {
            for (int j = 0; j < SIDE; ++j)
                load(x, e, row * SIDE + j, column * SIDE, channel, shift, fours, v[j]);
            for (int j = 0; j < SIDE; j += 2)
                for (int i = 0; i < SIDE; i += 2)
                    analyse(v[j][i], v[j][i + 1], v[j + 1][i], v[j + 1][i + 1], column * SIDE + i + 1 < columns,
                            row * SIDE + j + 1 < rows, threshold, how);
            if (LEVELS > 1)
                analyse(v[0][0], v[0][2], v[2][0], v[2][2], column * 2 + 1 < extent_at(columns, 1),
                        row * 2 + 1 < extent_at(rows, 1), threshold, how);
            if (LEVELS > OWN_LEVELS) {
                *own = v[0][0];
                __syncthreads();
                shared_levels(tile, top, left, e, threshold, how);
                v[0][0] = *own;
            }
            if (LEVELS > 1) synthesise(v[0][0], v[0][2], v[2][0], v[2][2]);
            for (int j = 0; j < SIDE; j += 2)
                for (int i = 0; i < SIDE; i += 2) synthesise(v[j][i], v[j][i + 1], v[j + 1][i], v[j + 1][i + 1]);
            if (fours)
                for (int j = 0; j < SIDE; ++j) store_four(v[j], out, e, row * SIDE + j, column * SIDE);
            else
                for (int j = 0; j < SIDE; ++j)
                    store(v[j], sum, out, e, row * SIDE + j, column * SIDE, channel, shift);
        }
    }
}
