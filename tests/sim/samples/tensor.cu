#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
using namespace nvcuda;
extern "C" __global__ void half16(const half* a, const half* b, const float* c, float* d, int n)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc, fc;
    int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, row = w / (n / 16) * 16, col = w % (n / 16) * 16;
    wmma::fill_fragment(acc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + row * n + k, n);
        wmma::load_matrix_sync(fb, b + col * n + k, n);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::load_matrix_sync(fc, c + row * n + col, n, wmma::mem_row_major);
    for (int t = 0; t < acc.num_elements; t++) fc.x[t] += 2 * acc.x[t];
    wmma::store_matrix_sync(d + row * n + col, fc, n, wmma::mem_row_major);
}
extern "C" __global__ void int8(const signed char* a, const signed char* b, int* d)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> acc;
    wmma::fill_fragment(acc, 1);
    wmma::load_matrix_sync(fa, a, 16); wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(acc, fa, fb, acc);
    wmma::store_matrix_sync(d, acc, 16, wmma::mem_col_major);
}
extern "C" __global__ void bf(const __nv_bfloat16* a, const __nv_bfloat16* b, float* d)
{
#if __CUDA_ARCH__ >= 800
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.f);
    wmma::load_matrix_sync(fa, a, 16); wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(acc, fa, fb, acc);
    wmma::store_matrix_sync(d, acc, 16, wmma::mem_row_major);
#endif
}
extern "C" __global__ void tf(const float* a, const float* b, float* d)
{
#if __CUDA_ARCH__ >= 800
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> acc;
    wmma::fill_fragment(acc, 0.f);
    wmma::load_matrix_sync(fa, a, 8); wmma::load_matrix_sync(fb, b, 8);
    for (int t = 0; t < fa.num_elements; t++) fa.x[t] = wmma::__float_to_tf32(fa.x[t]);
    for (int t = 0; t < fb.num_elements; t++) fb.x[t] = wmma::__float_to_tf32(fb.x[t]);
    wmma::mma_sync(acc, fa, fb, acc);
    wmma::store_matrix_sync(d, acc, 16, wmma::mem_row_major);
#endif
}

// One warp: d = a b + c with mma of 16 x 8 x 16, a through ldmatrix, b through its transposed form
extern "C" __global__ void rows16(const half* a, const half* b, float* d)
{
#if __CUDA_ARCH__ >= 800
    __shared__ half sa[16 * 16], sb[16 * 8];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) sa[i] = a[i];
    for (int i = lane; i < 128; i += 32) sb[i] = b[i];
    __syncwarp();
    unsigned ra[4], rb[2];
    float c[4] = {1, 1, 1, 1};
    unsigned from_a = __cvta_generic_to_shared(sa + (lane % 16) * 16 + lane / 16 * 8);
    unsigned from_b = __cvta_generic_to_shared(sb + (lane % 16) * 8);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(from_a));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(from_b));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    int row = lane / 4, column = lane % 4 * 2;
    d[row * 8 + column] = c[0];
    d[row * 8 + column + 1] = c[1];
    d[(row + 8) * 8 + column] = c[2];
    d[(row + 8) * 8 + column + 1] = c[3];
#endif
}
extern "C" __global__ void bytes32(const int* a, const int* b, int* d)
{
#if __CUDA_ARCH__ >= 800
    int lane = threadIdx.x, row = lane / 4, place = lane % 4;
    int c[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[row * 8 + place]), "r"(a[(row + 8) * 8 + place]), "r"(a[row * 8 + place + 4]),
                   "r"(a[(row + 8) * 8 + place + 4]), "r"(b[row * 8 + place]), "r"(b[row * 8 + place + 4]));
    for (int i = 0; i < 4; i++) d[(row + i / 2 * 8) * 8 + place * 2 + i % 2] = c[i];
#endif
}
extern "C" __global__ void doubles(const double* a, const double* b, double* d)
{
#if __CUDA_ARCH__ >= 800
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> acc;
    wmma::fill_fragment(acc, 0.0);
    wmma::load_matrix_sync(fa, a, 4); wmma::load_matrix_sync(fb, b, 4);
    wmma::mma_sync(acc, fa, fb, acc);
    wmma::store_matrix_sync(d, acc, 8, wmma::mem_row_major);
#endif
}
