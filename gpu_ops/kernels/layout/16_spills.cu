// What:    scale and offset of a signal; a thread loads LIVE values before it stores the first
// Idea:    register spills: each loaded value occupies a register. A cap on the registers per thread lets more blocks
//          fit on a multiprocessor, but the assembler spills the values that have no register: it stores them to local
//          memory, which is device memory, and loads them again. The source does not show it; only the assembler's log
//          does
// Shapes:  x, y (n)
// Launch:  layout_spills for whole blocks of BLOCK * LIVE values: grid n / (BLOCK * LIVE), no branch, so that each
//          spill happens once; layout_spills_rest for the values from `first` on: grid ceil((n - first) / BLOCK).
//          REGISTERS is the cap; 0: only the limit of the block size
// Traffic: 1 value read and 1 written per element, plus the spill stores and loads that the assembler's log lists
// Source:  S0

#if REGISTERS
#define CAP __maxnreg__(REGISTERS)
#else
#define CAP __launch_bounds__(BLOCK)
#endif

extern "C" __global__ void CAP layout_spills(const float* x, float* y, float gain, float offset)
{
    const long long index = (long long)blockIdx.x * (BLOCK * LIVE) + threadIdx.x;
    // volatile keeps the order: no value is stored before the last is loaded
    const volatile float* const from = x + index;
    volatile float* const to = y + index;
    float live[LIVE];
#pragma unroll
    for (int k = 0; k < LIVE; ++k) live[k] = from[k * BLOCK];
#pragma unroll
    for (int k = 0; k < LIVE; ++k) to[k * BLOCK] = fmaf(gain, live[k], offset);
}

extern "C" __global__ void layout_spills_rest(
    const float* __restrict__ x, float* __restrict__ y, long long first, long long n, float gain, float offset)
{
    const long long i = first + (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = fmaf(gain, x[i], offset);
}
