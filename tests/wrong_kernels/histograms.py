"""Faults of the histograms: filter.variant.fault, what is wrong, and edits of the shipped text."""

HISTOGRAMS = {
    "histogram1d.bytes.carry_lost": (
        "the third byte of a word has no carry",
        ("    carry(wide, word >> 16 & 255u, nc == 256);\n", ""),
    ),
    "histogram1d.bytes.equal_pair_lost": (
        "of two equal samples that are read together one is lost",
        ("    if (a == b) nb = na + 1;\n", ""),
    ),
    "histogram1d.global.no_atomics": (
        "threads read, add and write one count at the same time, and lose all additions but one",
        ("atomicAdd(k < bins", "*(k < bins"),
        ("+ h, 1u);", "+ h) += 1;"),
    ),
    "histogram1d.private.flushed_late": (
        "a thread adds its bytes to the sum of its block after 510 samples",
        ("FULL = 255;", "FULL = 510;"),
    ),
    "histogram1d.tagged.one_try": (
        "a lane whose tag was overwritten does not try again",
        ("if (waiting && own[slot] == mine) waiting = false;", "waiting = false;"),
    ),
    "histogram2d.global.luminance_truncated": (
        "the luminance of integers is truncated and not rounded",
        (
            "        const int k = slot_of(counted(x + i * step, h, grey),",
            """\
        T value = counted(x + i * step, h, grey);
#if INTEGER
        const T* p = x + i * step;
        if (grey) value = (T)((299u * p[0] + 587u * p[1] + 114u * p[2]) / 1000u);
#endif
        const int k = slot_of(value,""",
        ),
    ),
    "histogram2d.global.nan_above": (
        "NaN counts as a sample above the range",
        ("k = slot_of(", "k = min(slot_of("),
        ("bins, low, scale);", "bins, low, scale), bins + 1);"),
    ),
    "histogram2d.lanes.tail_lost": (
        "samples behind the last whole 16 bytes are not counted",
        ("count_rest(x, groups * EACH,", "count_rest(x, grey ? 0 : values,"),
    ),
    "histogram2d.private.first_pass_only": (
        "every pass counts the first 64 bins",
        ("first = blockIdx.y * SLOTS;", "first = 0;"),
    ),
    "histogram2d.shared.missing_last_barrier": (
        "no barrier between the counting, which other warps may still do, and the block's counts being added up",
        ("    __syncthreads();\n\n    for (int n", "    for (int n"),
    ),
}
