"""How exact the kernels with a ring buffer of rows are in floats, and which tasks they do not support.

eps is 2^-23 for float32: an ulp of the largest magnitude is eps/2 to eps of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_ops.filters.kit.ranges import top
from gpu_ops.filters.kit.rules import MOST_BLOCKS
from gpu_ops.task import Meta, Task
from gpu_ops.types import Exactness, Rule
from gpu_ops.variant import Range

MARCH = 32
"""The maximum error in eps of the ring kernels' sums in the samples' own type: at most 64 ulp."""
FIRST = 20
"""The part of these for the sum of a row; the rest is for the columns."""
MOST_GROUP = 4
"""The maximum number of channels that a block processes together: a lane's outputs contain the same number of each."""
OUTPUTS = 12
"""Outputs of a lane in a row; the same constant is in the kernel."""

Window = Callable[[Task], int]


def march_loss(radius: int, rows: int, group: int = 1) -> float:
    """The maximum error of a mean from the ring kernels' sums in its own type, in eps of the largest value, after this
    number of rows, if a block has `group` interleaved channels.

    Each addition rounds eps / 2 of its sum, and a sum of k values is at most k times the largest. A lane's outputs are
    `each` = 12 / group of a channel. A window within one block of them takes 2 + 3 + … + window of these halves. Longer
    ones take 2 + … + each for each block, k · each for adding the k-th, 2 + … for the values at the end, fewer than
    `each`, and a window for adding these. Then come each - 1 steps, of a window and of 2 for the difference that is
    added; and at last three roundings of the mean itself. A column takes half an eps of each row that leaves it, if it
    is smaller than that.
    """
    window, each = 2 * radius + 1, OUTPUTS // group
    blocks = (-radius * group % 4 + window * group) // OUTPUTS
    first = sum(range(2, window + 1))
    if blocks:
        whole, end = sum(range(2, each + 1)), sum(range(2, each))
        first = whole * blocks + sum(each * k for k in range(2, blocks + 1)) + end + window
    return ((first + (each - 1) * (window + 2) + rows) / window + 3) / 2


def march_rows(radius: int, group: int = 1) -> int:
    """The maximum number of rows that may enter a column of sums in the samples' own type, so that the error is at most
    `MARCH`."""
    return int((MARCH - march_loss(radius, 0, group)) * 2 * (2 * radius + 1))


def groups_of(meta: Meta, radius: int) -> tuple[int, ...]:
    """The possible numbers of interleaved channels per block, the best first: all if there are few and floats stay
    exact; or one."""
    channels = meta.channels
    if not 1 < channels <= MOST_GROUP or (meta.dtype.startswith("float") and march_loss(radius, 0, channels) > FIRST):
        return (1,)
    return channels, 1


def march_exactness(window: Window) -> Exactness:
    """Rows are summed in the samples' own type, in parts; columns as two numbers of it, over at most `march_rows` rows.
    The float64 reference also has rounding errors."""

    def tolerance(task: Task) -> float:
        if task.dtype.kind == "u":
            return 0.0
        own = window(task) + 2 if task.meta.dtype == "float64" else 0
        return (MARCH + own) * float(np.finfo(task.dtype).eps)

    return Exactness(
        tolerance,
        f"floats are summed in their own type: 1 ulp is lost as a rule, at most {MARCH} eps (of float32 2^-23) of the"
        " largest value",
    )


def march_largest(window: Window) -> Range:
    """A square's complete sum is in the samples' own type, and temporarily one more row."""
    return lambda task: top(task.meta.dtype) / (window(task) * (window(task) + 1) + 2)


def segments_fit(window: Window, advice: str) -> Rule:
    """The image has no more segments of `march_rows` than a grid has blocks."""

    def too_many(task: Task) -> int:
        radius = window(task) // 2
        longest = min(march_rows(radius, group) for group in groups_of(task.meta, radius))
        most = MOST_BLOCKS * (longest - 2 * radius)
        return most if task.meta.dtype.startswith("float") and task.meta.shape[0] > most else 0

    return Rule(too_many, f"its segments are short to stay exact, and cover {{found}} rows at most; {advice}")
