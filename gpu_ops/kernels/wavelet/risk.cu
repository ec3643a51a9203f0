// What:    threshold of a band with the minimum estimated risk (SURE), per channel
// Idea:    the risk of a threshold t is n - 2 * number up to t + sum of min(d^2, t^2) / noise^2; its minimum is at a
//          magnitude |d| or at 0. So magnitudes are sorted, first tiles in shared memory, then by merges in which each
//          thread finds its position in the other run by binary search; prefix sums of squares give all risks, and a
//          tree reduction their minimum
// Shapes:  a band of n coefficients per channel; sorted (channels, n); sums, risks, indices (channels, blocks)
// Launch:  sort: grid (tiles of 512, channels); merge: grid (n / 256, channels); least: grid (blocks, channels), each
//          block has `part` magnitudes in order, whose squares were summed before; pick: grid channels; 256 threads.
//          Only thresholds up to the noise times `most` are candidates
// Traffic: 1 read and 1 write per magnitude in the sort and in each of log2(n / 512) merges, 2 reads afterwards
// Source:  Donoho & Johnstone 1995
#include "wavelet_band.cuh"

#define TILE (2 * THREADS)

extern "C" __global__ void wavelet_risk_sort(
    const T* __restrict__ values, T* __restrict__ sorted, Index count, Index columns, Index pitch, Index step,
    Index channel_step)
{
    __shared__ T tile[TILE];
    const Band band = band_of(values, count, columns, pitch, step, channel_step, blockIdx.y);
    const Index begin = (Index)blockIdx.x * TILE;
    for (int k = threadIdx.x; k < TILE; k += THREADS) {
        const T value = begin + k < count ? value_of(band, begin + k) : (T)infinity();
        tile[k] = value < 0 ? -value : value;
    }
    __syncthreads();
    for (int run = 2; run <= TILE; run *= 2)
        for (int stride = run / 2; stride > 0; stride /= 2) {
            const int low = 2 * stride * (threadIdx.x / stride) + threadIdx.x % stride;
            const bool up = (low & run) == 0;
            const T a = tile[low], b = tile[low + stride];
            if ((a > b) == up) {
                tile[low] = b;
                tile[low + stride] = a;
            }
            __syncthreads();
        }
    for (int k = threadIdx.x; k < TILE; k += THREADS)
        if (begin + k < count) sorted[blockIdx.y * count + begin + k] = tile[k];
}

// How many of `count` sorted values are below `value`; with `equal`, below or equal.
__device__ __forceinline__ Index below(const T* sorted, Index count, T value, bool equal)
{
    Index low = 0, high = count;
    while (low < high) {
        const Index middle = (low + high) / 2;
        if (sorted[middle] < value || (equal && sorted[middle] == value)) low = middle + 1;
        else high = middle;
    }
    return low;
}

extern "C" __global__ void wavelet_risk_merge(
    const T* __restrict__ from, T* __restrict__ to, Index count, Index run)
{
    const Index e = (Index)blockIdx.x * THREADS + threadIdx.x;
    if (e >= count) return;
    const T* values = from + blockIdx.y * count;
    const Index pair = e / (2 * run) * (2 * run);
    const Index middle = pair + run < count ? pair + run : count;
    const Index end = middle + run < count ? middle + run : count;
    const T value = values[e];
    const Index index = e < middle ? e + below(values + middle, end - middle, value, false)
                                   : pair + (e - middle) + below(values + pair, middle - pair, value, true);
    to[blockIdx.y * count + index] = value;
}

// The minimum risk of the block and its threshold, the lower one of a tie; thread 0 has it.
__device__ __forceinline__ void minimum_of_block(double& risk, double& at, double* risks, double* indices)
{
    risks[threadIdx.x] = risk;
    indices[threadIdx.x] = at;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            const int other = threadIdx.x + stride;
            const bool less = risks[other] < risks[threadIdx.x];
            if (less || (risks[other] == risks[threadIdx.x] && indices[other] < indices[threadIdx.x])) {
                risks[threadIdx.x] = risks[other];
                indices[threadIdx.x] = indices[other];
            }
        }
        __syncthreads();
    }
    risk = risks[0];
    at = indices[0];
}

extern "C" __global__ void wavelet_risk_least(
    const T* __restrict__ sorted, const double* __restrict__ sums, const double* __restrict__ noise,
    double* __restrict__ risks, double* __restrict__ indices, Index count, Index part, double most)
{
    __shared__ double shared[THREADS];
    __shared__ double other[THREADS];
    const int channel = blockIdx.y;
    const T* values = sorted + channel * count;
    const double unit = noise[channel];
    double before = 0;
    for (int b = threadIdx.x; b < blockIdx.x; b += THREADS) before += sums[(Index)channel * gridDim.x + b];
    before = sum_of_block(before, shared);
    const Index begin = blockIdx.x * part;
    const Index end = begin + part < count ? begin + part : count;
    double least = infinity(), at = infinity();
    for (Index first = begin; first < end; first += THREADS) {
        const Index e = first + threadIdx.x;
        const double value = e < end ? (double)values[e] : 0;
        const double square = value / unit * (value / unit);
        shared[threadIdx.x] = square;
        __syncthreads();
        for (int stride = 1; stride < THREADS; stride *= 2) {
            const double left = threadIdx.x >= stride ? shared[threadIdx.x - stride] : 0;
            __syncthreads();
            shared[threadIdx.x] += left;
            __syncthreads();
        }
        const double upto = before + shared[threadIdx.x];
        const double risk = count - 2 * (e + 1) + upto + (count - e - 1) * square;
        if (e < end && value <= unit * most && risk < least) {
            least = risk;
            at = value;
        }
        before += shared[THREADS - 1];
        __syncthreads();
    }
    minimum_of_block(least, at, shared, other);
    if (threadIdx.x == 0) {
        risks[(Index)channel * gridDim.x + blockIdx.x] = least;
        indices[(Index)channel * gridDim.x + blockIdx.x] = at;
    }
}

extern "C" __global__ void wavelet_risk_pick(
    const double* __restrict__ risks, const double* __restrict__ indices, const double* __restrict__ noise,
    double* __restrict__ threshold, Index count, int blocks)
{
    __shared__ double shared[THREADS];
    __shared__ double other[THREADS];
    const int channel = blockIdx.x;
    double least = count, at = 0;  // the risk of threshold 0
    for (int b = threadIdx.x; b < blocks; b += THREADS) {
        const double risk = risks[(Index)channel * blocks + b];
        if (risk < least) {
            least = risk;
            at = indices[(Index)channel * blocks + b];
        }
    }
    minimum_of_block(least, at, shared, other);
    if (threadIdx.x == 0) threshold[channel] = noise[channel] > 0 ? at : 0;
}
