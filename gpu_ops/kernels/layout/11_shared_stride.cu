// What:    scale and offset of a signal through shared memory, with a stride of `stride` words between lanes
// Idea:    bank conflicts: each of the 32 banks delivers a word per wavefront. With an odd stride the lanes of a warp
//          use different banks; a stride with a factor 2^k uses 32 / 2^k banks, and an access takes 2^k wavefronts
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block; shared 4 * block * stride bytes
// Traffic: 1 value read and 1 written per element; 1 written to and 1 read from shared memory
// Source:  S0

extern __shared__ float words[];

extern "C" __global__ void layout_shared_stride(
    const float* __restrict__ x, float* __restrict__ y, long long n, float gain, float offset, int stride)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) words[threadIdx.x * stride] = x[i];
    __syncthreads();
    if (i < n) y[i] = fmaf(gain, words[threadIdx.x * stride], offset);
}
