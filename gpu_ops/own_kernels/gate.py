"""Limits of counters and findings that a kernel must keep: for the command line of a continuous-integration job."""

from __future__ import annotations

import operator
import os
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


class Broken(NamedTuple):
    """A condition that is not met, with the file and the line of the source that counts most; line 0 where no line
    counts."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        """As compilers write it."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: error: {self.text}"


def broken(x: XRay, wanted: tuple[Condition, ...]) -> list[Broken]:
    """The conditions that an X-ray does not meet."""
    found = []
    for condition in wanted:
        value, (file, line) = _value(x, condition.name)
        if not _TESTS[condition.test](value, condition.limit):
            found.append(Broken(file, line, f"{condition.name} is {number(value)}, required: {condition}"))
    return found


def reports(x: XRay, wanted: tuple[Condition, ...], own: str, path: str) -> list[str]:
    """The lines to print for the conditions that are not met: the file `own` has the name `path`."""
    found = [one._replace(file=path) if one.file == own else one for one in broken(x, wanted)]
    return [text for one in found for text in (plain(one, 1000), annotation(*one)) if text]


def annotation(file: str, line: int, text: str) -> str:
    """An error as GitHub shows it at the line of a change, where its CI runs this; "" elsewhere."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return ""
    place = f"file={_escaped(file, ':,')}" + (f",line={line}" if line else "")
    return f"::error {place},title=kernelscope::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    for sign in "%\r\n" + more:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


def _value(x: XRay, name: str) -> tuple[float, tuple[str, int]]:
    """The value of a counter or the number of findings, and where most of it is."""
    if name in FINDINGS:
        found = [f for f in x.findings if FINDINGS[name] in f.kind]
        return sum(f.count for f in found), (found[0].file, found[0].line) if found else (x.kernels[0].file, 0)
    counter = COUNTERS.get(name) or FIGURES[name]
    lines = [
        (counter.value(counts), (file.file, line))
        for kernel in x.kernels
        for file in kernel.files
        for line, counts in file.lines.items()
        if line
    ]
    return counter.value(x.totals), max(lines, default=(0.0, (x.kernels[0].file, 0)), key=lambda pair: pair[0])[1]
