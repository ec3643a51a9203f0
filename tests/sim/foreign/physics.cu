// Particles, random numbers, finance, fractals.
__global__ void nbody_tiled(const float4* p, float3* a, int n, float soft) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? p[i] : make_float4(0, 0, 0, 0);
    float3 f = make_float3(0, 0, 0);
    for (int b = 0; b < n; b += blockDim.x) {
        tile[threadIdx.x] = b + threadIdx.x < n ? p[b + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < blockDim.x; k++) {
            float4 o = tile[k];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + soft);
            float w = o.w * r * r * r;
            f.x += dx * w; f.y += dy * w; f.z += dz * w;
        }
        __syncthreads();
    }
    if (i < n) a[i] = f;
}
__global__ void lennard_jones(const float* x, const float* y, const float* z, const int* start, const int* neighbours, float* energy, int n, float cut2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float e = 0, px = x[i], py = y[i], pz = z[i];
    for (int k = start[i]; k < start[i + 1]; k++) {
        int j = neighbours[k];
        float dx = px - x[j], dy = py - y[j], dz = pz - z[j], r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < cut2 && r2 > 0) {
            float s = 1.0f / r2, s6 = s * s * s;
            e += 4 * (s6 * s6 - s6);
        }
    }
    energy[i] = e;
}
__device__ unsigned xorshift(unsigned& s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
__global__ void monte_carlo_pi(unsigned* hits, int trials, unsigned seed) {
    unsigned s = seed + (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 1, in = 0;
    for (int t = 0; t < trials; t++) {
        float x = xorshift(s) * 2.3283064e-10f, y = xorshift(s) * 2.3283064e-10f;
        if (x * x + y * y <= 1) in++;
    }
    __shared__ unsigned total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, in);
    __syncthreads();
    if (threadIdx.x == 0) hits[blockIdx.x] = total;
}
__global__ void asian_option(const float* spot, float* price, int n, int steps, float rate, float vol, float strike) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned s = i * 9781u + 17;
    float v = spot[i] * 100 + 1, sum = 0, dt = 1.0f / steps;
    for (int t = 0; t < steps; t++) {
        float u1 = (xorshift(s) >> 8) * 5.9604645e-8f + 1e-7f, u2 = (xorshift(s) >> 8) * 5.9604645e-8f;
        float g = sqrtf(-2 * logf(u1)) * cosf(6.2831853f * u2);
        v *= expf((rate - 0.5f * vol * vol) * dt + vol * sqrtf(dt) * g);
        sum += v;
    }
    price[i] = fmaxf(sum / steps - strike, 0.f) * expf(-rate);
}
__device__ float cnd(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float p = 0.39894228f * expf(-0.5f * d * d) * k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return d > 0 ? 1 - p : p;
}
__global__ void black_scholes(float* call, float* put, const float* s, const float* x, const float* t, float r, float v, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float S = 5 + 25 * s[i], X = 1 + 99 * x[i], T = 0.25f + 9.75f * t[i];
        float root = sqrtf(T), d1 = (logf(S / X) + (r + 0.5f * v * v) * T) / (v * root), d2 = d1 - v * root;
        float a = cnd(d1), b = cnd(d2), e = expf(-r * T);
        call[i] = S * a - X * e * b;
        put[i] = X * e * (1 - b) - S * (1 - a);
    }
}
__global__ void binomial_tree(const double* strike, double* value, int steps) {
    extern __shared__ double c[];
    int t = threadIdx.x;
    double dt = 1.0 / steps, up = exp(0.3 * sqrt(dt)), down = 1 / up, p = (exp(0.05 * dt) - down) / (up - down), disc = exp(-0.05 * dt);
    double K = 80 + 40 * strike[blockIdx.x];
    for (int j = t; j <= steps; j += blockDim.x) c[j] = fmax(K - 100 * pow(up, 2.0 * j - steps), 0.0);
    for (int s = steps; s > 0; s--) {
        double next[4];
        int m = 0;
        __syncthreads();
        for (int j = t; j < s; j += blockDim.x) next[m++] = disc * (p * c[j + 1] + (1 - p) * c[j]);
        __syncthreads();
        m = 0;
        for (int j = t; j < s; j += blockDim.x) c[j] = next[m++];
    }
    __syncthreads();
    if (t == 0) value[blockIdx.x] = c[0];
}
__global__ void mandelbrot(unsigned char* img, int w, int h, float x0, float y0, float dx, int most) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float cx = x0 + px * dx, cy = y0 + py * dx, x = 0, y = 0;
    int n = 0;
    while (n < most && x * x + y * y < 4) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n++;
    }
    img[py * w + px] = n == most ? 0 : n * 255 / most;
}
__global__ void julia_orbits(const float2* start, int* turns, float2* end, int n, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 z = start[i];
    int k;
    for (k = 0; k < most; k++) {
        float t = z.x * z.x - z.y * z.y - 0.4f;
        z.y = 2 * z.x * z.y + 0.6f;
        z.x = t;
        if (z.x * z.x + z.y * z.y > 16) break;
    }
    turns[i] = k;
    end[i] = z;
}
struct Sphere { float x, y, z, r, red, green, blue; int mirror; };
__constant__ Sphere scene[8];
__global__ void trace_spheres(float* image, int w, int h, int spheres) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float ox = 0.5f, oy = 0.5f, oz = -2, dx = (px - w / 2) / (float)w, dy = (py - h / 2) / (float)h, dz = 1;
    float len = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= len; dy *= len; dz *= len;
    float r = 0, g = 0, b = 0, weight = 1;
    for (int bounce = 0; bounce < 3; bounce++) {
        float nearest = 1e20f;
        int hit = -1;
        for (int s = 0; s < spheres; s++) {
            float ex = scene[s].x - ox, ey = scene[s].y - oy, ez = scene[s].z - oz;
            float along = ex * dx + ey * dy + ez * dz, off = ex * ex + ey * ey + ez * ez - along * along, rr = scene[s].r * scene[s].r * 0.1f;
            if (off > rr) continue;
            float d = along - sqrtf(rr - off);
            if (d > 1e-3f && d < nearest) { nearest = d; hit = s; }
        }
        if (hit < 0) { b += weight * (0.5f + 0.5f * dy); break; }
        ox += nearest * dx; oy += nearest * dy; oz += nearest * dz;
        float nx = ox - scene[hit].x, ny = oy - scene[hit].y, nz = oz - scene[hit].z, nl = rsqrtf(nx * nx + ny * ny + nz * nz);
        nx *= nl; ny *= nl; nz *= nl;
        float light = fmaxf(0.f, -nz);
        r += weight * scene[hit].red * light; g += weight * scene[hit].green * light; b += weight * scene[hit].blue * light;
        float dn = 2 * (dx * nx + dy * ny + dz * nz);
        dx -= dn * nx; dy -= dn * ny; dz -= dn * nz;
        weight *= 0.5f;
    }
    float* p = image + 3 * (py * w + px);
    p[0] = r; p[1] = g; p[2] = b;
}
__global__ void collatz(const unsigned* start, int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = start[i] + 1;
    int k = 0;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        k++;
    }
    steps[i] = k;
}
__global__ void random_walks(const int* field, int* path, int walkers, int steps, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= walkers) return;
    unsigned s = i * 1099087573u + 3;
    int x = i % w, y = i / w % h;
    for (int t = 0; t < steps; t++) {
        switch (xorshift(s) & 3) {
            case 0: x = x + 1 < w ? x + 1 : 0; break;
            case 1: x = x ? x - 1 : w - 1; break;
            case 2: y = y + 1 < h ? y + 1 : 0; break;
            default: y = y ? y - 1 : h - 1;
        }
        if (field[y * w + x] < 16) break;
        path[t * walkers + i] = y * w + x;
    }
}
__global__ void integrate_bounce(float3* pos, float3* vel, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = pos[i], v = vel[i];
    v.y -= 9.81f * dt;
    p.x += v.x * dt; p.y += v.y * dt; p.z += v.z * dt;
    if (p.y < 0) { p.y = -p.y; v.y *= -0.8f; }
    if (p.x < 0 || p.x > 1) v.x = -v.x;
    if (p.z < 0 || p.z > 1) v.z = -v.z;
    pos[i] = p;
    vel[i] = v;
}
