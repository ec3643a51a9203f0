// Block reduction by a tree with sequential addressing, halving the active threads each step. The block has a power of
// two of threads, `scratch` an element for each; every thread gets the result.
#pragma once

template <typename Value, typename Combine>
__device__ __forceinline__ Value block_total(Value value, Value* scratch, Combine combine)
{
    __syncthreads();
    scratch[threadIdx.x] = value;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            scratch[threadIdx.x] = combine(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    }
    __syncthreads();
    return scratch[0];
}

struct Add {
    template <typename Value>
    __device__ __forceinline__ Value operator()(Value a, Value b) const { return a + b; }
};

struct Larger {
    template <typename Value>
    __device__ __forceinline__ Value operator()(Value a, Value b) const { return a > b ? a : b; }
};
