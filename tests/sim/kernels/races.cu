// Races in global memory. Each kernel has a fault; with RIGHT defined it is correct. 128 threads per block.
#ifdef RIGHT
#define PICK(right, wrong) right
#else
#define PICK(right, wrong) wrong
#endif
#define ONLY_RIGHT(code) PICK(code, )
#define PLACE const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;

// The last block adds what the others stored.
extern "C" __global__ void no_fence(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    __shared__ bool last;
    if (t == 0) {
        sums[blockIdx.x] = a[i];
        ONLY_RIGHT(__threadfence();)
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t < gridDim.x) out[t] = sums[t];  //! no_fence
}

// The same with all stores and loads of the sums volatile, as in the programming guide.
extern "C" __global__ void no_fence_volatile(const int* a, int* out, volatile int* sums, unsigned* ticket, int* flags) {
    PLACE
    __shared__ bool last;
    if (t == 0) {
        sums[blockIdx.x] = a[i];
        ONLY_RIGHT(__threadfence();)
        last = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || t > 0) return;
    int total = 0;
    for (int block = 0; block < gridDim.x; ++block) total += sums[block];  //! no_fence_volatile
    out[0] = total;
    *ticket = 0;
}

// Counts of a histogram in global memory, which the last block copies.
extern "C" __global__ void no_fence_counts(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    __shared__ bool last;
    atomicAdd(sums + a[i] % 8, 1);
    ONLY_RIGHT(__threadfence();)
    __syncthreads();
    if (t == 0) last = atomicAdd(ticket, 1) == gridDim.x - 1;
    __syncthreads();
    if (last && t < 8) out[t] = sums[t];  //! no_fence_counts
}

// A chain of blocks: data, a fence, a flag that the next block polls.
extern "C" __global__ void no_fence_chain(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    if (t > 0) return;
    volatile int* flag = flags;
    int before = 0;
    if (blockIdx.x > 0) {
        while (flag[blockIdx.x - 1] == 0) {}
        __threadfence();
        before = sums[blockIdx.x - 1];  //! no_fence_chain
    }
    sums[blockIdx.x] = before + a[i];
    ONLY_RIGHT(__threadfence();)
    flag[blockIdx.x] = 1;
}

__device__ int acquire(const int* address) {
    int value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

__device__ void release(int* address, int value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(address), "r"(value) : "memory");
}

__device__ void relax(int* address, int value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(address), "r"(value) : "memory");
}

extern "C" __global__ void relaxed_chain(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    if (t > 0) return;
    int before = 0;
    if (blockIdx.x > 0) {
        while (acquire(flags + blockIdx.x - 1) == 0) {}
        before = sums[blockIdx.x - 1];  //! relaxed_chain
    }
    sums[blockIdx.x] = before + a[i];
    PICK(release, relax)(flags + blockIdx.x, 1);
}

// A fence that only orders accesses for the threads of its own block.
extern "C" __global__ void narrow_fence(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    __shared__ bool last;
    if (t == 0) {
        sums[blockIdx.x] = a[i];
        PICK(__threadfence(), __threadfence_block());
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t < gridDim.x) out[t] = sums[t];  //! narrow_fence
}

extern "C" __global__ void within_a_block(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    sums[i] = a[i];
    ONLY_RIGHT(__syncthreads();)
    out[i] = sums[i - t + 127 - t];  //! within_a_block
}

extern "C" __global__ void read_then_written(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    const int next = out[i - t + (t + 40) % 128] + a[i];
    ONLY_RIGHT(__syncthreads();)
    out[i] = next;  //! read_then_written
}

extern "C" __global__ void within_a_warp(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    sums[i] = a[i];
    ONLY_RIGHT(__syncwarp();)
    out[i] = sums[i ^ 1];  //! within_a_warp
}

// A filter in place: a block reads what the next one writes.
extern "C" __global__ void in_place(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    const int mine = out[i], next = i + 1 < gridDim.x * blockDim.x ? out[i + 1] : 0;
    __syncthreads();
    PICK(sums, out)[i] = mine + next;  //! in_place
}

extern "C" __global__ void other_block(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    if (PICK(true, blockIdx.x == 0)) sums[PICK(i, t)] = a[t];
    __syncthreads();
    out[i] = sums[PICK(i, t)];  //! other_block
}

extern "C" __global__ void same_element(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    ONLY_RIGHT(if (t == 5))
    out[blockIdx.x] = t;  //! same_element
    flags[blockIdx.x] = 1;
}

// All threads read an element that one of them then overwrites.
extern "C" __global__ void read_by_all(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    const int first = out[i - t];
    ONLY_RIGHT(__syncthreads();)
    if (t == 0) out[i] = a[i] + first;  //! read_by_all
    sums[i] = first;
}

extern "C" __global__ void less_the_first(const int* a, int* out, int* sums, unsigned* ticket, int* flags) {
    PLACE
    const int first = out[i - t], mine = out[i];
    ONLY_RIGHT(__syncthreads();)
    out[i] = mine - first;  //! less_the_first
}
