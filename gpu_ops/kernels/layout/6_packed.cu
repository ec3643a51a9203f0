// What:    a scaled and shifted signal from an array of structures of 12 bytes, read field by field
// Idea:    each value comes with its own gain and offset, in a packed structure. 12 bytes are no word, so a structure
//          takes three loads, and lanes lie 12 bytes apart in each: 12 sectors three times, where 12 would hold it all
// Shapes:  x, y (n); p (n) structures
// Launch:  both kernels: grid ceil(n / block), any 1D block
// Traffic: to pack, 1 value read and 12 bytes written an element; then 12 bytes read and 1 value written
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
