// What:    scale and offset of a signal, with gain and offset in shared memory at one address or at several
// Idea:    lanes that read the same word share it: one wavefront, a broadcast. Lanes that read different words,
//          `lane_stride` words from one to the next, also take one wavefront if the words are in 32 banks, and 32
//          wavefronts if all are in one bank
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block; shared 8 * (31 * lane_stride + 1) bytes
// Traffic: 1 value read and 1 written per element; 2 words read from shared memory
// Source:  S0

extern __shared__ float table[];

extern "C" __global__ void layout_broadcast(
    const float* __restrict__ x, float* __restrict__ y, long long n, float gain, float offset, int lane_stride)
{
    const int size = 31 * lane_stride + 1;
    for (int k = threadIdx.x; k < 2 * size; k += blockDim.x) table[k] = k < size ? gain : offset;
    __syncthreads();
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const int index = threadIdx.x % 32 * lane_stride;
    if (i < n) y[i] = fmaf(table[index], x[i], table[size + index]);
}
