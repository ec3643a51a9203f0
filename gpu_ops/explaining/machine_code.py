"""A kernel as the compiler's PTX and as machine code, each line with the source lines that it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from gpu_ops.devices.sass.disassembler import live_registers, machine_code, start_live_registers
from gpu_ops.devices.sass.listing import Control, SassLine
from gpu_ops.devices.sim.device import SimKernel
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.ptx.program import Instruction
from gpu_ops.errors import DeviceError
from gpu_ops.plan import Launch, Plan

Place = tuple[str, int]


@dataclass(frozen=True)
class PtxLine:
    """A line of the PTX by its number from 1, and the source lines that it comes from: its own, then those that it was
    inlined at; none for a declaration."""

    row: int
    text: str
    places: tuple[Place, ...]


@dataclass(frozen=True)
class KernelCode:
    """The PTX of a kernel with the functions that it may call, and its machine code without live registers; `missing`
    says why there is no machine code. `find_live` finds the live registers, by address, for `listed`."""

    architecture: str
    ptx: tuple[PtxLine, ...]
    sass: tuple[SassLine, ...]
    missing: str = ""
    find_live: Callable[[], dict[int, dict[str, int]]] = field(default=dict, compare=False)

    @cached_property
    def listed(self) -> tuple[SassLine, ...]:
        """The machine code with live registers, which are analysed only now: it takes longer than reading the code.
        Raises DeviceError."""
        live = self.find_live() if self.sass else {}
        return tuple(replace(line, live=live.get(line.address, {})) for line in self.sass)

    def places(self) -> dict[int, tuple[Place, ...]]:
        """The source lines of each line of the PTX that has any."""
        return {line.row: line.places for line in self.ptx if line.places}


def begin_listing(plan: Plan, options: Options) -> None:
    """Find live registers while the plan runs, if the options are those of a kernel that is shown."""
    if options.machine_code and options.tracing:
        for step in plan.steps:
            if isinstance(step, Launch):
                start_live_registers(step.kernel.compiled)


def code_of(kernel: SimKernel) -> KernelCode:
    """The code of a kernel of the simulated GPU, as of its first launch."""
    compiled, program, symbol = kernel.compiled, kernel.loaded.program, kernel.entry.symbol
    functions = [f for f in program.functions.values() if f.name == symbol or not f.is_entry]
    places = {
        one.row: ((one.place.file, one.place.line), *one.place.inlined_at)
        for function in functions
        for one in function.body
        if isinstance(one, Instruction) and one.place.line
    }
    text = compiled.ptx.splitlines()
    rows = [row for f in functions for row in range(f.rows[0], f.rows[1] + 1)]
    shown = [row for row in sorted(rows) if not text[row - 1].lstrip().startswith(".loc")]
    ptx = tuple(PtxLine(row, text[row - 1].expandtabs(8), places.get(row, ())) for row in shown)
    try:
        sass = machine_code(compiled, symbol)
    except DeviceError as error:
        return KernelCode(compiled.architecture, ptx, (), str(error))
    return KernelCode(compiled.architecture, ptx, sass, find_live=lambda: live_registers(compiled, symbol))


def counted_as(code: KernelCode | None) -> str:
    """Which code the counts of accesses are of."""
    if code is not None and code.sass:
        return "accesses are counted as the machine code makes them"
    text = "accesses are counted as in the PTX; the machine code may merge, narrow or drop some"
    return f"{text}. {code.missing}" if code is not None else text


def code_dict(code: KernelCode) -> dict[str, Any]:
    """The code as JSON. `places` are lists of [file, line], which the lines of the PTX name by their number, from 0."""
    numbers = {places: number for number, places in enumerate(dict.fromkeys(line.places for line in code.ptx))}
    return {
        "architecture": code.architecture,
        "missing": code.missing,
        "places": [[list(place) for place in places] for places in numbers],
        "ptx": [[line.row, line.text, numbers[line.places]] for line in code.ptx],
        "sass": [_sass_dict(line) for line in code.listed],
    }


def _sass_dict(line: SassLine) -> dict[str, Any]:
    control = line.control
    return {
        **{"address": line.address, "text": line.text, "ptx": line.ptx, "label": line.label, "live": line.live},
        **{"stall": control.stall, "yield": control.yields, "barriers": barrier_text(control)},
        **{"waits": list(control.waits), "written": control.written, "read": control.read},
    }


def barrier_text(control: Control) -> str:
    """The barriers of an instruction: "0 2" to wait for, w1 released by its result, r3 by its operands."""
    released = (("w", control.written), ("r", control.read))
    return " ".join([*map(str, control.waits), *(f"{letter}{n}" for letter, n in released if n >= 0)])
