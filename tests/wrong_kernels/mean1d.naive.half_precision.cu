// Wrong on purpose: the sum keeps the ten mantissa bits of half precision
#include "mean.cuh"

extern "C" __global__ void mean1d_naive(
    const T* __restrict__ x, T* __restrict__ y, const A* __restrict__ taps, long long n, int window)
{
    const long long first = (long long)blockIdx.x * blockDim.x * OUTPUTS + threadIdx.x;
    for (int j = 0; j < OUTPUTS; ++j) {
        const long long e = first + (long long)j * blockDim.x;
        if (e >= n * CHANNELS) return;
        const long long sample = e / CHANNELS;
        const long long channel = e - sample * CHANNELS;
        A sum = 0;
        for (int k = 0; k < window; ++k) {
            const long long s = border_index(sample + k - window / 2, n);
            if (s >= 0) sum += taps[k] * (A)x[s * CHANNELS + channel];
        }
        if (!INTEGER) sum = (A)__int_as_float(__float_as_int((float)sum) & 0xffffe000);
        y[e] = finish(sum, window);
    }
}
