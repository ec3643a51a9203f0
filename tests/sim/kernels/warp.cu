// What lanes of a warp do with one another.
#define ALL 0xffffffffu

extern "C" __global__ void shuffles(const int* a, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int* r = out + 9 * i;
    r[0] = __shfl_sync(ALL, a[i], a[i] & 63);
    r[1] = __shfl_up_sync(ALL, a[i], 3);
    r[2] = __shfl_down_sync(ALL, a[i], 5);
    r[3] = __shfl_xor_sync(ALL, a[i], 17);
    r[4] = __shfl_sync(ALL, a[i], a[i] & 15, 8);
    r[5] = __shfl_up_sync(ALL, a[i], 2, 16);
    r[6] = __shfl_down_sync(ALL, a[i], 1, 8);
    r[7] = __shfl_xor_sync(ALL, a[i], 5, 16);
    r[8] = __shfl_down_sync(ALL, a[i], threadIdx.x % 4, 16);
}

extern "C" __global__ void wide_shuffles(const double* a, const float* b, double* out, float* small) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __shfl_xor_sync(ALL, a[i], 9);
    small[i] = __shfl_down_sync(ALL, b[i], 4, 8);
}

extern "C" __global__ void votes(const int* a, unsigned* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned* r = out + 5 * i;
    r[0] = __all_sync(ALL, a[i] > 0);
    r[1] = __any_sync(ALL, a[i] > 90);
    r[2] = __ballot_sync(ALL, a[i] % 3 == 0);
    r[3] = __uni_sync(ALL, a[i] > 50);
    r[4] = __activemask();
}

// Each group of lanes names a mask of its own: eight neighbours, then the lanes with an equal remainder.
extern "C" __global__ void groups(const int* a, unsigned* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned* r = out + 7 * i;
    unsigned eight = 0xffu << (threadIdx.x % warpSize & ~7);
    r[0] = __ballot_sync(eight, a[i] & 1);
    r[1] = __any_sync(eight, a[i] > 90);
    r[2] = __all_sync(eight, a[i] > 10);
    unsigned alike = __match_any_sync(ALL, a[i] & 3);
    r[3] = __ballot_sync(alike, a[i] & 4);
    r[4] = __any_sync(alike, a[i] > 95);
    int all;
    r[5] = __match_all_sync(eight, a[i] & 0x40, &all);
    r[6] = all;
}

extern "C" __global__ void matches(const int* a, unsigned* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int all;
    out[4 * i] = __match_any_sync(ALL, a[i] % 5);
    out[4 * i + 1] = __match_all_sync(ALL, a[i] >> 20, &all);
    out[4 * i + 2] = all;
    out[4 * i + 3] = __match_any_sync(ALL, (unsigned long long)(a[i] % 3) << 40);
}

extern "C" __global__ void warp_sums(const float* a, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? a[i] : 0.0f;
    for (int by = 16; by; by >>= 1) sum += __shfl_down_sync(ALL, sum, by);
    if ((threadIdx.x & 31) == 0) out[i / 32] = sum;
}

// Halves of a warp go their own ways, each with its own mask; then odd lanes alone.
extern "C" __global__ void halves(const int* a, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, x = a[i];
    if (lane < 16) {
        for (int by = 8; by; by >>= 1) x += __shfl_xor_sync(0x0000ffffu, x, by);
    } else {
        for (int by = 8; by; by >>= 1) x = max(x, __shfl_xor_sync(0xffff0000u, x, by));
    }
    out[3 * i] = x;
    out[3 * i + 1] = 0;
    if (lane & 1) out[3 * i + 1] = __ballot_sync(0xaaaaaaaau, a[i] & 2) | __popc(__activemask());
    unsigned kept = __ballot_sync(ALL, a[i] % 7 < 3);
    out[3 * i + 2] = -1;
    if (a[i] % 7 < 3) out[3 * i + 2] = __shfl_sync(kept, a[i], __ffs(kept) - 1);
}

// Both halves meet at barriers of the same warp that lie in different lines.
extern "C" __global__ void meeting(const int* a, int* out) {
    __shared__ int box[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    if (lane < 16) {
        box[threadIdx.x] = a[i] * 2;
        __syncwarp();
    } else {
        box[threadIdx.x] = a[i] * 3;
        __syncwarp();
    }
    out[i] = box[threadIdx.x ^ 16];
}

extern "C" __global__ void warp_scan(const int* a, int* out) {
    __shared__ int box[128];
    int lane = threadIdx.x & 31, i = blockIdx.x * blockDim.x + threadIdx.x;
    box[threadIdx.x] = a[i];
    __syncwarp();
    for (int by = 1; by < 32; by *= 2) {
        int more = lane >= by ? box[threadIdx.x - by] : 0;
        __syncwarp();
        box[threadIdx.x] += more;
        __syncwarp();
    }
    out[i] = box[threadIdx.x];
}

// Lanes come to the same shuffle by ways of different length, round after round.
extern "C" __global__ void late(const int* a, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], total = 0;
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < (x >> round) % 5; k++) total += k * x;
        if (x & 1 << round) total ^= x * 7;
        total += __shfl_xor_sync(ALL, total, 1 << round);
        if (x % 3 == round) total -= __popc(__activemask()) > 0;
    }
    out[i] = total;
}

// Lower lanes of warps 1 and 2 wait for the upper ones at a shuffle, and those for warp 0, which is whole there.
extern "C" __global__ void handed(const int* a, int* out) {
    __shared__ int box[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, x = a[i];
    const bool first = threadIdx.x < 32;
    if (!first && lane >= 16) {
        asm volatile("barrier.sync 1, 64;" : : : "memory");
        x = box[lane];
    }
    x += __shfl_xor_sync(ALL, x, 16);
    if (first) {
        box[lane] = x;
        asm volatile("barrier.sync 1, 64;" : : : "memory");
    }
    out[i] = x;
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reductions(const int* a, unsigned* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned* r = out + 10 * i;
    r[0] = __reduce_add_sync(ALL, a[i]);
    r[1] = __reduce_min_sync(ALL, a[i]);
    r[2] = __reduce_max_sync(ALL, a[i]);
    r[3] = __reduce_add_sync(ALL, (unsigned)a[i]);
    r[4] = __reduce_max_sync(ALL, (unsigned)a[i]);
    r[5] = __reduce_and_sync(ALL, (unsigned)a[i]);
    r[6] = __reduce_or_sync(ALL, (unsigned)a[i]);
    r[7] = 0;
    if (threadIdx.x % 2) r[7] = __reduce_xor_sync(0xaaaaaaaau, (unsigned)a[i]);
    r[8] = __reduce_add_sync(0xffu << (threadIdx.x & 24), a[i]);
    r[9] = __reduce_max_sync(__match_any_sync(ALL, a[i] & 3), a[i]);
}
#endif
