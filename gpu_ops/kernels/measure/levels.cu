// What:    reads a slice of a buffer again and again out of L2, L1 or shared memory, or copies it within L2
// Idea:    the slice fits into the level, and the instruction says which level serves it: ld.global.cg passes by L1,
//          ld.global.ca stays in it, ld.shared never leaves the multiprocessor; many passes of one launch hide its latency
// Shapes:  source (n) words of 16 bytes for LEVEL 0 (L2), (blocks * n) for LEVEL 1 (L1) and 2 (shared); target as source
//          with COPY; folds (blocks * threads): the exclusive or of all 32-bit words that a thread read
// Launch:  any grid and block; n a multiple of threads * UNROLL, for LEVEL 0 of blocks * threads * UNROLL; LEVEL 2 takes
//          16 n bytes of shared memory
// Traffic: 16 bytes read per word and pass, and with COPY as many written; outside of the level one pass
// Source:  own
#define L2 0
#define L1 1
#define SHARED 2

// A volatile statement is neither dropped nor moved out of the loop over passes, though its address is the same again.
__device__ __forceinline__ uint4 load(const uint4* from)
{
    uint4 word;
#if LEVEL == L2
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "l"(from));
#elif LEVEL == L1
    asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "l"(from));
#else
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "r"((unsigned int)__cvta_generic_to_shared(from)));
#endif
    return word;
}

extern "C" __global__ void levels(const uint4* __restrict__ source, uint4* __restrict__ target,
                                  unsigned int* __restrict__ folds, long long n, int passes)
{
    extern __shared__ uint4 tile[];
    const int block = LEVEL == L2 ? 0 : blockIdx.x;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long first = LEVEL == L2 ? thread : threadIdx.x;
    const long long step = LEVEL == L2 ? (long long)gridDim.x * blockDim.x : blockDim.x;
    const uint4* slice = source + block * n;
#if LEVEL == SHARED
    for (long long i = first; i < n; i += step) tile[i] = slice[i];
    __syncthreads();
    slice = tile;
#endif
    unsigned int fold = 0;
    for (int pass = 0; pass < passes; ++pass) {
        for (long long i = first; i < n; i += UNROLL * step) {
            uint4 words[UNROLL];
#pragma unroll
            for (int j = 0; j < UNROLL; ++j) words[j] = load(slice + i + j * step);
#pragma unroll
            for (int j = 0; j < UNROLL; ++j) {
                fold ^= words[j].x ^ words[j].y ^ words[j].z ^ words[j].w;
#if COPY
                target[i + j * step] = words[j];
#endif
            }
        }
    }
    folds[thread] = fold;
}
