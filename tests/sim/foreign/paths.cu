// Loops whose passes depend on the lane, inlined functions with returns, predicates kept over barriers.
#define FULL 0xffffffffu
__device__ int classify(const float* v, int i, int n) {
    if (i >= n) return -1;
    float x = v[i];
    if (x < 0.2f) return 0;
    if (x < 0.4f) { if (i + 1 < n && v[i + 1] < x) return 1; return 2; }
    if (x > 0.9f) return 3;
    return v[(i * 13) % n] > x ? 4 : 5;
}
__global__ void classified(const float* v, int* out, int n) {
    __shared__ int s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = classify(v, i, n);
    s[threadIdx.x] = k;
    __syncthreads();
    if (k >= 0) { int left = threadIdx.x ? s[threadIdx.x - 1] : 0; out[i] = k == left ? k * 10 : k; }
}
__device__ __noinline__ float horner(const float* c, int n, float x) {
    float r = 0;
    for (int k = 0; k < n; k++) { r = r * x + c[k]; if (r > 50) return r; }
    return r;
}
__global__ void call_some(const float* c, int n, const float* x, float* y, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) y[i] = x[i] > 0.3f ? horner(c, n, x[i]) : horner(c, n / 2, -x[i]);
}
__global__ void gcd_pairs(const unsigned* a, const unsigned* b, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = (a[i] & 0xffff) + 1, y = (b[i] & 0xffff) + 1;
    while (y) { unsigned t = x % y; x = y; y = t; }
    out[i] = x;
}
__global__ void ragged_sum(const int* start, const float* v, float* out, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int k = start[r]; k < start[r + 1]; k++) { float x = v[k]; if (x > 0.1f) s += x; else s -= v[k / 2]; }
    out[r] = s;
}
__global__ void ragged_max4(const int* start, const float4* v, float4* out, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float4 m = make_float4(0, 0, 0, 0);
    int k = start[r], e = start[r + 1];
    do {
        if (k >= e) break;
        float4 x = v[k];
        m.x = fmaxf(m.x, x.x); m.y = fmaxf(m.y, x.y);
        if (x.w > 0.5f) m.z = x.z;
        k++;
    } while (true);
    out[r] = m;
}
__global__ void hash_probe(const unsigned* table, int size, const unsigned* keys, int* where, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i] % 500 + 1, slot = key * 2654435761u % size;
    int result = -1;
    for (int probe = 0; probe < size; probe++) {
        unsigned t = table[slot];
        if (t == key) { result = slot; break; }
        if (t == 0) break;
        slot = slot + 1 == size ? 0 : slot + 1;
    }
    where[i] = result;
}
__global__ void stack_walk(const int2* child, const float* value, float* out, int n, int nodes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int stack[24], top = 0;
    float sum = 0, limit = value[i % nodes];
    stack[top++] = 0;
    while (top) {
        int node = stack[--top];
        if (value[node] < limit) { sum += value[node]; continue; }
        int2 c = child[node];
        if (c.x > 0 && top < 23) stack[top++] = c.x;
        if (c.y > 0 && top < 23) stack[top++] = c.y;
    }
    out[i] = sum;
}
__global__ void warp_vote_loop(const int* v, int* out, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = i < n ? v[i] : 0, k = 0;
    while (k < rounds && __any_sync(FULL, x > 3)) {
        if (x > 3) x -= v[(i + k) % n] & 15;
        k++;
    }
    if (i < n) out[i] = x * 100 + k;
}
__global__ void local_extrema(const float* v, int* out, int n) {
    __shared__ float s[130];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t + 1] = i < n ? v[i] : 0;
    if (t == 0) s[0] = i > 0 ? v[i - 1] : 0;
    if (t == 127) s[129] = i + 1 < n ? v[i + 1] : 0;
    __syncthreads();
    if (i >= n) return;
    float a = s[t], b = s[t + 1], c = s[t + 2];
    if (b > a && b > c) out[i] = 1;
    else if (b < a && b < c) out[i] = -1;
    else if (b == a || b == c) out[i] = 2;
}
__global__ void fizz(const int* in, int* three, int* five, int* both, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i];
    if (v % 15 == 0) both[i] = v; else if (v % 5 == 0) five[i] = v; else if (v % 3 == 0) three[i] = v;
}
__global__ void swap_ends(int* v, int n, int mod) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        int a = v[i], b = v[n - 1 - i];
        if (a % mod > b % mod) { v[i] = b; v[n - 1 - i] = a; }
    }
}
__global__ void rank_pairs(short4* v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    short4 q = v[i];
#define SW(a, b) if (q.a > q.b) { short t = q.a; q.a = q.b; q.b = t; }
    SW(x, y) SW(z, w) SW(x, z) SW(y, w) SW(y, z)
    v[i] = q;
}
__global__ void newton_until(const double* a, double* root, int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = 1, target = a[i] + 0.1;
    int k = 0;
    for (; k < 30; k++) {
        double y = 0.5 * (x + target / x);
        if (fabs(y - x) < 1e-9) break;
        x = y;
    }
    root[i] = x;
    if (k > 4) steps[i] = k;
}
