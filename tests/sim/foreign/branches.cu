// Conditional swaps, early exits, continue, short-circuit conditions, switch.
#define FULL 0xffffffffu
__global__ void comb_sort_rows(int* a, int rows, int len) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int* p = a + r * len;
    int gap = len;
    bool swapped = true;
    while (gap > 1 || swapped) {
        gap = gap * 10 / 13;
        if (gap < 1) gap = 1;
        swapped = false;
        for (int i = 0; i + gap < len; i++)
            if (p[i] > p[i + gap]) { int t = p[i]; p[i] = p[i + gap]; p[i + gap] = t; swapped = true; }
    }
}
__global__ void bubble_shared(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    for (int k = t; k < 256; k += blockDim.x) s[k] = base + k < n ? in[base + k] : 3e38f;
    __syncthreads();
    for (int pass = 0; pass < 64; pass++) {
        for (int k = 2 * t + (pass & 1); k + 1 < 256; k += 2 * blockDim.x)
            if (s[k] > s[k + 1]) { float x = s[k]; s[k] = s[k + 1]; s[k + 1] = x; }
        __syncthreads();
    }
    for (int k = t; k < 256; k += blockDim.x) if (base + k < n) out[base + k] = s[k];
}
__global__ void merge_path(const int* a, int na, const int* b, int nb, int* out, int each) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, diag = t * each;
    if (diag >= na + nb) return;
    int lo = max(0, diag - nb), hi = min(diag, na);
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (a[mid] <= b[diag - 1 - mid]) lo = mid + 1; else hi = mid;
    }
    int i = lo, j = diag - lo;
    for (int k = 0; k < each && diag + k < na + nb; k++)
        out[diag + k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}
__global__ void first_above(const float* rows, int* where, int count, int len, float limit) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= count) return;
    for (int k = 0; k < len; k++)
        if (rows[k * count + r] > limit) { where[r] = k; return; }
    where[r] = -1;
}
__global__ void skip_marked(const float* v, const unsigned char* mark, float* sum, int n, int per) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < per; k++) {
        int i = k * gridDim.x * blockDim.x + t;
        if (i >= n) break;
        if (mark[i] & 1) continue;
        float x = v[i];
        if (x < 0.25f) continue;
        s += x * v[(i * 7) % n];
    }
    sum[t] = s;
}
__global__ void token_machine(const unsigned char* text, int* tokens, int rows, int len) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned char* p = text + r * len;
    int state = 0, count = 0;
    for (int i = 0; i < len; i++) {
        unsigned char c = p[i] & 63;
        switch (state) {
            case 0: if (c < 10) state = 1; else if (c < 36) state = 2; else if (c == 60) return; break;
            case 1: if (c >= 10) { count++; state = c < 36 ? 2 : 0; } break;
            case 2: if (c >= 36) { count += 2; state = c > 55 ? 3 : 0; } break;
            case 3: if (c == 1 || c == 2) { tokens[r * 4 + 3] = i; state = 0; } break;
        }
    }
    tokens[r * 4] = count;
    tokens[r * 4 + 1] = state;
}
__global__ void switch_loads(const int* op, const float* a, const float* b, const float* c, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r;
    switch (op[i] & 7) {
        case 0: r = a[i] + b[i]; break;
        case 1: r = a[i] - c[i]; break;
        case 2: r = a[i] * b[n - 1 - i]; break;
        case 3: r = b[i] * c[i] + a[i]; break;
        case 4: case 5: r = c[i / 2]; break;
        default: r = 0;
    }
    out[i] = r;
}
__global__ void short_circuit(const int* a, const int* b, const int* c, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 20 && (b[i] < 60 || c[i] == 7)) out[i] = a[i] + b[i];
}
__global__ void clip_segments(float4* seg, int n, float x0, float x1) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 s = seg[i];
    if (s.x > s.z) { float t = s.x; s.x = s.z; s.z = t; t = s.y; s.y = s.w; s.w = t; }
    if (s.z < x0 || s.x > x1) { seg[i].x = -1; return; }
    float m = (s.w - s.y) / (s.z - s.x + 1e-9f);
    if (s.x < x0) { s.y += m * (x0 - s.x); s.x = x0; }
    if (s.z > x1) { s.w += m * (x1 - s.z); s.z = x1; }
    seg[i] = s;
}
__global__ void find_root(const int* parent, int* root, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int p = i, steps = 0;
    while (parent[p] != p && steps < 50) { p = parent[p]; steps++; }
    root[i] = p;
}
__global__ void bounded_search(const float* grid, int* hops, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int cx = x, cy = y, k = 0;
    for (; k < 40; k++) {
        float best = grid[cy * w + cx];
        int bx = cx, by = cy;
        if (cx > 0 && grid[cy * w + cx - 1] > best) { best = grid[cy * w + cx - 1]; bx = cx - 1; by = cy; }
        if (cx + 1 < w && grid[cy * w + cx + 1] > best) { best = grid[cy * w + cx + 1]; bx = cx + 1; by = cy; }
        if (cy > 0 && grid[(cy - 1) * w + cx] > best) { best = grid[(cy - 1) * w + cx]; bx = cx; by = cy - 1; }
        if (cy + 1 < h && grid[(cy + 1) * w + cx] > best) { bx = cx; by = cy + 1; }
        if (bx == cx && by == cy) break;
        cx = bx; cy = by;
    }
    hops[y * w + x] = k;
}
__global__ void goto_retry(const unsigned* seed, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s = seed[i], tries = 0;
again:
    s = s * 1664525u + 1013904223u;
    if ((s >> 28) == 3 && tries++ < 9) goto again;
    if ((s & 15) == 0) { out[i] = 0; goto done; }
    if ((s >> 8 & 3) == 1) { s ^= seed[(i + 1) % n]; if (tries++ < 5) goto again; }
    out[i] = s;
done:
    out[n + i] = tries;
}
__global__ void nested_breaks(const int* m, int* found, int rows, int cols, int want) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int hits = 0;
    for (int c = 0; c < cols; c++) {
        int v = m[c * rows + r];
        if (v == want) break;
        for (int d = c + 1; d < cols; d += 3) {
            int u = m[d * rows + r];
            if (u == v) { hits++; break; }
            if (u > 250) goto out;
            if (u < 5) continue;
            hits += u > v ? 2 : 0;
        }
    }
out:
    found[r] = hits;
}
