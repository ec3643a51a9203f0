// Programmatic dependent launch: a launch starts before the previous one has ended; its blocks become resident and
// compute addresses while the others finish. Before compute capability 9.0 there is nothing to wait for: a launch
// starts when the previous one has ended.
#pragma once

// Waits until the previous launch has ended and all its writes are visible.
__device__ __forceinline__ void wait_for_launch_ahead()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Allows the next launch to start, once all blocks have called this. Called after the wait, it also means that all
// launches before the previous one have ended.
__device__ __forceinline__ void let_next_launch_begin()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
