// What:    scale and offset of a signal in an array of 12-byte structures, read field by field
// Idea:    array of structures: each value is stored with its own gain and offset. No vector load has 12 bytes, so a
//          structure takes three loads with a lane stride of 12 bytes: 12 sectors each, 36 in all, where 12 contain all
//          data
// Shapes:  x, y (n); p (n) structures
// Launch:  both kernels: grid ceil(n / block), any 1D block
// Traffic: packing: 1 value read and 12 bytes written per element; then 12 bytes read and 1 value written
// Source:  S0

struct Record {
    float gain, offset;
    unsigned value;  // the bits of the sample
};

extern "C" __global__ void layout_packed_pack(
    const float* __restrict__ x, Record* __restrict__ p, long long n, float gain, float offset)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = Record{gain, offset, __float_as_uint(x[i])};
}

extern "C" __global__ void layout_packed(const Record* __restrict__ p, float* __restrict__ y, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaf(p[i].gain, __uint_as_float(p[i].value), p[i].offset);
}
