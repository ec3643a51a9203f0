// Wrong on purpose: the values before the first thread's are left out of the bounds, not of the work
typedef SAMPLE T;

extern "C" __global__ void layout_shifted(
    const T* __restrict__ x, T* __restrict__ y, long long n, T gain, T offset, int back)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x - back;
    if (i >= 0 && i < n + back) y[i] = fma(gain, x[i], offset);
}
