// What:    scale and offset of a signal, each value in a per-thread array that is indexed at run time
// Idea:    registers cannot be indexed, so such an array is in local memory, which is device memory. It is interleaved:
//          words with the same index are contiguous across lanes, so equal indices are coalesced into 4 sectors per
//          access
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block; WORDS a power of 2, start from 0 to WORDS - 1
// Traffic: 1 value read and 1 written per element; WORDS written to and WORDS read from local memory
// Source:  S0

extern "C" __global__ void layout_local(
    const float* __restrict__ x, float* __restrict__ y, long long n, float gain, float offset, int start)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    volatile float own[WORDS];  // the value, and zeros elsewhere
    const float value = x[i];
    for (int k = 0; k < WORDS; ++k) own[(k + start) % WORDS] = k == 0 ? value : 0.0f;
    float sum = 0;
    for (int k = 0; k < WORDS; ++k) sum += own[(3 * k + start) % WORDS];
    y[i] = fmaf(gain, sum, offset);
}
