// Counting, compaction and sorting.
#define FULL 0xffffffffu
__global__ void histogram_bytes(const uchar4* in, unsigned* hist, int n4) {
    __shared__ unsigned h[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) h[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        uchar4 p = in[i];
        atomicAdd(&h[p.x], 1u); atomicAdd(&h[p.y], 1u); atomicAdd(&h[p.z], 1u); atomicAdd(&h[p.w], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) if (h[b]) atomicAdd(&hist[b], h[b]);
}
__global__ void histogram_global(const int* in, int* hist, int n, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(hist + in[i] % bins, 1);
}
// one histogram a warp, then their sum
__global__ void histogram_per_warp(const unsigned short* in, unsigned* hist, int n) {
    extern __shared__ unsigned wh[];
    int warps = blockDim.x / 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < 64 * warps; i += blockDim.x) wh[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&wh[warp * 64 + (in[i] >> 10)], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 64; b += blockDim.x) {
        unsigned s = 0;
        for (int w = 0; w < warps; w++) s += wh[w * 64 + b];
        hist[blockIdx.x * 64 + b] = s;
    }
}
// the lowest lane asks for the places of all lanes
__global__ void compact_aggregated(const int* in, int* out, int* count, int n, int limit) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int v = in[i];
        bool keep = v > limit;
        if (keep) {
            unsigned mask = __activemask();
            int leader = __ffs(mask) - 1, lane = threadIdx.x & 31, base;
            if (lane == leader) base = atomicAdd(count, __popc(mask));
            base = __shfl_sync(mask, base, leader);
            out[base + __popc(mask & ((1u << lane) - 1))] = v;
        }
    }
}
__global__ void compact_ballot(const float* in, float* out, int* counts, int n) {
    __shared__ int offsets[33];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float v = i < n ? in[i] : 0;
    unsigned b = __ballot_sync(FULL, v > 0.6f);
    if (lane == 0) offsets[warp + 1] = __popc(b);
    if (threadIdx.x == 0) offsets[0] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w <= blockDim.x / 32; w++) offsets[w] += offsets[w - 1];
        counts[blockIdx.x] = offsets[blockDim.x / 32];
    }
    __syncthreads();
    if (v > 0.6f) out[blockIdx.x * blockDim.x + offsets[warp] + __popc(b & ((1u << lane) - 1))] = v;
}
__global__ void radix_count(const unsigned* keys, unsigned* counts, int n, int shift) {
    __shared__ unsigned c[16][33];
    int lane = threadIdx.x & 31;
    for (int d = threadIdx.x / 32; d < 16; d += blockDim.x / 32) c[d][lane] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&c[keys[i] >> shift & 15][lane], 1u);
    __syncthreads();
    for (int d = threadIdx.x / 32; d < 16; d += blockDim.x / 32) {
        unsigned s = c[d][lane];
        for (int o = 16; o; o >>= 1) s += __shfl_down_sync(FULL, s, o);
        if (lane == 0) counts[d * gridDim.x + blockIdx.x] = s;
    }
}
// rank of a key among those of its digit in a warp
__global__ void radix_rank_match(const unsigned* keys, unsigned* rank, int n, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned d = keys[i] >> shift & 7, peers = __activemask();
    for (int b = 0; b < 3; b++) {
        unsigned m = __ballot_sync(__activemask(), d >> b & 1);
        peers &= d >> b & 1 ? m : ~m;
    }
    rank[i] = __popc(peers & ((1u << (threadIdx.x & 31)) - 1));
}
__global__ void bitonic_block(int* data, int n) {
    __shared__ int s[1024];
    int base = blockIdx.x * 1024;
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) s[k] = base + k < n ? data[base + k] : 0x7fffffff;
    for (int size = 2; size <= 1024; size *= 2)
        for (int stride = size / 2; stride; stride /= 2) {
            __syncthreads();
            for (int t = threadIdx.x; t < 512; t += blockDim.x) {
                int i = 2 * t - (t & (stride - 1)), j = i + stride;
                bool up = (i & size) == 0;
                if ((s[i] > s[j]) == up) { int x = s[i]; s[i] = s[j]; s[j] = x; }
            }
        }
    __syncthreads();
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) if (base + k < n) data[base + k] = s[k];
}
__global__ void bitonic_step(float* v, int j, int k) {
    unsigned i = threadIdx.x + blockDim.x * blockIdx.x, x = i ^ j;
    if (x > i) {
        if ((i & k) == 0 ? v[i] > v[x] : v[i] < v[x]) {
            float t = v[i];
            v[i] = v[x];
            v[x] = t;
        }
    }
}
__global__ void odd_even_warp(unsigned char* d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = i < n ? d[i] : 255;
    for (int r = 0; r < 32; r++) {
        int partner = (lane + r) & 1 ? lane - 1 : lane + 1;
        int o = __shfl_sync(FULL, v, partner & 31);
        if (partner >= 0 && partner < 32) v = partner > lane ? min(v, o) : max(v, o);
    }
    if (i < n) d[i] = v;
}
__global__ void rank_sort(const float* in, float* out, int n) {
    __shared__ float t[128];
    int i = blockIdx.x * 128 + threadIdx.x, rank = 0;
    float mine = i < n ? in[i] : 0;
    for (int b = 0; b < n; b += 128) {
        t[threadIdx.x] = b + threadIdx.x < n ? in[b + threadIdx.x] : 2.f;
        __syncthreads();
        for (int k = 0; k < 128 && b + k < n; k++) rank += t[k] < mine || (t[k] == mine && b + k < i);
        __syncthreads();
    }
    if (i < n) out[rank] = mine;
}
__global__ void lower_bound_search(const int* sorted, int n, const int* keys, int* found, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    int lo = 0, hi = n, key = keys[i] * 7;
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (sorted[mid] < key) lo = mid + 1;
        else hi = mid;
    }
    found[i] = lo;
}
// median of a window by quickselect in a local array
__global__ void quickselect_median(const int* in, int* out, int n, int window) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a[31];
    for (int k = 0; k < window; k++) a[k] = in[min(max(i + k - window / 2, 0), n - 1)];
    int lo = 0, hi = window - 1, want = window / 2;
    while (lo < hi) {
        int pivot = a[(lo + hi) / 2], l = lo, h = hi;
        while (l <= h) {
            while (a[l] < pivot) l++;
            while (a[h] > pivot) h--;
            if (l <= h) { int t = a[l]; a[l] = a[h]; a[h] = t; l++; h--; }
        }
        if (want <= h) hi = h;
        else if (want >= l) lo = l;
        else break;
    }
    out[i] = a[want];
}
__global__ void insertion_rows(float* rows, int count, int len) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= count) return;
    float* p = rows + r * len;
    for (int i = 1; i < len; i++) {
        float v = p[i];
        int j = i - 1;
        while (j >= 0 && p[j] > v) { p[j + 1] = p[j]; j--; }
        p[j + 1] = v;
    }
}
// lines through edge pixels
__global__ void hough_votes(const unsigned char* img, int* votes, int w, int h, int angles, int radii, float scale) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h || img[y * w + x] < 230) return;
    for (int a = 0; a < angles; a++) {
        float s, c;
        sincosf(a * 3.14159265f / angles, &s, &c);
        int r = __float2int_rn((x * c + y * s) * scale) + radii / 2;
        if (r >= 0 && r < radii) atomicAdd(&votes[a * radii + r], 1);
    }
}
__global__ void bin_max(const float* v, const int* bin, int* best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(&best[bin[i] & 31], __float_as_int(v[i]));
}
// addition of doubles by compare and swap, as before sm_60
__global__ void sum_by_cas(const double* v, unsigned long long* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long old = *total, assumed;
    do {
        assumed = old;
        old = atomicCAS(total, assumed, __double_as_longlong(v[i] + __longlong_as_double(assumed)));
    } while (assumed != old);
}
// open addressing
__global__ void hash_insert(const unsigned* keys, unsigned* table, int n, unsigned slots) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i] * 256 + (i & 255) + 1, slot = key * 2654435761u % slots;
    while (true) {
        unsigned was = atomicCAS(&table[slot], 0u, key);
        if (was == 0 || was == key) return;
        slot = slot + 1 == slots ? 0 : slot + 1;
    }
}
