// What:    thresholds the coefficients of one band: soft, hard or garrote
// Idea:    one thread per coefficient; the threshold of its channel is read from memory, where an earlier kernel wrote
//          it
// Shapes:  band (rows, width) in place, `width` values of interleaved channels, `pitch` values per row; thresholds
//          (channels)
// Launch:  2D grid over (width, rows), any 2D block; a thread's rows are one grid apart
// Traffic: 1 coefficient read and 1 written
// Source:  S0
typedef REAL T;
typedef long long Index;

#define SOFT 0
#define HARD 1
#define GARROTE 2

// A magnitude within this relative distance above a hard threshold counts as equal to it, so all ties are decided
// alike.
#define AT ((T)1 / (1LL << 40))

extern "C" __global__ void __launch_bounds__(1024, 1) wavelet_shrink(
    T* __restrict__ band, const double* __restrict__ thresholds, Index rows, Index width, Index pitch, int channels,
    int how)
{
    const Index e = (Index)blockIdx.x * blockDim.x + threadIdx.x;
    const Index first = (Index)blockIdx.y * blockDim.y + threadIdx.y;
    if (e >= width || first >= rows) return;
    const T threshold = (T)thresholds[channels == 1 ? 0 : e % channels];
    for (Index r = first; r < rows; r += (Index)gridDim.y * blockDim.y) {
        const T value = band[r * pitch + e];
        const T size = value < 0 ? -value : value;
        T kept = value;
        if (how == HARD)
            kept = size > threshold * (1 + AT) ? value : 0;
        else if (size <= threshold)
            kept = 0;
        else if (how == SOFT)
            kept = value < 0 ? value + threshold : value - threshold;
        else
            kept = value - threshold * (threshold / value);
        band[r * pitch + e] = kept;
    }
}
