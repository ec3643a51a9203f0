"""The kernels that measure the machine or inspect the input instead of filtering: name, kernel file and defines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpu_ops.params import Value


@dataclass(frozen=True)
class Instrument:
    """A kernel that is part of the measurement itself."""

    source: str
    name: str
    defines: Mapping[str, Value] = field(default_factory=dict)


COPY = Instrument("measure/copy.cu", "copy16", {"UNROLL": 4})
READ = Instrument("measure/read.cu", "read16", {"UNROLL": 4})
HOLD = Instrument("measure/hold.cu", "hold")
LIMITS = Instrument("measure/limits.cu", "limits", {"DOUBLE": 0, "SKIP": 0})
"""DOUBLE says that the samples are doubles; the last of every SKIP samples is ignored, 0 ignores none."""
EMPTY = Instrument("measure/empty.cu", "empty")
LEVELS = ("L2", "L1", "shared")


def reading(level: str, copies: bool, unroll: int) -> Instrument:
    """The kernel that reads a slice again and again out of one of LEVELS, `unroll` words at once, or copies it."""
    return Instrument(
        "measure/levels.cu", "levels", {"LEVEL": LEVELS.index(level), "COPY": int(copies), "UNROLL": unroll}
    )


INSTRUMENTS = (COPY, READ, HOLD, LIMITS, EMPTY, reading("L2", False, 4))
