"""Conversions between types: the instruction cvt."""

from __future__ import annotations

from gpu_ops.devices.sim.ptx.computation import NUMPY, ROUNDINGS, Computation, refused
from gpu_ops.devices.sim.ptx.program import Instruction

_SHORT = {
    "cvt.rna.tf32.f32": Computation(("i4",), ("f4",), "A.to_tf32({0})"),
    "cvt.rn.bf16.f32": Computation(("u2",), ("f4",), "A.to_bfloat({0})"),
    "cvt.f32.bf16": Computation(("f4",), ("u2",), "A.from_bfloat({0})"),
    "cvt.rn.bf16x2.f32": Computation(("i4",), ("f4", "f4"), "A.pack(A.i4, A.to_bfloat({1}), A.to_bfloat({0}))"),
    "cvt.rn.f16x2.f32": Computation(("i4",), ("f4", "f4"), "A.pack(A.i4, {1}.astype(A.f2), {0}.astype(A.f2))"),
}
"""Conversions to and from short floats."""


def conversion(line: Instruction) -> Computation:
    """cvt.rn.f32.s32 and similar."""
    op = line.op
    to, source = op[-2], op[-1]
    if (short := _SHORT.get(".".join(op))) is not None:
        return short
    supported = {*ROUNDINGS, "ftz", "sat"}.issuperset(op[1:-2])
    if to not in NUMPY or source not in NUMPY or NUMPY[to] in ("", "p") or "x2" in to + source or not supported:
        raise refused(line)
    target, origin = NUMPY[to], NUMPY[source]
    mode = next((p for p in op if p in ROUNDINGS), "")
    value = "A.flush({0})" if "ftz" in op and source == "f32" else "{0}"
    if origin[0] == "f" and target[0] == "f":
        if mode.endswith("i"):
            value = f"A.round_to_integral({value}, {mode!r})"
        elif mode in ("rz", "rm", "rp"):
            if (source, to) != ("f64", "f32"):
                raise refused(line)
            value = f"F.directed({value}, {mode!r})"
        value = f"{value}.astype(A.{target})"
        value = f"A.saturate({value})" if "sat" in op else value
    elif origin[0] == "f":
        value = f"A.to_integer({value}, A.{target}, {mode or 'rzi'!r})"
    elif target[0] == "f":
        if mode in ("rz", "rm", "rp"):
            if to == "f16":
                raise refused(line)
            narrow = to == "f32" and origin[1:] != "8"
            value = f"F.directed({value}.astype(A.f8), {mode!r})" if narrow else value
            value = value if narrow else f"F.exactly('value', {mode!r}, A.{target}, {value})"
        value = f"{value}.astype(A.{target})"
    else:
        value = f"A.convert_saturating({value}, A.{target})" if "sat" in op else f"{value}.astype(A.{target})"
    return Computation((target,), (origin,), value)


def packing(line: Instruction) -> Computation:
    """cvt.pack.sat.u8.s32.b32 d, a, b, c: a and b, clamped, above each other; c moves up for bytes, and is left out for
    16 bits."""
    to, source = line.op[3:5]
    whole = line.op[2] == "sat" and source == "s32" and to in ("u8", "s8", "u16", "s16")
    if not whole or (line.op[5:] == ("b32",)) != (to[1:] == "8"):
        raise refused(line)
    high, low = (f"A.convert_saturating({{{place}}}, A.{NUMPY[to]})" for place in (0, 1))
    pair = f"A.pack(A.u{2 * int(to[1:]) // 8}, {low}, {high})"
    if to[1:] == "16":
        return Computation(("i4",), ("i4", "i4"), f"{pair}.view(A.i4)")
    return Computation(("i4",), ("i4",) * 3, f"A.pack(A.i4, {pair}, {{2}}.astype(A.u2))")
