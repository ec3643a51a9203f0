// Copies of 4, 8 or 16 bytes from global to shared memory that go on while their thread works (cp.async): more of them
// are being copied than registers could wait for. A thread that reads only what it copied itself needs no barrier.
// Before compute capability 8.0 a copy is over when the thread goes on.
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
    const unsigned int place = (unsigned int)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(BYTES) : "memory");
#else
    typedef typename Words<BYTES>::type Word;
    *(Word*)to = *(const Word*)from;
#endif
}

// All copies since the last call are a group.
__device__ __forceinline__ void close_group()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Wait until no more than the last LATER groups are being copied.
template <int LATER>
__device__ __forceinline__ void wait_for_groups()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#endif
}
