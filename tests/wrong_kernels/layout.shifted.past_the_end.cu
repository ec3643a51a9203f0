// Wrong on purpose: the values before the first thread's are left out of the bounds, not of the work
extern "C" __global__ void layout_shifted(
    const float* __restrict__ x, float* __restrict__ y, long long n, float gain, float offset, int back)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x - back;
    if (i >= 0 && i < n + back) y[i] = fmaf(gain, x[i], offset);
}
