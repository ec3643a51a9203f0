// Programmatic dependent launch of kernels that store all their results after the wait: the launch after the next may
// become resident as well. Memory that the previous launch wrote is loaded by load_after_wait: if a kernel does not write
// it, the compiler makes an ordinary load one of read-only memory (ld.global.nc), and moves it before the wait.
#pragma once
#include "early_launch.cuh"

__device__ __forceinline__ void overlap_launches()
{
    let_next_launch_begin();
    wait_for_launch_ahead();
}

__device__ __forceinline__ float load_after_wait(const float* from)
{
    float value;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(value) : "l"(from) : "memory");
    return value;
}
__device__ __forceinline__ double load_after_wait(const double* from)
{
    double value;
    asm volatile("ld.global.f64 %0, [%1];" : "=d"(value) : "l"(from) : "memory");
    return value;
}
__device__ __forceinline__ float2 load_after_wait(const float2* from)
{
    float2 value;
    asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "l"(from) : "memory");
    return value;
}
__device__ __forceinline__ double2 load_after_wait(const double2* from)
{
    double2 value;
    asm volatile("ld.global.v2.f64 {%0, %1}, [%2];" : "=d"(value.x), "=d"(value.y) : "l"(from) : "memory");
    return value;
}
__device__ __forceinline__ float4 load_after_wait(const float4* from)
{
    float4 value;
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w) : "l"(from) : "memory");
    return value;
}
