// Shared by the wavelet transforms. REAL names the type T of samples and coefficients. BORDER: 0 periodization (an odd
// axis first repeats its last sample), 1 symmetric (d c b a | a b c d) - PyWavelets' conventions.
#pragma once

typedef REAL T;
typedef long long Index;

// Tap t of coefficient k is multiplied with sample 2k + t - reach, forward and inverse.
__device__ __forceinline__ int reach_of(int taps)
{
#if BORDER == 0
    return taps / 2 - 1;
#elif BORDER == 1
    return taps - 2;
#else
#error "BORDER must be 0 or 1"
#endif
}

// Position i of a periodic axis of n elements: by a bit mask where n is a power of two.
__device__ __forceinline__ Index around(Index i, Index n)
{
    if ((n & (n - 1)) == 0) return i & (n - 1);
    if (i >= 0 && i < n) return i;
    i %= n;
    return i < 0 ? i + n : i;
}

// Position i on an axis of n samples, mapped to inside. Any i and any n >= 1.
__device__ __forceinline__ Index inside(Index i, Index n)
{
#if BORDER == 0
    const Index at = around(i, n + (n & 1));
    return at < n ? at : n - 1;
#else
    if (i >= 0 && i < n) return i;
    i %= 2 * n;
    if (i < 0) i += 2 * n;
    return i < n ? i : 2 * n - 1 - i;
#endif
}

// Coefficient k of `half`: with the symmetric border no sample needs one beyond the ends.
__device__ __forceinline__ Index coefficient(Index k, Index half)
{
#if BORDER == 0
    return around(k, half);
#else
    return k;
#endif
}

// The thread's first line, and the stride to the next: a grid may have fewer blocks in y than an image has lines.
__device__ __forceinline__ Index first_line() { return (Index)blockIdx.y * blockDim.y + threadIdx.y; }
__device__ __forceinline__ Index line_stride() { return (Index)gridDim.y * blockDim.y; }

// The thread's position along x: `position` on an axis of interleaved values, and its channel.
struct Element {
    Index position;
    int channel;
};

__device__ __forceinline__ Element index_of(Index e, int channels)
{
    const Index position = channels == 1 ? e : e / channels;
    return {position, (int)(e - position * channels)};
}
