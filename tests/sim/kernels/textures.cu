// Textures of one and two dimensions, by whole places and between them.
extern "C" __global__ void row(cudaTextureObject_t texture, const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1D<float>(texture, x[i]);
}

extern "C" __global__ void plane(cudaTextureObject_t texture, const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<float>(texture, x[i], y[i]);
}

extern "C" __global__ void bytes(cudaTextureObject_t texture, unsigned* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<unsigned char>(texture, x + 0.5f, y - 1 + 0.5f) * 2 + 1;
}
