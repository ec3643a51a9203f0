// What:    scale and offset of a signal, with gain * x added to the offset in many equal parts, in double
// Idea:    the 53-bit sum is rounded to float once, at the end, whatever the number of parts. The memory traffic is
//          that of floats, but most GPUs have few double-precision units
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block; `part` is gain / parts
// Traffic: 1 value read and 1 written per element
// Source:  S0

extern "C" __global__ void layout_doubles(
    const float* __restrict__ x, float* __restrict__ y, long long n, double part, double offset, int parts)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double value = x[i];
    double sum = offset;
    for (int k = 0; k < parts; ++k) sum = fma(part, value, sum);
    y[i] = (float)sum;
}
