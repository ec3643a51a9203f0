// What:    one level of the wavelet transform of an image, forward and inverse, by independent warps, details stored
// Idea:    row streaming: one independent warp per strip streams down it, two rows at a time, so no warp waits for
//          another: neighbours in a row come by shuffles, and the state of columns stays in registers: a lattice of
//          rotations where the wavelet is orthogonal, lifting where it has few steps, else sums over all taps. The rows
//          of the next steps are copied asynchronously to shared memory (cp.async). Thresholding is fused into the
//          loads of the inverse transform
// Shapes:  x and out (rows, columns); low and restored (half_rows, half); details (2, half_rows, half): low along rows
//          and high along columns, and the other way round; finest (half_rows, half): high both ways; thresholds (1).
//          At least 2 * TAPS rows; channels of x and out interleaved at the first level, else each in a plane. NOISE:
//          the finest details are in the units of samples, for the noise estimate
// Launch:  one warp per block; of interleaved channels one each. Grid x: strips, y: segments of `height` rows, of
//          coefficients forward, of samples inverse, z: channels in planes. Shared memory for the rows of the next
//          steps. Each launch but the first may start
//          before the previous one ends (programmatic dependent launch)
// Traffic: 16 bytes per float: read, its coefficients written and read, written. Strips overlap by taps - 2 samples
//          forward and inverse, in whole lanes; segments likewise, in rows
// Source:  S0
#include "wavelet_rows.cuh"

// All coefficients of a level.
extern "C" __global__ void __launch_bounds__(THREADS_OF_BLOCK, BLOCKS) wavelet_warp_strips_forward(
    const S* __restrict__ x, T* __restrict__ low, T* __restrict__ details, T* __restrict__ finest, int rows,
    int columns, int half_rows, int half, int height)
{
    const int lane = threadIdx.x, first = blockIdx.y * height, count = min(height, half_rows - first);
    const int steps = count + HALF - 1, top = 2 * first - REACH;
    const int left = (int)blockIdx.x * WIDTH_FORWARD + (lane - HALO_FORWARD) * EACH - 2 * AHEAD, k = left / 2 + AHEAD;
    const bool mine = lane >= HALO_FORWARD && lane < 32 - HALO_FORWARD_AFTER;
    const size_t band = (size_t)half_rows * half;
    Samples samples(channel_of(x, rows, columns), rows, columns, left);
    low = plane_of(low, half_rows, half), finest = plane_of(finest, half_rows, half);
    details = plane_of(details, 2 * half_rows, half);
    Splitting lows[PAIRS] = {}, highs[PAIRS] = {};
    __shared__ Four copies[DEPTH][2][APART * PLANE]; // rows of the next steps, each lane's own
    const auto prefetch = [&](int step, int slot) {
        if (step < steps)
            for (int r = 0; r < 2; ++r) samples.prefetch(top + 2 * step + r, slot, r, copies[slot][r] + own_four());
        close_group();
    };
    wait_for_launch_ahead();
    let_next_launch_begin();
#pragma unroll
    for (int step = 0; step < DEPTH; ++step) prefetch(step, step);
    for (int start = 0; start < steps; start += DEPTH) {
#pragma unroll
        for (int slot = 0; slot < DEPTH; ++slot) {
            const int step = start + slot, row = first + step - (HALF - 1);
            if (step >= steps) break;
            T l[2][PAIRS], h[2][PAIRS], v[EACH];
            wait_for_groups<DEPTH - 1>();
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                samples.take(slot, r, copies[slot][r] + own_four(), v);
                split_row<true, true>(v, l[r], h[r]);
            }
            prefetch(step + DEPTH, slot);
#pragma unroll
            for (int i = 0; i < PAIRS; ++i) {
                lows[i].take<true, true>(l[0][i], l[1][i], l[0][i], l[1][i]);
                highs[i].take<true, true>(h[0][i], h[1][i], h[0][i], h[1][i]);
            }
            if (row < first || !mine) continue;
            store_band(l[0], unit(OF_LOW, OF_LOW), low, row, k, half);
            store_band(h[1], NOISE ? unit(OF_HIGH, OF_HIGH) : 1, finest, row, k, half);
            store_band(l[1], 1, details, row, k, half);
            store_band(h[0], 1, details + band, row, k, half);
        }
    }
}

// The samples of a strip, from their details and the approximation of the next level.
extern "C" __global__ void __launch_bounds__(THREADS_OF_BLOCK, BLOCKS) wavelet_warp_strips_inverse(
    const T* __restrict__ restored, const T* __restrict__ details, const T* __restrict__ finest, S* __restrict__ out,
    const double* __restrict__ thresholds, int rows, int columns, int half_rows, int half, int height, double value)
{
    const int lane = threadIdx.x, above = (gridDim.y - 1 - blockIdx.y) * height, below = min(above + height, rows);
    const int first = ((above + REACH) >> 1) - HALF + 1, steps = ((below - 1 + REACH) >> 1) - first + 1;
    const int left = (int)blockIdx.x * WIDTH_JOIN + (lane - HALO_JOIN) * EACH;
    const bool mine = lane >= HALO_JOIN && lane < 32 - HALO_JOIN_AFTER;
    const Written written(channel_of(out, rows, columns), above, below, columns, left, mine);
    const Coefficients coefficients(half_rows, half, left / 2 + AHEAD);
    const size_t band = (size_t)half_rows * half;
    restored = plane_of(restored, half_rows, half), finest = plane_of(finest, half_rows, half);
    details = plane_of(details, 2 * half_rows, half);
    Joining lows[PAIRS] = {}, highs[PAIRS] = {};
    __shared__ Pair copies[DEPTH][4][APART * BAND_ROW]; // rows of the next steps, each lane's own; approximation last
    const auto prefetch_details = [&](int step, int slot) {
        if (step >= steps) return;
        coefficients.prefetch(details, first + step, copies[slot][0] + own_pair());
        coefficients.prefetch(details + band, first + step, copies[slot][1] + own_pair());
        coefficients.prefetch(finest, first + step, copies[slot][2] + own_pair());
    };
    const auto prefetch_incoming = [&](int step, int slot) {
        if (step < steps) coefficients.prefetch(restored, first + step, copies[slot][3] + own_pair());
        close_group();
    };
    // Details and thresholds are from launches before the previous one.
    const T threshold = (T)(GIVEN ? value : thresholds[channel()]);
    const T mixed = threshold * unit(BY_LOW, BY_HIGH), fine = threshold * unit(BY_HIGH, BY_HIGH);
#pragma unroll
    for (int step = 0; step < DEPTH; ++step) prefetch_details(step, step);
    wait_for_launch_ahead();
    let_next_launch_begin();
#pragma unroll
    for (int step = 0; step < DEPTH; ++step) prefetch_incoming(step, step);
    for (int start = 0; start < steps; start += DEPTH) {
#pragma unroll
        for (int slot = 0; slot < DEPTH; ++slot) {
            const int step = start + slot;
            if (step >= steps) break;
            T l[2][PAIRS], h[2][PAIRS];
            wait_for_groups<DEPTH - 1>();
            coefficients.take(copies[slot][0] + own_pair(), 1, l[1]);
            coefficients.take(copies[slot][1] + own_pair(), 1, h[0]);
            coefficients.take(copies[slot][2] + own_pair(), NOISE ? unit(BY_HIGH, BY_HIGH) : 1, h[1]);
            coefficients.take(copies[slot][3] + own_pair(), unit(BY_LOW, BY_LOW), l[0]);
            prefetch_details(step + DEPTH, slot);
            prefetch_incoming(step + DEPTH, slot);
#pragma unroll
            for (int i = 0; i < PAIRS; ++i) {
                lows[i].take(l[0][i], shrunk(l[1][i], mixed), l[0][i], l[1][i]);
                highs[i].take(shrunk(h[0][i], mixed), shrunk(h[1][i], fine), h[0][i], h[1][i]);
            }
            if (step >= HALF - 1) written.store(l, h, first + step);
        }
    }
}
