// What:    the Fourier transforms of the segments of a real signal, and what is asked of them, in one launch
// Idea:    the fast transform for signals: means and windows are part of the first load, amplitudes, densities and the
//          order of a spectrogram part of the last store. Two segments are one complex line, which is separated in
//          shared memory; a block has neighbouring segments, whose values are adjacent in a spectrogram. Mean
//          densities are added up in registers, by blocks that take many segments. Radices up to 16 with prime factors
//          up to 13; other lengths are convolutions with a chirp that stay in registers and shared memory
// Shapes:  x (samples, channels), segment s begins at sample s * hop; out (bins, segments, channels), RESULT says of
//          what, or of sums (blocks, bins, channels) double; window (LENGTH), means (segments, channels); tables: see
//          Tables
// Launch:  lines: grid (groups of LINES pairs of segments, grid-stride for sums; channels), LINE_THREADS per line; shared
//          a complex number per point and line, or LENGTH + 1; mean: blocks of 32 values by SHARES shares of the sums
// Traffic: 1 sample read per segment and point, 1 result written per bin
// Source:  S2
constexpr int PARTS = 2, WIDTH = 64, LOOKUPS = 1;
#include "fft_any_length.cuh"
#include "fft_results.cuh"
#include "overlapped_launch.cuh"

typedef Along<ALONG_POINTS, ALONG_POINTS> AlongSegments;

// Bins k of the two segments of a line in shared memory: the line's points k and -k.
constexpr int ODD = LENGTH | 1;  // points from one line to the next, so that lanes along lines use different banks
struct Both {
    C first, second;
};
__device__ __forceinline__ Both separated(int line, int k)
{
    const C* const points = (const C*)memory + line * ODD;
    const C a = points[k], b = points[k ? LENGTH - k : 0];
    const C first = complex_of((R)0.5 * (a.x + b.x), (R)0.5 * (a.y - b.y));
    return {first, complex_of((R)0.5 * (a.y + b.y), (R)0.5 * (b.x - a.x))};
}

constexpr int THREADS = RESULT == SUMS ? 768 : 1024;

extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES, blocks_of(THREADS)) fft_signal_lines(
    const Sample* __restrict__ x, Result* __restrict__ out, const C* __restrict__ circle, const C* __restrict__ chirp,
    const C* __restrict__ spectrum, const R* __restrict__ window, const double* __restrict__ means, long long segments,
    long long hop, R factor, int doubled, int both_sides)
{
    overlap_launches();
    constexpr int threads = LINE_THREADS * LINES, bins = LENGTH / 2 + 1, own = (bins + threads - 1) / threads;
    const Lane lane = lane_of<ALONG_POINTS>();
    const Tables tables{circle, chirp, spectrum};
    const int channels = gridDim.y, channel = blockIdx.y;
    double sums[own] = {};
    for (long long first = 2LL * LINES * blockIdx.x; first < segments; first += 2LL * LINES * gridDim.x) {
        // Lines beyond the last segment load that one.
        const bool inside = first + 2 * lane.line < segments;
        const long long segment = inside ? first + 2 * lane.line : segments - 1;
        const bool both = segment + 1 < segments;
        const Sample* const begin = x + segment * hop * channels + channel;
        const long long next = both ? hop * channels : 0;
        const double* const mean = means + segment * channels + channel;
        C v[butterflies<FIRST>()][FIRST] = {};
        each_point<FIRST>(v, lane.t, [&](C& point, int k) {
            const int place = has_point(k) ? k : 0;
            const Sample* const from = begin + (long long)place * channels;
            const Sample one = from[0], other = from[next];
            const R weight = WINDOWED ? window[place] : 1;
            if (!has_point(k)) return;
            point.x = less_mean(one, mean, DETREND) * weight;
            if (both) point.y = less_mean(other, mean + channels, DETREND) * weight;
        });
        transform<AlongSegments>(v, lane, tables, [&](C (&v)[butterflies<ENDING>()][ENDING], Lane lane) {
            if constexpr (RESULT == ROUND_TRIP) {
                each_point<ENDING>(v, lane.t, [&](C& point, int) { point = swapped(point); });
                transform_again<AlongSegments>(v, lane, tables, [&](C (&v)[butterflies<FIRST>()][FIRST], Lane lane) {
                    each_point<FIRST>(v, lane.t, [&](C point, int k) {
                        const Sample sample = result_of<ROUND_TRIP>(point, factor);
                        if (has_point(k) && inside) ((Sample*)out)[k * channels + channel] = sample;
                    });
                });
                return;
            }
            __syncthreads();  // others may still load from the last exchange
            each_point<ENDING>(v, lane.t, [&](C point, int k) {
                if (has_point(k)) ((C*)memory)[lane.line * ODD + k] = point;
            });
            __syncthreads();
            if constexpr (RESULT == SUMS) {
#pragma unroll
                for (int i = 0; i < own; ++i) {
                    const int k = threadIdx.x + i * threads;
                    for (int line = 0; k < bins && line < LINES && first + 2 * line < segments; ++line) {
                        const Both two = separated(line, k);
                        sums[i] += result_of<SUMS>(two.first, 1) + result_of<SUMS>(two.second, 1);
                    }
                }
            } else {
                for (int i = threadIdx.x; i < bins * 2 * LINES; i += threads) {
                    const int k = i / (2 * LINES), which = i % (2 * LINES);
                    if (first + which >= segments) continue;
                    const Both two = separated(which / 2, k);
                    Result* const begin = out + (first + which) * channels + channel;
                    const Bins of{begin, segments * channels, LENGTH, doubled, both_sides, factor};
                    of.store(k, which % 2 ? two.second : two.first);
                }
            }
        });
        if constexpr (RESULT != SUMS) break;  // so that nothing is kept for other segments
        __syncthreads();                      // the next lines take the same memory
    }
    if constexpr (RESULT == SUMS) {
#pragma unroll
        for (int i = 0; i < own; ++i) {
            const int k = threadIdx.x + i * threads;
            if (k < bins) ((double*)out)[((long long)blockIdx.x * bins + k) * channels + channel] = sums[i];
        }
    }
}

constexpr int SHARES = 32;

// The mean over all segments of `values` bins, from sums of `pieces` blocks: SHARES threads per value.
extern "C" __global__ void fft_signal_mean(
    const double* sums, R* __restrict__ out, int pieces, int values, int channels, double factor,
    int doubled, int both_sides)
{
    overlap_launches();
    __shared__ double shares[SHARES][32];
    const int value = blockIdx.x * 32 + threadIdx.x;
    double sum = 0;
    for (int piece = threadIdx.y; piece < pieces && value < values; piece += SHARES)
        sum += load_after_wait(sums + ((long long)piece * values + value));
    shares[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || value >= values) return;
    for (int other = 1; other < SHARES; ++other) sum += shares[other][threadIdx.x];
    const int k = value / channels;
    const R mean = (R)(sum * (k > 0 && k < doubled ? 2 * factor : factor));
    out[value] = mean;
    if (both_sides && k > 0 && 2 * k < LENGTH) out[(LENGTH - 2 * k) * channels + value] = mean;
}
