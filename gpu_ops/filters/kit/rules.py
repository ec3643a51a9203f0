"""Rules that several filters share: which tasks a variant does not support, and the messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gpu_ops.devices.launches import GRID_LIMITS
from gpu_ops.input_kinds import INPUT_KINDS, ODD, Kind
from gpu_ops.task import Task
from gpu_ops.types import Rule

MOST_BLOCKS = GRID_LIMITS[1]
"""The maximum number of blocks of a grid in y, and in z."""
TEXTURE_ROWS, TEXTURE_COLUMNS = 65536, 131072
"""Elements of a 2D texture, on every architecture since sm_75."""
MOST_OPENCV_CHANNELS = 128

Choices = Mapping[str, tuple[Any, ...]]
"""Choices of the contract by axis."""
NOTHING: Choices = {}


def together(*rules: Rule) -> tuple[Rule, ...]:
    """Rules that are all reported if violated, and not only the first one."""
    return tuple(replace(rule, also=True) for rule in rules)


def not_with(name: str, *values: Any, words: str) -> Rule:
    """These values of a parameter are not supported."""
    return Rule(lambda task: task.params[name] in values, words, {f"param {name}": values})


def not_of(*dtypes: str, words: str) -> Rule:
    """Samples of these types are not supported."""
    return Rule(lambda task: task.meta.dtype in dtypes, words, {"dtype": dtypes})


def one_channel(kind: Kind, words: str) -> Rule:
    """Inputs of that kind with several channels are not supported."""
    of_kind = INPUT_KINDS[kind]
    many = tuple(shape for shape in of_kind.shapes if of_kind.channels_of(shape) > 1)
    return Rule(lambda task: task.meta.channels > 1, words, {"shape": many})


def finite_only(words: str) -> Rule:
    """NaN and infinity are not supported; the message says where they would spread."""
    return Rule(lambda task: not task.meta.finite, words, {"data": ODD})


def blocks_fit(rows_per_block: Callable[[Task], int], advice: str) -> Rule:
    """The number of blocks in y fits a grid; `advice` says how to increase the rows per block."""
    return Rule(
        lambda task: task.meta.shape[0] > MOST_BLOCKS * rows_per_block(task),
        f"{{meta.shape[0]}} rows need more than {MOST_BLOCKS:,} blocks; use {advice}",
    )


def shared_fits(needed: Callable[[Task], int], what: str = "tile takes", never: Choices = NOTHING) -> Rule:
    """A block fits this amount of shared memory."""
    return Rule(
        lambda task: beyond(needed(task), task.limits.shared_bytes),
        f"its {what} {{found}} bytes of shared memory, a block has {{limits.shared_bytes}}",
        never,
    )


def beyond(number: int, most: int) -> int:
    """A number that exceeds the maximum; else 0."""
    return number if number > most else 0


def _exceeds_texture(task: Task) -> int:
    """The values of a row, if a 2D texture cannot store the image; else 0."""
    rows, columns = task.meta.shape[0], task.meta.shape[1] * task.meta.channels
    return columns if rows > TEXTURE_ROWS or columns > TEXTURE_COLUMNS else 0


TEXTURE_FITS = Rule(
    _exceeds_texture,
    f"a texture has at most {TEXTURE_ROWS:,} rows of {TEXTURE_COLUMNS:,} values, not {{meta.shape[0]}} of {{found}}",
)
"""A 2D texture can store the image, with interleaved channels."""
OPENCV_BORDER = not_with("border", "wrap", words="its filters have no wrap border")
OPENCV_CHANNELS = Rule(
    lambda task: task.meta.channels > MOST_OPENCV_CHANNELS,
    f"it takes at most {MOST_OPENCV_CHANNELS} channels, not {{meta.channels}}",
)
"""For signals, which may have more."""
