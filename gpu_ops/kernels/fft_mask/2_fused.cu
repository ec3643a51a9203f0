// What:    forward transform along the columns of an image, product with a mask, and inverse transform, in one launch
// Idea:    kernel fusion: a block keeps its column in shared memory throughout, which saves two reads and two writes of
//          the spectrum in global memory. No bit reversal is needed: the forward transform leaves its points in
//          bit-reversed order, the mask is read in that order, and the inverse transform starts from it. Heights other
//          than powers of two are convolutions with a chirp in the same memory; the last chirp of the forward and the
//          first of the inverse transform cancel
// Shapes:  x, y (height, columns) complex, columns = width * channels; mask (height, width); magnitude (height,
//          columns); chirp (height) and spectrum (1 << bits) as in fft/bluestein.cu, unused where height is 1 << bits
// Launch:  grid (columns), any block; shared (1 << bits) complex numbers
// Traffic: 1 complex number and 1 value of the mask read, 1 complex number and its magnitude written per point
// Source:  S2
#include "fft_shared.cuh"

extern __shared__ __align__(16) unsigned char memory[];

// A convolution with a chirp: the transform, the product with the chirp's transform, the inverse transform.
__device__ __forceinline__ void convolve(
    C* line, const C* __restrict__ table, const C* __restrict__ spectrum, int bits, int inverse)
{
    stages_to_reversed(line, table, bits, 0);
    __syncthreads();
    for (int k = threadIdx.x; k < 1 << bits; k += blockDim.x)
        line[k] = times(line[k], conjugate_if(spectrum[reversed(k, bits)], inverse));
    stages_from_reversed(line, table, bits, 1);
    __syncthreads();
}

extern "C" __global__ void fft_mask_fused(
    const C* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ chirp,
    const C* __restrict__ spectrum, const R* __restrict__ mask, R* __restrict__ magnitude,
    int height, int bits, int width, int channels, R factor)
{
    C* line = (C*)memory;
    const int m = 1 << bits;
    const bool whole = height == m;
    const long long columns = (long long)width * channels;
    const int column = blockIdx.x / channels;

    for (int k = threadIdx.x; k < m; k += blockDim.x) {
        C z = complex_of(0, 0);
        if (k < height) z = x[k * columns + blockIdx.x];
        line[k] = whole || k >= height ? z : times(z, chirp[k]);
    }
    if (whole) {
        stages_to_reversed(line, table, bits, 0);
        __syncthreads();
    } else {
        convolve(line, table, spectrum, bits, 0);
    }
    for (int k = threadIdx.x; k < m; k += blockDim.x) {
        const int row = whole ? reversed(k, bits) : k;
        C z = complex_of(0, 0);
        if (row < height) {
            z = scaled(line[k], mask[(long long)row * width + column]);
            magnitude[row * columns + blockIdx.x] = hypot(z.x, z.y) * factor;
        }
        line[k] = z;
    }
    if (whole) {
        stages_from_reversed(line, table, bits, 1);
        __syncthreads();
    } else {
        convolve(line, table, spectrum, bits, 1);
    }
    for (int k = threadIdx.x; k < height; k += blockDim.x) {
        y[k * columns + blockIdx.x] = whole ? line[k] : times(line[k], conjugate_if(chirp[k], 1));
    }
}
