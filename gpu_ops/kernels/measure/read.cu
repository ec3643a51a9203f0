// What:    reads a buffer, 16 bytes an access, and stores nothing
// Idea:    the roof for filters that only read, and a cache flush that leaves no dirty lines
// Shapes:  source (n) words of 16 bytes; sink (1) word
// Launch:  any grid and block; the grid strides over the buffer
// Traffic: 16 bytes read per word
// Source:  own
extern "C" __global__ void read16(const uint4* __restrict__ source, unsigned int* __restrict__ sink, long long n)
{
    const long long step = (long long)gridDim.x * blockDim.x;
    const long long start = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int fold = 0;
    long long i = start;
    for (; i + (UNROLL - 1) * step < n; i += UNROLL * step) {
        uint4 words[UNROLL];
#pragma unroll
        for (int j = 0; j < UNROLL; ++j) words[j] = source[i + j * step];
#pragma unroll
        for (int j = 0; j < UNROLL; ++j) fold ^= words[j].x ^ words[j].y ^ words[j].z ^ words[j].w;
    }
    for (; i < n; i += step) fold ^= source[i].x ^ source[i].y ^ source[i].z ^ source[i].w;
    // The compiler must keep the loads because it cannot rule out this value; the write itself almost never happens.
    if (fold == 0x9e3779b9u) *sink = fold;
}
