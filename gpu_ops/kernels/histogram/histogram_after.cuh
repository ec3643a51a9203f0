// What is computed from the counts: cumulative counts, statistics, and equalised samples. One block of 256 threads per
// histogram, or one thread per pixel.
#pragma once
#include "histogram.cuh"

const int THREADS = 256;

// sums[k] = counts[0] + ... + counts[k]; *first = the count of the first bin that is not empty, 0 where all are. Each
// thread adds a run of neighbouring bins; the block scans the totals of the runs.
extern "C" __global__ void histogram_prefix(
    const unsigned* __restrict__ counts, unsigned* __restrict__ sums, unsigned* __restrict__ first, int bins)
{
    __shared__ unsigned runs[THREADS];
    const int t = threadIdx.x, each = (bins + THREADS - 1) / THREADS;
    const int begin = min(t * each, bins), end = min(begin + each, bins);
    counts += (long long)blockIdx.x * bins;
    sums += (long long)blockIdx.x * bins;
    unsigned run = 0;
    for (int k = begin; k < end; ++k) run += counts[k];
    runs[t] = run;
    __syncthreads();
    for (int d = 1; d < THREADS; d *= 2) {
        const unsigned before = t >= d ? runs[t - d] : 0;
        __syncthreads();
        runs[t] += before;
        __syncthreads();
    }
    unsigned sum = t > 0 ? runs[t - 1] : 0;
    for (int k = begin; k < end; ++k) {
        if (sum == 0 && counts[k] > 0) first[blockIdx.x] = counts[k];  // one thread's bin only
        sum += counts[k];
        sums[k] = sum;
    }
    if (t == 0 && runs[THREADS - 1] == 0) first[blockIdx.x] = 0;
}

// The sum over the block, in all of its threads.
__device__ double block_sum(double value, double* part)
{
    __syncthreads();  // the previous sum has been read
    part[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    return part[0];
}

// statistics[row][histogram] in the order of FIGURES in bins.py; NaN where nothing is counted. `size` scales the bin
// centres, so that squares of the largest values are finite.
extern "C" __global__ void histogram_statistics(
    const unsigned* __restrict__ counts, const unsigned* __restrict__ sums, const double* __restrict__ middles,
    double* __restrict__ statistics, int bins, double size)
{
    __shared__ double part[THREADS];
    const int percents[] = {1, 5, 25, 50, 75, 95, 99};
    const int t = threadIdx.x, columns = gridDim.x;
    counts += (long long)blockIdx.x * bins;
    sums += (long long)blockIdx.x * bins;
    statistics += blockIdx.x;
    const unsigned long long total = sums[bins - 1];
    if (total == 0) {
        if (t < 10) statistics[t * columns] = __longlong_as_double(0x7ff8000000000000LL);
        return;
    }
    double sum = 0, squares = 0, entropy = 0;
    for (int k = t; k < bins; k += THREADS) sum += counts[k] / (double)total * (middles[k] / size);
    const double mean = block_sum(sum, part);
    for (int k = t; k < bins; k += THREADS) {
        const double share = counts[k] / (double)total, off = middles[k] / size - mean;
        squares += share * off * off;
        if (counts[k] > 0) entropy += share * log2((double)total / counts[k]);
        for (int p = 0; p < 7; ++p) {
            const unsigned long long rank = percents[p] * total;
            const unsigned before = k > 0 ? sums[k - 1] : 0;
            if (sums[k] * 100ull >= rank && before * 100ull < rank) statistics[(2 + p) * columns] = middles[k];
        }
    }
    squares = block_sum(squares, part);
    entropy = block_sum(entropy, part);
    if (t == 0) {
        statistics[0] = mean * size;
        statistics[columns] = sqrt(squares) * size;
        statistics[9 * columns] = entropy;
    }
}

// table[k] = the output of the samples of bin k: low ... top, in proportion to the cumulative count, less the first
// bin's count.
extern "C" __global__ void histogram_table(
    const unsigned* __restrict__ sums, const unsigned* __restrict__ first, T* __restrict__ table, int histograms, int bins,
    double low, double top)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= histograms * bins) return;
    const int h = i / bins;
    const unsigned rest = sums[h * bins + bins - 1] - first[h], parts = max(rest, 1u);
    const unsigned done = sums[i] > first[h] ? sums[i] - first[h] : 0;
#if INTEGER
    const unsigned long long span = (unsigned long long)(top - low);
    table[i] = (T)((unsigned long long)low + (2ull * done * span + parts) / (2ull * parts));
#else
    const double share = __ddiv_rn(done, parts);
    table[i] = (T)__dadd_rn(__dmul_rn(low, 1 - share), __dmul_rn(top, share));
#endif
}

// y = table[bin of x]; alpha, samples outside the bins, and all samples of a histogram with one bin only stay as they
// are. The change of the luminance is added to the colours.
extern "C" __global__ void histogram_equalise(
    const T* __restrict__ x, T* __restrict__ y, const T* __restrict__ table, const unsigned* __restrict__ sums,
    const unsigned* __restrict__ first, const Bound* __restrict__ bounds, long long pixels, int step, int colours,
    int grey, int bins, REAL low, REAL scale, int top)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const T* p = x + i * step;
    for (int c = 0; c < step; ++c) {
        const int h = grey ? 0 : c;
        T value = p[c];
        if (c < colours && sums[h * bins + bins - 1] != first[h]) {
            const T old = counted(p, c, grey);
            const int k = slot_of(old, bounds, bins, low, scale);
            if (k < bins && !grey) value = table[h * bins + k];
            else if (k < bins) {
#if INTEGER
                value = (T)min(max((int)value + (int)table[k] - (int)old, 0), top);
#else
                value = value + (table[k] - old);
#endif
            }
        }
        y[i * step + c] = value;
    }
}
