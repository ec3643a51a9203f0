// Pieces of neural networks.
#include <cuda_fp16.h>
#define FULL 0xffffffffu
__global__ void softmax_rows(const float* x, float* y, int cols) {
    extern __shared__ float red[];
    const float* in = x + (size_t)blockIdx.x * cols;
    float* out = y + (size_t)blockIdx.x * cols;
    float m = -1e30f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, in[c]);
    red[threadIdx.x] = m;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) red[threadIdx.x] = fmaxf(red[threadIdx.x], red[threadIdx.x + s]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float e = __expf(in[c] - m);
        out[c] = e;
        sum += e;
    }
    red[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) red[threadIdx.x] += red[threadIdx.x + s];
        __syncthreads();
    }
    float inv = 1 / red[0];
    for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] *= inv;
}
// maximum and sum in one pass
__global__ void softmax_online(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    float m = -1e30f, s = 0;
    for (int c = lane; c < cols; c += 32) {
        float v = x[row * cols + c], best = fmaxf(m, v);
        s = s * expf(m - best) + expf(v - best);
        m = best;
    }
    for (int o = 16; o; o >>= 1) {
        float m2 = __shfl_xor_sync(FULL, m, o), s2 = __shfl_xor_sync(FULL, s, o), best = fmaxf(m, m2);
        s = s * expf(m - best) + s2 * expf(m2 - best);
        m = best;
    }
    for (int c = lane; c < cols; c += 32) y[row * cols + c] = expf(x[row * cols + c] - m) / s;
}
__global__ void layernorm(const float4* __restrict__ x, const float4* __restrict__ g, const float4* __restrict__ b, float4* __restrict__ y, int cols4, float eps) {
    __shared__ float s1[8], s2[8];
    const float4* in = x + blockIdx.x * cols4;
    float s = 0, q = 0;
    for (int c = threadIdx.x; c < cols4; c += blockDim.x) {
        float4 v = in[c];
        s += v.x + v.y + v.z + v.w;
        q += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int o = 16; o; o /= 2) { s += __shfl_xor_sync(FULL, s, o); q += __shfl_xor_sync(FULL, q, o); }
    if (threadIdx.x % 32 == 0) { s1[threadIdx.x / 32] = s; s2[threadIdx.x / 32] = q; }
    __syncthreads();
    s = q = 0;
    for (int w = 0; w < blockDim.x / 32; w++) { s += s1[w]; q += s2[w]; }
    float mean = s / (4 * cols4), inv = rsqrtf(q / (4 * cols4) - mean * mean + eps);
    for (int c = threadIdx.x; c < cols4; c += blockDim.x) {
        float4 v = in[c], k = g[c], o = b[c];
        y[blockIdx.x * cols4 + c] = make_float4((v.x - mean) * inv * k.x + o.x, (v.y - mean) * inv * k.y + o.y, (v.z - mean) * inv * k.z + o.z, (v.w - mean) * inv * k.w + o.w);
    }
}
__global__ void rmsnorm_half2(const __half2* x, const __half2* w, __half2* y, int half_cols) {
    int row = blockIdx.x, lane = threadIdx.x;
    float s = 0;
    for (int c = lane; c < half_cols; c += 32) {
        float2 v = __half22float2(x[row * half_cols + c]);
        s += v.x * v.x + v.y * v.y;
    }
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(FULL, s, o);
    __half2 k = __float2half2_rn(rsqrtf(s / (2 * half_cols) + 1e-5f));
    for (int c = lane; c < half_cols; c += 32) y[row * half_cols + c] = __hmul2(__hmul2(x[row * half_cols + c], k), w[c]);
}
__global__ void half_axpy(__half a, const __half* x, __half* y, int n) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) {
        __half2 v = __hfma2(__halves2half2(a, a), *(const __half2*)(x + i), *(const __half2*)(y + i));
        *(__half2*)(y + i) = v;
    } else if (i < n) y[i] = __hfma(a, x[i], y[i]);
}
// one query a block
__global__ void attention_row(const float* q, const float* k, const float* v, float* out, int keys, int dim) {
    extern __shared__ float sh[];
    float* qs = sh;
    float* score = sh + dim;
    __shared__ float total;
    for (int d = threadIdx.x; d < dim; d += blockDim.x) qs[d] = q[blockIdx.x * dim + d];
    __syncthreads();
    for (int j = threadIdx.x; j < keys; j += blockDim.x) {
        float s = 0;
        for (int d = 0; d < dim; d++) s += qs[d] * k[j * dim + d];
        score[j] = j <= blockIdx.x ? expf(s * rsqrtf((float)dim)) : 0.f;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float s = 0;
        for (int j = 0; j < keys; j++) s += score[j];
        total = s;
    }
    __syncthreads();
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float s = 0;
        for (int j = 0; j < keys; j++) s += score[j] * v[j * dim + d];
        out[blockIdx.x * dim + d] = s / total;
    }
}
__global__ void embedding_gather(const int* tokens, const float* table, const float* position, float* out, int dim, int vocab) {
    int t = tokens[blockIdx.x];
    if (t < 0 || t >= vocab) t = 0;
    for (int d = threadIdx.x; d < dim; d += blockDim.x) out[blockIdx.x * dim + d] = table[t * dim + d] + position[blockIdx.x * dim + d];
}
__global__ void gelu_vec(const float* __restrict__ x, float* __restrict__ y, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    auto f = [](float v) { return 0.5f * v * (1 + tanhf(0.79788456f * (v + 0.044715f * v * v * v))); };
    if (i + 3 < n) {
        float4 v = __ldg((const float4*)(x + i));
        *(float4*)(y + i) = make_float4(f(v.x), f(v.y), f(v.z), f(v.w));
    } else
        for (; i < n; i++) y[i] = f(x[i]);
}
__global__ void swiglu(const float* gate, const float* up, float* out, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (c < cols) {
        float g = gate[r * cols + c];
        out[r * cols + c] = g / (1.0f + expf(-g)) * up[r * cols + c];
    }
}
__global__ void rope(float* x, int heads, int dim, int first) {
    int pos = blockIdx.x, h = threadIdx.y;
    for (int d = threadIdx.x; d < dim / 2; d += blockDim.x) {
        float a = (first + pos) * powf(10000.f, -2.0f * d / dim), s, c;
        sincosf(a, &s, &c);
        float* p = x + (pos * heads + h) * dim;
        float u = p[d], v = p[d + dim / 2];
        p[d] = u * c - v * s;
        p[d + dim / 2] = u * s + v * c;
    }
}
__global__ void dropout_hash(const float* x, float* y, unsigned char* mask, int n, float keep, unsigned seed) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned h = i * 0x9E3779B9u ^ seed;
        h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; h ^= h >> 16;
        bool m = h * 2.3283064e-10f < keep;
        mask[i] = m;
        y[i] = m ? x[i] / keep : 0;
    }
}
__global__ void cross_entropy(const float* logits, const int* label, float* loss, int batch, int classes) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    const float* z = logits + b * classes;
    float m = z[0];
    for (int c = 1; c < classes; c++) m = max(m, z[c]);
    float s = 0;
    for (int c = 0; c < classes; c++) s += expf(z[c] - m);
    loss[b] = logf(s) + m - z[label[b] % classes];
}
__global__ void im2col(const float* im, float* col, int channels, int h, int w, int k, int pad, int stride, int oh, int ow) {
    int n = channels * oh * ow;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int x = i % ow, y = i / ow % oh, c = i / ow / oh;
        float* p = col + (c * k * k * oh + y) * ow + x;
        for (int r = 0; r < k; r++)
            for (int s = 0; s < k; s++) {
                int yy = y * stride - pad + r, xx = x * stride - pad + s;
                *p = yy >= 0 && yy < h && xx >= 0 && xx < w ? im[(c * h + yy) * w + xx] : 0;
                p += oh * ow;
            }
    }
}
__global__ void maxpool(const float* in, float* out, int* where, int h, int w, int oh, int ow) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.z;
    if (x >= ow || y >= oh) return;
    float m = -1e30f;
    int at = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) {
            int yy = 2 * y + dy, xx = 2 * x + dx;
            if (yy < h && xx < w && in[(c * h + yy) * w + xx] > m) { at = (c * h + yy) * w + xx; m = in[at]; }
        }
    out[(c * oh + y) * ow + x] = m;
    where[(c * oh + y) * ow + x] = at;
}
__constant__ float filters[16 * 3 * 3 * 3];
__global__ void conv_direct(const float* in, float* out, int h, int w) {
    __shared__ float t[3][10][18];
    int x0 = blockIdx.x * 16, y0 = blockIdx.y * 8, id = threadIdx.y * 16 + threadIdx.x;
    for (int i = id; i < 3 * 10 * 18; i += 128) {
        int c = i / 180, y = i / 18 % 10 + y0 - 1, x = i % 18 + x0 - 1;
        t[c][i / 18 % 10][i % 18] = x >= 0 && x < w && y >= 0 && y < h ? in[(c * h + y) * w + x] : 0;
    }
    __syncthreads();
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y, f = blockIdx.z;
    float s = 0;
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            for (int q = 0; q < 3; q++) s += filters[((f * 3 + c) * 3 + r) * 3 + q] * t[c][threadIdx.y + r][threadIdx.x + q];
    if (x < w && y < h) out[(f * h + y) * w + x] = fmaxf(s, 0);
}
__global__ void batchnorm_nchw(float* x, const float* mean, const float* var, const float* g, const float* b, int c, int hw) {
    int plane = blockIdx.y, ch = plane % c;
    float k = g[ch] * rsqrtf(var[ch] + 1e-5f), o = b[ch] - mean[ch] * k;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < hw; i += gridDim.x * blockDim.x) {
        float v = x[plane * hw + i] * k + o;
        x[plane * hw + i] = v > 0 ? v : 0.01f * v;
    }
}
__global__ void adam(float* p, const float* g, float* m, float* v, int n, float lr, float b1, float b2, float c1, float c2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    m[i] = b1 * m[i] + (1 - b1) * g[i];
    v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
    p[i] -= lr * (m[i] / c1) / (sqrtf(v[i] / c2) + 1e-8f);
}
__global__ void quantize_rows(const float* x, signed char* q, float* scale, int cols) {
    __shared__ float most;
    int row = blockIdx.x;
    if (threadIdx.x == 0) most = 1e-8f;
    __syncthreads();
    float m = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, fabsf(x[row * cols + c]));
    atomicMax((int*)&most, __float_as_int(m));
    __syncthreads();
    float k = 127 / most;
    if (threadIdx.x == 0) scale[row] = 1 / k;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) q[row * cols + c] = (signed char)__float2int_rn(x[row * cols + c] * k);
}
