"""Faults of box: filter.variant.fault, what is wrong, and edits of the shipped text."""

BOXES = {
    "box.ring.last_batch_lost": (
        "the columns never take the last batch",
        ("for (int n = 0; n * BATCH * PACK < count; ++n) {", "for (int n = 0; (n + 1) * BATCH * PACK < count; ++n) {"),
    ),
    "box.ring.missing_barrier": (
        "neither columns nor rows wait for each other",
        ("            if (n >= AHEAD) barrier_wait<TEAM_AND_COLUMNS>(freed(n));\n", ""),
        ("            barrier_arrive<TEAM_AND_COLUMNS>(filled(n));\n", ""),
        ("            barrier_wait<TEAM_AND_COLUMNS>(filled(n));\n", ""),
        ("            if ((n + AHEAD) * BATCH * PACK < count) barrier_arrive<TEAM_AND_COLUMNS>(freed(n));\n", ""),
    ),
    "box.columns.missing_barrier": (
        "no barrier before a row's columns and the last row's means are read by other warps",
        ("        __syncthreads(); // this row's columns and the last row's means are complete\n", ""),
    ),
    "box.columns.row_late": (
        "the windows begin a row late",
        ("begin - RADIUS - 1,", "begin - RADIUS,"),
    ),
    "box.sliding.loses_too_late": (
        "the row's window loses a pixel late, so that it is one pixel too wide",
        ("column - radius, width", "column - radius - 1, width"),
    ),
    "box.sliding_transpose.missing_barrier": (
        "no barrier between loading both tiles and adding what other warps loaded",
        ("        __syncthreads();\n        if (adds) {\n", "        if (adds) {\n"),
    ),
    "box.table.corner_lost": (
        "the corner that was subtracted twice is not added back",
        (" - corner(table, top - 1, left - 1, channel, pitch);", ";"),
    ),
}
