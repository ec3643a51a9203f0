// What:    scale and offset of a signal whose warps start a few words after a 128-byte line
// Idea:    misaligned access: the order is the same, but the first lane does not start at a sector, so 32 words span 5
//          sectors instead of 4. GPUs of compute capability 1.0 serialised such an access, one transaction per lane
// Shapes:  x, y (n)
// Launch:  grid ceil((n + lead) / block), any 1D block; thread `lead` handles the first value
// Traffic: 1 value read and 1 written per element
// Source:  S0

typedef SAMPLE T;

extern "C" __global__ void layout_shifted(
    const T* __restrict__ x, T* __restrict__ y, long long n, T gain, T offset, int lead)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x - lead;
    if (i >= 0 && i < n) y[i] = fma(gain, x[i], offset);
}
