// What:    scale and offset of a signal, 3, 4 or 8 neighbouring values per thread, as one structure
// Idea:    vector loads: four values are a 16-byte word, which one instruction loads. Three values fit no vector type
//          and take three loads with a stride of 12 bytes; eight take two 16-byte loads with a stride of 32 bytes, so
//          that each load touches every sector
// Shapes:  x, y (n)
// Launch:  grid ceil(n / (block * VALUES)), any 1D block
// Traffic: 1 value read and 1 written per element
// Source:  S0

extern "C" __global__ void layout_vectors(
    const float* __restrict__ x, float* __restrict__ y, long long n, float gain, float offset)
{
    const long long first = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * VALUES;
#if VALUES % 4 == 0
    if (first + VALUES <= n) {
        float4 own[VALUES / 4];
        for (int k = 0; k < VALUES / 4; ++k) own[k] = ((const float4*)(x + first))[k];
        for (int k = 0; k < VALUES / 4; ++k) {
            ((float4*)(y + first))[k] = make_float4(
                fmaf(gain, own[k].x, offset), fmaf(gain, own[k].y, offset), fmaf(gain, own[k].z, offset),
                fmaf(gain, own[k].w, offset));
        }
        return;
    }
#endif
    for (int k = 0; k < VALUES; ++k) {
        if (first + k < n) y[first + k] = fmaf(gain, x[first + k], offset);
    }
}
