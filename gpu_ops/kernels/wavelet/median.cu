// What:    noise estimate: the median magnitude of the finest coefficients / 0.67449 (the third quartile of the
//          normal distribution), per channel
// Idea:    radix select: magnitudes of floats sort as their bits do, so the two middle ones are found digit by digit of
//          8 bits: blocks count the digits of the magnitudes that match the digits so far, then one block per channel
//          selects the digit of either middle one. The host never waits for it
// Shapes:  a band of `count` coefficients per channel; counts (channels, 2, 256), 0 before the first pass; found
//          (channels, 2): the digits so far; left (channels, 2): the rank among those that match; noise (channels)
// Launch:  count: grid (any, channels); pick: grid channels; 256 threads, one pass per byte of a coefficient
// Traffic: each pass reads every coefficient
// Source:  S0
#include "wavelet_band.cuh"

#if WIDTH == 4
typedef unsigned int Bits;
#define BITS_OF(value) __float_as_uint(value)
#define VALUE_OF(bits) __uint_as_float((unsigned int)(bits))
#elif WIDTH == 8
typedef unsigned long long Bits;
#define BITS_OF(value) ((unsigned long long)__double_as_longlong(value))
#define VALUE_OF(bits) __longlong_as_double((long long)(bits))
#else
#error "WIDTH must be 4 or 8"
#endif

#define DIGITS 256

// The bit position of the digit of a pass.
__device__ __forceinline__ int shift_of_digit(int pass) { return 8 * (WIDTH - 1 - pass); }

extern "C" __global__ void wavelet_median_count(
    const T* __restrict__ values, unsigned int* __restrict__ counts, const unsigned long long* __restrict__ found,
    Index count, Index columns, Index pitch, Index step, Index channel_step, int pass)
{
    __shared__ unsigned int own[2][DIGITS];
    const int channel = blockIdx.y, index = shift_of_digit(pass);
    own[0][threadIdx.x] = own[1][threadIdx.x] = 0;
    __syncthreads();
    const Band band = band_of(values, count, columns, pitch, step, channel_step, channel);
    for (Index e = (Index)blockIdx.x * THREADS + threadIdx.x; e < count; e += (Index)gridDim.x * THREADS) {
        const Bits bits = BITS_OF(value_of(band, e)) << 1 >> 1;  // without the sign
        for (int middle = 0; middle < 2; ++middle)
            if (pass == 0 || bits >> index >> 8 == (Bits)found[channel * 2 + middle])
                atomicAdd(&own[middle][bits >> index & 255], 1u);
    }
    __syncthreads();
    for (int middle = 0; middle < 2; ++middle)
        if (own[middle][threadIdx.x])
            atomicAdd(&counts[(channel * 2 + middle) * DIGITS + threadIdx.x], own[middle][threadIdx.x]);
}

extern "C" __global__ void wavelet_median_pick(
    unsigned int* __restrict__ counts, unsigned long long* __restrict__ found, long long* __restrict__ left,
    double* __restrict__ noise, Index count, int pass)
{
    __shared__ unsigned int upto[DIGITS];
    __shared__ double middles[2];
    const int channel = blockIdx.x, digit = threadIdx.x;
    for (int middle = 0; middle < 2; ++middle) {
        const int at = channel * 2 + middle;
        const Index wanted = pass == 0 ? (count - 1 + middle) / 2 : left[at];
        const unsigned int agree = counts[at * DIGITS + digit];
        counts[at * DIGITS + digit] = 0;  // for the next pass
        upto[digit] = agree;
        __syncthreads();
        for (int stride = 1; stride < DIGITS; stride *= 2) {
            const unsigned int before = digit >= stride ? upto[digit - stride] : 0;
            __syncthreads();
            upto[digit] += before;
            __syncthreads();
        }
        const Index before = upto[digit] - agree;
        if (wanted >= before && wanted < before + agree) {
            const Bits bits = pass == 0 ? (Bits)digit : (Bits)found[at] << 8 | (Bits)digit;
            found[at] = bits;
            left[at] = wanted - before;
            middles[middle] = (double)VALUE_OF(bits);
        }
        __syncthreads();
    }
    if (pass == WIDTH - 1 && digit == 0) noise[channel] = (0.5 * middles[0] + 0.5 * middles[1]) / 0.6744897501960817;
}
