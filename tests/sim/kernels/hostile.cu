// Kernels that do not end, or ask for what no memory has. Each is marked where it should be found.

extern "C" __global__ void spins(int* out, const int* a, int n)
{
    volatile int go = 1;
    while (go) {
        out[threadIdx.x] = a[0];  //! spins
    }
}

extern "C" __global__ void waits_for_itself(int* out, const int* a, int n)
{
    if (threadIdx.x == 0) {
        volatile int* flag = out;
        while (flag[0] != 123) { }  //! waits_for_itself
    }
    __syncthreads();
    out[0] = 123;
}

extern "C" __global__ void held_lock(int* out, const int* a, int n)
{
    while (atomicCAS(out, 1, 2) != 5) { }  //! held_lock
    out[1] = a[0];
}

extern "C" __global__ void watches_the_clock(int* out, const int* a, int n)
{
    const long long start = clock64();
    while (clock64() - start < (1LL << 62)) { }  //! watches_the_clock
    out[threadIdx.x] = a[0];
}

extern "C" __global__ void sleeps(int* out, const int* a, int n)
{
    for (;;) __nanosleep(1000000);  //! sleeps
}

extern "C" __global__ void copies_a_terabyte(int* out, const int* a, int n)
{
    for (long long k = threadIdx.x; k < (1LL << 38); k += blockDim.x) out[k & 31] = a[k & 31];  //! copies_a_terabyte
}

extern "C" __global__ void turns(int* out, const int* a, int n)
{
    unsigned sum = threadIdx.x;
    for (int k = 0; k < 1000000000; ++k)
        sum = sum * 1664525u ^ (unsigned)k;  //! turns
    out[threadIdx.x] = (int)sum;
}

__device__ unsigned long long scrambled(const int* a)
{
    return 0x9E3779B97F4A7C15ull * (unsigned long long)(a[threadIdx.x & 31] + threadIdx.x + 1) & ~3ull;
}

extern "C" __global__ void last_byte(int* out, const int* a, int n)
{
    out[threadIdx.x & 31] = *(const unsigned char*)~0ull;  //! last_byte
}

extern "C" __global__ void last_byte_written(int* out, const int* a, int n)
{
    *(unsigned char*)~0ull = 1;  //! last_byte_written
}

extern "C" __global__ void near_the_middle(int* out, const int* a, int n)
{
    out[threadIdx.x & 31] = *(const int*)0x7ffffffffffffffcull;  //! near_the_middle
}

extern "C" __global__ void read_from_data(int* out, const int* a, int n)
{
    out[threadIdx.x & 31] = *(const int*)scrambled(a);  //! read_from_data
}

extern "C" __global__ void write_from_data(int* out, const int* a, int n)
{
    *(int*)scrambled(a) = 1;  //! write_from_data
}

extern "C" __global__ void atomic_from_data(int* out, const int* a, int n)
{
    atomicAdd((int*)scrambled(a), 1);  //! atomic_from_data
}

extern "C" __global__ void shared_from_data(int* out, const int* a, int n)
{
    __shared__ int box[32];
    box[threadIdx.x & 31] = 0;
    __syncthreads();
    out[threadIdx.x & 31] = box[(int)scrambled(a)];  //! shared_from_data
}

extern "C" __global__ void wide_print(int* out, const int* a, int n)
{
    if (threadIdx.x == 0) printf("%*d|%.*f", 1 << 30, 1, 1 << 30, 0.5);
}

extern "C" __global__ void much_of_its_own(int* out, const int* a, int n)
{
    volatile char own[1 << 30];
    own[a[0]] = 1;
    out[threadIdx.x & 31] = own[a[1]];
}
