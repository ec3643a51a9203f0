// Barriers where only some of a block's warps meet, by number: 1 to 15, __syncthreads() being 0.
//
// Those who make something arrive and go on; those who need it wait until THREADS_THERE threads, they among them, have
// come. What a thread wrote before it arrived is seen by those who waited. A number may be used again once all have
// passed.
#pragma once

template <int THREADS_THERE> __device__ __forceinline__ void barrier_wait(int number)
{
    asm volatile("barrier.sync %0, %1;" : : "r"(number), "n"(THREADS_THERE) : "memory");
}

template <int THREADS_THERE> __device__ __forceinline__ void barrier_arrive(int number)
{
    asm volatile("barrier.arrive %0, %1;" : : "r"(number), "n"(THREADS_THERE) : "memory");
}
