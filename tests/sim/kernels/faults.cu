// Kernels that are wrong in one way each; with RIGHT defined they are right. A comment //! names the line at fault.
#ifdef RIGHT
#define ONLY_RIGHT(x) x
#define PICK(right, wrong) right
#else
#define ONLY_RIGHT(x)
#define PICK(right, wrong) wrong
#endif
#define PLACE int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;

extern "C" __global__ void read_past(const float* a, float* out, int n) {
    PLACE
    out[i] = a[i + PICK(0, 1)];  //! read_past
}

extern "C" __global__ void read_before(const float* a, float* out, int n) {
    PLACE
    out[i] = a[PICK(i ? i - 1 : 0, i - 1)];  //! read_before
}

extern "C" __global__ void write_past(const float* a, float* out, int n) {
    PLACE
    ONLY_RIGHT(if (i < n))
    out[i] = 1.0f;  //! write_past
}

extern "C" __global__ void write_before(const float* a, float* out, int n) {
    PLACE
    if (i < n) out[PICK(i, i - 2)] = 1.0f;  //! write_before
}

extern "C" __global__ void atomic_past(const float* a, float* out, int n) {
    PLACE
    if (i < n) atomicAdd(out + PICK(i % n, n + i % 2), 1.0f);  //! atomic_past
}

extern "C" __global__ void misaligned(const float* a, float* out, int n) {
    PLACE
    if (i >= n / 2 - 1) return;
    float2 pair = *(const float2*)(a + PICK(0, 1) + 2 * i);  //! misaligned
    out[i] = pair.x + pair.y;
}

extern "C" __global__ void wide_past(const float* a, float* out, int n) {
    PLACE
    if (i >= n / 4 + PICK(0, 1)) return;
    float4 four = ((const float4*)a)[i];  //! wide_past
    out[i] = four.x + four.y + four.z + four.w;
}

__device__ float neighbour(const float* values, int at) {
    return values[at + PICK(0, 200)];  //! through_a_call
}

extern "C" __global__ void through_a_call(const float* a, float* out, int n) {
    PLACE
    if (i < n) out[i] = neighbour(a, i);  // called here
}

extern "C" __global__ void shared_past(const float* a, float* out, int n) {
    __shared__ float box[128];
    PLACE
    box[t] = i;
    __syncthreads();
    if (i < n) out[i] = box[t + PICK(0, 1)];  //! shared_past
}

extern "C" __global__ void shared_before(const float* a, float* out, int n) {
    __shared__ float box[128];
    PLACE
    box[PICK(t, t - 3)] = i;  //! shared_before
    __syncthreads();
    if (i < n && t < 125) out[i] = box[t];
}

extern "C" __global__ void unwritten_box(const float* a, float* out, int n) {
    __shared__ float box[128];
    PLACE
    if (PICK(true, t < 100)) box[t] = i;
    __syncthreads();
    if (i < n) out[i] = box[127 - t];  //! unwritten_box
}

extern "C" __global__ void unwritten_global(const float* a, float* out, int n) {
    PLACE
    if (i >= n) return;
    ONLY_RIGHT(out[i] = 0.0f;)
    out[i] += a[i];  //! unwritten_global
}

extern "C" __global__ void read_after_write(const float* a, float* out, int n) {
    __shared__ float box[128];
    PLACE
    box[t] = i;
    ONLY_RIGHT(__syncthreads();)
    if (i < n) out[i] = box[127 - t];  //! read_after_write
}

extern "C" __global__ void write_after_read(const float* a, float* out, int n) {
    __shared__ float box[128];
    PLACE
    box[t] = i;
    __syncthreads();
    float value = box[127 - t];
    ONLY_RIGHT(__syncthreads();)
    box[t] = value;  //! write_after_read
    if (i < n) out[i] = value;
}

extern "C" __global__ void write_after_write(const float* a, float* out, int n) {
    __shared__ float box[128];
    PLACE
    if (t < 64) box[t] = i;
    ONLY_RIGHT(__syncthreads();)
    if (t >= 64) box[t - 64] = i;  //! write_after_write
    __syncthreads();
    if (i < n) out[i] = box[t & 63];
}

extern "C" __global__ void atomic_after_write(const float* a, float* out, int n) {
    __shared__ float sum;
    PLACE
    if (t == 0) sum = 0.0f;
    ONLY_RIGHT(__syncthreads();)
    atomicAdd(&sum, 1.0f);  //! atomic_after_write
    __syncthreads();
    if (i < n) out[i] = sum;
}

extern "C" __global__ void warp_read_after_write(const float* a, float* out, int n) {
    __shared__ float box[128];
    PLACE
    box[t] = i;
    ONLY_RIGHT(__syncwarp();)
    if (i < n) out[i] = box[t ^ 1];  //! warp_read_after_write
}

extern "C" __global__ void warp_write_after_read(const float* a, float* out, int n) {
    __shared__ float box[128];
    PLACE
    box[t] = i;
    __syncwarp();
    float value = box[t ^ 1];
    ONLY_RIGHT(__syncwarp();)
    box[t] = value;  //! warp_write_after_read
    if (i < n) out[i] = value;
}

extern "C" __global__ void shared_atomic_past(const float* a, float* out, int n) {
    __shared__ int box[128];
    PLACE
    box[t] = 0;
    __syncthreads();
    atomicAdd(&box[PICK(t, t + 1)], 1);  //! shared_atomic_past
    __syncthreads();
    if (i < n) out[i] = box[t];
}

// Groups of eight lanes meet, and then, where it is right, those of sixteen: lane 0 learns of lane 15 through lane 8.
extern "C" __global__ void too_few_meet(const float* a, float* out, int n) {
    __shared__ float box[128];
    PLACE
    box[t] = i;
    __syncwarp(0xffu << (t & 24));
    float near = box[t ^ 7];
    ONLY_RIGHT(__syncwarp(0x0101u << (t & 23));)
    ONLY_RIGHT(__syncwarp(0xffu << (t & 24));)
    if (i < n) out[i] = near + box[t ^ 15];  //! too_few_meet
}

extern "C" __global__ void same_place(const float* a, float* out, int n) {
    __shared__ int box[32];
    PLACE
    ONLY_RIGHT(if (t == 3))
    box[5] = t;  //! same_place
    __syncthreads();
    if (i < n) out[i] = box[5];
}

extern "C" __global__ void two_blocks(const float* a, float* out, int n) {
    PLACE
    out[PICK(i, t)] = blockIdx.x;  //! two_blocks
}

extern "C" __global__ void divergent_barrier(const float* a, float* out, int n) {
    __shared__ float box[128];
    PLACE
    box[t] = a[t];
    ONLY_RIGHT(__syncthreads();)
    float value;
    if (t < 40) {
        PICK(, __syncthreads());  //! divergent_barrier
        value = box[t] * 2.0f;
    } else {
        value = box[t] + 1.0f;
        PICK(, __syncthreads());
    }
    if (i < n) out[i] = value;
}

#define MEET(what, number, threads) asm volatile("barrier." #what " %0, %1;" : : "r"(number), "r"(threads) : "memory")

extern "C" __global__ void arrives_early(const float* a, float* out, int n) {
    __shared__ float box[64];
    PLACE
    if (t < 64) {
        PICK(, MEET(arrive, 1, 128));
        box[t] = i;
        PICK(MEET(arrive, 1, 128), );
    } else {
        MEET(sync, 1, 128);
        if (i < n) out[i] = box[t - 64];  //! arrives_early
    }
}

extern "C" __global__ void overwrites_early(const float* a, float* out, int n) {
    __shared__ float box[64];
    PLACE
    float sum = 0;
    for (int k = 0; k < 3; ++k) {
        if (t < 64) {
            if (PICK(k > 0, false)) MEET(sync, 4, 128);
            box[t] = i + k;
            MEET(arrive, 1 + k, 128);
        } else {
            MEET(sync, 1 + k, 128);
            sum += box[t - 64];  //! overwrites_early
            if (PICK(k < 2, false)) MEET(arrive, 4, 128);
        }
    }
    if (i < n) out[i] = sum;
}

extern "C" __global__ void never_opens(const float* a, float* out, int n) {
    __shared__ float box[128];
    PLACE
    box[t] = i;
    MEET(sync, 3, PICK(128, 160));  //! never_opens
    if (i < n) out[i] = box[127 - t];
}

extern "C" __global__ void inactive_lane(const float* a, float* out, int n) {
    PLACE
    float value = a[t];
    if (PICK(true, (t & 31) < 16)) value += __shfl_down_sync(PICK(0xffffffffu, 0x0000ffffu), value, 8);  //! inactive_lane
    if (i < n) out[i] = value;
}

extern "C" __global__ void never_completes(const float* a, float* out, int n) {
    PLACE
    const bool third = (t & 31) % 3 == 0;
    const float value = a[t], first = PICK(__shfl_sync(0xffffffffu, value, 0), 0.0f);
    const bool same = third && value == PICK(first, __shfl_sync(0xffffffffu, value, 0));  //! never_completes
    const unsigned all = __ballot_sync(0xffffffffu, same);
    if (i < n) out[i] = all;
}

extern "C" __global__ void endless(const float* a, float* out, int n) {
    PLACE
    const volatile float* watched = a;
    while (watched[0] != PICK(watched[0], -1.0f)) {}  //! endless
    if (i < n) out[i] = 1.0f;
}

extern "C" __global__ void by_order(const float* a, int* out, int* count) {
    PLACE
    int place = atomicAdd(count, 1);
    out[PICK(i, place)] = i;
}

// The last warp of a reduction, as it was written when warps ran in lockstep.
extern "C" __global__ void volatile_warp(const float* a, float* out, int n) {
    __shared__ volatile float box[128];
    PLACE
    box[t] = i < n ? a[i] : 0;
    __syncthreads();
    if (t >= 32) return;
    float sum = box[t] + box[t + 32] + box[t + 64] + box[t + 96];
    for (int by = 16; by; by >>= 1) {
        box[t] = sum;
        ONLY_RIGHT(__syncwarp();)
        sum += t < by ? box[t + by] : 0;  //! volatile_warp
        ONLY_RIGHT(__syncwarp();)
    }
    if (t == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void volatile_block(const float* a, float* out, int n) {
    __shared__ volatile float box[128];
    PLACE
    box[t] = i;
    ONLY_RIGHT(__syncthreads();)
    if (i < n) out[i] = box[127 - t];  //! volatile_block
}

// One warp waits for a flag that another sets.
extern "C" __global__ void flag_without_fence(const float* a, float* out, int n) {
    __shared__ float box[32];
    __shared__ volatile int flag;
    PLACE
    if (t == 0) flag = 0;
    __syncthreads();
    if (t / 32 == 1) {
        box[t % 32] = i;
        __syncwarp();
        if (t == 32) {
            ONLY_RIGHT(__threadfence_block();)
            flag = 1;
        }
    } else if (t / 32 == 2) {
        while (flag == 0) {}
        ONLY_RIGHT(__threadfence_block();)
        if (i < n) out[i] = box[t % 32];  //! flag_without_fence
    }
}

extern "C" __global__ void source_not_in_mask(const float* a, float* out, int n) {
    PLACE
    const unsigned own = PICK(0xffffffffu, (t & 16) ? 0xffff0000u : 0x0000ffffu);
    const float other = __shfl_sync(own, a[t], (t + 16) & 31);  //! source_not_in_mask
    if (i < n) out[i] = other;
}

extern "C" __global__ void not_in_its_mask(const float* a, float* out, int n) {
    PLACE
    const float other = __shfl_xor_sync(PICK(0xffffffffu, 0x0fffffffu), a[t], 1);  //! not_in_its_mask
    if (i < n) out[i] = other;
}

extern "C" __global__ void lanes_elsewhere(const float* a, float* out, int n) {
    PLACE
    float value = a[t];
    if ((t & 31) < 16) value += __shfl_xor_sync(PICK(0x0000ffffu, 0xffffffffu), value, 8);  //! lanes_elsewhere
    if (i < n) out[i] = value;
}
