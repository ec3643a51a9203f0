// Wrong on purpose: the last value that a thread holds is never stored
#if REGISTERS
#define CAP __maxnreg__(REGISTERS)
#else
#define CAP __launch_bounds__(BLOCK)
#endif

extern "C" __global__ void CAP layout_spills(const float* x, float* y, float gain, float offset)
{
    const long long place = (long long)blockIdx.x * (BLOCK * HELD) + threadIdx.x;
    const volatile float* const from = x + place;
    volatile float* const to = y + place;
    float held[HELD];
#pragma unroll
    for (int k = 0; k < HELD; ++k) held[k] = from[k * BLOCK];
#pragma unroll
    for (int k = 0; k < HELD - 1; ++k) to[k * BLOCK] = fmaf(gain, held[k], offset);
}

extern "C" __global__ void layout_spills_rest(
    const float* __restrict__ x, float* __restrict__ y, long long first, long long n, float gain, float offset)
{
    const long long i = first + (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = fmaf(gain, x[i], offset);
}
