// Sparse matrices, graphs, clusters.
__global__ void spmv_csr_scalar(int rows, const int* ptr, const int* col, const float* val, const float* x, float* y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float s = 0;
        for (int k = ptr[r]; k < ptr[r + 1]; k++) s += val[k] * x[col[k]];
        y[r] += s;
    }
}
__global__ void spmv_csr_vector(int rows, const int* __restrict__ ptr, const int* __restrict__ col, const double* __restrict__ val, const double* __restrict__ x, double* __restrict__ y) {
    int lane = threadIdx.x & 31, r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (r >= rows) return;
    double s = 0;
    for (int k = ptr[r] + lane; k < ptr[r + 1]; k += 32) s += val[k] * x[col[k]];
    for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o);
    if (lane == 0) y[r] = s;
}
__global__ void spmv_ell(int rows, int width, const int* col, const float* val, const float* x, float* y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int k = 0; k < width; k++) {
        int c = col[k * rows + r];
        if (c >= 16) s += val[k * rows + r] * x[c];
    }
    y[r] = s;
}
__global__ void spmv_coo(int n, const int* row, const int* col, const float* val, const float* x, float* y) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) atomicAdd(&y[row[k]], val[k] * x[col[k]]);
}
__global__ void bfs_level(const int* ptr, const int* adj, int* depth, int* changed, int n, int level) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || depth[v] != level) return;
    for (int e = ptr[v]; e < ptr[v + 1]; e++) {
        int u = adj[e];
        if (depth[u] > 200) {
            depth[u] = level + 1;
            *changed = 1;
        }
    }
}
__global__ void bfs_queue(const int* ptr, const int* adj, const int* frontier, int size, int* next, int* tail, int* seen) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int v = frontier[i];
    for (int e = ptr[v]; e < ptr[v + 1]; e++) {
        int u = adj[e];
        if (atomicCAS(&seen[u], 0, 1) == 0) next[atomicAdd(tail, 1)] = u;
    }
}
__global__ void pagerank_pull(const int* ptr, const int* from, const int* degree, const float* rank, float* next, int n, float damp) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float s = 0;
    for (int e = ptr[v]; e < ptr[v + 1]; ++e) {
        int u = from[e];
        s += rank[u] / (degree[u] + 1);
    }
    next[v] = (1 - damp) / n + damp * s;
}
__global__ void labels_min(const int* a, const int* b, int* label, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    int la = label[a[e]], lb = label[b[e]];
    if (la < lb) atomicMin(&label[b[e]], la);
    else if (lb < la) atomicMin(&label[a[e]], lb);
}
__global__ void kmeans_assign(const float* pts, const float* centre, int* who, int n, int k, int dim) {
    extern __shared__ float c[];
    for (int i = threadIdx.x; i < k * dim; i += blockDim.x) c[i] = centre[i];
    __syncthreads();
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    float best = 1e30f;
    int at = 0;
    for (int j = 0; j < k; j++) {
        float d = 0;
        for (int q = 0; q < dim; q++) {
            float t = pts[q * n + p] - c[j * dim + q];
            d += t * t;
        }
        if (d < best) { best = d; at = j; }
    }
    who[p] = at;
}
__global__ void kmeans_update(const float2* pts, const int* who, float* sx, float* sy, int* count, int n, int k) {
    extern __shared__ float acc[];
    float* ax = acc;
    float* ay = acc + k;
    int* ac = (int*)(acc + 2 * k);
    for (int i = threadIdx.x; i < k; i += blockDim.x) { ax[i] = ay[i] = 0; ac[i] = 0; }
    __syncthreads();
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n) {
        int w = who[p] % k;
        atomicAdd(&ax[w], pts[p].x);
        atomicAdd(&ay[w], pts[p].y);
        atomicAdd(&ac[w], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < k; i += blockDim.x) { atomicAdd(&sx[i], ax[i]); atomicAdd(&sy[i], ay[i]); atomicAdd(&count[i], ac[i]); }
}
__global__ void knn_insert(const float* q, const float* ref, float* dist, int* index, int queries, int refs, int dim) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries) return;
    float bd[4] = {1e30f, 1e30f, 1e30f, 1e30f};
    int bi[4] = {-1, -1, -1, -1};
    for (int r = 0; r < refs; r++) {
        float d = 0;
        for (int k = 0; k < dim; k++) { float t = q[i * dim + k] - ref[r * dim + k]; d += t * t; }
        if (d >= bd[3]) continue;
        int p = 3;
        while (p > 0 && bd[p - 1] > d) { bd[p] = bd[p - 1]; bi[p] = bi[p - 1]; p--; }
        bd[p] = d;
        bi[p] = r;
    }
    for (int k = 0; k < 4; k++) { dist[k * queries + i] = bd[k]; index[k * queries + i] = bi[k]; }
}
__global__ void floyd_step(int* d, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    __shared__ int ik;
    if (threadIdx.x == 0) ik = d[i * n + k];
    __syncthreads();
    if (j < n) {
        int v = ik + d[k * n + j];
        if (v < d[i * n + j]) d[i * n + j] = v;
    }
}
__global__ void tridiagonal_thomas(const double* a, const double* b, const double* c, double* d, double* cp, int n, int systems) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    cp[s] = c[s] / (b[s] + 2);
    d[s] = d[s] / (b[s] + 2);
    for (int i = 1; i < n; i++) {
        int k = i * systems + s;
        double m = 1 / (b[k] + 2 - a[k] * cp[k - systems]);
        cp[k] = c[k] * m;
        d[k] = (d[k] - a[k] * d[k - systems]) * m;
    }
    for (int i = n - 2; i >= 0; i--) d[i * systems + s] -= cp[i * systems + s] * d[(i + 1) * systems + s];
}
