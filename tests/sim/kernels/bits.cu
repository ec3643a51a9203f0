// Single bits, fields of bits, bytes of words.
#define START                                       \
    int i = blockIdx.x * blockDim.x + threadIdx.x;  \
    if (i >= n) return;

extern "C" __global__ void counts(const unsigned* a, const unsigned long long* b, unsigned* out,
                                  unsigned long long* reversed, int n) {
    START
    unsigned* r = out + 6 * i;
    r[0] = __clz(a[i]);
    r[1] = __popc(a[i]);
    r[2] = __brev(a[i]);
    r[3] = __ffs(a[i]);
    r[4] = __clzll(b[i]) << 16 | __popcll(b[i]) << 8 | __ffsll(b[i]);
    r[5] = 31 - __clz(a[i] | 1);
    reversed[i] = __brevll(b[i]);
}

extern "C" __global__ void funnels(const unsigned* a, const unsigned* b, const unsigned* by, unsigned* out, int n) {
    START
    unsigned* r = out + 6 * i;
    r[0] = __funnelshift_l(a[i], b[i], by[i]);
    r[1] = __funnelshift_r(a[i], b[i], by[i]);
    r[2] = __funnelshift_lc(a[i], b[i], by[i]);
    r[3] = __funnelshift_rc(a[i], b[i], by[i]);
    r[4] = a[i] << 7 | a[i] >> 25;
    asm("shl.b32 %0, %1, %2;" : "=r"(r[5]) : "r"(a[i]), "r"(by[i]));
}

extern "C" __global__ void far_shifts(const int* a, const unsigned* by, int* out, long long* wide, int n) {
    START
    long long big = (long long)a[i] << 13;
    asm("shr.s32 %0, %1, %2;" : "=r"(out[2 * i]) : "r"(a[i]), "r"(by[i]));
    asm("shr.u32 %0, %1, %2;" : "=r"(out[2 * i + 1]) : "r"(a[i]), "r"(by[i]));
    asm("shr.s64 %0, %1, %2;" : "=l"(wide[2 * i]) : "l"(big), "r"(by[i]));
    asm("shl.b64 %0, %1, %2;" : "=l"(wide[2 * i + 1]) : "l"(big), "r"(by[i]));
}

extern "C" __global__ void fields(const unsigned* a, const unsigned* b, const unsigned* start, const unsigned* length,
                                  unsigned* out, int n) {
    START
    unsigned* r = out + 7 * i;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r[0]) : "r"(a[i]), "r"(start[i]), "r"(length[i]));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r[1]) : "r"(a[i]), "r"(start[i]), "r"(length[i]));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r[2]) : "r"(a[i]), "r"(b[i]), "r"(start[i]), "r"(length[i]));
    asm("bfind.u32 %0, %1;" : "=r"(r[3]) : "r"(a[i]));
    asm("bfind.s32 %0, %1;" : "=r"(r[4]) : "r"(a[i]));
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(r[5]) : "r"(a[i]));
    r[6] = (a[i] >> 5 & 0x3ff) | (b[i] & 0xff) << 20;
}

extern "C" __global__ void bytes(const unsigned* a, const unsigned* b, const unsigned* chosen, unsigned* out, int n) {
    START
    unsigned* r = out + 8 * i;
    r[0] = __byte_perm(a[i], b[i], chosen[i] & 0x7777);
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r[1]) : "r"(a[i]), "r"(b[i]), "r"(chosen[i]));
    r[2] = __vadd4(a[i], b[i]);
    r[3] = __vabsdiffu4(a[i], b[i]);
    r[4] = __vmaxs2(a[i], b[i]);
    r[5] = __vcmpgtu4(a[i], b[i]);
    r[6] = __vaddus4(a[i], b[i]);
    r[7] = __vminu2(a[i], b[i]);
}

extern "C" __global__ void logic(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out, int n) {
    START
    unsigned x = a[i], y = b[i], z = c[i];
    unsigned* r = out + 5 * i;
    r[0] = (x & y) ^ (~z | x);
    r[1] = x ^ y ^ z;
    r[2] = (x & y) | (y & z) | (x & z);
    r[3] = ~(x | y) & z;
    asm("lop3.b32 %0, %1, %2, %3, 0xd9;" : "=r"(r[4]) : "r"(x), "r"(y), "r"(z));
}

extern "C" __global__ void dots(const int* a, const int* b, const int* c, int* out, int n) {
    START
    int* r = out + 8 * i;
    r[0] = __dp4a(a[i], b[i], c[i]);
    r[1] = __dp4a((unsigned)a[i], (unsigned)b[i], (unsigned)c[i]);
    r[2] = __dp2a_lo(a[i], b[i], c[i]);
    r[3] = __dp2a_hi(a[i], b[i], c[i]);
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r[4]) : "r"(a[i]), "r"(b[i]), "r"(c[i]));
    asm("add.sat.s32 %0, %1, %2;" : "=r"(r[5]) : "r"(a[i]), "r"(b[i]));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(r[6]) : "r"(a[i] >> 22), "r"(b[i] >> 22), "r"(c[i]));
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(r[7]) : "r"(a[i] >> 14), "r"(b[i] >> 14));
}
