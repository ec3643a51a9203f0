// Ways through a program that differ from lane to lane.
#define START                                       \
    int i = blockIdx.x * blockDim.x + threadIdx.x;  \
    if (i >= n) return;

extern "C" __global__ void collatz(const int* a, int* out, int n) {
    START
    unsigned long long x = a[i];
    int steps = 0;
    while (x != 1) { x = x & 1 ? 3 * x + 1 : x / 2; steps++; }
    out[i] = steps;
}

extern "C" __global__ void nested(const int* a, int* out, int n) {
    START
    int sum = 0;
    for (int row = 0; row < a[i] % 11; row++) {
        if ((row + i) % 5 == 3) continue;
        for (int column = row; column < 12; column++) {
            if (column * row > a[i]) break;
            if ((column ^ i) & 1) continue;
            sum += column * 3 - row;
            if (sum > 200) goto done;
        }
        sum ^= row;
    }
done:
    out[i] = sum;
}

extern "C" __global__ void many_ways(const int* a, int* out, int n) {
    START
    int x = a[i], result;
    switch (x) {
        case 0: result = i * 3; break;
        case 1: result = i - 7; break;
        case 2: result = i ^ 0x55; break;
        case 3: result = i / 3; break;
        case 4: result = i % 13;  // falls through
        case 5: result = i + 1000; break;
        case 6: result = -i; break;
        case 7: for (result = 0; result * result < i; result++) {} break;
        case 8: result = i << 3; break;
        case 9: result = out[i] + 1; break;
        case 12: result = 77; break;
        default: result = -1;
    }
    out[i] = result;
}

extern "C" __global__ void early_returns(const int* a, int* out, int n) {
    START
    out[i] = 1;
    if (a[i] % 2) return;
    out[i] = 2;
    if (a[i] % 3 == 0) { out[i] = 3; return; }
    for (int k = 0; k < 10; k++) {
        if (a[i] == k * 4) return;
        out[i] += k;
    }
    out[i] = -out[i];
}

extern "C" __global__ void short_circuit(const int* a, const int* index, int* out, int n) {
    START
    bool inside = index[i] >= 0 && index[i] < n && a[index[i]] > 5;
    bool other = index[i] < 0 || index[i] >= n || a[index[i]] == 7;
    out[i] = inside + 2 * other;
}

extern "C" __global__ void jumps(const int* a, int* out, int n) {
    START
    int x = a[i], count = 0;
again:
    if (count > 40) goto end;
    count++;
    if (x & 1) { x = x * 5 + 1; goto odd; }
    x >>= 1;
    if (x > 0) goto again;
    goto end;
odd:
    x &= 0xff;
    if (x % 3) goto again;
end:
    out[i] = count * 1000 + x;
}

// A root by bisection: as many steps as the lane needs.
extern "C" __global__ void bisection(const double* a, double* out, int* steps, int n) {
    START
    double low = 0.0, high = a[i] > 1.0 ? a[i] : 1.0;
    int count = 0;
    while (high - low > 1e-3 * (1 + i % 7)) {
        double middle = 0.5 * (low + high);
        if (middle * middle > a[i]) high = middle; else low = middle;
        count++;
    }
    out[i] = low;
    steps[i] = count;
}

// Where each thread is, for any shape of grid and block.
extern "C" __global__ void places(int* out, int width, int height, int depth) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= width || y >= height || z >= depth) return;
    int* r = out + 5 * ((z * height + y) * width + x);
    r[0] = x + 100 * y + 10000 * z;
    r[1] = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    r[2] = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    r[3] = blockDim.x * blockDim.y * blockDim.z;
    r[4] = gridDim.x * 10000 + gridDim.y * 100 + gridDim.z;
}

