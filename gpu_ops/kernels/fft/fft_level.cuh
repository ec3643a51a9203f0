// A level: the magnitude of a complex number times a factor, in dB. Magnitudes are clamped to at least `least`.
#pragma once
#include "fft.cuh"

__device__ __forceinline__ R level_of(C z, R factor, R least)
{
    const R size = hypot(z.x, z.y) * factor;
    return (R)20 * log10(size > least ? size : least);
}
