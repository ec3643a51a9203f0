// What a kernel prints, and how it stops itself.
extern "C" __global__ void lines(const float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 3 == 0) printf("thread %d: %.3f %s %c %5u|%-4d|%x %lld%%\n", i, a[i], "text", 'a' + i, 7u, -i, 255, 1ll << 40);
    if (i == 1) printf("plain\n");
}

extern "C" __global__ void claims(const int* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(a[i] < n);  // claim
}

extern "C" __global__ void traps(const int* a) {
    if (a[threadIdx.x] == 7) __trap();  // trap
}
