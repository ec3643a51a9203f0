// What:    scale and offset of a signal in several rounds, so that each access leaves gaps
// Idea:    in round k only the lanes with remainder k are active. An access with gaps still touches every sector under
//          it, so each round moves the same sectors
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block; `rounds` from 1 to 16
// Traffic: 1 value read and 1 written per element, in `rounds` times as many requests
// Source:  S0

typedef SAMPLE T;

extern "C" __global__ void layout_gaps(
    const T* __restrict__ x, T* __restrict__ y, long long n, T gain, T offset, int rounds)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < rounds; ++k) {
        if (threadIdx.x % rounds == k) y[i] = fma(gain, x[i], offset);
    }
}
