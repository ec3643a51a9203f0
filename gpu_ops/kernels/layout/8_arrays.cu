// What:    scale and offset of a signal in a structure of arrays: one array per field
// Idea:    neighbouring lanes read neighbouring words of each array: three fields take 3 times 4 sectors, and no unused
//          byte is moved
// Shapes:  x, y (n); p (3, n): gains, offsets, the bits of the values
// Launch:  both kernels: grid ceil(n / block), any 1D block
// Traffic: splitting: 1 value read and 12 bytes written per element; then 12 bytes read and 1 value written
// Source:  S0

extern "C" __global__ void layout_arrays_part(
    const float* __restrict__ x, unsigned* __restrict__ p, long long n, float gain, float offset)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i] = __float_as_uint(gain);
    p[n + i] = __float_as_uint(offset);
    p[2 * n + i] = __float_as_uint(x[i]);
}

extern "C" __global__ void layout_arrays(const unsigned* __restrict__ p, float* __restrict__ y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = fmaf(__uint_as_float(p[i]), __uint_as_float(p[2 * n + i]), __uint_as_float(p[n + i]));
}
