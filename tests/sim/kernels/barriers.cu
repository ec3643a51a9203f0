// Threads of a block, and blocks of a grid, that work together.
extern "C" __global__ void counted(const int* a, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int many = __syncthreads_count(a[i] % 3 == 0);
    int every = __syncthreads_and(a[i] > blockIdx.x * 10);
    int some = __syncthreads_or(a[i] > 95);
    out[i] = many * 100 + (every != 0) * 10 + (some != 0);
}

extern "C" __global__ void block_sums(const float* a, float* out, int n) {
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half >>= 1) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__device__ void wait(int number, int threads) {
    asm volatile("barrier.sync %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

__device__ void arrive(int number, int threads) {
    asm volatile("barrier.arrive %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

// Two warps make rows of sums, by turns, two more use them: four barriers with numbers of their own.
extern "C" __global__ void named(const int* a, int* out, int rows) {
    __shared__ int box[2][32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    a += blockIdx.x * rows * 32;
    if (warp < 2) {
        for (int r = warp; r < rows; r += 2) {
            if (r > 1) wait(3 + warp, 96);
            box[warp][lane] = a[r * 32 + lane] * 2;
            arrive(1 + warp, 96);
        }
    } else {
        int sum = 0;
        for (int r = 0; r < rows; ++r) {
            wait(1 + r % 2, 96);
            sum += box[r % 2][31 - lane] + warp;
            if (r + 2 < rows) arrive(3 + r % 2, 96);
        }
        out[blockIdx.x * 64 + t - 64] = sum;
    }
}

// What one warp wrote, a third one knows of through a second, which never touches it.
extern "C" __global__ void passed_on(const int* a, int* out) {
    __shared__ int box[32];
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 32 + lane;
    if (t < 32) {
        box[lane] = a[i];
        arrive(1, 64);
    } else if (t < 64) {
        wait(1, 64);
        arrive(2, 64);
    } else {
        wait(2, 64);
        out[i] = box[lane ^ 3];
    }
}

extern "C" __global__ void hillis_steele(const int* a, int* out) {
    __shared__ int box[2][128];
    int t = threadIdx.x, from = 0;
    box[0][t] = a[blockIdx.x * 128 + t];
    __syncthreads();
    for (int by = 1; by < 128; by *= 2) {
        box[1 - from][t] = box[from][t] + (t >= by ? box[from][t - by] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * 128 + t] = box[from][t];
}

extern "C" __global__ void blelloch(const int* a, int* out) {
    __shared__ int tree[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    tree[2 * t] = a[base + 2 * t];
    tree[2 * t + 1] = a[base + 2 * t + 1];
    int step = 1;
    for (int d = 128; d > 0; d >>= 1, step *= 2) {
        __syncthreads();
        if (t < d) tree[step * (2 * t + 2) - 1] += tree[step * (2 * t + 1) - 1];
    }
    if (t == 0) tree[255] = 0;
    for (int d = 1; d < 256; d *= 2) {
        step >>= 1;
        __syncthreads();
        if (t < d) {
            int left = step * (2 * t + 1) - 1, right = step * (2 * t + 2) - 1, kept = tree[left];
            tree[left] = tree[right];
            tree[right] += kept;
        }
    }
    __syncthreads();
    out[base + 2 * t] = tree[2 * t];
    out[base + 2 * t + 1] = tree[2 * t + 1];
}

extern "C" __global__ void transpose(const float* a, float* out, int width, int height) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = a[(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < height && y + k < width) out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

// All of a 256-point transform by radix 4, a block for each row; four threads' worth of points each.
extern "C" __global__ void radix4(const float2* a, float2* out) {
    __shared__ float2 box[256];
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) box[t + 64 * k] = a[blockIdx.x * 256 + t + 64 * k];
    __syncthreads();
    for (int span = 1; span < 256; span *= 4) {
        int j = t % span;
        float2 v[4];
        for (int k = 0; k < 4; k++) {
            float s, c;
            sincospif(-2.0f * (j * k) / (4.0f * span), &s, &c);
            float2 w = box[t + 64 * k];
            v[k] = make_float2(w.x * c - w.y * s, w.x * s + w.y * c);
        }
        __syncthreads();
        float2 p = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), q = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
        float2 r = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), u = make_float2(v[1].x - v[3].x, v[1].y - v[3].y);
        int to = (t / span) * span * 4 + j;
        box[to] = make_float2(p.x + r.x, p.y + r.y);
        box[to + span] = make_float2(q.x + u.y, q.y - u.x);
        box[to + 2 * span] = make_float2(p.x - r.x, p.y - r.y);
        box[to + 3 * span] = make_float2(q.x - u.y, q.y + u.x);
        __syncthreads();
    }
    for (int k = 0; k < 4; k++) out[blockIdx.x * 256 + t + 64 * k] = box[t + 64 * k];
}

// A histogram without atomics: threads tag a bin and look whether their tag stayed.
extern "C" __global__ void tagged(const unsigned char* a, unsigned* out, int n) {
    __shared__ volatile unsigned bins[32];
    int lane = threadIdx.x;
    bins[lane] = 0;
    __syncwarp();
    for (int i = blockIdx.x * 32 + lane; i < n; i += gridDim.x * 32) {
        unsigned tagged, tag = (unsigned)lane << 27, bin = a[i] & 31;
        do {
            tagged = tag | ((bins[bin] & 0x07ffffff) + 1);
            bins[bin] = tagged;
        } while (bins[bin] != tagged);
    }
    __syncwarp();
    atomicAdd(out + lane, bins[lane] & 0x07ffffff);
}

extern "C" __global__ void spin_lock(int* lock, int* total, int* order, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            volatile int* place = total;
            int old = *place;
            *place = old + 1;
            order[old] = i;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// Single-pass scan: each block waits for the running total of the one before.
extern "C" __global__ void look_back(const int* a, int* out, volatile int* status, volatile int* totals,
                                     int* ticket) {
    __shared__ int box[128];
    __shared__ int number, before;
    if (threadIdx.x == 0) number = atomicAdd(ticket, 1);
    __syncthreads();
    int t = threadIdx.x, i = number * 128 + t;
    box[t] = a[i];
    __syncthreads();
    for (int by = 1; by < 128; by *= 2) {
        int more = t >= by ? box[t - by] : 0;
        __syncthreads();
        box[t] += more;
        __syncthreads();
    }
    if (t == 127) {
        int sum = 0;
        if (number > 0) {
            while (status[number - 1] == 0) {}
            __threadfence();
            sum = totals[number - 1];
        }
        before = sum;
        totals[number] = sum + box[127];
        __threadfence();
        status[number] = 1;
    }
    __syncthreads();
    out[i] = box[t] + before;
}

__device__ unsigned arrived = 0;
extern "C" __global__ void last_block(const float* a, volatile float* parts, float* out, int n) {
    __shared__ float box[128];
    __shared__ bool last;
    float sum = 0.0f;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) sum += a[i];
    box[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half; half >>= 1) {
        if (threadIdx.x < half) box[threadIdx.x] += box[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = box[0];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float total = 0.0f;
        for (int k = 0; k < gridDim.x; k++) total += parts[k];
        out[0] = total;
    }
}

// A barrier that all of some blocks pass and none of the others.
extern "C" __global__ void uneven(const int* a, int* out) {
    __shared__ int box[96];
    box[threadIdx.x] = a[blockIdx.x * 96 + threadIdx.x];
    __syncthreads();
    int value = box[95 - threadIdx.x];
    if (blockIdx.x % 3 == 1) {
        __syncthreads();
        box[threadIdx.x] = value * 2;
        __syncthreads();
        value = box[(threadIdx.x + 1) % 96];
    }
    out[blockIdx.x * 96 + threadIdx.x] = value;
}

// One warp waits for what another one leaves.
extern "C" __global__ void handed_over(int* out) {
    __shared__ volatile int flag;
    __shared__ volatile int box;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        box = 77 + blockIdx.x;
        __threadfence_block();
        flag = 1;
    }
    if (threadIdx.x < 32) {
        while (flag == 0) {}
        __threadfence_block();
        out[blockIdx.x * 32 + threadIdx.x] = box;
    }
}

// Floating-point sums by compare and swap, 64-bit atomics, in shared memory.
extern "C" __global__ void shared_swaps(float* sums, unsigned long long* wide) {
    __shared__ unsigned long long largest;
    __shared__ int bits;
    __shared__ double total;
    if (threadIdx.x == 0) { largest = 0; bits = 0; total = 0.0; }
    __syncthreads();
    atomicMax(&largest, (unsigned long long)threadIdx.x << 33);
    int seen = 0, found;
    while ((found = atomicCAS(&bits, seen, __float_as_int(__int_as_float(seen) + 1.5f))) != seen) seen = found;
    atomicAdd(&total, 0.25);
    __syncthreads();
    if (threadIdx.x == 0) { sums[0] = __int_as_float(bits); sums[1] = (float)total; wide[0] = largest; }
}
