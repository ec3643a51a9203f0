// Programmatic dependent launch of kernels that store all their results after the wait: the launch after the next may
// become resident as well. Memory that the previous launch wrote must not be const __restrict__: the compiler may move
// such loads before the wait.
#pragma once
#include "early_launch.cuh"

__device__ __forceinline__ void overlap_launches()
{
    let_next_launch_begin();
    wait_for_launch_ahead();
}
