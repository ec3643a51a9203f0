// What:    a scaled and shifted signal, with gain * x added to the offset in many equal parts, as doubles
// Idea:    a sum of 53 bits is rounded to a float once, at the end, however many parts there are. The price is an
//          instruction of which most GPUs have few units: the memory traffic is that of floats
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block; `part` is gain / parts
// Traffic: 1 value read and 1 written an element
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
