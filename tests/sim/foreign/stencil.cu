// Stencils and cellular methods.
__global__ void laplace_global(const float* u, float* v, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        int i = y * nx + x;
        v[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx]);
    }
}

#define BX 32
#define BY 8
#define R 2
__global__ void star2d_shared(const float* __restrict__ in, float* __restrict__ out, int w, int h, float c0, float c1, float c2) {
    __shared__ float s[BY + 2 * R][BX + 2 * R];
    int gx = blockIdx.x * BX + threadIdx.x, gy = blockIdx.y * BY + threadIdx.y;
    for (int dy = threadIdx.y; dy < BY + 2 * R; dy += BY)
        for (int dx = threadIdx.x; dx < BX + 2 * R; dx += BX) {
            int x = min(max((int)blockIdx.x * BX + dx - R, 0), w - 1);
            int y = min(max((int)blockIdx.y * BY + dy - R, 0), h - 1);
            s[dy][dx] = in[y * w + x];
        }
    __syncthreads();
    if (gx >= w || gy >= h) return;
    int x = threadIdx.x + R, y = threadIdx.y + R;
    float a = c0 * s[y][x];
    a += c1 * (s[y][x - 1] + s[y][x + 1] + s[y - 1][x] + s[y + 1][x]);
    a += c2 * (s[y][x - 2] + s[y][x + 2] + s[y - 2][x] + s[y + 2][x]);
    out[gy * w + gx] = a;
}

// marches along z with the plane in shared memory, neighbours above and below in registers
__global__ void heat3d_march(const float* in, float* out, int nx, int ny, int nz, float k) {
    __shared__ float plane[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    bool inside = x < nx && y < ny;
    int at = y * nx + x, step = nx * ny;
    float below = 0, here = inside ? in[at] : 0, above = inside && nz > 1 ? in[at + step] : 0;
    for (int z = 0; z < nz; z++) {
        __syncthreads();
        plane[threadIdx.y + 1][threadIdx.x + 1] = here;
        if (threadIdx.x == 0) plane[threadIdx.y + 1][0] = inside && x > 0 ? in[z * step + at - 1] : 0;
        if (threadIdx.x == 31) plane[threadIdx.y + 1][33] = inside && x < nx - 1 ? in[z * step + at + 1] : 0;
        if (threadIdx.y == 0) plane[0][threadIdx.x + 1] = inside && y > 0 ? in[z * step + at - nx] : 0;
        if (threadIdx.y == 7) plane[9][threadIdx.x + 1] = inside && y < ny - 1 ? in[z * step + at + nx] : 0;
        __syncthreads();
        if (inside) {
            float sum = plane[threadIdx.y][threadIdx.x + 1] + plane[threadIdx.y + 2][threadIdx.x + 1] +
                        plane[threadIdx.y + 1][threadIdx.x] + plane[threadIdx.y + 1][threadIdx.x + 2] + below + above;
            out[z * step + at] = here + k * (sum - 6 * here);
        }
        below = here;
        here = above;
        above = inside && z + 2 < nz ? in[(z + 2) * step + at] : 0;
    }
}

__global__ void jacobi3d(const double* a, double* b, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y * blockDim.y + threadIdx.y + 1,
        k = blockIdx.z * blockDim.z + threadIdx.z + 1;
    if (i >= nx - 1 || j >= ny - 1 || k >= nz - 1) return;
#define AT(x, y, z) a[((z) * ny + (y)) * nx + (x)]
    b[(k * ny + j) * nx + i] = (AT(i - 1, j, k) + AT(i + 1, j, k) + AT(i, j - 1, k) + AT(i, j + 1, k) + AT(i, j, k - 1) + AT(i, j, k + 1)) / 6.0;
}

__global__ void wave2d(const float* prev, const float* cur, float* next, const float* speed, int w, int h, float dt) {
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h; y += gridDim.y * blockDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < w; x += gridDim.x * blockDim.x) {
            int i = y * w + x;
            int l = x ? i - 1 : i + w - 1, r = x < w - 1 ? i + 1 : i - w + 1;
            int u = y ? i - w : i + (h - 1) * w, d = y < h - 1 ? i + w : x;
            float lap = cur[l] + cur[r] + cur[u] + cur[d] - 4 * cur[i];
            next[i] = 2 * cur[i] - prev[i] + speed[i] * dt * dt * lap;
        }
}

__global__ void game_of_life(const unsigned char* cells, unsigned char* next, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) alive += cells[((y + dy + h) % h) * w + (x + dx + w) % w] & 1;
    unsigned char c = cells[y * w + x] & 1;
    next[y * w + x] = alive == 3 || (alive == 2 && c);
}

// 32 cells a word
__global__ void life_bits(const unsigned* in, unsigned* out, int words, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words * rows) return;
    int c = i % words, r = i / words;
    unsigned result = 0;
    for (int bit = 0; bit < 32; bit++) {
        int n = 0;
        for (int dr = -1; dr <= 1; dr++) {
            int rr = (r + dr + rows) % rows;
            unsigned m = in[rr * words + c];
            unsigned left = bit ? m >> (bit - 1) & 1 : in[rr * words + (c + words - 1) % words] >> 31;
            unsigned right = bit < 31 ? m >> (bit + 1) & 1 : in[rr * words + (c + 1) % words] & 1;
            n += left + right + (dr ? m >> bit & 1 : 0);
        }
        result |= (unsigned)(n == 3 || (n == 2 && (in[i] >> bit & 1))) << bit;
    }
    out[i] = result;
}

__constant__ float lbm_w[9];
__constant__ int lbm_cx[9];
__constant__ int lbm_cy[9];
// D2Q9, pull
__global__ void lbm_step(const float* f, float* g, const unsigned char* wall, int w, int h, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w) return;
    int n = w * h, i = y * w + x;
    float v[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int q = 0; q < 9; q++) {
        int sx = (x - lbm_cx[q] + w) % w, sy = (y - lbm_cy[q] + h) % h;
        v[q] = f[q * n + sy * w + sx];
        rho += v[q];
        ux += v[q] * lbm_cx[q];
        uy += v[q] * lbm_cy[q];
    }
    if (wall[i] & 1) {
        const int opposite[9] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
#pragma unroll
        for (int q = 0; q < 9; q++) g[q * n + i] = v[opposite[q]];
        return;
    }
    ux /= rho; uy /= rho;
    float uu = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int q = 0; q < 9; q++) {
        float cu = 3 * (lbm_cx[q] * ux + lbm_cy[q] * uy);
        float eq = lbm_w[q] * rho * (1 + cu + 0.5f * cu * cu - uu);
        g[q * n + i] = v[q] + omega * (eq - v[q]);
    }
}
