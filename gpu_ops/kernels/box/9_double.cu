// What:    box filter in one pass down the image, with rows summed in double
// Idea:    row streaming as in 8_ring, but a lane sums the values of a row in double, and the ring buffer contains
//          means of rows instead of sums: no rounding errors of float additions, and no overflow of float. The running
//          sum of a column adds these means in double. The cost is the conversions and slower additions
// Shapes:  x, y (height, width, GROUP * STRIDE) interleaved, GROUP channels per block and STRIDE blocks in z
// Launch:  grid (width * GROUP / COLUMNS, segments of `segment` rows, STRIDE), THREADS threads; shared: sizeof(Memory)
// Traffic: at least 1 sample read and 1 written per value; 2 * radius more columns per strip, 2 * radius more rows per
//          segment
// Source:  S3
typedef float T, Word;
typedef double Part, Total;
constexpr int PLANES = 1;
#include "ring_shape.cuh"

// For each of a block's channels, the sum of some values of a row in double.
struct Sum {
    Part v[GROUP];

    __device__ __forceinline__ void start(int channel, Word w) { v[channel] = (Part)w; }
    __device__ __forceinline__ void add(const Sum& other)
    {
        #pragma unroll
        for (int c = 0; c < GROUP; ++c) v[c] += other.v[c];
    }
    __device__ __forceinline__ void subtract(const Sum& other)
    {
        #pragma unroll
        for (int c = 0; c < GROUP; ++c) v[c] -= other.v[c];
    }
    __device__ __forceinline__ void add(int channel, Word w) { v[channel] += (Part)w; }
    __device__ __forceinline__ void slide(int channel, Word in, Word out) { v[channel] += (Part)in - (Part)out; }
    // The ring buffer contains the mean of the window, rounded to float once.
    __device__ __forceinline__ Word stored(int channel, int) const { return (Word)(v[channel] * (1.0 / WINDOW)); }
};

// The running sum of the row means of a column.
struct Column {
    Total total;

    __device__ __forceinline__ void begin() { total = 0; }
    __device__ __forceinline__ void move(const Word* in, const Word* out) { total += (Total)in[0] - (Total)out[0]; }
    __device__ __forceinline__ T mean() const { return (T)(total * (1.0 / WINDOW)); }
};
#include "ring.cuh"

// As in 8_ring: row warps and column warps synchronise at named barriers.
__device__ __forceinline__ void stream_rows(const T* __restrict__ x, T* __restrict__ y, int height, int width, int segment)
{
    Memory& shared = *(Memory*)bytes;
    const int column = blockIdx.x * COLUMNS, row = blockIdx.y * segment, channel = blockIdx.z;
    const int count = min(segment, height - row) + 2 * RADIUS;  // rows that enter
    find_positions(shared, column, width);
    __syncthreads();

    // Uniform across a warp. The column warps have most work and come first, so that all schedulers get some.
    const int row_warp = threadIdx.x / 32 - COLUMN_WARPS;
    if (row_warp >= 0) {
        // A team sums every second batch n, once the column warps have freed the slots of batch n - AHEAD.
        Rows rows(shared, x + channel, height, width, row, column, count);
        for (int n = row_warp / (ROW_WARPS / TEAMS); n * BATCH < count; n += TEAMS) {
            if (n >= AHEAD) barrier_wait<TEAM_AND_COLUMNS>(freed(n));
            rows.step(n * BATCH);
            barrier_arrive<TEAM_AND_COLUMNS>(filled(n));
        }
    } else {
        // The column warps process every batch as soon as it is complete, and free its slots if another batch needs
        // them.
        Columns columns(shared, y + channel, height, width, row, column, count);
        for (int n = 0; n * BATCH < count; ++n) {
            barrier_wait<TEAM_AND_COLUMNS>(filled(n));
            columns.step(n * BATCH);
            if ((n + AHEAD) * BATCH < count) barrier_arrive<TEAM_AND_COLUMNS>(freed(n));
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    box_double(const T* __restrict__ x, T* __restrict__ y, int height, int width, int segment)
{
    stream_rows(x, y, height, width, segment);
}
