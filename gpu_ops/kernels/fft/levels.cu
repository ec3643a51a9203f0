// What:    the level in dB of every frequency of an image's transform
// Idea:    one thread per value, as for magnitudes; an offset added to the index of each store moves zero frequency to
//          the middle
// Shapes:  z (height, width, channels) complex; out the same real
// Launch:  1D grid over the values, any block
// Traffic: 1 complex number read and 1 real one written per point
// Source:  S2
#include "fft_level.cuh"

// Magnitudes times a factor, stored circularly shifted down and to the right.
extern "C" __global__ void fft_levels(
    const C* __restrict__ z, R* __restrict__ out, long long height, long long width, int channels,
    long long down, long long right, R factor, R least)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= height * width * channels) return;
    const long long pixel = t / channels;
    const long long row = pixel / width;
    const long long y = (row + down) % height, x = (pixel - row * width + right) % width;
    out[(y * width + x) * channels + (t - pixel * channels)] = level_of(z[t], factor, least);
}
