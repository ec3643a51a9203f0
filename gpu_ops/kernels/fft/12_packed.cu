// What:    the Fourier transforms of real samples, two of them as one complex number
// Idea:    a line of n real samples is one of n / 2 complex numbers, as it lies in memory: half the butterflies, half
//          the exchanges. One more exchange finds the results k and n / 2 - k side by side, whose sums and differences
//          are the spectra of the even and of the odd samples; half a spectrum is stored, since the other half mirrors
//          it
// Shapes:  x samples or complex, y complex, anywhere: see Where; table (N); half_turns (N + 1); low and high: see
//          Turns
// Launch:  grid over the lines, blocks of LINE_THREADS a line times LINES lines; shared PARTS real numbers a point
// Traffic: 1 sample read and half a complex number written a point; columns of half as many points
// Source:  S2
#include "fft_lines.cuh"

extern "C" __global__ void __launch_bounds__(LINE_THREADS* LINES) fft_packed_lines(
    const void* __restrict__ x, C* __restrict__ y, const C* __restrict__ table, const C* __restrict__ half_turns,
    const C* __restrict__ low, const C* __restrict__ high, unsigned int lines, unsigned int inner, unsigned int middle,
    long long x_outer, long long x_middle, long long x_step, long long y_outer, long long y_middle, long long y_step)
{
    transform_lines<RADICES>(
        x, y, table, half_turns, low, high, lines, Where{inner, middle, x_outer, x_middle, x_step},
        Where{inner, middle, y_outer, y_middle, y_step});
}
