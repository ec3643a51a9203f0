// Wrong on purpose: no barrier before the columns, which other warps may not have filled yet
#define PITCH (SIDE + EXTRA)

extern __shared__ float tile[];

extern "C" __global__ void layout_tiles(
    const float* __restrict__ x, float* __restrict__ y, long long n, float gain, float offset)
{
    const int column = threadIdx.x, row = threadIdx.y;
    const long long first = (long long)blockIdx.x * (SIDE * SIDE);
    const long long i = first + row * SIDE + column;
    if (i < n) tile[row * PITCH + column] = x[i];
    float* const turned = tile + column * PITCH + row;
    if (first + column * SIDE + row < n) *turned = fmaf(gain, *turned, offset);
    __syncthreads();
    if (i < n) y[i] = tile[row * PITCH + column];
}
