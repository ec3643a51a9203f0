"""Faults of transforms: filter.variant.fault, what is wrong, and edits of the shipped text."""

TRANSFORMS = {
    "fft1d.fast.missing_barrier": (
        "no barriers, neither between stages nor before segments are separated",
        ('#include "fft_any_length.cuh"\n', '#define __syncthreads()\n#include "fft_any_length.cuh"\n'),
    ),
    "fft1d.fast.not_mirrored": (
        "a bin is separated from itself instead of its mirror image",
        ("points[k ? LENGTH - k : 0]", "points[k]"),
    ),
    "fft1d.four_step.same_row": (
        "a bin is separated from the same bin of the mirrored row",
        ("k1 ? N - 1 - k2 :", "k1 ? k2 :"),
    ),
    "fft1d.registers.missing_barrier": (
        "no barriers between the stores of a stage and the loads of the next",
        ('#include "fft_stockham.cuh"\n', '#define __syncthreads()\n#include "fft_stockham.cuh"\n'),
    ),
    "fft1d.shared.missing_barrier": (
        "a barrier before the first stage, and none between the stages",
        (
            '#include "fft_shared.cuh"\n',
            """\
#include "fft_shared.cuh"

__device__ __forceinline__ void stages_without_barrier(C* line, const C* __restrict__ table, int bits, int inverse)
{
    __syncthreads();
    for (int stage = 0; stage < bits; ++stage) {
        const int span = 1 << stage;
        for (int b = threadIdx.x; b < 1 << (bits - 1); b += blockDim.x) {
            const int k = b & (span - 1);
            const int i = 2 * b - k;
            const C u = line[i];
            const C v = times(line[i + span], conjugate_if(table[k << (bits - 1 - stage)], inverse));
            line[i] = plus(u, v);
            line[i + span] = minus(u, v);
        }
    }
}
""",
        ),
        ("    stages_from_reversed(line,", "    stages_without_barrier(line,"),
    ),
    "fft2d.fast.row_not_mirrored": (
        "the opposite frequency is taken to be in the same row",
        ("other_y = height - row_of(k) + down", "other_y = row_of(k) + down"),
    ),
    "fft2d.global.half_precision": (
        "twiddle factors with the eleven bits of half precision",
        (
            '#include "fft.cuh"\n',
            """\
#include "fft.cuh"

__device__ __forceinline__ R coarse(R value)
{
    return __uint_as_float(__float_as_uint((float)value) & 0xffffe000);
}

__device__ __forceinline__ C coarse(C w) { return complex_of(coarse(w.x), coarse(w.y)); }
""",
        ),
        (
            "conjugate_if(table[k << (half - done)], inverse)",
            "conjugate_if(coarse(table[k << (half - done)]), inverse)",
        ),
    ),
    "fft2d.global.wrong_sign": (
        "the twiddle factors have the other sign",
        ("(half - done)], inverse)", "(half - done)], !inverse)"),
    ),
    "fft2d.shared.not_reversed": (
        "the points are not put into reversed order",
        ("line[reversed(k, bits)]", "line[k]"),
    ),
    "fft2d.spectrum.not_separated": (
        "the second of two rows stays in the spectrum of the first",
        ("k ? second_of(v[i], other)", "k ? v[i]"),
    ),
    "fft2d.spectrum.row_not_mirrored": (
        "the opposite frequency is taken to lie in the same row",
        ("((column ? opposite : row) + down)", "(row + down)"),
    ),
    "fft_batch1d.fast.last_line_lost": (
        "the last line of a batch is not transformed",
        ("stored = y_line < lines;", "stored = y_line < lines - (lines > 1);"),
    ),
    "fft_batch1d.four_step.no_twiddles": (
        "the first launch's results are not multiplied by twiddle factors",
        ("if (TWIDDLED)", "if (false)"),
    ),
    "fft_batch1d.mixed_radix.strides_of_two": (
        "points of other lengths than powers of two are read with a stride that is one too large",
        ("x_middle, x_step}", "x_middle, x_step + ((N & (N - 1)) != 0)}"),
    ),
    "fft_batch1d.packed.wrong_angle": (
        "the odd samples' spectrum is multiplied by the twiddle factors of the line, of twice the angle",
        ("split_table[k]", "table[k]"),
    ),
    "fft_batch1d.padded.groups_overlap": (
        "the padding after a group is left out of its own points, so that groups overlap",
        ("return point + padding;", "return (point & ((1 << (done + radix_bits)) - 1)) + padding;"),
    ),
    "fft_batch2d.columns.rows_side_by_side": (
        "columns are read as if their points had a stride that is one too small",
        ("x_middle, x_step}", "x_middle, x_step - (x_step > 2)}"),
    ),
    "fft_batch2d.fast.missing_barrier": (
        "no barriers, neither between stages nor between rows and columns",
        ('#include "fft_four_step.cuh"\n', '#define __syncthreads()\n#include "fft_four_step.cuh"\n'),
    ),
    "fft_batch2d.fast.one_look_up_less": (
        "twiddle factors begin with the second one",
        ("(v, of_row, table,", "(v, of_row, table + 1,"),
        ("(w, of_column, table,", "(w, of_column, table + 1,"),
        ("(v, lane, table,", "(v, lane, table + 1,"),
    ),
    "fft_batch2d.fast_sine.ten_bits": (
        "twiddle factors keep ten mantissa bits",
        (
            "        return w;\n",
            """\
        w.x = __int_as_float(__float_as_int(w.x) & 0xffffe000);
        w.y = __int_as_float(__float_as_int(w.y) & 0xffffe000);
        return w;
""",
        ),
    ),
    "fft_batch2d.transposed.missing_barrier": (
        "no barrier between the stores of a stage and the loads of the next",
        ('#include "fft_lines.cuh"\n', '#define __syncthreads()\n#include "fft_lines.cuh"\n'),
    ),
    "fft_mask.fast.parts_in_order": (
        "the inverse transform takes the parts of points as they are",
        ("point = swapped(scaled(", "point = (scaled("),
    ),
    "fft_mask.fused.mask_in_order": (
        "the mask is read in natural order, the points are in reversed order",
        ("row = whole ? reversed(k, bits) : k;", "row = k;"),
    ),
    "fft_mask.fused.mirrored": (
        "the mask is read from its last row to its first",
        ("mask[(long long)row * width", "mask[(long long)((height - row) % height) * width"),
    ),
    "wavelet1d.constant.eight_taps": (
        "the transform takes eight taps of a longer filter",
        (
            "t < taps; ++t) {\n        const T value = x[inside(",
            "t < min(taps, 8); ++t) {\n        const T value = x[inside(",
        ),
    ),
    "wavelet1d.levels.third_level_lost": (
        "the details of a third level in one launch are those of the second",
        ("if (owns(begin, many, together - l, k)) pyramid", "if (l < 3 && owns(begin, many, together - l, k)) pyramid"),
    ),
}
