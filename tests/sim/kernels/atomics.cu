// Atomic operations on global and shared memory, with their answers and without.
#define START                                       \
    int i = blockIdx.x * blockDim.x + threadIdx.x;  \
    if (i >= n) return;

extern "C" __global__ void without_answers(const int* a, int* s, unsigned* u, unsigned long long* w, int n) {
    START
    int at = a[i] & 7;
    atomicAdd(s + at, a[i]);
    atomicMin(s + 8 + at, a[i]);
    atomicMax(s + 16 + at, a[i]);
    atomicAnd(u + at, (unsigned)a[i]);
    atomicOr(u + 8 + at, (unsigned)a[i]);
    atomicXor(u + 16 + at, (unsigned)a[i]);
    atomicMin(u + 24 + at, (unsigned)a[i]);
    atomicAdd(w + at, (unsigned long long)a[i] * 0x100000001ull);
    atomicMax(w + 8 + at, (unsigned long long)(long long)a[i]);
    atomicXor(w + 16 + at, (unsigned long long)a[i] << 20);
}

// Whatever the order, the answers of one cell are a permutation.
extern "C" __global__ void tickets(const int* a, int* cells, unsigned* rings, int* answers, int n) {
    START
    int at = a[i] & 7;
    answers[5 * i] = atomicAdd(cells + at, 1);
    answers[5 * i + 1] = atomicSub(cells + 8 + at, 2);
    answers[5 * i + 2] = atomicInc(rings + at, 9u);
    answers[5 * i + 3] = atomicDec(rings + 8 + at, 4u);
    answers[5 * i + 4] = atomicExch(cells + 16 + at, i + 1);
}

extern "C" __global__ void running(const int* a, int* cells, int* answers, int n) {
    START
    int at = a[i] & 3;
    answers[4 * i] = atomicMax(cells + at, a[i]);
    answers[4 * i + 1] = atomicMin(cells + 4 + at, a[i]);
    answers[4 * i + 2] = atomicOr(cells + 8 + at, 1 << (a[i] & 31));
    answers[4 * i + 3] = atomicAnd(cells + 12 + at, ~(1 << (a[i] & 31)));
}

extern "C" __global__ void swaps(unsigned long long* largest, int* owner, const float* a, int n) {
    START
    unsigned long long mine = (unsigned long long)__float_as_uint(a[i]) << 32 | i, seen = *largest;
    while (mine > seen) {
        unsigned long long found = atomicCAS(largest, seen, mine);
        if (found == seen) break;
        seen = found;
    }
    atomicCAS(owner, -1, i);
}

extern "C" __global__ void floats(const float* a, float* sums, double* wide, int n) {
    START
    atomicAdd(sums + (i & 3), a[i]);
    atomicAdd(wide + (i & 3), (double)a[i] * 0.125);
    float old = atomicExch(sums + 4 + (i & 3), a[i]);
    if (old == -12345.0f) atomicAdd(sums + 8, 1.0f);
}

extern "C" __global__ void float_answers(float* total, double* wide, float* answers, double* wide_answers, int n) {
    START
    answers[i] = atomicAdd(total, 1.0f);
    wide_answers[i] = atomicAdd(wide, 0.5);
}

extern "C" __global__ void shared_histogram(const unsigned char* a, unsigned* out, int n) {
    __shared__ unsigned bins[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) bins[k] = 0;
    __syncthreads();
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x) atomicAdd(bins + a[k], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(out + k, bins[k]);
}

// Each thread claims a slot of its block's list; the list is then a permutation of those that claimed.
extern "C" __global__ void compaction(const int* a, int* out, int* counts, int n) {
    __shared__ int kept[128];
    __shared__ int count;
    __shared__ unsigned long long wide;
    if (threadIdx.x == 0) { count = 0; wide = 0; }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] % 3 == 0) kept[atomicAdd(&count, 1)] = i;
    if (i < n) atomicAdd(&wide, (unsigned long long)a[i]);
    __syncthreads();
    if (threadIdx.x < count) out[blockIdx.x * 128 + threadIdx.x] = kept[threadIdx.x];
    if (threadIdx.x == 0) { counts[2 * blockIdx.x] = count; counts[2 * blockIdx.x + 1] = (int)wide; }
}

extern "C" __global__ void shared_operations(const int* a, int* out) {
    __shared__ int cells[8];
    __shared__ float number;
    if (threadIdx.x < 8) cells[threadIdx.x] = threadIdx.x == 1 ? 1 << 30 : threadIdx.x == 3 ? -1 : 0;
    if (threadIdx.x == 0) number = 0.0f;
    __syncthreads();
    int x = a[blockIdx.x * blockDim.x + threadIdx.x];
    atomicMax(cells, x);
    atomicMin(cells + 1, x);
    atomicOr(cells + 2, 1 << (x & 31));
    atomicAnd(cells + 3, ~(1 << (x & 31)));
    atomicXor(cells + 4, x);
    atomicInc((unsigned*)cells + 5, 6u);
    atomicExch(cells + 6, 5);
    atomicCAS(cells + 7, 0, 9);
    atomicAdd(&number, (float)(x & 15));
    __syncthreads();
    if (threadIdx.x < 8) out[blockIdx.x * 9 + threadIdx.x] = cells[threadIdx.x];
    if (threadIdx.x == 8) out[blockIdx.x * 9 + 8] = (int)number;
}
