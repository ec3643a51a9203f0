// The coefficients of one band, as the noise and threshold kernels read them. REAL names their type T.
#pragma once

typedef REAL T;
typedef long long Index;

#define THREADS 256

// `count` coefficients per channel: coefficient e is in row e / columns of `pitch` values, `step` after the one before
// it; the next channel starts `channel_step` after it.
struct Band {
    const T* values;
    Index count, columns, pitch, step;
};

__device__ __forceinline__ Band band_of(
    const T* values, Index count, Index columns, Index pitch, Index step, Index channel_step, int channel)
{
    return {values + channel * channel_step, count, columns, pitch, step};
}

__device__ __forceinline__ T value_of(const Band& band, Index e)
{
    const Index row = band.columns == band.count ? 0 : e / band.columns;
    return band.values[row * band.pitch + (e - row * band.columns) * band.step];
}

__device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }

// The sum over the block of THREADS threads, in all of them.
__device__ __forceinline__ double sum_of_block(double value, double* shared)
{
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    const double sum = shared[0];
    __syncthreads();
    return sum;
}

// The maximum over the block, in all of its threads.
__device__ __forceinline__ double maximum_of_block(double value, double* shared)
{
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] = fmax(shared[threadIdx.x], shared[threadIdx.x + stride]);
        __syncthreads();
    }
    const double most = shared[0];
    __syncthreads();
    return most;
}
