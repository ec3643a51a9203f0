// What:    a scaled and shifted signal, of which a thread loads HELD values before it stores the first
// Idea:    values that wait need a register each. With a cap on the registers of a thread more blocks fit on a
//          multiprocessor, but the assembler spills what has no register: it stores it to local memory, which is device
//          memory, and loads it again. No source line says so; only the assembler's log does
// Shapes:  x, y (n)
// Launch:  layout_spills for whole blocks of BLOCK · HELD values: grid n / (BLOCK · HELD), no branch, so that each spill
//          happens once; layout_spills_rest for those from `first` on: grid ceil((n - first) / BLOCK). REGISTERS is the
//          cap, 0 for none but that of the block size
// Traffic: 1 value read and 1 written an element, and what the assembler's log says is stored and loaded by spills
// Source:  S0

#if REGISTERS
#define CAP __maxnreg__(REGISTERS)
#else
#define CAP __launch_bounds__(BLOCK)
#endif

extern "C" __global__ void CAP layout_spills(const float* x, float* y, float gain, float offset)
{
    const long long place = (long long)blockIdx.x * (BLOCK * HELD) + threadIdx.x;
    // volatile keeps the order: no value is stored before the last is loaded
    const volatile float* const from = x + place;
    volatile float* const to = y + place;
    float held[HELD];
#pragma unroll
    for (int k = 0; k < HELD; ++k) held[k] = from[k * BLOCK];
#pragma unroll
    for (int k = 0; k < HELD; ++k) to[k * BLOCK] = fmaf(gain, held[k], offset);
}

extern "C" __global__ void layout_spills_rest(
    const float* __restrict__ x, float* __restrict__ y, long long first, long long n, float gain, float offset)
{
    const long long i = first + (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = fmaf(gain, x[i], offset);
}
