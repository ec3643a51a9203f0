typedef unsigned char (*Op)(unsigned char, float);
__device__ unsigned char dim(unsigned char x, float f) { return (unsigned char)(x * f); }
__device__ unsigned char cut(unsigned char x, float f) { return x > f * 100 ? 255 : 0; }
__device__ Op table[2] = {dim, cut};
__device__ Op chosen = cut;
__constant__ Op both[2] = {cut, dim};
__device__ int data[4] = {1, 2, 3, 4};
__device__ int* where = data + 2;
__constant__ const int* there[2] = {&data[1], 0};
extern "C" __global__ void apply(unsigned char* x, int n, int which, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = table[which](x[i], 0.5f) + both[i & 1](x[i], 1.5f) + chosen(x[i], 1.0f);
    if (i == 0) { out[0] = *where; out[1] = *there[0]; out[2] = there[1] == 0; }
}
extern "C" __global__ void given(unsigned char* x, int n, Op op)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = op(x[i], 0.5f);
}
struct Shape { __device__ virtual float area() const = 0; };
struct Square : Shape { float s; __device__ Square(float s) : s(s) {} __device__ float area() const override { return s * s; } };
struct Disc : Shape { float r; __device__ Disc(float r) : r(r) {} __device__ float area() const override { return 3 * r * r; } };
extern "C" __global__ void areas(float* out)
{
    Square a(threadIdx.x); Disc b(threadIdx.x);
    Shape* shape = (threadIdx.x * 2654435761u >> 16) & 1 ? (Shape*)&a : (Shape*)&b;
    out[threadIdx.x] = shape->area();
}
