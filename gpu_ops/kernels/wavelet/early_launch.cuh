// Launches that begin before the one ahead of them has ended (programmatic dependent launch): their blocks take their
// places and compute addresses while the others finish. Before compute capability 9.0 there is nothing to wait for:
// a launch begins when the one ahead has ended.
#pragma once

// Wait until the launch ahead has ended and all that it wrote can be read.
__device__ __forceinline__ void wait_for_launch_ahead()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// The next launch may begin, once all blocks have said so. Said after the wait, it also means that all launches before
// the one ahead have ended.
__device__ __forceinline__ void let_next_launch_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
