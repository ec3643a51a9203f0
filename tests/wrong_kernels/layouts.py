"""Faults of layout: filter.variant.fault, what is wrong, and edits of the shipped text."""

LAYOUTS = {
    "layout.doubles.rounded_each_time": (
        "the sum is kept as a float, so it rounds after each part",
        ("double sum = offset;", "float sum = (float)offset;"),
        ("fma(part, value, sum)", "(float)fma(part, value, (double)sum)"),
    ),
    "layout.floats.one_part_short": (
        "one part is missing",
        ("int k = 0; k < parts", "int k = 1; k < parts"),
    ),
    "layout.shifted.past_the_end": (
        "the values before the first thread's are left out of the bounds, not of the work",
        ("i < n)", "i < n + lead)"),
    ),
    "layout.spills.one_short": (
        "the last value that a thread holds is never stored",
        ("k < LIVE; ++k) to[", "k < LIVE - 1; ++k) to["),
    ),
    "layout.tiles.missing_barrier": (
        "no barrier before the columns, which other warps may not have filled yet",
        ("    __syncthreads();\n    float*", "    float*"),
    ),
}
