// What:    scale and offset of a signal in structures of 8 values, split into two arrays of 16-byte halves
// Idea:    a structure larger than 16 bytes takes several loads, and its size is the lane stride of each. Split into
//          halves, each load of a warp covers 512 contiguous bytes: 16 sectors instead of 32, twice
// Shapes:  x, y (n); p, q (2, m) of 16 bytes, m = ceil(n / 8): first halves, then second halves
// Launch:  split, join: grid ceil(2 m / block); split: grid ceil(m / block); any 1D block
// Traffic: 1 value read and 1 written per element, three times
// Source:  S0

extern "C" __global__ void layout_split_part(const float* __restrict__ x, float4* __restrict__ p, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long m = (n + 7) / 8;
    if (i >= 2 * m) return;
    float4 own = make_float4(0, 0, 0, 0);
    if (4 * i + 4 <= n) {
        own = ((const float4*)x)[i];
    } else {
        if (4 * i < n) own.x = x[4 * i];
        if (4 * i + 1 < n) own.y = x[4 * i + 1];
        if (4 * i + 2 < n) own.z = x[4 * i + 2];
    }
    p[(i & 1) * m + i / 2] = own;
}

__device__ __forceinline__ float4 scaled(float4 v, float gain, float offset)
{
    return make_float4(
        fmaf(gain, v.x, offset), fmaf(gain, v.y, offset), fmaf(gain, v.z, offset), fmaf(gain, v.w, offset));
}

extern "C" __global__ void layout_split(
    const float4* __restrict__ p, float4* __restrict__ q, long long m, float gain, float offset)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    q[i] = scaled(p[i], gain, offset);
    q[m + i] = scaled(p[m + i], gain, offset);
}

extern "C" __global__ void layout_split_join(const float4* __restrict__ q, float* __restrict__ y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long m = (n + 7) / 8;
    if (i >= 2 * m) return;
    const float4 own = q[(i & 1) * m + i / 2];
    if (4 * i + 4 <= n) {
        ((float4*)y)[i] = own;
    } else {
        if (4 * i < n) y[4 * i] = own.x;
        if (4 * i + 1 < n) y[4 * i + 1] = own.y;
        if (4 * i + 2 < n) y[4 * i + 2] = own.z;
    }
}
