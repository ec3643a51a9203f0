// The mathematical library, and the fast approximations.
#define START                                       \
    int i = blockIdx.x * blockDim.x + threadIdx.x;  \
    if (i >= n) return;

extern "C" __global__ void waves(const float* a, float* out, int n) {
    START
    out[2 * i] = sinf(a[i]);
    out[2 * i + 1] = cosf(a[i]);
}

extern "C" __global__ void waves_double(const double* a, double* out, int n) {
    START
    sincos(a[i], &out[2 * i], &out[2 * i + 1]);
}

extern "C" __global__ void exponentials(const float* a, float* out, int n) {
    START
    out[5 * i] = expf(a[i]);
    out[5 * i + 1] = exp2f(a[i]);
    out[5 * i + 2] = tanhf(a[i]);
    out[5 * i + 3] = erff(a[i]);
    out[5 * i + 4] = expm1f(a[i]);
}

extern "C" __global__ void logarithms(const float* a, const float* b, float* out, int n) {
    START
    out[6 * i] = logf(a[i]);
    out[6 * i + 1] = log2f(a[i]);
    out[6 * i + 2] = log10f(a[i]);
    out[6 * i + 3] = powf(a[i], b[i]);
    out[6 * i + 4] = rsqrtf(a[i]);
    out[6 * i + 5] = cbrtf(a[i]);
}

extern "C" __global__ void angles(const float* a, const float* b, float* out, int n) {
    START
    out[3 * i] = atan2f(a[i], b[i]);
    out[3 * i + 1] = hypotf(a[i], b[i]);
    out[3 * i + 2] = fmodf(a[i], b[i]);
}

extern "C" __global__ void doubles(const double* a, const double* b, double* out, int n) {
    START
    out[6 * i] = exp(-a[i]);
    out[6 * i + 1] = log(a[i]);
    out[6 * i + 2] = pow(a[i], b[i]);
    out[6 * i + 3] = cbrt(a[i]);
    out[6 * i + 4] = rsqrt(a[i]);
    out[6 * i + 5] = erf(b[i]);
}

extern "C" __global__ void fast(const float* a, const float* b, float* out, int n) {
    START
    out[6 * i] = __sinf(a[i]);
    out[6 * i + 1] = __cosf(a[i]);
    out[6 * i + 2] = __expf(a[i]);
    out[6 * i + 3] = __fdividef(a[i], b[i]);
    out[6 * i + 4] = __logf(b[i]);
    out[6 * i + 5] = __powf(b[i], a[i]);
}
