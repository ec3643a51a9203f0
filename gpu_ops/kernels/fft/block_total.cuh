// One value of each thread of a block becomes one of the block: a tree reduction, halving the threads each step. The
// block has a power of two of threads, `room` an element for each; every thread gets the result.
#pragma once

template <typename Value, typename Join>
__device__ __forceinline__ Value block_total(Value mine, Value* room, Join join)
{
    __syncthreads();
    room[threadIdx.x] = mine;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) room[threadIdx.x] = join(room[threadIdx.x], room[threadIdx.x + half]);
    }
    __syncthreads();
    return room[0];
}

struct Add {
    template <typename Value>
    __device__ __forceinline__ Value operator()(Value a, Value b) const { return a + b; }
};

struct Larger {
    template <typename Value>
    __device__ __forceinline__ Value operator()(Value a, Value b) const { return a > b ? a : b; }
};
