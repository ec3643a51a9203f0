// Numbers of 128 bits: carries, and a division that the compiler brings along.
// Flags: -device-int128

extern "C" __global__ void wide(const unsigned long long* a, unsigned long long* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned __int128 x = a[i], other = a[n - 1 - i];
    x = x * x + (x << 70) - other;
    __int128 y = -(__int128)a[i] * 5 / 3;
    unsigned __int128 q = x / (other + 1), r = x % (other + 1);
    unsigned long long* o = out + 8 * i;
    o[0] = x;
    o[1] = x >> 64;
    o[2] = y;
    o[3] = y >> 64;
    o[4] = q;
    o[5] = q >> 64;
    o[6] = r;
    o[7] = x > other << 60;
}
