// Named barriers for some of a block's warps, by number: 1 to 15; __syncthreads() is barrier 0.
//
// Producers arrive and go on; consumers wait until EXPECTED threads, including themselves, have arrived. Threads that
// waited see everything that a thread wrote before it arrived. A number may be used again once all threads have passed
// its barrier.
#pragma once

template <int EXPECTED> __device__ __forceinline__ void barrier_wait(int number)
{
    asm volatile("barrier.sync %0, %1;" : : "r"(number), "n"(EXPECTED) : "memory");
}

template <int EXPECTED> __device__ __forceinline__ void barrier_arrive(int number)
{
    asm volatile("barrier.arrive %0, %1;" : : "r"(number), "n"(EXPECTED) : "memory");
}
