// Matrix products in several ways.
template <int TILE>
__global__ void sgemm_tiled(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        int a = t * TILE + threadIdx.x, b = t * TILE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < M && a < K) ? A[row * K + a] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = (b < K && col < N) ? B[b * N + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

// 64 x 64 of C by 256 threads, 4 x 4 each
__global__ void __launch_bounds__(256) sgemm_register_tile(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C) {
    const int BM = 64, BN = 64, BK = 8;
    __shared__ float sA[BK][BM];
    __shared__ float sB[BK][BN];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int r0 = blockIdx.y * BM, c0 = blockIdx.x * BN;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += 256) {
            int r = i / BK, k = i % BK;
            sA[k][r] = r0 + r < M && k0 + k < K ? A[(r0 + r) * K + k0 + k] : 0.f;
        }
        for (int i = threadIdx.x; i < BN * BK; i += 256) {
            int k = i / BN, c = i % BN;
            sB[k][c] = c0 + c < N && k0 + k < K ? B[(k0 + k) * N + c0 + c] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) { a[i] = sA[k][ty * 4 + i]; b[i] = sB[k][tx * 4 + i]; }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            int r = r0 + ty * 4 + i, c = c0 + tx * 4 + j;
            if (r < M && c < N) C[r * N + c] = alpha * acc[i][j] + beta * C[r * N + c];
        }
}

// float4 loads; sizes are multiples of 64
__global__ void sgemm_vectorized(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N, int K) {
    __shared__ float sA[16][64 + 4];
    __shared__ float sB[16][64];
    int t = threadIdx.x;
    int ar = t / 4, ak = (t % 4) * 4, bk = t / 16, bc = (t % 16) * 4;
    A += blockIdx.y * 64 * K;
    B += blockIdx.x * 64;
    C += blockIdx.y * 64 * N + blockIdx.x * 64;
    int tr = (t / 16) * 4, tc = (t % 16) * 4;
    float acc[4][4] = {{0}};
    for (int k = 0; k < K; k += 16) {
        float4 a = *reinterpret_cast<const float4*>(&A[ar * K + k + ak]);
        sA[ak + 0][ar] = a.x; sA[ak + 1][ar] = a.y; sA[ak + 2][ar] = a.z; sA[ak + 3][ar] = a.w;
        *reinterpret_cast<float4*>(&sB[bk][bc]) = *reinterpret_cast<const float4*>(&B[(k + bk) * N + bc]);
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 16; ++kk) {
            float4 x = *reinterpret_cast<float4*>(&sA[kk][tr]);
            float4 y = *reinterpret_cast<float4*>(&sB[kk][tc]);
            float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) acc[i][j] = fmaf(xs[i], ys[j], acc[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        *reinterpret_cast<float4*>(&C[(tr + i) * N + tc]) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

// one warp a row
__global__ void gemv_warp(const float* __restrict__ A, const float* __restrict__ x, float* y, int rows, int cols) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (warp >= rows) return;
    float s = 0;
    for (int c = lane; c < cols; c += 32) s += A[(size_t)warp * cols + c] * x[c];
    for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o);
    if (lane == 0) y[warp] = s;
}

// one thread a column of A^T x, rows in chunks by blockIdx.y
__global__ void gemv_transposed(const double* A, const double* x, double* y, int rows, int cols) {
    extern __shared__ double xs[];
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    double s = 0;
    for (int r0 = 0; r0 < rows; r0 += blockDim.x) {
        int n = min(blockDim.x, rows - r0);
        if (threadIdx.x < n) xs[threadIdx.x] = x[r0 + threadIdx.x];
        __syncthreads();
        if (c < cols)
            for (int r = 0; r < n; ++r) s += A[(r0 + r) * cols + c] * xs[r];
        __syncthreads();
    }
    if (c < cols) y[c] = s;
}

// int8 with dp4a: K is a multiple of 4
__global__ void igemm_dp4a(const int* A, const int* B, int* C, int M, int N, int K4) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    int acc = 0;
    for (int k = 0; k < K4; k++) acc = __dp4a(A[row * K4 + k], B[col * K4 + k], acc);
    C[row * N + col] = acc;
}

struct Mat4 { float m[16]; };
__global__ void batched_mat4(const Mat4* a, const Mat4* b, Mat4* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Mat4 x = a[i], y = b[i], z;
    for (int r = 0; r < 4; r++)
        for (int q = 0; q < 4; q++) {
            float s = 0;
            for (int k = 0; k < 4; k++) s += x.m[r * 4 + k] * y.m[k * 4 + q];
            z.m[r * 4 + q] = s;
        }
    c[i] = z;
}
