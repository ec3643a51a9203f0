// What:    a scaled and shifted signal through shared memory, in which the lanes lie `stride` words apart
// Idea:    32 banks deliver a word each. With an odd stride the lanes of a warp have a bank each; a stride with a factor
//          2^k leaves 32 / 2^k banks in use, and a warp takes 2^k wavefronts
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block; shared 4 * block * stride bytes
// Traffic: 1 value read and 1 written an element; 1 written to and 1 read from shared memory
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
