"""Stages that were at least 3 % faster than those of least cost by `radices`, and for short lines than two similar
radices: measured on an H200, complex float32 lines of 2^24 points in all. The cost does not tell which are faster: they
differ by the registers of a block, and by the threads of a warp that have a butterfly."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gpu_ops.filters.fft.cuda.radices import Stages


def _read(text: str) -> Mapping[int, Stages]:
    """Stages by length, written as radices@threads."""
    found = (entry.split("@") for entry in text.split())
    stages = [Stages(tuple(map(int, radices.split("x"))), int(threads)) for radices, threads in found]
    return {math.prod(one.radices): one for one in stages}


SHORT = _read(
    """
    26@1 5x6@3 6x7@2 3x15@3 4x12@4 13x4@5 7x8@8 15x4@4 11x6@4 14x5@5 6x12@6 6x13@7 20x4@4 12x7@4 22x4@4 9x10@5
    7x13@7 12x8@4 13x8@5 6x18@6 15x8@8
    """
)
"""Of lines in blocks of many, longer than a thread's registers hold."""
REAL = {**_read("21@1 25@1 27@1"), 144: Stages((6, 12), 6)}
"""The same of real lines, by their samples: those of 144 are 72 complex points."""
LONG = _read(
    """
    7x7x3@21 7x5x7@35 20x13@20 20x14@20 22x13@22 20x15@20 20x16@20 18x18@18 24x16@24 20x20@20 20x8x4@32
    18x6x6@36 26x25@26 26x26@26 27x26@27 13x8x7@56 15x10x5@50 16x8x6@48 22x6x6@36 20x10x4@40 13x9x7@63 25x7x5@44
    20x11x4@44 21x7x6@49 16x8x7@64 22x22x2@44 21x10x5@53 22x7x7@52 18x9x7@63 26x9x5@47 21x8x7@56 22x11x5@55
    15x9x9@81 25x7x7@59 20x8x8@80 18x18x4@72 15x15x6@90 21x10x7@74 15x11x9@99 21x18x4@84 13x13x9@117 15x15x7@105
    14x13x9@126 22x15x5@110 26x13x5@68 7x7x7x5@82 15x13x9@135 20x13x7@91 21x10x9@105 25x11x7@92 15x13x10@150
    20x14x7@140 18x11x10@110 15x15x9@135 16x13x10@160 21x10x10@105 26x9x9@117 21x21x5@105 15x15x10@150
    25x13x7@109 21x11x10@116 20x12x10@120 27x18x5@135 25x11x9@113 20x18x7@140 16x16x10@160 24x12x9@108
    25x13x8@109 24x22x5@120 11x7x7x5@270 25x12x9@113 22x18x7@154 16x16x11@176 18x16x10@180 27x22x5@135
    21x13x11@143 24x21x6@144 25x11x11@138 25x25x5@125 22x13x11@143 25x21x6@150 26x25x5@130 27x11x11@149
    22x13x12@156 22x16x10@220 18x14x14@252 25x13x11@163 11x11x6x5@165 26x20x7@182 25x21x7@175 24x13x12@156
    15x10x5x5@250 11x7x7x7@270 26x21x7@182 25x22x7@184 27x13x11@176 25x20x8@200
    """
)
"""Of lines from 129 to 4096 points, in rows."""
