// What:    a scaled and shifted signal, with gain * x added to the offset in many equal parts
// Idea:    each addition rounds. A float has 24 bits, and loses more with each part; a double has 53, and the sum is
//          rounded once at the end, at the price of an instruction of which most GPUs have few units
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block; `part` is gain / parts
// Traffic: 1 value read and 1 written an element
// Source:  S0

typedef SUM Sum;

extern "C" __global__ void layout_precision(
    const float* __restrict__ x, float* __restrict__ y, long long n, Sum part, Sum offset, int parts)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Sum value = x[i];
    Sum sum = offset;
    for (int k = 0; k < parts; ++k) sum = fma(part, value, sum);
    y[i] = (float)sum;
}
