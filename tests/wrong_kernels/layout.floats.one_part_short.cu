// Wrong on purpose: one part is missing
extern "C" __global__ void layout_floats(
    const float* __restrict__ x, float* __restrict__ y, long long n, float part, float offset, int parts)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = offset;
    for (int k = 1; k < parts; ++k) sum = fmaf(part, x[i], sum);
    y[i] = sum;
}
