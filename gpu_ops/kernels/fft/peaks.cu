// What:    the peaks of magnitudes or power densities, in order, and their number
// Idea:    each block tests one segment of the positions, as many at once as it has threads, and stores the first 16
//          peaks of its segment; then one thread per channel reads the segments in order until the table is full. The
//          maximum is found first, in two steps: per segment, then over the segments
// Shapes:  values (n, channels) or (height, width, channels); largest (channels); positions (channels, pieces, 16) and
//          counts (channels, pieces); table (16, 2 or 3 a channel): frequencies and height; total: one number
// Launch:  largest, signal, image: grid (pieces, channels), a power of two of threads, shared one value per thread in
//          largest; tables: one block
// Traffic: 1 value read per position, and the neighbours of the few large ones
// Source:  S2
#include "fft.cuh"
#include "block_total.cuh"

#define PEAKS 16
#define MOST_THREADS 1024

extern __shared__ __align__(16) unsigned char memory[];

// Whether a value exceeds a neighbour: by a factor of two at the full distance; of equal values the first counts.
__device__ __forceinline__ bool exceeds(R here, R other, bool far, bool later)
{
    if (far) return (R)0.5 * here > other;
    return later ? here >= other : here > other;
}

// Bins near zero frequency are weighted by a thousandth for the maximum, so that a large mean hides nothing.
__device__ __forceinline__ R counted(R value, bool near_zero) { return near_zero ? (R)0.001 * value : value; }

struct Plain {
    const R* values;
    int channels;

    __device__ __forceinline__ R level(long long k) const { return values[k * channels]; }
};

// `doubled` is the end of the bins that represent two frequencies, which zero and half the rate do not; 0: none do.
struct Signal {
    const R* values;
    long long bins, doubled;
    int channels, reach;
    R least;

    __device__ __forceinline__ R at(long long k) const
    {
        const R value = values[k * channels];
        return doubled && (k == 0 || k >= doubled) ? 2 * value : value;
    }

    __device__ __forceinline__ R level(long long k) const { return counted(at(k), k < reach); }

    __device__ bool is_peak(long long k) const
    {
        const R here = at(k);
        if (k < 1 || k >= bins - 1 || !(here >= least)) return false;
        for (int s = -reach; s <= reach; ++s) {
            const long long neighbour = k + s;
            if (s == 0 || neighbour < 0 || neighbour >= bins) continue;
            if (!exceeds(here, at(neighbour), s == reach || s == -reach, s > 0)) return false;
        }
        return true;
    }
};

struct Image {
    const R* values;
    long long height, width, down, right;
    int channels, reach;
    R least;

    // A bin counted from zero frequency, any integers; it is stored circularly shifted down and to the right.
    __device__ __forceinline__ R at(long long y, long long x) const
    {
        y = (y % height + height + down) % height;
        x = (x % width + width + right) % width;
        return values[(y * width + x) * channels];
    }

    __device__ __forceinline__ R level(long long position) const
    {
        const long long y = position / width, x = position - y * width;
        return counted(at(y, x), (y < reach || height - y < reach) && (x < reach || width - x < reach));
    }

    __device__ bool is_peak(long long position) const
    {
        const long long y = position / width, x = position - y * width;
        const bool edge = y == 0 || 2 * y == height;
        if (2 * y > height || (edge && 2 * x > width) || position == 0) return false;
        const R here = at(y, x);
        if (!(here >= least)) return false;
        for (int dy = -reach; dy <= reach; ++dy)
            for (int dx = -reach; dx <= reach; ++dx) {
                if (dy == 0 && dx == 0) continue;
                const bool far = dy == reach || dy == -reach || dx == reach || dx == -reach;
                const bool later = dy > 0 || (dy == 0 && dx > 0);
                if (!exceeds(here, at(y + dy, x + dx), far, later)) return false;
            }
        return true;
    }
};

// The maximum of a segment, one per block along x, into out (pieces, channels).
template <typename Levels>
__device__ __forceinline__ void find_largest(const Levels& levels, long long n, R* __restrict__ out, int channels)
{
    const long long piece = (n + gridDim.x - 1) / gridDim.x;
    const long long first = blockIdx.x * piece;
    const long long end = first + piece < n ? first + piece : n;
    R most = 0;
    for (long long k = first + threadIdx.x; k < end; k += blockDim.x) most = Larger()(most, levels.level(k));
    most = block_total(most, (R*)memory, Larger());
    if (threadIdx.x == 0) out[blockIdx.x * channels + blockIdx.y] = most;
}

extern "C" __global__ void fft_peaks_largest(
    const R* __restrict__ values, R* __restrict__ out, long long n, int channels)
{
    find_largest(Plain{values + blockIdx.y, channels}, n, out, channels);
}

extern "C" __global__ void fft_peaks_signal_largest(
    const R* __restrict__ values, R* __restrict__ out, long long bins, long long doubled, int channels, int reach)
{
    find_largest(Signal{values + blockIdx.y, bins, doubled, channels, reach, (R)0}, bins, out, channels);
}

extern "C" __global__ void fft_peaks_image_largest(
    const R* __restrict__ values, R* __restrict__ out, long long height, long long width, long long down,
    long long right, int channels, int reach)
{
    const Image image = {values + blockIdx.y, height, width, down, right, channels, reach, (R)0};
    find_largest(image, height * width, out, channels);
}

template <typename Rule>
__device__ __forceinline__ void find_peaks(
    const Rule& rule, long long n, long long* __restrict__ positions, unsigned int* __restrict__ counts)
{
    __shared__ int found[MOST_THREADS];
    const long long piece = (n + gridDim.x - 1) / gridDim.x;
    const long long first = blockIdx.x * piece;
    const long long end = first + piece < n ? first + piece : n;
    const long long own = (long long)blockIdx.y * gridDim.x + blockIdx.x;
    unsigned int count = 0;
    for (long long start = first; start < end; start += blockDim.x) {
        const bool peak = start + threadIdx.x < end && rule.is_peak(start + threadIdx.x);
        found[threadIdx.x] = peak;
        if (!__syncthreads_or(peak)) continue;
        if (threadIdx.x == 0)
            for (int j = 0; j < blockDim.x; ++j)
                if (found[j]) {
                    if (count < PEAKS) positions[own * PEAKS + count] = start + j;
                    ++count;
                }
        __syncthreads();
    }
    if (threadIdx.x == 0) counts[own] = count;
}

extern "C" __global__ void fft_peaks_signal(
    const R* __restrict__ values, const R* __restrict__ largest, long long* __restrict__ positions,
    unsigned int* __restrict__ counts, long long bins, long long doubled, int channels, int reach)
{
    const int c = blockIdx.y;
    const Signal signal = {values + c, bins, doubled, channels, reach, (R)0.1 * largest[c]};
    find_peaks(signal, bins, positions, counts);
}

extern "C" __global__ void fft_peaks_image(
    const R* __restrict__ values, const R* __restrict__ largest, long long* __restrict__ positions,
    unsigned int* __restrict__ counts, long long height, long long width, long long down, long long right,
    int channels, int reach)
{
    const int c = blockIdx.y;
    const Image image = {values + c, height, width, down, right, channels, reach, (R)0.1 * largest[c]};
    find_peaks(image, height * width, positions, counts);
}

// The offset, in bins, of the vertex of a parabola through the logarithms of three values from the middle one.
__device__ __forceinline__ R vertex(R before, R here, R after)
{
    const R low = (R)0.01 * here;
    const R a = log(before > low ? before : low), b = log(here), c = log(after > low ? after : low);
    const R bend = a - 2 * b + c;
    return bend < 0 ? (R)0.5 * (a - c) / bend : (R)0;
}

// The peaks of a channel, in order, through `row(number, position)`; returns how many there are.
template <typename Row>
__device__ __forceinline__ unsigned int rows_of(
    const long long* __restrict__ positions, const unsigned int* __restrict__ counts, int pieces, int channel, Row row)
{
    unsigned int count = 0;
    for (int p = 0; p < pieces; ++p) {
        const long long own = (long long)channel * pieces + p;
        for (unsigned int j = 0; j < counts[own] && count + j < PEAKS; ++j) row(count + j, positions[own * PEAKS + j]);
        count += counts[own];
    }
    for (unsigned int r = count; r < PEAKS; ++r) row(r, -1);
    return count;
}

extern "C" __global__ void fft_peaks_signal_table(
    const R* __restrict__ values, const long long* __restrict__ positions, const unsigned int* __restrict__ counts,
    R* __restrict__ table, unsigned int* __restrict__ total, long long bins, long long doubled, int channels,
    int pieces, double spacing)
{
    unsigned int count = 0;
    for (int c = threadIdx.x; c < channels; c += blockDim.x) {
        const Signal signal = {values + c, bins, doubled, channels, 0, (R)0};
        count += rows_of(positions, counts, pieces, c, [&](unsigned int number, long long k) {
            R* row = table + (number * channels + c) * 2;
            row[0] = row[1] = 0;
            if (k < 0) return;
            const R here = signal.at(k);
            row[0] = (R)((k + (double)vertex(signal.at(k - 1), here, signal.at(k + 1))) * spacing);
            row[1] = here;
        });
    }
    count = block_total(count, (unsigned int*)memory, Add());
    if (threadIdx.x == 0) *total = count;
}

extern "C" __global__ void fft_peaks_image_table(
    const R* __restrict__ values, const long long* __restrict__ positions, const unsigned int* __restrict__ counts,
    R* __restrict__ table, unsigned int* __restrict__ total, long long height, long long width, long long down,
    long long right, int channels, int pieces)
{
    unsigned int count = 0;
    for (int c = threadIdx.x; c < channels; c += blockDim.x) {
        const Image image = {values + c, height, width, down, right, channels, 0, (R)0};
        count += rows_of(positions, counts, pieces, c, [&](unsigned int number, long long position) {
            R* row = table + (number * channels + c) * 3;
            row[0] = row[1] = row[2] = 0;
            if (position < 0) return;
            const long long y = position / width, x = position - y * width;
            const R here = image.at(y, x);
            const double fy = y + (double)vertex(image.at(y - 1, x), here, image.at(y + 1, x));
            const double fx = x + (double)vertex(image.at(y, x - 1), here, image.at(y, x + 1));
            row[0] = (R)((2 * y <= height ? fy : fy - height) / height);
            row[1] = (R)((2 * x <= width ? fx : fx - width) / width);
            row[2] = here;
        });
    }
    count = block_total(count, (unsigned int*)memory, Add());
    if (threadIdx.x == 0) *total = count;
}
