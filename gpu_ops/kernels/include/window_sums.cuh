// Sums of neighbouring windows over values in registers, for the mean kernels. Needs A, INTEGER and WINDOW.
#pragma once

// The factor of each value in a float sum, so that no sum is larger than the values; integer sums are exact and divided
// at the end.
__device__ __forceinline__ A weight_of(int count)
{
#if INTEGER
    return 1;
#else
    return (A)1 / count;
#endif
}

// sums[i] = line[i] + line[i + STEP] + ... over WINDOW values, for COUNT neighbours i. Integers use a running sum: the
// value that leaves the window is subtracted, which is exact. Floats are never subtracted, because a NaN would stay,
// and so would the rounding error of a large value: windows share the sum of their common values, and each window adds
// its values to the left and to the right of those.
template <int COUNT, int STEP>
__device__ __forceinline__ void window_sums(const A (&line)[COUNT + (WINDOW - 1) * STEP], A (&sums)[COUNT])
{
    #pragma unroll
    for (int first = 0; first < (STEP < COUNT ? STEP : COUNT); ++first) {
        const A* values = line + first; // of one channel, STEP apart
        const int last = (COUNT - 1 - first) / STEP; // windows 0 to last of the channel
        const int core = INTEGER || last >= WINDOW ? 0 : last; // all windows contain the values core to WINDOW - 1
        A sum = 0;
        #pragma unroll
        for (int u = core; u < WINDOW; ++u) sum += values[u * STEP];
        #pragma unroll
        for (int k = core; k >= 0; --k) {
            sums[first + k * STEP] = sum;
            if (k > 0) sum += values[(k - 1) * STEP];
        }
        A right = 0;
        #pragma unroll
        for (int k = 1; k <= core; ++k) {
            right += values[(WINDOW + k - 1) * STEP];
            sums[first + k * STEP] += right;
        }
        #pragma unroll
        for (int k = core + 1; k <= last; ++k) { // windows that share no core
            sum = 0;
#if INTEGER
            sum = sums[first + (k - 1) * STEP] - values[(k - 1) * STEP] + values[(k + WINDOW - 1) * STEP];
#else
            #pragma unroll
            for (int u = 0; u < WINDOW; ++u) sum += values[(k + u) * STEP];
#endif
            sums[first + k * STEP] = sum;
        }
    }
}
