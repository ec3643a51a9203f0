// float and double: what must be right to the last bit.
#define START                                       \
    int i = blockIdx.x * blockDim.x + threadIdx.x;  \
    if (i >= n) return;

extern "C" __global__ void float_basic(const float* a, const float* b, float* out, int n) {
    START
    float* r = out + 8 * i;
    r[0] = a[i] + b[i];
    r[1] = a[i] - b[i];
    r[2] = a[i] * b[i];
    r[3] = a[i] / b[i];
    r[4] = sqrtf(fabsf(a[i]));
    r[5] = __frcp_rn(b[i]);
    r[6] = -a[i];
    r[7] = copysignf(a[i], b[i]);
}

extern "C" __global__ void double_basic(const double* a, const double* b, double* out, int n) {
    START
    double* r = out + 8 * i;
    r[0] = a[i] + b[i];
    r[1] = a[i] - b[i];
    r[2] = a[i] * b[i];
    r[3] = a[i] / b[i];
    r[4] = sqrt(fabs(a[i]));
    r[5] = 1.0 / b[i];
    r[6] = fmod(a[i], b[i]);
    r[7] = copysign(a[i], b[i]);
}

extern "C" __global__ void float_fma(const float* a, const float* b, const float* c, float* out, int n) {
    START
    out[i] = fmaf(a[i], b[i], c[i]);
}

extern "C" __global__ void double_fma(const double* a, const double* b, const double* c, double* out, int n) {
    START
    out[i] = fma(a[i], b[i], c[i]);
}

extern "C" __global__ void directed(const float* a, const float* b, const float* c, float* out, int n) {
    START
    float* r = out + 12 * i;
    r[0] = __fadd_rz(a[i], b[i]);
    r[1] = __fadd_ru(a[i], b[i]);
    r[2] = __fadd_rd(a[i], b[i]);
    r[3] = __fmul_rz(a[i], b[i]);
    r[4] = __fmul_ru(a[i], b[i]);
    r[5] = __fmul_rd(a[i], b[i]);
    r[6] = __fmaf_rz(a[i], b[i], c[i]);
    r[7] = __fmaf_ru(a[i], b[i], c[i]);
    r[8] = __fmaf_rd(a[i], b[i], c[i]);
    r[9] = __fsub_rz(a[i], b[i]);
    r[10] = __fsub_ru(a[i], b[i]);
    r[11] = __fsub_rd(a[i], b[i]);
}

extern "C" __global__ void directed_quotients(const float* a, const float* b, float* out, int n) {
    START
    float* r = out + 6 * i;
    r[0] = __fdiv_rz(a[i], b[i]);
    r[1] = __fdiv_ru(a[i], b[i]);
    r[2] = __fdiv_rd(a[i], b[i]);
    r[3] = __fsqrt_rz(fabsf(a[i]));
    r[4] = __fsqrt_ru(fabsf(a[i]));
    r[5] = __frcp_rd(b[i]);
}

extern "C" __global__ void directed_doubles(const double* a, const double* b, const double* c, double* out, int n) {
    START
    double* r = out + 9 * i;
    r[0] = __dadd_rz(a[i], b[i]);
    r[1] = __dadd_ru(a[i], b[i]);
    r[2] = __dadd_rd(a[i], b[i]);
    r[3] = __dmul_rz(a[i], b[i]);
    r[4] = __dmul_ru(a[i], b[i]);
    r[5] = __dmul_rd(a[i], b[i]);
    r[6] = __fma_rz(a[i], b[i], c[i]);
    r[7] = __fma_ru(a[i], b[i], c[i]);
    r[8] = __fma_rd(a[i], b[i], c[i]);
}

extern "C" __global__ void rounding(const float* a, const double* b, float* out, double* wide, int n) {
    START
    float* r = out + 6 * i;
    r[0] = floorf(a[i]);
    r[1] = ceilf(a[i]);
    r[2] = truncf(a[i]);
    r[3] = rintf(a[i]);
    r[4] = roundf(a[i]);
    r[5] = __saturatef(a[i]);
    double* w = wide + 4 * i;
    w[0] = floor(b[i]);
    w[1] = ceil(b[i]);
    w[2] = trunc(b[i]);
    w[3] = rint(b[i]);
}

extern "C" __global__ void comparisons(const float* a, const float* b, unsigned* out, float* least, int n) {
    START
    float x = a[i], y = b[i];
    unsigned unordered, other;
    asm("{ .reg .pred p; setp.nan.f32 p, %1, %2; selp.b32 %0, 1, 0, p; }" : "=r"(unordered) : "f"(x), "f"(y));
    asm("{ .reg .pred p; setp.ne.f32 p, %1, %2; selp.b32 %0, 1, 0, p; }" : "=r"(other) : "f"(x), "f"(y));
    out[i] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5 | !(x < y) << 6 |
             !(x >= y) << 7 | (isnan(x) != 0) << 8 | (isinf(x) != 0) << 9 | (isfinite(x) != 0) << 10 | (signbit(x) != 0) << 11 |
             unordered << 12 | other << 13;
    least[3 * i] = fminf(x, y);
    least[3 * i + 1] = fmaxf(x, y);
    least[3 * i + 2] = x > y ? x : 2.0f;
}

extern "C" __global__ void chosen(const float* a, const int* b, float* out, int* both, int n) {
    START
    float x = a[i];
    out[2 * i] = b[i] > 3 ? x : -x;
    asm("slct.f32.s32 %0, %1, %2, %3;" : "=f"(out[2 * i + 1]) : "f"(x), "f"(1.0f), "r"(b[i]));
    asm("{ .reg .pred p, q, r; setp.gt.s32 r, %2, 3; setp.lt.and.s32 p|q, %2, 7, r;"
        "selp.b32 %0, 1, 0, p; selp.b32 %1, 1, 0, q; }" : "=r"(both[3 * i]), "=r"(both[3 * i + 1]) : "r"(b[i]));
    asm("set.gt.or.s32.f32 %0, %1, 0f3F000000, 0;" : "=r"(both[3 * i + 2]) : "f"(x));
}

extern "C" __global__ void parts(const float* a, const int* by, float* out, int* exponents, int n) {
    START
    int e;
    out[4 * i] = frexpf(a[i], &e);
    exponents[2 * i] = e;
    out[4 * i + 1] = ldexpf(a[i], by[i]);
    out[4 * i + 2] = modff(a[i], &out[4 * i + 3]);
    exponents[2 * i + 1] = __float_as_int(a[i]) ^ by[i];
}
