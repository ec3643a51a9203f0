// What: blocks of bright pixels around a point, the slope along x, pairs of neighbours, halves and the reach itself.
// Idea: every thread makes all that belongs to its pixel.
// Shapes: height x width pixels of `channels` bytes, of which the first counts.
// Launch: one thread per pixel.
// Traffic: 3 bytes read and 9 bytes written a pixel, and an atomic operation.
// Source: a toy.
__device__ unsigned short half_bits(float value)
{
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

extern "C" __global__ void pieces_points(const unsigned char* __restrict__ x, int* __restrict__ pieces,
                                         short* __restrict__ slope, unsigned long long* __restrict__ pairs,
                                         unsigned short* __restrict__ halves, unsigned char* __restrict__ inside,
                                         double* __restrict__ middles, int height, int width, int channels, int down,
                                         int along, int reach)
{
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= static_cast<long long>(height) * width) return;
    const int row = static_cast<int>(i / width), column = static_cast<int>(i % width), across = (width + 7) / 8;
    const unsigned char* const line = x + static_cast<long long>(row) * width * channels;
    const int here = line[column * channels], left = line[max(column - 1, 0) * channels];
    const int right = line[min(column + 1, width - 1) * channels];
    const int dy = row - down, dx = column - along, near = dy * dy + dx * dx <= reach * reach;
    pieces[i] = near && here >= 64 ? 1 + row / 8 * across + column / 8 : 0;
    slope[i] = static_cast<short>(right - left);
    halves[i] = half_bits(here * (1.0f / 256.0f));
    inside[i] = static_cast<unsigned char>(near);
    if (column + 1 < width) atomicAdd(&pairs[here / 16 * 16 + right / 16], 1ull);
    if (row % 8 || column % 8) return;
    const int place = row / 8 * across + column / 8;
    if (place >= 16) return;
    middles[3 * place] = row + 3.5;
    middles[3 * place + 1] = column + 3.5;
    middles[3 * place + 2] = place + 1;
}
