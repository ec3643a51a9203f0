// Asynchronous copies of 4, 8 or 16 bytes from global to shared memory (cp.async): more loads in flight than registers
// could hold. A thread that reads only its own copies needs no barrier. Before compute capability 8.0 the copies are
// synchronous.
#pragma once

template <int BYTES>
struct Words;
template <>
struct Words<4> {
    typedef unsigned int type;
};
template <>
struct Words<8> {
    typedef uint2 type;
};
template <>
struct Words<16> {
    typedef uint4 type;
};

template <int BYTES>
__device__ __forceinline__ void copy_ahead(void* to, const void* from)
{
#if __CUDA_ARCH__ >= 800
    const unsigned int address = (unsigned int)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from), "n"(BYTES) : "memory");
#else
    typedef typename Words<BYTES>::type Word;
    *(Word*)to = *(const Word*)from;
#endif
}

// Commits all copies since the last call as a group.
__device__ __forceinline__ void close_group()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most the last LATER groups are pending.
template <int LATER>
__device__ __forceinline__ void wait_for_groups()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#endif
}
