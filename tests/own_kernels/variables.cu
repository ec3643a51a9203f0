__constant__ float taps[4];
__device__ float sums[2];
__device__ unsigned calls = 5;
__global__ void collect(const float* x)
{
    if (threadIdx.x < 2) sums[threadIdx.x] += x[threadIdx.x] * taps[threadIdx.x + 1];
    atomicAdd(&calls, 1u);
}
