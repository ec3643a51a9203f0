// Signals, texts, integers.
__global__ void fir_shared(const float* x, const float* taps, float* y, int n, int m) {
    extern __shared__ float s[];
    float* t = s + blockDim.x + m;
    int first = blockIdx.x * blockDim.x;
    for (int i = threadIdx.x; i < blockDim.x + m - 1; i += blockDim.x) s[i] = first + i - m + 1 >= 0 && first + i - m + 1 < n ? x[first + i - m + 1] : 0;
    for (int i = threadIdx.x; i < m; i += blockDim.x) t[i] = taps[i];
    __syncthreads();
    if (first + threadIdx.x >= n) return;
    float a = 0;
    for (int k = 0; k < m; k++) a += t[k] * s[threadIdx.x + m - 1 - k];
    y[first + threadIdx.x] = a;
}
__global__ void iir_channels(const float* x, float* y, int channels, int n, float b0, float b1, float b2, float a1, float a2) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float z1 = 0, z2 = 0;
    for (int i = 0; i < n; i++) {
        float v = x[i * channels + c], o = b0 * v + z1;
        z1 = b1 * v - a1 * o + z2;
        z2 = b2 * v - a2 * o;
        y[i * channels + c] = o;
    }
}
__global__ void goertzel(const short* x, float* power, int n, int bins) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= bins) return;
    float c = 2 * cosf(6.2831853f * k / n), s1 = 0, s2 = 0;
    for (int i = 0; i < n; i++) {
        float s = x[i] + c * s1 - s2;
        s2 = s1;
        s1 = s;
    }
    power[k] = s1 * s1 + s2 * s2 - c * s1 * s2;
}
// 64 states, one block a message
__global__ void viterbi(const int* received, unsigned char* back, int* metric, int steps) {
    __shared__ int m[2][64];
    int s = threadIdx.x;
    m[0][s] = s ? 1000 : 0;
    __syncthreads();
    for (int t = 0; t < steps; t++) {
        int r = received[blockIdx.x * steps + t] & 3, p0 = s >> 1, p1 = (s >> 1) + 32;
        int in0 = p0 << 1 | (s & 1), in1 = p1 << 1 | (s & 1);
        int e0 = (__popc(in0 & 0x5b) & 1) << 1 | (__popc(in0 & 0x79) & 1), e1 = (__popc(in1 & 0x5b) & 1) << 1 | (__popc(in1 & 0x79) & 1);
        int a = m[t & 1][p0] + __popc(e0 ^ r), b = m[t & 1][p1] + __popc(e1 ^ r);
        m[~t & 1][s] = a <= b ? a : b;
        back[(blockIdx.x * steps + t) * 64 + s] = a > b;
        __syncthreads();
    }
    metric[blockIdx.x * 64 + s] = m[steps & 1][s];
}
__constant__ unsigned crc_table[256];
__global__ void crc_records(const unsigned char* data, unsigned* crc, int records, int bytes) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= records) return;
    unsigned c = ~0u;
    for (int i = 0; i < bytes; i++) c = crc_table[(c ^ data[r * bytes + i]) & 255] ^ c >> 8;
    crc[r] = ~c;
}
__device__ __forceinline__ unsigned rotr(unsigned x, int n) { return __funnelshift_r(x, x, n); }
__global__ void sha_rounds(const unsigned* msg, unsigned* digest, const unsigned* k, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned w[16], a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
    for (int t = 0; t < 16; t++) w[t] = msg[i * 16 + t];
    for (int t = 0; t < 64; t++) {
        if (t >= 16) {
            unsigned x = w[(t + 1) & 15], y = w[(t + 14) & 15];
            w[t & 15] += (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + w[(t + 9) & 15] + (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
        }
        unsigned t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + k[t] + w[t & 15];
        unsigned t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
    }
    uint4* o = (uint4*)(digest + i * 8);
    o[0] = make_uint4(a, b, c, d);
    o[1] = make_uint4(e, f, g, h);
}
__global__ void base64_encode(const unsigned char* in, char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const char* alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (3 * i >= n) return;
    int left = n - 3 * i;
    unsigned v = in[3 * i] << 16 | (left > 1 ? in[3 * i + 1] << 8 : 0) | (left > 2 ? in[3 * i + 2] : 0);
    out[4 * i] = alphabet[v >> 18];
    out[4 * i + 1] = alphabet[v >> 12 & 63];
    out[4 * i + 2] = left > 1 ? alphabet[v >> 6 & 63] : '=';
    out[4 * i + 3] = left > 2 ? alphabet[v & 63] : '=';
}
__global__ void rle_heads(const unsigned char* in, int* heads, int* length, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool head = i == 0 || (in[i] & 1) != (in[i - 1] & 1);
    heads[i] = head;
    if (!head) { length[i] = 0; return; }
    int k = i + 1;
    while (k < n && (in[k] & 1) == (in[i] & 1)) k++;
    length[i] = k - i;
}
__global__ void sieve_segment(unsigned char* composite, const int* primes, int count, int span) {
    __shared__ unsigned char seg[1024];
    int base = blockIdx.x * span;
    for (int i = threadIdx.x; i < span; i += blockDim.x) seg[i] = 0;
    __syncthreads();
    for (int p = threadIdx.x; p < count; p += blockDim.x) {
        int q = primes[p] + 2;
        for (int m = (base + q - 1) / q * q; m < base + span; m += q) if (m > q) seg[m - base] = 1;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < span; i += blockDim.x) composite[base + i] = seg[i];
}
__global__ void find_pattern(const char* text, int n, const char* pattern, int m, int* matches) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - m) return;
    for (int k = 0; k < m; k++)
        if (((text[i + k] ^ pattern[k]) & 3) != 0) return;
    atomicAdd(matches, 1);
}
__global__ void edit_distance(const unsigned char* a, const unsigned char* b, int* out, int len) {
    __shared__ int d[3][129];
    const unsigned char *s = a + blockIdx.x * len, *t = b + blockIdx.x * len;
    int i = threadIdx.x;
    for (int diag = 0; diag <= 2 * len; diag++) {
        int j = diag - i;
        if (i <= len && j >= 0 && j <= len) {
            int v;
            if (i == 0) v = j;
            else if (j == 0) v = i;
            else {
                int cost = (s[i - 1] & 3) != (t[j - 1] & 3);
                v = min(min(d[(diag + 2) % 3][i - 1], d[(diag + 2) % 3][i]) + 1, d[(diag + 1) % 3][i - 1] + cost);
            }
            d[diag % 3][i] = v;
        }
        __syncthreads();
    }
    if (i == len) out[blockIdx.x] = d[2 * len % 3][len];
}
__global__ void hamming_pairs(const unsigned long long* codes, unsigned char* dist, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n && j >= i) dist[i * n + j] = __popcll(codes[i] * 0x9E3779B97F4A7C15ull ^ codes[j]);
}
__global__ void parse_numbers(const unsigned char* text, const int* start, int* value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* p = text + start[i];
    int v = 0;
    bool negative = false;
    if (*p & 1) { negative = true; ++p; }
    while (*p % 16 < 10) v = v * 10 + *p++ % 16;
    value[i] = negative ? -v : v;
}
__global__ void gray_and_log(const unsigned* in, unsigned* gray, unsigned char* lead, unsigned char* trail, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[i];
    gray[i] = v ^ v >> 1;
    lead[i] = __clz(v);
    trail[i] = v ? __ffs(v) - 1 : 32;
}
__global__ void fft_radix2_shared(float2* data, int log2n) {
    extern __shared__ float2 z[];
    int n = 1 << log2n, t = threadIdx.x, half = n / 2;
    float2* g = data + blockIdx.x * n;
    z[__brev(t) >> (32 - log2n)] = g[t];
    z[__brev(t + half) >> (32 - log2n)] = g[t + half];
    for (int s = 1; s <= log2n; s++) {
        __syncthreads();
        int m = 1 << s, h = m >> 1, k = t & (h - 1), i = (t / h) * m + k;
        float sn, cs;
        __sincosf(-6.2831853f * k / m, &sn, &cs);
        float2 u = z[i], v = z[i + h];
        float2 w = make_float2(v.x * cs - v.y * sn, v.x * sn + v.y * cs);
        z[i] = make_float2(u.x + w.x, u.y + w.y);
        z[i + h] = make_float2(u.x - w.x, u.y - w.y);
    }
    __syncthreads();
    g[t] = z[t];
    g[t + half] = z[t + half];
}
// functions with slow paths
__global__ void special_functions(const float* x, float* y, double* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i] * 4e5f - 1e5f;
    y[i] = sinf(v) + lgammaf(fabsf(v) + 0.1f) + erfcf(x[i]);
    z[i] = log1p((double)x[i]) + cbrt((double)v) + tgamma(3.0 + x[i]);
}
__global__ void divide_and_mod(const int* a, const int* b, int* q, int* r, float* f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int d = b[i] - 100;
        if (d == 0) { q[i] = 0; r[i] = a[i]; f[i] = 0; return; }
        q[i] = a[i] / d;
        r[i] = a[i] % d;
        f[i] = (float)a[i] / (float)d;
    }
}
