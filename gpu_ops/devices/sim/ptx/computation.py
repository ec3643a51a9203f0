"""What an instruction computes, as an expression of NumPy."""

from __future__ import annotations

from typing import NamedTuple

from gpu_ops.devices.sim.ptx.program import Instruction
from gpu_ops.errors import KernelError

NUMPY = {
    **{f"{k}{8 * n}": f"{c}{n}" for k, c in (("s", "i"), ("u", "u"), ("b", "u")) for n in (1, 2, 4, 8)},
    "f16": "f2",
    "f32": "f4",
    "f64": "f8",
    "pred": "p",
    "f16x2": "i4",
    "bf16": "u2",
    "b128": "",
}
"""NumPy's code for each PTX type; p is bool."""
ROUNDINGS = ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna")


class Computation(NamedTuple):
    """A resolved row for one instruction: NumPy codes of the result and operands; "a4" is any integer of four bytes.
    `second` is the expression for the second result, a predicate."""

    gives: tuple[str, ...]
    takes: tuple[str, ...]
    expression: str
    second: str = ""


def refused(line: Instruction) -> KernelError:
    """The error for an instruction that the simulator does not support, with its name and the line of the kernel: a
    header of CUDA that has it is named besides."""
    inner = f"{line.place.file}:{line.place.line}"
    file, number = (line.place.inlined_at or ((line.place.file, line.place.line),))[-1]
    name = f"{line.name} ({inner})" if line.place.inlined_at else line.name
    return KernelError(
        f"{file}:{number}: the simulated GPU does not run {name}; "
        "run this variant on a CUDA device, or write it without that instruction."
    )
