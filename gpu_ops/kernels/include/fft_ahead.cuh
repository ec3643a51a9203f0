// Points that are on their way while a block works on those before: a thread copies the points of its next line to
// places of its own in shared memory, past the registers (cp.async). Nobody else reads those, so they need no barrier.
#pragma once
#include "fft_butterfly.cuh"

__device__ __forceinline__ void copy_later(void* to, const void* from, bool there)
{
    const unsigned int place = (unsigned int)__cvta_generic_to_shared(to);
    const int bytes = there ? (int)sizeof(C) : 0;
    // What is not there is zero. The size of the copy is part of the instruction.
    if constexpr (sizeof(C) == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(place), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
