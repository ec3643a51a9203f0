// Named barriers, where only some of a block's warps meet, by number: 1 to 15; __syncthreads() is 0.
//
// Producers arrive and go on; consumers wait until THREADS_THERE threads, including themselves, have come. Threads that
// waited see everything that a thread wrote before it arrived. A number may be used again once all threads have passed
// its barrier.
#pragma once

template <int THREADS_THERE> __device__ __forceinline__ void barrier_wait(int number)
{
    asm volatile("barrier.sync %0, %1;" : : "r"(number), "n"(THREADS_THERE) : "memory");
}

template <int THREADS_THERE> __device__ __forceinline__ void barrier_arrive(int number)
{
    asm volatile("barrier.arrive %0, %1;" : : "r"(number), "n"(THREADS_THERE) : "memory");
}
