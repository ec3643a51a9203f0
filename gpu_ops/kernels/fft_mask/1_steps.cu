// What:    product of an image's spectrum and a mask, between the forward and the inverse transform
// Idea:    a separate launch reads and writes the whole spectrum once; the transforms are unchanged
// Shapes:  z (height, width, channels) complex, mask (height, width), magnitude as z
// Launch:  1D grid over height * width * channels, any block
// Traffic: 1 complex number and 1 value of the mask read, 1 complex number and its magnitude written per point
// Source:  S2
#include "fft.cuh"

extern "C" __global__ void fft_mask_steps(
    C* __restrict__ z, const R* __restrict__ mask, R* __restrict__ magnitude, long long pixels, int channels,
    R factor)
{
    const long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= pixels * channels) return;
    const C masked = scaled(z[t], mask[t / channels]);
    z[t] = masked;
    magnitude[t] = hypot(masked.x, masked.y) * factor;
}
