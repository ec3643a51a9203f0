// Conversions between integers and floating point, in every rounding.
#define START                                       \
    int i = blockIdx.x * blockDim.x + threadIdx.x;  \
    if (i >= n) return;

extern "C" __global__ void float_to_int(const float* a, int* s, unsigned* u, int n) {
    START
    s[4 * i] = __float2int_rn(a[i]);
    s[4 * i + 1] = __float2int_rz(a[i]);
    s[4 * i + 2] = __float2int_ru(a[i]);
    s[4 * i + 3] = __float2int_rd(a[i]);
    u[4 * i] = __float2uint_rn(a[i]);
    u[4 * i + 1] = __float2uint_rz(a[i]);
    u[4 * i + 2] = __float2uint_ru(a[i]);
    u[4 * i + 3] = __float2uint_rd(a[i]);
}

extern "C" __global__ void double_to_int(const double* a, int* s, unsigned* u, int n) {
    START
    s[4 * i] = __double2int_rn(a[i]);
    s[4 * i + 1] = __double2int_rz(a[i]);
    s[4 * i + 2] = __double2int_ru(a[i]);
    s[4 * i + 3] = __double2int_rd(a[i]);
    u[4 * i] = __double2uint_rn(a[i]);
    u[4 * i + 1] = __double2uint_rz(a[i]);
    u[4 * i + 2] = __double2uint_ru(a[i]);
    u[4 * i + 3] = __double2uint_rd(a[i]);
}

extern "C" __global__ void to_long(const float* a, const double* b, long long* s, unsigned long long* u, int n) {
    START
    s[2 * i] = __float2ll_rn(a[i]);
    s[2 * i + 1] = __double2ll_rz(b[i]);
    u[2 * i] = __float2ull_rz(a[i]);
    u[2 * i + 1] = __double2ull_ru(b[i]);
}

extern "C" __global__ void to_small(const float* a, const int* b, signed char* s, unsigned char* u, short* h, int n) {
    START
    int x;
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(x) : "f"(a[i]));
    s[2 * i] = x;
    asm("cvt.sat.s8.s32 %0, %1;" : "=r"(x) : "r"(b[i]));
    s[2 * i + 1] = x;
    asm("cvt.rzi.sat.u8.f32 %0, %1;" : "=r"(x) : "f"(a[i]));
    u[2 * i] = x;
    asm("cvt.sat.u8.s32 %0, %1;" : "=r"(x) : "r"(b[i]));
    u[2 * i + 1] = x;
    h[2 * i] = b[i];
    short y;
    asm("cvt.sat.s16.s32 %0, %1;" : "=h"(y) : "r"(b[i]));
    h[2 * i + 1] = y;
}

extern "C" __global__ void int_to_float(const int* a, float* out, int n) {
    START
    unsigned u = a[i];
    float* r = out + 8 * i;
    r[0] = __int2float_rn(a[i]);
    r[1] = __int2float_rz(a[i]);
    r[2] = __int2float_ru(a[i]);
    r[3] = __int2float_rd(a[i]);
    r[4] = __uint2float_rn(u);
    r[5] = __uint2float_rz(u);
    r[6] = __uint2float_ru(u);
    r[7] = __uint2float_rd(u);
}

extern "C" __global__ void long_to_float(const long long* a, float* out, double* wide, int n) {
    START
    unsigned long long u = a[i];
    float* r = out + 8 * i;
    r[0] = __ll2float_rn(a[i]);
    r[1] = __ll2float_rz(a[i]);
    r[2] = __ll2float_ru(a[i]);
    r[3] = __ll2float_rd(a[i]);
    r[4] = __ull2float_rn(u);
    r[5] = __ull2float_rz(u);
    r[6] = __ull2float_ru(u);
    r[7] = __ull2float_rd(u);
    double* w = wide + 6 * i;
    w[0] = __ll2double_rn(a[i]);
    w[1] = __ll2double_rz(a[i]);
    w[2] = __ll2double_ru(a[i]);
    w[3] = __ull2double_rn(u);
    w[4] = __ull2double_rd(u);
    w[5] = (int)a[i];
}

extern "C" __global__ void double_to_float(const double* a, float* out, int n) {
    START
    out[4 * i] = __double2float_rn(a[i]);
    out[4 * i + 1] = __double2float_rz(a[i]);
    out[4 * i + 2] = __double2float_ru(a[i]);
    out[4 * i + 3] = __double2float_rd(a[i]);
}

// float16 in the low and the high half of a word, by way of instructions that need no header.
extern "C" __global__ void halves(const float* a, const float* b, unsigned short* out, float* back, int n) {
    START
    unsigned short x, y, s;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x) : "f"(a[i]));
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(b[i]));
    out[4 * i] = x;
    asm("add.f16 %0, %1, %2;" : "=h"(s) : "h"(x), "h"(y));
    out[4 * i + 1] = s;
    asm("mul.f16 %0, %1, %2;" : "=h"(s) : "h"(x), "h"(y));
    out[4 * i + 2] = s;
    asm("fma.rn.f16 %0, %1, %2, %1;" : "=h"(s) : "h"(x), "h"(y));
    out[4 * i + 3] = s;
    asm("cvt.f32.f16 %0, %1;" : "=f"(back[i]) : "h"(x));
}

extern "C" __global__ void half_pairs(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, int n) {
    START
    unsigned* r = out + 6 * i;
    asm("add.f16x2 %0, %1, %2;" : "=r"(r[0]) : "r"(a[i]), "r"(b[i]));
    asm("mul.f16x2 %0, %1, %2;" : "=r"(r[1]) : "r"(a[i]), "r"(b[i]));
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r[2]) : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    asm("sub.f16x2 %0, %1, %2;" : "=r"(r[3]) : "r"(a[i]), "r"(c[i]));
    asm("set.lt.f16x2.f16x2 %0, %1, %2;" : "=r"(r[4]) : "r"(a[i]), "r"(b[i]));
    asm("{.reg.b32 t; set.eq.bf16x2.bf16x2 t, %1, %2; mov.b32 %0, t;}" : "=r"(r[5]) : "r"(a[i]), "r"(c[i]));
}

// Subnormal numbers count as zeros of their sign.
extern "C" __global__ void flushed(const float* a, double* wide, float* whole, int* up, int n) {
    START
    asm("cvt.ftz.f64.f32 %0, %1;" : "=d"(wide[i]) : "f"(a[i]));
    asm("cvt.rpi.ftz.f32.f32 %0, %1;" : "=f"(whole[i]) : "f"(a[i]));
    asm("cvt.rmi.ftz.s32.f32 %0, %1;" : "=r"(up[2 * i]) : "f"(a[i]));
    asm("cvt.rpi.ftz.s32.f32 %0, %1;" : "=r"(up[2 * i + 1]) : "f"(a[i]));
}
