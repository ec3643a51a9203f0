"""Programs made at random, run by the simulator and by a small interpreter of their own syntax."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.sim.scheduling import schedule
from tests.sim.bench import Case, launch
from tests.sim.oracle import signed

NAMES = ("x", "y", "z", "i")
LANES = 160


@dataclass
class Writer:
    """Makes a program twice: as C and as Python. Every loop ends: its counter is nobody else's."""

    rng: random.Random
    c: list[str] = field(default_factory=list)
    python: list[str] = field(default_factory=list)
    loops: int = 0

    def value(self, depth: int = 0) -> tuple[str, str]:
        """An expression in both languages; in Python wrapped to 32 bits at every step."""
        kind = self.rng.randrange(10) if depth < 3 else self.rng.randrange(2)
        if kind == 0:
            number = str(self.rng.choice([0, 1, 2, 3, 7, 31, 100, 255, 65537, 2**31 - 1]))
            return number, number
        if kind <= 2:
            name = self.rng.choice(NAMES)
            return name, name
        if kind == 3:
            flag, (a, b), (c, d) = self.flag(depth + 1), self.value(depth + 1), self.value(depth + 1)
            return f"({flag[0]} ? {a} : {c})", f"({b} if {flag[1]} else {d})"
        if kind == 4:
            (a, b), (c, d) = self.value(depth + 1), self.value(depth + 1)
            return f"(int)((unsigned)({a}) / (({c}) & 63 | 1))", f"w(({b}) % M // (({d}) & 63 | 1))"
        if kind == 5:
            (a, b), by = self.value(depth + 1), self.rng.randrange(32)
            return f"(({a}) >> {by})", f"(({b}) >> {by})"
        sign = self.rng.choice(["+", "-", "*", "&", "|", "^"])
        (a, b), (c, d) = self.value(depth + 1), self.value(depth + 1)
        return f"(int)((unsigned)({a}) {sign} (unsigned)({c}))", f"w(({b}) {sign} ({d}))"

    def flag(self, depth: int = 0) -> tuple[str, str]:
        """A condition in both languages."""
        if depth < 2 and self.rng.random() < 0.3:
            (a, b), (c, d), way = self.flag(depth + 1), self.flag(depth + 1), self.rng.randrange(2)
            return f"({a} {('&&', '||')[way]} {c})", f"({b} {('and', 'or')[way]} {d})"
        (a, b), (c, d) = self.value(2), self.value(2)
        sign = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        if sign in ("==", "!="):
            return f"((({a}) & 3) {sign} (({c}) & 3))", f"((({b}) & 3) {sign} (({d}) & 3))"
        return f"(({a}) {sign} ({c}))", f"(({b}) {sign} ({d}))"

    def line(self, depth: int, c: str, python: str) -> None:
        """The same line in both."""
        if c:
            self.c.append("    " * depth + c)
        if python:
            self.python.append("    " * depth + python)

    def block(self, depth: int, looping: bool, count: int) -> None:
        """Some statements, and a jump among them now and then."""
        for _ in range(count):
            kind = self.rng.randrange(8 if depth < 5 else 4)
            if kind < 3:
                name, (c, python) = self.rng.choice(NAMES[:3]), self.value()
                self.line(depth, f"{name} = {c};", f"{name} = {python}")
            elif kind == 3 and looping:
                way, flag = self.rng.choice(["break", "continue"]), self.flag()
                self.line(depth, f"if ({flag[0]}) {way};", f"if {flag[1]}: {way}")
            elif kind == 4:
                self.loop(depth)
            elif kind == 5 and depth < 3 and self.rng.random() < 0.3:
                flag = self.flag()
                self.line(depth, f"if ({flag[0]}) {{ out[t] = x ^ y; return; }}", f"if {flag[1]}: return w(x ^ y)")
            elif kind >= 5:
                flag = self.flag()
                self.line(depth, f"if ({flag[0]}) {{", f"if {flag[1]}:")
                self.block(depth + 1, looping, self.rng.randrange(1, 4))
                self.line(depth, "} else {", "else:")
                self.block(depth + 1, looping, self.rng.randrange(1, 3))
                self.line(depth, "}", "")
            self.line(depth, "", "pass")

    def loop(self, depth: int) -> None:
        """As many rounds as the lane says, at most seven."""
        self.loops += 1
        name, (c, python) = f"k{self.loops}", self.value(2)
        self.line(
            depth,
            f"for (int {name} = ({c}) & 7; {name} > 0; {name}--) {{",
            f"for {name} in range(({python}) & 7, 0, -1):",
        )
        self.line(depth + 1, f"x = (int)((unsigned)x + {name});", f"x = w(x + {name})")
        self.block(depth + 1, True, self.rng.randrange(1, 4))
        self.line(depth, "}", "")


def _program(seed: int) -> tuple[str, str]:
    writer = Writer(random.Random(seed))
    writer.block(1, False, 7)
    c = 'extern "C" __global__ void k(const int* a, int* out, int n) {\n'
    c += "    int t = blockIdx.x * blockDim.x + threadIdx.x;\n"
    c += "    if (t >= n) return;\n    int x = a[t], y = a[n - 1 - t], z = t * 3, i = t & 31;\n"
    c += "\n".join(writer.c) + "\n    out[t] = x ^ y ^ z;\n}\n"
    python = "def program(x, y, z, i):\n" + "\n".join(writer.python) + "\n    return w(x ^ y ^ z)\n"
    return c, python


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_a_random_program(seed: int, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if packed:
        monkeypatch.setattr(schedule, "SMALLEST", 1)
        monkeypatch.setattr(schedule, "FEW", 2)
    c, python = _program(seed)
    space: dict[str, Any] = {"w": lambda v: signed(v, 32), "M": 2**32}
    exec(python, space)
    a = np.random.default_rng(seed).integers(-(2**31), 2**31, LANES).astype(np.int32)
    a[::2] >>= 20
    wanted = [space["program"](int(a[t]), int(a[LANES - 1 - t]), t * 3, t & 31) for t in range(LANES)]
    given = Case(c, "k", (2, 1, 1), (96, 1, 1), (a, np.zeros(LANES, np.int32), np.int32(LANES)))
    outcome = launch(given, ("sim:sm_75", "sim:sm_120")[seed % 2])
    assert outcome.arrays[1].tolist() == wanted and outcome.findings == ()
