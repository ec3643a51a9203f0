// What:    one level of the wavelet transform of an image, forward and inverse, by independent warps, details
//          recomputed
// Idea:    recomputation in row streaming: as 11_warp_strips, but the forward transform writes only the approximation,
//          and the inverse recomputes the details from the samples: 12 bytes per float instead of 16, for twice the
//          instructions. That pays at the first level, which is memory-bound; later levels have a quarter of the
//          samples or less, stay in the L2 cache and store their details. The last level has its forward and its
//          inverse transform in one launch
// Shapes:  x and out (rows, columns); low, finest and restored (half_rows, half); thresholds (1). At least 2 * TAPS
//          rows; channels of x and out interleaved at the first level, else each in a plane. ONLY_LEVEL: the last
//          level, whose approximation is recomputed as well. NOISE: the finest details are stored as well;
//          `stores_low` 0: no approximation is
// Launch:  one warp per block; of interleaved channels one each. Grid x: strips, y: segments of `height` rows, of
//          coefficients forward, of samples inverse, z: channels in planes. Shared memory for the rows of the next
//          steps. Each launch but the first may start
//          before the previous one ends (programmatic dependent launch)
// Traffic: 12 bytes per float, read twice and written once, and 2 for its approximation, written and read. Strips
//          overlap by taps - 2 samples forward, twice that inverse, in whole lanes; segments likewise, in rows
// Source:  S0
#include "wavelet_rows.cuh"

// The approximation of a level, and with NOISE the diagonal details.
extern "C" __global__ void __launch_bounds__(THREADS_OF_BLOCK, BLOCKS) wavelet_warp_recomputed_forward(
    const S* __restrict__ x, T* __restrict__ low, T* __restrict__ finest, int rows, int columns, int half_rows,
    int half, int height, int stores_low)
{
    const int lane = threadIdx.x, first = blockIdx.y * height, count = min(height, half_rows - first);
    const int steps = count + HALF - 1, top = 2 * first - REACH;
    const int left = (int)blockIdx.x * WIDTH_FORWARD + (lane - HALO_FORWARD) * EACH - 2 * AHEAD, k = left / 2 + AHEAD;
    const bool mine = lane >= HALO_FORWARD && lane < 32 - HALO_FORWARD_AFTER;
    Samples samples(channel_of(x, rows, columns), rows, columns, left);
    low = plane_of(low, half_rows, half), finest = plane_of(finest, half_rows, half);
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
                split_row<true, NOISE>(v, l[r], h[r]);
            }
            prefetch(step + DEPTH, slot);
#pragma unroll
            for (int i = 0; i < PAIRS; ++i) {
                lows[i].take<true, false>(l[0][i], l[1][i], l[0][i], l[1][i]);
                if (NOISE) highs[i].take<false, true>(h[0][i], h[1][i], h[0][i], h[1][i]);
            }
            if (row < first || !mine) continue;
            if (!NOISE || stores_low) store_band(l[0], unit(OF_LOW, OF_LOW), low, row, k, half);
            if (NOISE) store_band(h[1], unit(OF_HIGH, OF_HIGH), finest, row, k, half);
        }
    }
}

// The samples of a strip, from the samples and their halo and the approximation of the next level. The last segments
// come first: the end of the image that the forward launch has read is still in the L2 cache.
extern "C" __global__ void __launch_bounds__(THREADS_OF_BLOCK, BLOCKS) wavelet_warp_recomputed_inverse(
    const S* __restrict__ x, const T* __restrict__ restored, S* __restrict__ out, const double* __restrict__ thresholds,
    int rows, int columns, int half_rows, int half, int height, double value)
{
    const int lane = threadIdx.x, above = (gridDim.y - 1 - blockIdx.y) * height, below = min(above + height, rows);
    const int first_k = ((above + REACH) >> 1) - HALF + 1, last_k = (below - 1 + REACH) >> 1;
    const int steps = last_k - first_k + HALF, top = 2 * first_k - REACH;
    const int left = (int)blockIdx.x * WIDTH_INVERSE + (lane - HALO_INVERSE) * EACH;
    const bool mine = lane >= HALO_INVERSE && lane < 32 - HALO_INVERSE_AFTER;
    const Written written(channel_of(out, rows, columns), above, below, columns, left, mine);
    Samples samples(channel_of(x, rows, columns), rows, columns, left);
    restored = plane_of(restored, half_rows, half);
    const Coefficients incoming(half_rows, half, left / 2 + AHEAD);
    Columns clamped = {};
    __shared__ Four copies[DEPTH][2][APART * PLANE]; // rows of the next steps, each lane's own
    __shared__ Pair queued[DEPTH][ONLY_LEVEL ? 1 : APART * BAND_ROW];
    const auto prefetch_samples = [&](int step, int slot) {
        for (int r = 0; r < 2; ++r)
            if (step < steps) samples.prefetch(top + 2 * step + r, slot, r, copies[slot][r] + own_four());
    };
    const auto prefetch_incoming = [&](int step, int slot) {
        if (!ONLY_LEVEL && step < steps) incoming.prefetch(restored, first_k + step - (HALF - 1), queued[slot] + own_pair());
        close_group();
    };
    // Samples and thresholds are from launches before the previous one; of the last level they are from the previous
    // one.
    if (ONLY_LEVEL) wait_for_launch_ahead();
    const T threshold = (T)(GIVEN ? value : thresholds[channel()]);
    const T mixed = threshold * unit(BY_LOW, BY_HIGH), fine = threshold * unit(BY_HIGH, BY_HIGH);
#pragma unroll
    for (int step = 0; step < DEPTH; ++step) prefetch_samples(step, step);
    if (!ONLY_LEVEL) wait_for_launch_ahead();
    let_next_launch_begin();
#pragma unroll
    for (int step = 0; step < DEPTH; ++step) prefetch_incoming(step, step);
    for (int start = 0; start < steps; start += DEPTH) {
#pragma unroll
        for (int slot = 0; slot < DEPTH; ++slot) {
            const int step = start + slot;
            if (step >= steps) break;
            T l[2][PAIRS], h[2][PAIRS], row[EACH], arrived[PAIRS] = {};
            wait_for_groups<DEPTH - 1>();
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                samples.take(slot, r, copies[slot][r] + own_four(), row);
                split_row<true, true>(row, l[r], h[r]);
            }
            if (!ONLY_LEVEL) incoming.take(queued[slot] + own_pair(), unit(BY_LOW, BY_LOW), arrived);
            prefetch_samples(step + DEPTH, slot);
            prefetch_incoming(step + DEPTH, slot);
            clamped.split(l, h);
            if (step >= HALF - 1) clamped.join(l, h, arrived, mixed, fine);
            if (step >= 2 * (HALF - 1)) written.store(l, h, first_k + step - (HALF - 1));
        }
    }
}
