// Wrong on purpose: the twiddles turn the other way
#include "fft.cuh"

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

    const C u = x[begin + j * inner];
    const C v = times(x[begin + (j + (1LL << half)) * inner], turned(table[k << (half - done)], !inverse));
    const long long first = begin + (2 * j - k) * inner;
    y[first] = plus(u, v);
    y[first + span * inner] = minus(u, v);
}
