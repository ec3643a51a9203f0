// Integer arithmetic of every width: 13 results for each pair of numbers.
#define ARITHMETIC(NAME, T)                                                                  \
    extern "C" __global__ void NAME(const T* a, const T* b, const int* by, T* out, int n) {  \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                       \
        if (i >= n) return;                                                                  \
        T x = a[i], y = b[i];                                                                \
        T* r = out + 14 * i;                                                                 \
        r[0] = x + y;                                                                        \
        r[1] = x - y;                                                                        \
        r[2] = x * y;                                                                        \
        r[3] = x / y;                                                                        \
        r[4] = x % y;                                                                        \
        r[5] = x < y ? x : y;                                                                \
        r[6] = x >= y ? x : y;                                                               \
        r[7] = x & y;                                                                        \
        r[8] = x | y;                                                                        \
        r[9] = x ^ y;                                                                        \
        r[10] = ~x;                                                                          \
        r[11] = x >> by[i];                                                                  \
        r[12] = x << by[i];                                                                  \
        r[13] = x * y + r[0];                                                                \
    }
ARITHMETIC(arithmetic_u8, unsigned char)
ARITHMETIC(arithmetic_s8, signed char)
ARITHMETIC(arithmetic_u16, unsigned short)
ARITHMETIC(arithmetic_s16, short)
ARITHMETIC(arithmetic_u32, unsigned int)
ARITHMETIC(arithmetic_s32, int)
ARITHMETIC(arithmetic_u64, unsigned long long)
ARITHMETIC(arithmetic_s64, long long)

extern "C" __global__ void high_products(const int* a, const int* b, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned* r = out + 8 * i;
    r[0] = __mulhi(a[i], b[i]);
    r[1] = __umulhi(a[i], b[i]);
    r[2] = __mul24(a[i], b[i]);
    r[3] = __umul24(a[i], b[i]);
    r[4] = __sad(a[i], b[i], 5);
    r[5] = __usad(a[i], b[i], 7);
    r[6] = __hadd(a[i], b[i]);
    r[7] = abs(a[i]);
}

// The 128 bits of a product of 64-bit numbers, unsigned and signed: low, high, high.
extern "C" __global__ void products_128(const unsigned long long* a, const unsigned long long* b,
                                        unsigned long long* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[3 * i] = a[i] * b[i];
    out[3 * i + 1] = __umul64hi(a[i], b[i]);
    out[3 * i + 2] = __mul64hi((long long)a[i], (long long)b[i]);
}

// Divisors known to the compiler become multiplications.
extern "C" __global__ void known_divisors(const int* a, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned u = a[i];
    int* r = out + 6 * i;
    r[0] = a[i] / 3;
    r[1] = a[i] % 10;
    r[2] = a[i] / -7;
    r[3] = u / 641;
    r[4] = u % 1000;
    r[5] = a[i] / 16;
}

extern "C" __global__ void comparisons(const int* a, const int* b, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned u = a[i], v = b[i];
    unsigned bits = (a[i] < b[i]) | (a[i] <= b[i]) << 1 | (a[i] > b[i]) << 2 | (a[i] >= b[i]) << 3 |
                    (a[i] == b[i]) << 4 | (a[i] != b[i]) << 5 | (u < v) << 6 | (u <= v) << 7 | (u > v) << 8 |
                    (u >= v) << 9 | (a[i] < 0 && v > 7u) << 10 | (a[i] < 0 || v > 7u) << 11;
    out[i] = bits;
}
