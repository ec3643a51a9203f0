// What:    thresholds by rule: given, universal, or BayesShrink from the variance of a band
// Idea:    blocks sum the squares of their coefficients; one block per channel adds those sums and writes the threshold
//          into memory, where the kernel that applies it reads it: the host never waits for it
// Shapes:  a band of `count` coefficients per channel; sums, sizes (channels, blocks); noise, threshold (channels);
//          thresholds (bands, channels)
// Launch:  same: 1D grid over thresholds; squares: grid (blocks, channels), each block has `part` coefficients in
//          order; bayes: grid channels; 256 threads
// Traffic: one read of every coefficient, for BayesShrink and SURE only
// Source:  S0; Donoho & Johnstone 1994; Chang, Yu & Vetterli 2000
#include "wavelet_band.cuh"

// One threshold for all bands: `value`, or the noise times `value`.
extern "C" __global__ void wavelet_thresholds_same(
    const double* __restrict__ noise, double* __restrict__ thresholds, double value, int of_noise, Index count,
    int channels)
{
    const Index k = (Index)blockIdx.x * THREADS + threadIdx.x;
    if (k < count) thresholds[k] = of_noise ? noise[k % channels] * value : value;
}

// Per block, the sum of the squares of coefficients in units of the noise, and the largest magnitude.
extern "C" __global__ void wavelet_thresholds_squares(
    const T* __restrict__ values, const double* __restrict__ noise, double* __restrict__ sums,
    double* __restrict__ sizes, Index count, Index columns, Index pitch, Index step, Index channel_step, Index part)
{
    __shared__ double shared[THREADS];
    const int channel = blockIdx.y;
    const Band band = band_of(values, count, columns, pitch, step, channel_step, channel);
    const double unit = noise[channel];
    const Index begin = blockIdx.x * part;
    const Index end = begin + part < count ? begin + part : count;
    double sum = 0, size = 0;
    for (Index e = begin + threadIdx.x; e < end; e += THREADS) {
        const double value = value_of(band, e);
        sum += value / unit * (value / unit);
        size = fmax(size, fabs(value));
    }
    sum = sum_of_block(sum, shared);
    size = maximum_of_block(size, shared);
    if (threadIdx.x == 0) {
        sums[(Index)channel * gridDim.x + blockIdx.x] = sum;
        sizes[(Index)channel * gridDim.x + blockIdx.x] = size;
    }
}

// The BayesShrink threshold: the noise divided by the deviation of the band without the noise, in units of the noise;
// the largest magnitude where the variance is below the noise's or the threshold would be larger.
extern "C" __global__ void wavelet_thresholds_bayes(
    const double* __restrict__ sums, const double* __restrict__ sizes, const double* __restrict__ noise,
    double* __restrict__ threshold, Index count, int blocks)
{
    __shared__ double shared[THREADS];
    const int channel = blockIdx.x;
    double sum = 0, size = 0;
    for (int b = threadIdx.x; b < blocks; b += THREADS) {
        sum += sums[(Index)channel * blocks + b];
        size = fmax(size, sizes[(Index)channel * blocks + b]);
    }
    sum = sum_of_block(sum, shared);
    size = maximum_of_block(size, shared);
    if (threadIdx.x == 0) {
        const double left = sum / count - 1;
        const double found = left > 0 ? fmin(noise[channel] / sqrt(left), size) : size;
        threshold[channel] = noise[channel] > 0 ? found : 0;
    }
}
