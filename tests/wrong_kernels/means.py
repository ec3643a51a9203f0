"""Faults of mean1d, mean2d and conv3x3: filter.variant.fault, what is wrong, and edits of the shipped text."""

MEANS = {
    "conv3x3.bytes.flipped": (
        "the matrix is turned around, as in a convolution by the book",
        ("weights[3 * v + u]", "weights[8 - 3 * v - u]"),
    ),
    "conv3x3.constant.wraps_around": (
        "sums of integers wrap around instead of being cut to the range of the type",
        (
            "    y[(long long)row * columns + e] = finish(sum, bias, divisor, offset);\n",
            """\
#if INTEGER
    y[(long long)row * columns + e] = (T)(long long)((sum + bias) / divisor + offset);
#else
    y[(long long)row * columns + e] = finish(sum, bias, divisor, offset);
#endif
""",
        ),
    ),
    "conv3x3.fused.missing_barrier": (
        "no barrier between filling the tile and reading what other warps filled",
        ("    __syncthreads();\n\n    for (int v = threadIdx.y;", "    for (int v = threadIdx.y;"),
    ),
    "conv3x3.packed.wrong_word": (
        "words are taken from three times the thread's place on, and most of them are never loaded",
        ("k = word + lane; 4 * k < part.end(); k += 32)\n", "k = word + 3 * lane; 4 * k < part.end(); k += 32)\n"),
    ),
    "mean1d.constant.off_by_one": (
        "the window sits one sample to the right",
        ("k - window / 2,", "k - window / 2 + 1,"),
    ),
    "mean1d.constant.one_block_only": (
        "only the first block works",
        ("    const long long first", "    if (blockIdx.x > 0) return;\n    const long long first"),
    ),
    "mean1d.constant.past_the_end": (
        "bounded by block number, not by index: the last block writes past the end",
        ("        if (e >= n * CHANNELS) return;\n", ""),
    ),
    "mean1d.naive.half_precision": (
        "the sum keeps the ten mantissa bits of half precision",
        (
            "        y[e] =",
            "        if (!INTEGER) sum = (A)__int_as_float(__float_as_int((float)sum) & 0xffffe000);\n        y[e] =",
        ),
    ),
    "mean1d.naive.overflows": (
        "integer sums are kept in the sample type",
        ("A sum = 0;", "T sum = 0;"),
        ("finish(sum,", "finish((A)sum,"),
    ),
    "mean1d.naive.truncates": (
        "integers are cut off, not rounded",
        ("finish(sum, window)", "INTEGER ? (T)(sum / (A)window) : (T)sum"),
    ),
    "mean1d.scan.carry_forgotten": (
        "what the warps before a warp add up to is forgotten",
        ("base += totals[w];", "base += 0;"),
    ),
    "mean1d.scan.channel_mixed": (
        "every channel has the prefix sums of the first",
        ("c < CHANNELS; ++c, prefix += PREFIXES)", "c < CHANNELS; ++c)"),
    ),
    "mean1d.shared.half_a_halo": (
        "the tile has no right halo: its last windows read what is not there",
        ("i < live + 2 * halo;", "i < live + halo;"),
    ),
    "mean1d.shared.missing_barrier": (
        "no barrier between filling the tile and reading it",
        ("    __syncthreads();\n", ""),
    ),
    "mean2d.constant.scatter_race": (
        "every pixel is added to its neighbours' outputs without atomics",
        ("A sum = 0;", "y[row * pitch + e] = 0;"),
        (
            "sum += taps[v * window + u] * (A)x[r * pitch + c * CHANNELS + channel];",
            "y[r * pitch + c * CHANNELS + channel] += (T)(taps[v * window + u] * (A)x[row * pitch + e]);",
        ),
        ("        y[row * pitch + e] = finish(sum, window * window);\n", ""),
    ),
    "mean2d.naive.last_column_unwritten": (
        "the last column is left as it was",
        ("e >= width * CHANNELS)", "e >= width * CHANNELS - 1)"),
    ),
    "mean2d.naive.mirror_without_edge": (
        "reflects about the edge pixel instead of the edge",
        (
            '#include "mean.cuh"\n',
            """\
#include "mean.cuh"

__device__ int mirrored(int i, int n)
{
    if (BORDER != 1 || n == 1) return border_index(i, n);
    while (i < 0 || i >= n) i = i < 0 ? -i : 2 * n - 2 - i;
    return i;
}
""",
        ),
        ("border_index(row", "mirrored(row"),
        ("border_index(column", "mirrored(column"),
    ),
    "mean2d.naive.overwrites_its_input": (
        "the input is overwritten by zeros",
        (
            "finish(sum, window * window);\n",
            "finish(sum, window * window);\n        ((T*)x)[row * pitch + e] = (T)0;\n",
        ),
    ),
    "mean2d.ring.last_rows_lost": (
        "the rows below the last output never enter",
        ("+ 2 * RADIUS;  // rows that enter", "+ RADIUS;  // rows that enter"),
    ),
    "mean2d.rows.neighbour_forgotten": (
        "a warp's last lane takes its own last word for its neighbour's first",
        (
            "    fetch_rows(x, top - WINDOW / 2, height, e, width, spans);\n",
            """\
    fetch_rows(x, top - WINDOW / 2, height, e, width, spans);
    if (threadIdx.x % 32 == 31)
        for (int v = 0; v < LINES; ++v) spans[v].word[SIDE + 4] = spans[v].word[SIDE + 3];
""",
        ),
    ),
    "mean2d.shared.wrong_word": (
        "the tile is read with its height for its stride",
        ("(A)tile[(o + v) * stride +", "(A)tile[(o + v) * (live_rows + 2 * radius) +"),
    ),
}
