// Guarded loads in loops with block strides, uniform loops, barriers in loops, hoisted accesses.
#define FULL 0xffffffffu
__global__ void stencil_guarded(const float* in, float* out, int n, int reach) {
    extern __shared__ float s[];
    int base = blockIdx.x * blockDim.x - reach;
    for (int k = threadIdx.x; k < blockDim.x + 2 * reach; k += blockDim.x) {
        int i = base + k;
        s[k] = i >= 0 && i < n ? in[i] : 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = 0;
    for (int d = -reach; d <= reach; d++) if (d) a += s[threadIdx.x + reach + d] / abs(d);
    out[i] = a;
}
__global__ void tile_reduce_guarded(const double* in, double* out, int n, int tile) {
    __shared__ double s[128];
    double acc = 0;
    for (int t = blockIdx.x * tile; t < min(n, (blockIdx.x + 1) * tile); t += blockDim.x) {
        int i = t + threadIdx.x;
        if (i < n && i < (blockIdx.x + 1) * tile) acc += in[i];
    }
    s[threadIdx.x] = acc;
    for (int o = blockDim.x / 2; o; o /= 2) {
        __syncthreads();
        if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
__global__ void scan_guarded(const unsigned* in, unsigned* out, unsigned* sums, int n) {
    __shared__ unsigned a[2][160];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, p = 0;
    a[0][t] = i < n ? in[i] : 0;
    for (int o = 1; o < blockDim.x; o <<= 1) {
        __syncthreads();
        a[p ^ 1][t] = t >= o ? a[p][t] + a[p][t - o] : a[p][t];
        p ^= 1;
    }
    __syncthreads();
    if (i < n) out[i] = a[p][t];
    if (t == blockDim.x - 1 || i == n - 1) sums[blockIdx.x] = a[p][t];
}
__global__ void max_pool_1d(const float* in, float* out, int n, int k, int stride) {
    for (int o = blockIdx.x * blockDim.x + threadIdx.x; o * stride < n; o += gridDim.x * blockDim.x) {
        float m = -1e30f;
        for (int d = 0; d < k; d++) {
            int i = o * stride + d - k / 2;
            if (i < 0 || i >= n) continue;
            m = fmaxf(m, in[i]);
        }
        out[o] = m;
    }
}
__global__ void gather_if(const int* index, const float* v, float* out, int n, int m) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int j = index[i];
        float x = 0;
        if (j >= 0) { if (j < m) x = v[j]; else x = v[j % m] * 2; }
        if (x > 0.5f) out[i] = x;
    }
}
__global__ void warp_rows(const float* m, float* out, int rows, int cols) {
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    for (int r = blockIdx.x * (blockDim.x >> 5) + warp; r < rows; r += gridDim.x * (blockDim.x >> 5)) {
        float best = -1e30f;
        for (int c = lane; c < cols; c += 32) { float x = m[r * cols + c]; if (x > best) best = x; }
        for (int o = 16; o; o >>= 1) best = fmaxf(best, __shfl_xor_sync(FULL, best, o));
        if (best > 0.99f) { for (int c = lane; c < cols; c += 32) out[r * cols + c] = m[r * cols + c] / best; }
        else if (lane == 0) out[r * cols] = best;
    }
}
__global__ void lanes_apart(const int* v, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (threadIdx.x & 1) { out[i] = v[i] * 3; if (v[i] > 100) out[n + i] = v[i + 1 < n ? i + 1 : 0]; }
    else { out[i] = v[i] + v[n - 1 - i]; if (v[i] < 50) out[n + i] = 1; }
    out[2 * n + i] = out[i] ^ 5;
}
__global__ void pack_runs(const unsigned char* in, unsigned* out, int rows, int len) {
    __shared__ unsigned s[64][17];
    int r = blockIdx.x * 64 + threadIdx.x;
    for (int k = 0; k < 17; k++) s[threadIdx.x][k] = 0;
    int place = 0;
    if (r < rows)
        for (int i = 0; i < len;) {
            int j = i + 1;
            while (j < len && in[r * len + j] == in[r * len + i]) j++;
            if (j - i > 1 && place < 16) s[threadIdx.x][place++] = (j - i) << 8 | in[r * len + i];
            i = j;
        }
    s[threadIdx.x][16] = place;
    __syncthreads();
    for (int k = threadIdx.x; k < 64 * 17; k += blockDim.x) {
        int row = blockIdx.x * 64 + k / 17;
        if (row < rows && k % 17 < s[k / 17][16]) out[row * 17 + k % 17] = s[k / 17][k % 17];
    }
}
__global__ void two_phase(const float* a, const float* b, float* out, int n) {
    __shared__ float s[2][96];
    int t = threadIdx.x;
    for (int base = blockIdx.x * 96; base < n; base += gridDim.x * 96) {
        int half = t < 48 ? 0 : 1;
        if (base + t < n) { if (half) s[0][t] = a[base + t]; else s[1][t] = b[base + t]; }
        __syncthreads();
        if (base + t < n) {
            float x = half ? s[0][t] : s[1][t];
            if (t > 0 && t != 48) x += half ? s[0][t - 1] : s[1][t - 1];
            out[base + t] = x;
        }
        __syncthreads();
    }
}
__global__ void prefix_until(const int* in, int* out, int n, int limit) {
    __shared__ int done;
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t == 0) done = 0;
    __syncthreads();
    int base = blockIdx.x * 512;
    for (int k = 0; k < 512 && !done; k += 128) {
        int i = base + k + t;
        int v = i < n ? in[i] : 0;
        s[t] = v;
        __syncthreads();
        if (t < 4) { int sum = 0; for (int j = 0; j < 32; j++) sum += s[t * 32 + j]; if (sum > limit) done = 1; }
        __syncthreads();
        if (i < n) out[i] = s[127 - t] + v;
    }
}
__global__ void strided_rows(const float* in, float* out, int w, int h) {
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h; y += gridDim.y * blockDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < w; x += gridDim.x * blockDim.x) {
            float c = in[y * w + x];
            if (x > 0 && x < w - 1 && y > 0 && y < h - 1) c = 0.25f * (in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
            else if (x == 0 || y == 0) c = -c;
            out[y * w + x] = c;
        }
}
__global__ void unroll_guard(const float* in, float* out, int n) {
    int base = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = base + k < n ? in[base + k] : 0;
#pragma unroll
    for (int k = 0; k < 4; k++) if (base + k < n && v[k] > 0.1f) out[base + k] = sqrtf(v[k]);
}
__global__ void column_sums(const float* m, float* out, int rows, int cols) {
    __shared__ float part[8][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    float s = 0;
    if (c < cols) for (int r = threadIdx.y; r < rows; r += 8) s += m[r * cols + c];
    part[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.y == 0 && c < cols) {
        for (int k = 1; k < 8; k++) s += part[k][threadIdx.x];
        out[c] = s;
    }
}
__global__ void triangular(const float* a, float* out, int n) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n || c >= n) return;
    if (c > r) { out[r * n + c] = 0; return; }
    float s = 0;
    for (int k = c; k <= r; k++) s += a[r * n + k] * a[k * n + c];
    out[r * n + c] = s;
}
