// The ways to memory: vectors, bytes, spaces, variables, parameters, local arrays.
#define START                                       \
    int i = blockIdx.x * blockDim.x + threadIdx.x;  \
    if (i >= n) return;

extern "C" __global__ void vectors(const float2* a, const float4* b, float4* out, double2* wide, int n) {
    START
    float2 p = a[i];
    float4 q = b[n - 1 - i];
    out[i] = make_float4(q.w, q.z + p.x, q.y * p.y, q.x);
    wide[i] = make_double2(p.x, q.w);
}

extern "C" __global__ void bytes_and_longs(const uchar4* a, const ulonglong2* b, uchar4* out, ulonglong2* sums,
                                           short2* pairs, int n) {
    START
    uchar4 c = a[i];
    out[i] = make_uchar4(c.w, c.z, 255 - c.y, c.x + c.y);
    ulonglong2 d = b[i];
    sums[i] = make_ulonglong2(d.x + d.y, d.x ^ d.y);
    pairs[i] = make_short2(c.x - c.y, (signed char)c.z);
}

extern "C" __global__ void single_bytes(const unsigned char* a, const signed char* b, unsigned char* out, int n) {
    START
    out[n - 1 - i] = (unsigned char)((a[i] + b[i]) >> 1);
}

// One pointer that leads to shared, local or global memory, lane by lane.
extern "C" __global__ void generic(const int* a, int* out, int n) {
    __shared__ int table[128];
    START
    int own[4] = {a[i], a[i] + 1, a[i] + 2, a[i] + 3};
    table[threadIdx.x] = 1000 + i;
    __syncthreads();
    int* from = i % 3 == 0 ? &own[a[i] & 3] : i % 3 == 1 ? &table[(threadIdx.x + 5) & 127] : const_cast<int*>(a) + n - 1 - i;
    int value = *from;
    __syncthreads();
    int* to = i % 2 ? &table[threadIdx.x] : out + i;
    *to = value + own[3];
    __syncthreads();
    if (i % 2) out[i] = table[threadIdx.x];
}

extern "C" __global__ void generic_atomics(int* counts, const int* a, int n) {
    __shared__ int near[4];
    if (threadIdx.x < 4) near[threadIdx.x] = 0;
    __syncthreads();
    START
    int* where = a[i] & 1 ? near + (a[i] & 3) : counts + (a[i] & 3);
    atomicAdd(where, a[i]);
    __syncthreads();
    if (threadIdx.x < 4 && threadIdx.x % 2) atomicAdd(counts + threadIdx.x, near[threadIdx.x]);
}

extern "C" __global__ void dynamic_shared(const float* a, float* out, int n) {
    extern __shared__ float tile[];
    __shared__ int extra[3];
    if (threadIdx.x < 3) extra[threadIdx.x] = threadIdx.x * 100;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = tile[blockDim.x - 1 - threadIdx.x] + extra[threadIdx.x % 3];
}

extern "C" __global__ void several_shared(const unsigned char* a, double* out, int n) {
    __shared__ unsigned char small[96];
    __shared__ double large[96];
    __shared__ float2 pairs[96];
    int i = blockIdx.x * 96 + threadIdx.x;
    unsigned char value = i < n ? a[i] : 0;
    small[threadIdx.x] = value;
    large[95 - threadIdx.x] = value * 0.5;
    pairs[threadIdx.x] = make_float2(value, -1.0f);
    __syncthreads();
    int other = (threadIdx.x * 7) % 96;
    if (i < n) out[i] = small[other] + large[other] * 1000.0 + pairs[other].x * pairs[other].y;
}

struct Settings { int scale; float shift; short table[4]; double last; };
__constant__ float weights[5];
__constant__ Settings settings;
__constant__ int fixed[4] = {3, -1, 4, 1};
__device__ int counter = 40;
__device__ float gains[3] = {0.5f, -2.0f, 8.0f};
__device__ unsigned char letters[6] = {'a', 'b', 'c', 'd', 'e', 0};

extern "C" __global__ void constants(const float* a, float* out, int n) {
    START
    float sum = 0.0f;
    for (int k = 0; k < 5; k++) sum = fmaf(weights[k], a[(i + k) % n], sum);
    sum += settings.shift * settings.scale + settings.table[i & 3];
    out[i] = sum + fixed[i & 3] + (float)settings.last;
}

extern "C" __global__ void device_variables(int* out, int n) {
    START
    out[i] = (int)(gains[i % 3] * 4) + letters[i % 6];
    atomicAdd(&counter, 2);
}

extern "C" __global__ void read_counter(int* out) { out[0] = counter; }

struct Window { float weights[7]; int radius; long long big; unsigned char flag; };

extern "C" __global__ void struct_parameter(Window window, const float* a, float* out, int n) {
    START
    float sum = 0.0f;
    for (int k = -window.radius; k <= window.radius; k++)
        sum += window.weights[k + window.radius] * a[(i + k + n) % n];
    out[i] = sum + window.weights[i % 7] + (float)(window.big >> 40) + window.flag;
}

// Insertion sort in an array of the thread's own.
extern "C" __global__ void local_sort(const int* a, int* out, int n) {
    START
    int own[9];
    for (int k = 0; k < 9; k++) own[k] = a[(i * 9 + k * 4) % n];
    for (int k = 1; k < 9; k++) {
        int value = own[k], at = k;
        while (at > 0 && own[at - 1] > value) { own[at] = own[at - 1]; at--; }
        own[at] = value;
    }
    for (int k = 0; k < 9; k++) out[i * 9 + k] = own[k];
}

struct Pair { float mean; int count; double total; };
__device__ __noinline__ Pair summary(const float* a, int from, int to) {
    Pair made = {0.0f, to - from, 0.0};
    for (int k = from; k < to; k++) made.total += a[k];
    made.mean = (float)(made.total / made.count);
    return made;
}
__device__ __noinline__ void rotate(int* three, int by) {
    for (int k = 0; k < by; k++) { int first = three[0]; three[0] = three[1]; three[1] = three[2]; three[2] = first; }
}
__device__ __noinline__ float weighted(Pair p, float2 by) { return p.mean * by.x + p.count * by.y; }

extern "C" __global__ void calls(const float* a, float* out, int* turned, int n) {
    START
    Pair found = summary(a, i / 2, i / 2 + 1 + i % 5);
    out[2 * i] = weighted(found, make_float2(2.0f, 0.5f));
    out[2 * i + 1] = i % 4 == 0 ? summary(a, 0, 3).mean : (float)found.total;
    int three[3] = {i, i + 1, i + 2};
    rotate(three, i % 7);
    for (int k = 0; k < 3; k++) turned[3 * i + k] = three[k];
}

// A structure that caller and function take apart in different ways.
struct Mixed { char c; float4 f; short h[3]; double d; };
__device__ __noinline__ Mixed mixed(int i) {
    Mixed m;
    m.c = i;
    m.f = make_float4(i, i + 1, i + 2, i + 3);
    m.h[0] = i * 2;
    m.h[1] = -i;
    m.h[2] = 7;
    m.d = i * 0.5;
    return m;
}
__device__ __noinline__ double used(Mixed m, int k) { return m.c + m.f.y * m.h[k % 3] + m.d; }

extern "C" __global__ void mixed_structures(double* out, int n) {
    START
    out[i] = used(mixed(i % 100), i);
}
