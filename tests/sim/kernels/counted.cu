// Small kernels whose requests, sectors, wavefronts and collisions are known beforehand. Each is run by one warp
// unless said otherwise.
struct Pair { double a, b, c; };

extern "C" __global__ void floats(const float* x, float* y, int step, int start)
{
    y[threadIdx.x] = x[start + step * threadIdx.x];  //! load
}

extern "C" __global__ void quads(const float4* x, float4* y) { y[threadIdx.x] = x[threadIdx.x]; }

extern "C" __global__ void doubles(const double* x, double* y) { y[threadIdx.x] = x[threadIdx.x]; }

extern "C" __global__ void field(const Pair* x, double* y) { y[threadIdx.x] = x[threadIdx.x].b; }

extern "C" __global__ void bytes(const unsigned char* x, unsigned char* y, int step)
{
    y[threadIdx.x] = x[step * threadIdx.x];
}

extern "C" __global__ void pixels(const uchar4* x, uchar4* y) { y[threadIdx.x] = x[threadIdx.x]; }

// Blocks of any two-dimensional shape on an image `width` wide.
extern "C" __global__ void blocks2d(const float* x, float* y, int width)
{
    const int i = (blockIdx.y * blockDim.y + threadIdx.y) * width + blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}

// Three fields of 4 bytes: packed into 12, aligned to 16 and read whole, and in arrays of their own.
struct Three { float a, b; unsigned c; };
struct __align__(16) Four { float a, b; unsigned c; };
extern "C" __global__ void packed(const Three* x, float* y)
{
    const Three* p = x + threadIdx.x;
    y[threadIdx.x] = p->a + p->b + (float)p->c;
}
extern "C" __global__ void aligned(const float4* x, float* y)
{
    const float4 p = x[threadIdx.x];
    y[threadIdx.x] = p.x + p.y + p.z;
}
extern "C" __global__ void apart(const float* a, const float* b, const float* c, float* y)
{
    y[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x] + c[threadIdx.x];
}

// Shared memory. The loads are volatile so that nothing is kept in registers.
extern "C" __global__ void columns(float* y, int pitch, int rows)
{
    extern __shared__ float tile[];
    volatile float* t = tile;
    y[threadIdx.x] = t[threadIdx.x % rows * pitch + threadIdx.x / rows];
}

extern "C" __global__ void shared_quads(float4* y)
{
    __shared__ float4 tile[32];
    tile[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    y[threadIdx.x] = tile[31 - threadIdx.x];
}

extern "C" __global__ void shared_doubles(double* y)
{
    __shared__ double tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = tile[31 - threadIdx.x];
}

extern "C" __global__ void same_word(float* y)
{
    __shared__ volatile float tile[1];
    if (threadIdx.x == 0) tile[0] = 1;
    __syncthreads();
    y[threadIdx.x] = tile[0];
}

// One step of each tree, 256 threads: lane pairs that lie s apart, by interleaved threads and by neighbouring ones.
extern "C" __global__ void tree_interleaved(float* y, int s)
{
    __shared__ float tile[256];
    const int t = threadIdx.x;
    tile[t] = t;
    __syncthreads();
    if (t % (2 * s) == 0) tile[t] += tile[t + s];  //! interleaved
    __syncthreads();
    y[t] = tile[t];
}

extern "C" __global__ void tree_strided(float* y, int s)
{
    __shared__ float tile[256];
    const int t = threadIdx.x;
    tile[t] = t;
    __syncthreads();
    const int i = 2 * s * t;
    if (i < 256) tile[i] += tile[i + s];  //! strided
    __syncthreads();
    y[t] = tile[t];
}

// Constant memory: lanes want `spread` different words.
__constant__ float table[64];
extern "C" __global__ void constants(float* y, int spread) { y[threadIdx.x] = table[threadIdx.x % spread]; }

// Divergence: lanes below `limit` do more.
extern "C" __global__ void divergent(float* y, int limit)
{
    float v = y[threadIdx.x];
    if ((int)threadIdx.x < limit)  //! branch
        for (int k = 0; k < 100; ++k) v = v * 1.5f + y[k & 7];  //! loop
    y[threadIdx.x] = v;
}

// A jump table, which the compiler seldom makes by itself; lanes choose among the first `ways`.
extern "C" __global__ void chosen(int* y, int ways)
{
    const int t = threadIdx.x;
    int v = 0;
    asm volatile(
        "{\n"
        "table: .branchtargets A, B, C;\n"
        "brx.idx %1, table;\n"
        "A: mov.s32 %0, 5; bra.uni D;\n"
        "B: mov.s32 %0, 6; bra.uni D;\n"
        "C: mov.s32 %0, 7;\n"
        "D:\n"
        "}"
        : "+r"(v)
        : "r"(t % ways));
    y[t] = v;
}

extern "C" __global__ void histogram(const int* bin, int* bins)
{
    atomicAdd(&bins[bin[threadIdx.x]], 1);
}

extern "C" __global__ void shared_histogram(const int* bin, int* bins)
{
    __shared__ int own[32];
    own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&own[bin[threadIdx.x]], 1);  //! change
    __syncthreads();
    bins[threadIdx.x] = own[threadIdx.x];
}

// An array that is indexed at run time lies in local memory.
extern "C" __global__ void local_array(float* y, const int* at)
{
    float a[8];
    for (int k = 0; k < 8; ++k) a[(k + at[0]) & 7] = k;  //! local store
    y[threadIdx.x] = a[at[threadIdx.x] & 7];  //! local load
}

// Any addresses and any lanes: -1 rests.
extern "C" __global__ void scattered(const float* x, const int* at, float* y, int n)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n) {
        const int i = at[t];
        if (i >= 0) y[t] = x[i];  //! scattered
    }
}

extern "C" __global__ void scattered_shared(const int* at, float* y, int n)
{
    extern __shared__ float tile[];
    volatile float* s = tile;
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n) {
        const int i = at[t];
        if (i >= 0) y[t] = s[i];  //! scattered shared
    }
}

extern "C" __global__ void local_bytes(float* y, const int* at)
{
    unsigned char a[8];
    for (int k = 0; k < 8; ++k) a[(k + at[0]) & 7] = k;
    y[threadIdx.x] = a[at[threadIdx.x] & 7];  //! byte load
}
