// Wrong on purpose: no barrier after a step, so that a step adds sums which other warps have not written yet
#include "scan_add.cuh"

extern __shared__ __align__(16) unsigned char memory[];

extern "C" __global__ void scan_hillis_steele(
    const T* __restrict__ x, R* __restrict__ y, R* __restrict__ sums, long long n, int step, int tiles, int exclusive)
{
    const int t = threadIdx.x;
    const unsigned int line = blockIdx.x / tiles;
    const long long begin = line_begin(line, n, step);
    const long long k = (long long)(blockIdx.x - line * tiles) * blockDim.x + t;

    // Two buffers in turn: nobody writes what another thread of this step still reads, so one barrier a step will do.
    A* from = (A*)memory;
    A* to = from + blockDim.x;
    A sum = k < n ? (A)x[begin + k * step] : (A)0;
    from[t] = sum;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t >= d) sum += from[t - d];
        to[t] = sum;
        A* const read = from;
        from = to, to = read;
    }

    if (k < n) y[begin + k * step] = (R)(!exclusive ? sum : t > 0 ? from[t - 1] : (A)0);
    if (tiles > 1 && t == blockDim.x - 1) sums[blockIdx.x] = (R)sum;
}
