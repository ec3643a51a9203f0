// What:    a scaled and shifted signal whose lanes take turns, so that each access leaves gaps
// Idea:    in turn k only the lanes take part that have k as their remainder. An access with gaps still touches the
//          sectors that lie under it, so the same sectors move in each turn
// Shapes:  x, y (n)
// Launch:  grid ceil(n / block), any 1D block; `turns` from 1 to 16
// Traffic: 1 value read and 1 written an element, in `turns` times the requests
// Source:  S0

typedef SAMPLE T;

extern "C" __global__ void layout_gaps(
    const T* __restrict__ x, T* __restrict__ y, long long n, T gain, T offset, int turns)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int turn = 0; turn < turns; ++turn) {
        if (threadIdx.x % turns == turn) y[i] = fma(gain, x[i], offset);
    }
}
