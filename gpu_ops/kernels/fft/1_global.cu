// What:    one radix-2 stage of the Fourier transform of many lines, from one global buffer into another
// Idea:    one butterfly per thread and one launch per stage: the end of a launch is the barrier between stages, so a
//          line can have any power of two as its length. A stage stores its points where the next one loads them
//          (Stockham), and the last one leaves them in natural order
// Shapes:  x, y (lines / inner, 2 << half, inner): the points of a line have the stride `inner`; table (1 << half)
// Launch:  1D grid over lines << half butterflies, any block; launches with `done` = 0, 1 ... half, which swap both
//          buffers
// Traffic: 1 complex number read and 1 written per point in each of log2 n stages; half a twiddle factor per point from
//          the caches
// Source:  S2
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
    const C v = times(x[begin + (j + (1LL << half)) * inner], conjugate_if(table[k << (half - done)], inverse));
    const long long first = begin + (2 * j - k) * inner;
    y[first] = plus(u, v);
    y[first + span * inner] = minus(u, v);
}
