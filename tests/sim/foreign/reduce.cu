// Reductions and scans.
#define FULL 0xffffffffu
template <typename T> __device__ T warp_sum(T v) {
    for (int o = 16; o; o /= 2) v += __shfl_xor_sync(FULL, v, o);
    return v;
}
template <typename T> __device__ T block_sum(T v) {
    __shared__ T part[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / 32 ? part[lane] : T(0);
    if (warp == 0) v = warp_sum(v);
    return v;
}
template <typename T>
__global__ void sum_shuffle(const T* in, T* out, int n) {
    T s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i];
    s = block_sum(s);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}
__global__ void dot_atomic(const float* a, const float* b, float* out, int n) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += a[i] * b[i];
    s = block_sum(s);
    if (!threadIdx.x) atomicAdd(out, s);
}
__global__ void argmax_shared(const float* x, int n, int* where, float* what) {
    __shared__ float v[256];
    __shared__ int p[256];
    int t = threadIdx.x;
    float best = -1e30f;
    int at = -1;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256)
        if (x[i] > best) { best = x[i]; at = i; }
    v[t] = best;
    p[t] = at;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s && v[t + s] > v[t]) { v[t] = v[t + s]; p[t] = p[t + s]; }
        __syncthreads();
    }
    if (t == 0) { where[blockIdx.x] = p[0]; what[blockIdx.x] = v[0]; }
}
// mean and variance of each row, Welford
__global__ void welford_rows(const float* x, float2* out, int rows, int cols) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float mean = 0, m2 = 0, count = 0;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float v = x[row * cols + c];
        count += 1;
        float d = v - mean;
        mean += d / count;
        m2 += d * (v - mean);
    }
    for (int o = 16; o > 0; o >>= 1) {
        float m = __shfl_down_sync(FULL, mean, o), q = __shfl_down_sync(FULL, m2, o), n = __shfl_down_sync(FULL, count, o);
        float total = count + n;
        if (total > 0) {
            float d = m - mean;
            mean += d * n / total;
            m2 += q + d * d * count * n / total;
        }
        count = total;
    }
    if (threadIdx.x == 0) out[row] = make_float2(mean, m2 / cols);
}
__global__ void minmax_interleaved(const int* in, int2* out, int n) {
    extern __shared__ int2 mm[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mm[threadIdx.x] = i < n ? make_int2(in[i], in[i]) : make_int2(0x7fffffff, -0x7fffffff);
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        int k = 2 * s * threadIdx.x;
        if (k + s < blockDim.x) {
            mm[k].x = min(mm[k].x, mm[k + s].x);
            mm[k].y = max(mm[k].y, mm[k + s].y);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = mm[0];
}
__global__ void scan_hillis_steele(const int* in, int* out, int n) {
    extern __shared__ int buf[];
    int t = threadIdx.x, a = 0, b = 1, i = blockIdx.x * blockDim.x + t;
    buf[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d <<= 1) {
        a = 1 - a;
        b = 1 - a;
        if (t >= d) buf[a * blockDim.x + t] = buf[b * blockDim.x + t] + buf[b * blockDim.x + t - d];
        else buf[a * blockDim.x + t] = buf[b * blockDim.x + t];
        __syncthreads();
    }
    if (i < n) out[i] = buf[a * blockDim.x + t];
}
#define PAD(i) ((i) + ((i) >> 5))
__global__ void scan_blelloch(const float* in, float* out, float* sums, int n) {
    __shared__ float t[512 + 16];
    int k = threadIdx.x, base = blockIdx.x * 512;
    t[PAD(k)] = base + k < n ? in[base + k] : 0;
    t[PAD(k + 256)] = base + k + 256 < n ? in[base + k + 256] : 0;
    int off = 1;
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (k < d) {
            int a = off * (2 * k + 1) - 1, b = off * (2 * k + 2) - 1;
            t[PAD(b)] += t[PAD(a)];
        }
        off *= 2;
    }
    if (k == 0) { sums[blockIdx.x] = t[PAD(511)]; t[PAD(511)] = 0; }
    for (int d = 1; d < 512; d *= 2) {
        off >>= 1;
        __syncthreads();
        if (k < d) {
            int a = off * (2 * k + 1) - 1, b = off * (2 * k + 2) - 1;
            float s = t[PAD(a)];
            t[PAD(a)] = t[PAD(b)];
            t[PAD(b)] += s;
        }
    }
    __syncthreads();
    if (base + k < n) out[base + k] = t[PAD(k)];
    if (base + k + 256 < n) out[base + k + 256] = t[PAD(k + 256)];
}
__global__ void scan_warps(const unsigned* in, unsigned* out, unsigned* totals, int n) {
    __shared__ unsigned w[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned v = i < n ? in[i] : 0, x = v;
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
        unsigned y = __shfl_up_sync(FULL, x, o);
        if (lane >= o) x += y;
    }
    if (lane == 31) w[warp] = x;
    __syncthreads();
    if (warp == 0) {
        unsigned s = lane < (blockDim.x >> 5) ? w[lane] : 0;
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            unsigned y = __shfl_up_sync(FULL, s, o);
            if (lane >= o) s += y;
        }
        w[lane] = s;
    }
    __syncthreads();
    if (warp) x += w[warp - 1];
    if (i < n) out[i] = x - v;
    if (threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = x;
}
__global__ void segmented_sum(const float* v, const int* offsets, float* out, int segments) {
    int s = blockIdx.x;
    if (s >= segments) return;
    float sum = 0;
    for (int i = offsets[s] + threadIdx.x; i < offsets[s + 1]; i += blockDim.x) sum += v[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[s] = sum;
}
__global__ void integral_rows(const unsigned char* img, unsigned* out, int w, int h) {
    int y = blockIdx.x;
    unsigned carry = 0;
    __shared__ unsigned tile[128];
    for (int x0 = 0; x0 < w; x0 += 128) {
        int x = x0 + threadIdx.x;
        unsigned v = x < w ? img[y * w + x] : 0;
        tile[threadIdx.x] = v;
        __syncthreads();
        for (int d = 1; d < 128; d *= 2) {
            unsigned o = threadIdx.x >= d ? tile[threadIdx.x - d] : 0;
            __syncthreads();
            tile[threadIdx.x] += o;
            __syncthreads();
        }
        if (x < w) out[y * w + x] = carry + tile[threadIdx.x];
        carry += tile[127];
        __syncthreads();
    }
}
