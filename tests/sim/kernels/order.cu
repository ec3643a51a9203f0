// Blocks that wait for others: right in some orders, wrong in others. 128 threads per block.
#ifdef RIGHT
#define PICK(right, wrong) right
#else
#define PICK(right, wrong) wrong
#endif

__device__ int block_sum(int value) {
    __shared__ int sums[4];
    for (int by = 16; by; by >>= 1) value += __shfl_xor_sync(0xffffffffu, value, by);
    __syncthreads();
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    return sums[0] + sums[1] + sums[2] + sums[3];
}

__device__ void signal(volatile int* flag, int what) {
    __threadfence();
    *flag = what;
}

__device__ void wait_for(volatile int* flag) {
    while (*flag == 0) {}
    __threadfence();
}

// A chain: each tile adds its sum to that of the tiles before it. The flag must follow the sum.
extern "C" __global__ void flag_first(const int* a, int* out, int* ticket, volatile int* sums, volatile int* flags) {
    __shared__ int tile;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    const int all = block_sum(a[tile * 128 + threadIdx.x]);
    if (threadIdx.x > 0) return;
    int before = 0;
    if (tile > 0) {
        wait_for(flags + tile - 1);
        before = sums[tile - 1];
    }
    PICK(, signal(flags + tile, 1));
    sums[tile] = before + all;
    PICK(signal(flags + tile, 1), );
    out[tile] = before + all;
}

// The last block to take a ticket adds the sums of all: each must have stored its own before it takes one.
extern "C" __global__ void ticket_first(const int* a, int* out, int* ticket, volatile int* sums, volatile int* flags) {
    __shared__ bool last;
    const int all = block_sum(a[blockIdx.x * 128 + threadIdx.x]);
    if (threadIdx.x == 0) {
        PICK(sums[blockIdx.x] = all, );
        __threadfence();
        last = atomicAdd(ticket, 1) == gridDim.x - 1;
        PICK(, sums[blockIdx.x] = all);
    }
    __syncthreads();
    if (!last) return;
    const int total = block_sum(threadIdx.x < gridDim.x ? sums[threadIdx.x] : 0);
    if (threadIdx.x == 0) out[0] = total;
}

// One word holds what a tile publishes: first its own sum, later that of all tiles before it as well. The window of
// 32 tiles is wrong in its last lane.
extern "C" __global__ void lane_left_out(const int* a, int* out, int* ticket, volatile int* words, volatile int* flags) {
    __shared__ int tile;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    const int all = block_sum(a[tile * 128 + threadIdx.x]), lane = threadIdx.x;
    if (threadIdx.x >= 32) return;
    if (lane == 0 && tile > 0) words[tile] = all << 2 | 1;
    int before = 0;
    for (int from = tile - 1 - lane;; from -= 32) {
        int word = from < 0 ? 2 : 0;
        while (__any_sync(0xffffffffu, (word & 3) == 0))
            if ((word & 3) == 0) word = words[from];
        const unsigned ends = __ballot_sync(0xffffffffu, (word & 3) == 2);
        const int last = ends ? __ffs(ends) - 1 : 31;
        if (lane <= last && PICK(true, lane < 31)) before += word >> 2;
        if (ends) break;
    }
    for (int by = 16; by; by >>= 1) before += __shfl_xor_sync(0xffffffffu, before, by);
    if (lane == 0) words[tile] = (before + all) << 2 | 2;
    if (lane == 0) out[tile] = before + all;
}

// A mailbox of one place: it must be empty before the next number goes in.
extern "C" __global__ void mailbox(const int* a, int* out, int* ticket, volatile int* box, volatile int* full) {
    if (threadIdx.x > 0 || blockIdx.x > 1) return;
    for (int n = 0; n < 5; ++n) {
        if (blockIdx.x == 0) {
            if (PICK(true, n == 0)) while (*full) {}
            __threadfence();
            *box = a[n];
            signal(full, 1);
        } else {
            wait_for(full);
            out[n] = *box;
            signal(full, 0);
        }
    }
}
