// What:    a scaled and shifted signal through square tiles, in by rows and worked on by columns
// Idea:    neighbours in a column lie a row apart, so all lanes meet in a few banks. Extra columns, which hold nothing,
//          turn each row by so many banks: with one, a column of 32 has a bank for each lane
// Shapes:  x, y (n), as tiles of SIDE rows of SIDE values, one after the other
// Launch:  grid ceil(n / SIDE^2), block (SIDE, SIDE); shared 4 * SIDE * (SIDE + EXTRA) bytes
// Traffic: 1 value read and 1 written an element; 2 written to and 2 read from shared memory
// Source:  S0

#define PITCH (SIDE + EXTRA)

extern __shared__ float tile[];

extern "C" __global__ void layout_tiles(
    const float* __restrict__ x, float* __restrict__ y, long long n, float gain, float offset)
{
    const int column = threadIdx.x, row = threadIdx.y;
    const long long first = (long long)blockIdx.x * (SIDE * SIDE);
    const long long i = first + row * SIDE + column;
    if (i < n) tile[row * PITCH + column] = x[i];
    __syncthreads();
    float* const turned = tile + column * PITCH + row;
    if (first + column * SIDE + row < n) *turned = fmaf(gain, *turned, offset);
    __syncthreads();
    if (i < n) y[i] = tile[row * PITCH + column];
}
