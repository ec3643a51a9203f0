// Image filters.
__constant__ float gauss[17];
__global__ void blur_rows(const float* in, float* out, int w, int h, int r) {
    __shared__ float line[128 + 16];
    int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y;
    for (int i = threadIdx.x; i < 128 + 2 * r; i += 128) {
        int sx = blockIdx.x * 128 + i - r;
        line[i] = in[y * w + min(max(sx, 0), w - 1)];
    }
    __syncthreads();
    if (x >= w) return;
    float s = 0;
    for (int k = -r; k <= r; k++) s += gauss[k + r] * line[threadIdx.x + k + r];
    out[y * w + x] = s;
}
__global__ void blur_columns(const float* in, float* out, int w, int h, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float s = 0;
    for (int k = -r; k <= r; k++) {
        int yy = y + k;
        if (yy < 0) yy = -yy;
        if (yy >= h) yy = 2 * h - 2 - yy;
        s += gauss[k + r] * in[yy * w + x];
    }
    out[y * w + x] = s;
}
__global__ void bilateral(const unsigned char* in, unsigned char* out, int w, int h, int r, float is2, float ir2) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float c = in[y * w + x], s = 0, k = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            int xx = x + dx, yy = y + dy;
            if (xx < 0 || yy < 0 || xx >= w || yy >= h) continue;
            float v = in[yy * w + xx], e = __expf(-(dx * dx + dy * dy) * is2 - (v - c) * (v - c) * ir2);
            s += e * v;
            k += e;
        }
    out[y * w + x] = (unsigned char)(s / k + 0.5f);
}
#define CSWAP(a, b) { unsigned char lo = min(a, b), hi = max(a, b); a = lo; b = hi; }
__global__ void median3x3(const unsigned char* in, unsigned char* out, int w, int h) {
    __shared__ unsigned char t[10][36];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int j = threadIdx.y; j < 10; j += 8)
        for (int i = threadIdx.x; i < 34; i += 32)
            t[j][i] = in[min(max((int)blockIdx.y * 8 + j - 1, 0), h - 1) * w + min(max((int)blockIdx.x * 32 + i - 1, 0), w - 1)];
    __syncthreads();
    if (x >= w || y >= h) return;
    unsigned char p[9];
#pragma unroll
    for (int k = 0; k < 9; k++) p[k] = t[threadIdx.y + k / 3][threadIdx.x + k % 3];
    CSWAP(p[1], p[2]) CSWAP(p[4], p[5]) CSWAP(p[7], p[8]) CSWAP(p[0], p[1]) CSWAP(p[3], p[4]) CSWAP(p[6], p[7])
    CSWAP(p[1], p[2]) CSWAP(p[4], p[5]) CSWAP(p[7], p[8]) CSWAP(p[0], p[3]) CSWAP(p[5], p[8]) CSWAP(p[4], p[7])
    CSWAP(p[3], p[6]) CSWAP(p[1], p[4]) CSWAP(p[2], p[5]) CSWAP(p[4], p[7]) CSWAP(p[4], p[2]) CSWAP(p[6], p[4]) CSWAP(p[4], p[2])
    out[y * w + x] = p[4];
}
__global__ void sobel(const unsigned char* in, short* mag, unsigned char* dir, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= w - 1 || y >= h - 1) return;
    const unsigned char* p = in + y * w + x;
    int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[-1 + w];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
    mag[y * w + x] = abs(gx) + abs(gy);
    int ax = abs(gx), ay = abs(gy);
    dir[y * w + x] = 2 * ay < ax ? 0 : 2 * ax < ay ? 2 : (gx ^ gy) >= 0 ? 1 : 3;
}
__global__ void canny_suppress(const short* mag, const unsigned char* dir, unsigned char* edge, int w, int h, int low, int high) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) { edge[i] = 0; return; }
    int m = mag[i], a, b;
    switch (dir[i] & 3) {
        case 0: a = mag[i - 1]; b = mag[i + 1]; break;
        case 1: a = mag[i - w - 1]; b = mag[i + w + 1]; break;
        case 2: a = mag[i - w]; b = mag[i + w]; break;
        default: a = mag[i - w + 1]; b = mag[i + w - 1]; break;
    }
    edge[i] = m < low || m < a || m < b ? 0 : m >= high ? 255 : 128;
}
__global__ void rgb_to_gray(const uchar3* rgb, unsigned char* gray, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uchar3 p = rgb[i];
        gray[i] = (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
    }
}
// 2 x 2 pixels a thread, planes with chroma at half size
__global__ void rgb_to_yuv420(const unsigned char* rgb, unsigned char* yp, unsigned char* up, unsigned char* vp, int w, int h) {
    int cx = blockIdx.x * blockDim.x + threadIdx.x, cy = blockIdx.y * blockDim.y + threadIdx.y;
    if (2 * cx + 1 >= w || 2 * cy + 1 >= h) return;
    int su = 0, sv = 0;
    for (int k = 0; k < 4; k++) {
        int at = (2 * cy + k / 2) * w + 2 * cx + k % 2;
        int r = rgb[3 * at], g = rgb[3 * at + 1], b = rgb[3 * at + 2];
        yp[at] = (66 * r + 129 * g + 25 * b + 128 >> 8) + 16;
        su += -38 * r - 74 * g + 112 * b;
        sv += 112 * r - 94 * g - 18 * b;
    }
    up[cy * (w / 2) + cx] = (su / 4 + 128 >> 8) + 128;
    vp[cy * (w / 2) + cx] = (sv / 4 + 128 >> 8) + 128;
}
__global__ void rgb_to_hsv(const float3* in, float3* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 c = in[i];
    float hi = fmaxf(c.x, fmaxf(c.y, c.z)), lo = fminf(c.x, fminf(c.y, c.z)), d = hi - lo, h = 0;
    if (d > 0) {
        if (hi == c.x) h = fmodf((c.y - c.z) / d, 6.f);
        else if (hi == c.y) h = (c.z - c.x) / d + 2;
        else h = (c.x - c.y) / d + 4;
    }
    out[i] = make_float3(60 * h, hi > 0 ? d / hi : 0, hi);
}
__global__ void resize_bilinear(const unsigned char* in, unsigned char* out, int w, int h, int ow, int oh) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= ow || y >= oh) return;
    float fx = (x + 0.5f) * w / ow - 0.5f, fy = (y + 0.5f) * h / oh - 0.5f;
    int x0 = max((int)floorf(fx), 0), y0 = max((int)floorf(fy), 0), x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
    fx -= x0; fy -= y0;
    float top = in[y0 * w + x0] * (1 - fx) + in[y0 * w + x1] * fx, bottom = in[y1 * w + x0] * (1 - fx) + in[y1 * w + x1] * fx;
    out[y * ow + x] = top * (1 - fy) + bottom * fy;
}
__global__ void rotate_texture(cudaTextureObject_t t, float* out, int w, int h, float c, float s) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float u = x - w / 2.f, v = y - h / 2.f;
    out[y * w + x] = tex2D<float>(t, u * c - v * s + w / 2.f + 0.5f, u * s + v * c + h / 2.f + 0.5f);
}
__constant__ float dct_table[64];
// a block of 8 x 8 threads for 8 x 8 pixels
__global__ void dct8x8(const unsigned char* img, float* out, int pitch) {
    __shared__ float a[8][8], b[8][8];
    int tx = threadIdx.x, ty = threadIdx.y, at = (blockIdx.y * 8 + ty) * pitch + blockIdx.x * 8 + tx;
    a[ty][tx] = img[at] - 128.f;
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 8; k++) s += dct_table[tx * 8 + k] * a[ty][k];
    b[ty][tx] = s;
    __syncthreads();
    s = 0;
    for (int k = 0; k < 8; k++) s += dct_table[ty * 8 + k] * b[k][tx];
    out[at] = s;
}
__global__ void haar_rows(const float* in, float* low, float* high, int pairs, int rows) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= pairs) return;
    float2 v = reinterpret_cast<const float2*>(in)[y * pairs + x];
    low[y * pairs + x] = (v.x + v.y) * 0.70710678f;
    high[y * pairs + x] = (v.x - v.y) * 0.70710678f;
}
__global__ void erode_bits(const unsigned* in, unsigned* out, int words, int rows) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= words || r >= rows) return;
    unsigned acc = ~0u;
    for (int d = -1; d <= 1; d++) {
        if (r + d < 0 || r + d >= rows) continue;
        const unsigned* p = in + (r + d) * words;
        unsigned m = p[c], l = c ? p[c - 1] : ~0u, g = c < words - 1 ? p[c + 1] : ~0u;
        acc &= m & __funnelshift_l(l, m, 1) & __funnelshift_r(m, g, 1);
    }
    out[r * words + c] = acc;
}
__global__ void lookup_levels(const uchar4* in, uchar4* out, const unsigned char* table, int n) {
    __shared__ unsigned char lut[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) lut[i] = table[i];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uchar4 p = in[i];
        out[i] = make_uchar4(lut[p.x], lut[p.y], lut[p.z], p.w);
    }
}
__global__ void integral_columns(unsigned* img, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    unsigned s = 0;
    for (int y = 0; y < h; y++) {
        s += img[y * w + x];
        img[y * w + x] = s;
    }
}
