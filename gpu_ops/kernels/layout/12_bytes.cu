// What:    scale and offset of a signal through shared memory, byte by byte
// Idea:    the four bytes of a value go into four planes, in which neighbouring lanes access neighbouring bytes, or
//          into a word of their own, with a lane stride of 4 bytes. Lanes that accessed bytes of the same word
//          conflicted on compute capability 1.x; today the word is broadcast, and both layouts take one wavefront
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), a 1D block of a multiple of 4 threads; shared 4 * block bytes
// Traffic: 1 value read and 1 written per element; 4 bytes written to and 4 read from shared memory
// Source:  S0

extern __shared__ unsigned char memory[];

#if SPREAD
#define INDEX(k) (4 * threadIdx.x + (k))
#else
#define INDEX(k) ((k) * blockDim.x + threadIdx.x)
#endif

extern "C" __global__ void layout_bytes(
    const float* __restrict__ x, float* __restrict__ y, long long n, float gain, float offset)
{
    volatile unsigned char* const bytes = memory;  // so that the compiler does not merge byte accesses into words
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const unsigned value = __float_as_uint(x[i]);
        for (int k = 0; k < 4; ++k) bytes[INDEX(k)] = value >> 8 * k;
    }
    __syncthreads();
    if (i < n) {
        unsigned value = 0;
        for (int k = 0; k < 4; ++k) value |= (unsigned)bytes[INDEX(k)] << 8 * k;
        y[i] = fmaf(gain, __uint_as_float(value), offset);
    }
}
