"""The arguments and results of readers: the file with the user's choices, its content, and its survey."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.params import Param, Value, Values
from gpu_ops.types import Facts

MOST_FRAMES = 1 << 24

FRAME = Param("frame", 0, 0, MOST_FRAMES - 1, help="the frame of a stack, counted from 0")
PROJECT = Param(
    "project", "none", choices=("none", "max", "mean"), help="one image of all frames of a stack instead of one frame"
)
MEMBER = Param("member", "", help="the array of an .npz, HDF5 or Zarr file by its name; without one the only array")
COLUMNS = Param("columns", "", help="columns of a table by name or number from 1, such as 2,3; without any all numbers")
SEPARATOR = Param(
    "separator",
    "auto",
    choices=("auto", "comma", "semicolon", "tab", "space", "pipe"),
    help="what lies between two columns",
)
DECIMAL = Param("decimal", "auto", choices=("auto", "point", "comma"), help="what lies before the decimals of a number")
HEADER = Param("header", -1, -1, 1000, help="lines before the numbers of a table; -1 finds out")
PART = Param("part", -1, -1, 1 << 22, help="the part of a record with gaps, counted from 0; -1 is the only one")
SERIES = Param(
    "series",
    -1,
    -1,
    1 << 20,
    help="the series of a TIFF with images of several sizes, counted from 0; -1 is the main one",
)
RATE = Param("rate", 0.0, 0.0, 1e12, unit="Hz", help="samples per second; 0 takes the file's own, where it has one")
CHOICES: tuple[Param, ...] = (FRAME, PROJECT, MEMBER, COLUMNS, SEPARATOR, DECIMAL, HEADER, PART, SERIES, RATE)
"""Every choice of how a file is read. A format lists those that it offers; a default leaves the choice to the
format."""

NOTE = "note"
"""The id of a step with a remark about the reading that the user should know."""


def note(words: str) -> dict[str, Any]:
    """The step with the remark: a sentence, or a part of one."""
    return {"step": NOTE, "words": words}


def notes_in(origin: Mapping[str, Any]) -> tuple[str, ...]:
    """The remarks among the steps of an origin, each without a full stop."""
    return tuple(str(step["words"]).rstrip(".") for step in origin.get("steps", ()) if step.get("step") == NOTE)


class Opening(NamedTuple):
    """A file to read. `name` is its name in errors, `limit` the most values to decode, `choices` has a checked value of
    each choice of the format, and under "kind" the kind of input that the caller requests, "" for any."""

    path: Path
    name: str
    limit: int
    choices: Values = {}


class Decoded(NamedTuple):
    """The content of a file: its array, its rate in hertz if it has one, the steps from the stored values to it, and
    further facts of the file."""

    array: np.ndarray[Any, Any]
    rate: float | None = None
    steps: tuple[dict[str, Any], ...] = ()
    facts: Facts = Facts()


@dataclass(frozen=True)
class Survey:
    """The content of a file, found without reading all of it.

    `facts` are (label, value) in words, such as ("size", "2048 × 2048, uint16"). `allowed` are the values that a choice
    may have in this file, such as {"member": ("before", "after")}, and `found` those that a default resolves to, such
    as {"separator": "semicolon"}. `asks` says that the user should choose before it is opened, because no default is
    likely to be right. `heading` and `rows` are the names and the first cells of a table, split by the choices.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    frames: int = 1
    allowed: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    found: Values = field(default_factory=dict)
    asks: bool = False
    heading: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
