"""Limits of counters and findings that a kernel must keep: for the command line of a continuous-integration job."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import NamedTuple

from gpu_ops.counters import COUNTERS, FIGURES
from gpu_ops.errors import ParamError, plain
from gpu_ops.explaining.sentences import number
from gpu_ops.explaining.xray import XRay

_CONDITION = re.compile(r"\s*(\w+)\s*(<=|>=|==|<|>)\s*(\d+(?:\.\d+)?)\s*")
_TESTS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
FINDINGS = {"races": "hazard", "out_of_bounds": "out of bounds", "uninitialised": "uninitialised", "findings": ""}
"""Counts of findings that a condition may name, with the words in their kinds."""


class Condition(NamedTuple):
    """A counter's id or a name of FINDINGS, a comparison and a number."""

    name: str
    test: str
    limit: float

    def __str__(self) -> str:
        return f"{self.name} {self.test} {self.limit:g}"


def conditions(text: str) -> tuple[Condition, ...]:
    """Conditions such as "sectors_per_load <= 4.5, races == 0". Raises ParamError with the names that there are."""
    found = []
    for part in text.split(","):
        match = _CONDITION.fullmatch(part)
        if not match or match[1] not in (*COUNTERS, *FIGURES, *FINDINGS):
            names = ", ".join((*COUNTERS, *FIGURES, *FINDINGS))
            raise ParamError(
                f"{plain(part.strip(), 60)!r} is no condition; give NAME <= NUMBER (or <, ==, >=, >), several with "
                f"commas between them, with NAME one of {names}."
            )
        found.append(Condition(match[1], match[2], float(match[3])))
    return tuple(found)


def broken(x: XRay, wanted: tuple[Condition, ...]) -> list[str]:
    """A line for each condition that an X-ray does not meet, with the file and the line of the source that counts
    most, as compilers write them."""
    texts = []
    for condition in wanted:
        value, place = _value(x, condition.name)
        if not _TESTS[condition.test](value, condition.limit):
            texts.append(f"{place}: error: {condition.name} is {number(value)}, required: {condition}")
    return texts


def _value(x: XRay, name: str) -> tuple[float, str]:
    """The value of a counter or the number of findings, and where most of it is."""
    if name in FINDINGS:
        found = [f for f in x.findings if FINDINGS[name] in f.kind]
        return sum(f.count for f in found), f"{found[0].file}:{found[0].line}" if found else x.kernels[0].file
    counter = COUNTERS.get(name) or FIGURES[name]
    lines = [
        (counter.value(counts), f"{file.file}:{line}")
        for kernel in x.kernels
        for file in kernel.files
        for line, counts in file.lines.items()
        if line
    ]
    return counter.value(x.totals), max(lines, default=(0.0, x.kernels[0].file), key=lambda pair: pair[0])[1]
