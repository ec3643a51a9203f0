// What:    scale and offset of a signal, with gain * x added to the offset in many equal parts, in float
// Idea:    each addition rounds the sum to 24 bits, so the error grows with the number of parts
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block; `part` is gain / parts
// Traffic: 1 value read and 1 written per element
// Source:  S0

extern "C" __global__ void layout_floats(
    const float* __restrict__ x, float* __restrict__ y, long long n, float part, float offset, int parts)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float value = x[i];
    float sum = offset;
    for (int k = 0; k < parts; ++k) sum = fmaf(part, value, sum);
    y[i] = sum;
}
