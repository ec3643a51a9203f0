// What:    copies a buffer, 16 bytes an access
// Idea:    the roof for every filter that reads and writes: only wide, coalesced traffic
// Shapes:  source, target (n) words of 16 bytes
// Launch:  grid ceil(n / (block * UNROLL)); a thread's words are one block apart
// Traffic: 16 bytes read and 16 written per word
// Source:  own
extern "C" __global__ void copy16(const uint4* __restrict__ source, uint4* __restrict__ target, long long n)
{
    const long long first = (long long)blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
    uint4 words[UNROLL];
#pragma unroll
    for (int j = 0; j < UNROLL; ++j) {
        const long long i = first + (long long)j * blockDim.x;
        if (i < n) words[j] = source[i];
    }
#pragma unroll
    for (int j = 0; j < UNROLL; ++j) {
        const long long i = first + (long long)j * blockDim.x;
        if (i < n) target[i] = words[j];
    }
}
