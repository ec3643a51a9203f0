// Wrong on purpose: twiddles with the eleven bits of half precision
#include "fft.cuh"

__device__ __forceinline__ R coarse(R value)
{
    return __uint_as_float(__float_as_uint((float)value) & 0xffffe000);
}

extern "C" __global__ void fft_global_stage(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ table,
    long long lines, long long inner, int half, int done, int inverse)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= lines << half) return;
    const long long line = t >> half;
    const long long j = t - (line << half);
    const long long span = 1LL << done;
    const long long k = j & (span - 1);
    const long long outer = line / inner;
    const long long begin = (outer << (half + 1)) * inner + (line - outer * inner);

    const C w = table[k << (half - done)];
    const C u = x[begin + j * inner];
    const C v = times(x[begin + (j + (1LL << half)) * inner], turned(complex_of(coarse(w.x), coarse(w.y)), inverse));
    const long long first = begin + (2 * j - k) * inner;
    y[first] = plus(u, v);
    y[first + span * inner] = minus(u, v);
}
