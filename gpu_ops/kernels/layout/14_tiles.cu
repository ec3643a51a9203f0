// What:    scale and offset of a signal through square tiles, written by rows and processed by columns
// Idea:    padding: elements of a column are one row apart, so the lanes conflict in a few banks. Unused extra columns
//          shift each row by as many banks: with one, the 32 elements of a column are in 32 banks
// Shapes:  x, y (n), as tiles of SIDE rows of SIDE values, one after the other
// Launch:  grid ceil(n / SIDE^2), block (SIDE, SIDE); shared 4 * SIDE * (SIDE + PADDING) bytes
// Traffic: 1 value read and 1 written per element; 2 written to and 2 read from shared memory
// Source:  S0

#define PITCH (SIDE + PADDING)

extern __shared__ float tile[];

extern "C" __global__ void layout_tiles(
    const float* __restrict__ x, float* __restrict__ y, long long n, float gain, float offset)
{
    const int column = threadIdx.x, row = threadIdx.y;
    const long long first = (long long)blockIdx.x * (SIDE * SIDE);
    const long long i = first + row * SIDE + column;
    if (i < n) tile[row * PITCH + column] = x[i];
    __syncthreads();
    float* const transposed = tile + column * PITCH + row;
    if (first + column * SIDE + row < n) *transposed = fmaf(gain, *transposed, offset);
    __syncthreads();
    if (i < n) y[i] = tile[row * PITCH + column];
}
