extern "C" __global__ void turn(float* out, int w, int h, float theta, cudaTextureObject_t tex)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float u = x / (float)w - 0.5f, v = y / (float)h - 0.5f;
    out[y * w + x] = tex2D<float>(tex, u * cosf(theta) - v * sinf(theta) + 0.5f, v * cosf(theta) + u * sinf(theta) + 0.5f);
}
extern "C" __global__ void volume(float* out, int w, int h, float z, cudaTextureObject_t tex)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = tex3D<float>(tex, x / (float)w, y / (float)h, z);
}
extern "C" __global__ void layers(float* out, int w, int layer, cudaTextureObject_t tex)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[(layer * w + y) * w + x] = -tex2DLayered<float>(tex, (x + 0.5f) / w, (y + 0.5f) / w, layer) + layer;
}
extern "C" __global__ void elements(float4* out, int n, cudaTextureObject_t tex)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float4>(tex, i - 3);
}
extern "C" __global__ void cells(uchar4* out, float4* fractions, int w, cudaTextureObject_t tex, cudaTextureObject_t unit)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[y * w + x] = tex2D<uchar4>(tex, x, y);
    fractions[y * w + x] = tex2D<float4>(unit, x + 0.3f, y + 0.6f);
}
extern "C" __global__ void rows(float* out, int w, cudaTextureObject_t tex)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[y * w + x] = tex2D<float>(tex, (x + 3) / (float)w, (y + 2) / (float)gridDim.x);
}
extern "C" __global__ void corners(float4* out, cudaTextureObject_t tex)
{
    int x = threadIdx.x, y = blockIdx.x;
    float4 four = tex2Dgather<float4>(tex, x, y, 0);
    four.x += tex2DLod<float>(tex, x, y, 0) * 1000;
    out[y * blockDim.x + x] = four;
}
extern "C" __global__ void line(float* out, float step, cudaTextureObject_t tex)
{
    int i = threadIdx.x;
    out[i] = tex1D<float>(tex, (i - 8) * step);
}
extern "C" __global__ void write(cudaSurfaceObject_t surf, float* in, int w)
{
    int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite(in[y * w + x] * 2, surf, x * 4, y, cudaBoundaryModeTrap);
}
extern "C" __global__ void read(cudaSurfaceObject_t surf, float* out, int w)
{
    int x = threadIdx.x, y = blockIdx.x;
    float v; surf2Dread(&v, surf, x * 4, y);
    float outside = surf2Dread<float>(surf, (x - 4) * 4, y, cudaBoundaryModeZero);
    float edge = surf2Dread<float>(surf, (x + 9) * 4, y - 2, cudaBoundaryModeClamp);
    out[y * w + x] = v + 10 * outside + 100 * edge;
}

extern "C" __global__ void faces(float* out, int w, int face, cudaTextureObject_t tex)
{
    int x = threadIdx.x, y = threadIdx.y;
    float u = (x + 0.5f) / w * 2 - 1, v = (y + 0.5f) / w * 2 - 1;
    float cx = face == 0 ? 1 : face == 1 ? -1 : face == 5 ? -u : u;
    float cy = face == 2 ? 1 : face == 3 ? -1 : -v;
    float cz = face == 0 ? -u : face == 1 ? u : face == 2 ? v : face == 3 ? -v : face == 4 ? 1 : -1;
    out[(face * w + y) * w + x] = -texCubemap<float>(tex, cx, cy, cz);
}
