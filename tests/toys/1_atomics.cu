// What: histogram and sum of bytes.
// Idea: every thread adds its sample to global memory by itself.
// Shapes: n samples, BINS bars.
// Launch: one thread per sample.
// Traffic: 1 byte a sample, and two atomic operations.
// Source: a toy.
extern "C" __global__ void toy_atomics(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts,
                                       unsigned long long* __restrict__ total, long long n)
{
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&counts[x[i] / (256 / BINS)], 1u);
    atomicAdd(total, static_cast<unsigned long long>(x[i]));
}
