// Copies, transposes and layouts.
#define TD 32
#define ROWS 8
__global__ void transpose_padded(float* out, const float* in, int w, int h) {
    __shared__ float tile[TD][TD + 1];
    int x = blockIdx.x * TD + threadIdx.x, y = blockIdx.y * TD + threadIdx.y;
    for (int j = 0; j < TD; j += ROWS)
        if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * TD + threadIdx.x;
    y = blockIdx.x * TD + threadIdx.y;
    for (int j = 0; j < TD; j += ROWS)
        if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_swizzled(const double* __restrict__ in, double* __restrict__ out, int n) {
    __shared__ double tile[32 * 32];
    int x = blockIdx.x * 32 + threadIdx.x;
#pragma unroll
    for (int j = threadIdx.y; j < 32; j += 8) {
        int y = blockIdx.y * 32 + j;
        if (x < n && y < n) tile[j * 32 + (threadIdx.x ^ j)] = in[y * n + x];
    }
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
#pragma unroll
    for (int j = threadIdx.y; j < 32; j += 8) {
        int y = blockIdx.x * 32 + j;
        if (x < n && y < n) out[y * n + x] = tile[threadIdx.x * 32 + (j ^ threadIdx.x)];
    }
}

__global__ void copy_vec4(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    for (int k = i; k < n / 4; k += stride) reinterpret_cast<float4*>(out)[k] = reinterpret_cast<const float4*>(in)[k];
    if (i < n % 4) out[n / 4 * 4 + i] = in[n / 4 * 4 + i];
}

struct Particle { float x, y, z; float vx, vy, vz; float mass; int kind; };
__global__ void aos_to_soa(const Particle* p, float* x, float* y, float* z, float* speed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Particle q = p[i];
        x[i] = q.x; y[i] = q.y; z[i] = q.z;
        speed[i] = sqrtf(q.vx * q.vx + q.vy * q.vy + q.vz * q.vz);
    }
}

__global__ void normalize_float3(const float3* in, float3* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 v = in[i];
    float r = rsqrtf(v.x * v.x + v.y * v.y + v.z * v.z + 1e-12f);
    out[i] = make_float3(v.x * r, v.y * r, v.z * r);
}

// saxpy by hand-unrolled grid stride
__global__ void saxpy_unrolled(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = blockDim.x * gridDim.x;
    for (; i + 3 * s < n; i += 4 * s) {
        y[i] = a * x[i] + y[i];
        y[i + s] = a * x[i + s] + y[i + s];
        y[i + 2 * s] = a * x[i + 2 * s] + y[i + 2 * s];
        y[i + 3 * s] = a * x[i + 3 * s] + y[i + 3 * s];
    }
    for (; i < n; i += s) y[i] = a * x[i] + y[i];
}

// any offset: bytes at the front, words, bytes at the end
__global__ void copy_unaligned(const unsigned char* src, unsigned char* dst, int from, int to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    src += from;
    dst += to;
    if (i * 3 + 2 < n) {
        for (int k = 0; k < 3; k++) dst[i * 3 + k] = src[i * 3 + k];
    } else {
        for (int k = i * 3; k < n; k++) dst[k] = src[k];
    }
}

__global__ void reverse_in_shared(int* d, int n) {
    extern __shared__ int s[];
    int t = threadIdx.x, base = blockIdx.x * blockDim.x;
    int m = min((int)blockDim.x, n - base);
    if (t < m) s[t] = d[base + t];
    __syncthreads();
    if (t < m) d[base + t] = s[m - 1 - t];
}

__global__ void interleave_channels(const short* l, const short* r, short2* out, int n, int chunk) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
    int last = first + chunk < n ? first + chunk : n;
    for (int i = first; i < last; i++) out[i] = make_short2(l[i], r[i]);
}

__global__ void morton_gather(const float* in, float* out, int bits) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = 0, y = 0;
    for (int b = 0; b < bits; b++) {
        x |= (i >> (2 * b) & 1u) << b;
        y |= (i >> (2 * b + 1) & 1u) << b;
    }
    if (i < 1u << (2 * bits)) out[i] = in[(y << bits) + x];
}

__global__ void bit_reverse(const float2* in, float2* out, int log2n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >> log2n) return;
    out[__brev(i) >> (32 - log2n)] = in[i];
}
