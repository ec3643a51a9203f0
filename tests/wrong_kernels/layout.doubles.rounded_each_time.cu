// Wrong on purpose: the sum is kept as a float, so it rounds after each part
extern "C" __global__ void layout_doubles(
    const float* __restrict__ x, float* __restrict__ y, long long n, double part, double offset, int parts)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double value = x[i];
    float sum = (float)offset;
    for (int k = 0; k < parts; ++k) sum = (float)fma(part, value, (double)sum);
    y[i] = sum;
}
