"""Generates Python for the instructions of tensor cores: wmma, mma, ldmatrix, stmatrix and movmatrix."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from gpu_ops.devices.sim.ptx.computation import refused
from gpu_ops.devices.sim.ptx.program import Instruction, Operand, Vec
from gpu_ops.devices.sim.units.matrices import BITS, Fragment, Part

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


class MatrixOperations:
    """The part of the emitter that generates calls for matrices in registers."""

    if TYPE_CHECKING:

        def value(self, operand: Operand, code: str) -> str: ...
        def emit(self, text: str) -> None: ...
        def assign(self, target: Operand, text: str, code: str) -> None: ...
        def site(self, line: Instruction, space: str, offset: int, verb: str, nbytes: int) -> str: ...
        def named(self, value: Any) -> str: ...
        def _space(self, line: Instruction) -> str: ...
        def _memory(self, line: Instruction, memory: Operand, space: str) -> tuple[str, int]: ...

    def _fragment(self, line: Instruction, part: str, type: str, operand: Operand) -> Fragment:
        shape = next((found for p in line.op if (found := _SHAPE.fullmatch(p))), None)
        if shape is None or type not in BITS or not isinstance(operand, Vec):
            raise refused(line)
        m, n, k = (int(extent) for extent in shape.groups())
        fragment = Fragment(cast(Part, part), type, (m, n, k), len(operand.items))
        held, needed = 32 * fragment.registers * fragment.each, math.prod(fragment.size)
        if held % needed or (held != needed and line.op[0] != "wmma"):  # wmma may hold elements several times
            raise refused(line)
        return fragment

    @staticmethod
    def _code(fragment: Fragment) -> str:
        return "f8" if fragment.type == "f64" else "i4"

    def _wmma(self, line: Instruction) -> None:
        """wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {…}, [address], stride · wmma.store.d… · wmma.mma…"""
        if line.op[1] == "mma":
            self._multiply(line)
            return
        load = line.op[1] == "load"
        registers, memory = line.args[:2] if load else line.args[1::-1]
        part = {"d": "c"}.get(line.op[2], line.op[2])
        layout = next((p for p in line.op if p in ("row", "col")), "")
        if len(line.args) != 3 or not layout:
            raise refused(line)
        fragment = self._fragment(line, part, line.op[-1], registers)
        assert isinstance(registers, Vec)
        space = self._space(line)
        base, offset = self._memory(line, memory, space)
        nbytes = BITS[fragment.type] // 8 * fragment.together(layout)
        site = self.site(line, space, offset, "reads" if load else "writes", nbytes)
        start = f"L, {site}, {space!r}, {self.named(fragment)}, {layout!r}, {base}, {self.value(line.args[2], 'i4')}"
        code = self._code(fragment)
        if not load:
            self.emit(f"S.store_matrix({start}, [{', '.join(self.value(r, code) for r in registers.items)}])")
            return
        self.emit(f"got = S.load_matrix({start})")
        for place, target in enumerate(registers.items):
            self.assign(target, f"got[{place}]", code)

    def _multiply(self, line: Instruction) -> None:
        """mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c; wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
        multiplies halves"""
        saturate = line.op[-1] == "satfinite" or "satfinite" in line.op
        types = [p for p in line.op[3:] if p in BITS]
        if len(types) == 2 and line.op[0] == "wmma":
            types = [types[0], "f16", "f16", types[1]]
        orders = [p for p in line.op if p in ("row", "col")]
        extra = set(line.op[3:]) - {*types, "row", "col", "satfinite", "rn", "sync", "aligned"}
        if len(types) != 4 or len(orders) != 2 or len(line.args) != 4 or any(not _SHAPE.fullmatch(p) for p in extra):
            raise refused(line)
        operands = dict(zip("dabc", line.args, strict=True))
        shown = dict(zip("dabc", types, strict=True))
        made = {n: self._fragment(line, {"d": "c"}.get(n, n), shown[n], operands[n]) for n in "dabc"}
        if made["a"].shape == (8, 8, 4) and made["a"].type == "f16":
            raise refused(line)
        lists = []
        for name in "abc":
            vector, code = operands[name], self._code(made[name])
            assert isinstance(vector, Vec)
            lists.append(f"{name!r}: [{', '.join(self.value(item, code) for item in vector.items)}]")
        site = self.site(line, "warp", 0, "multiplies", 4)
        self.emit(f"got = S.multiply(L, {site}, {self.named(made)}, {{{', '.join(lists)}}}, {saturate})")
        result = operands["d"]
        assert isinstance(result, Vec)
        for place, target in enumerate(result.items):
            self.assign(target, f"got[{place}]", self._code(made["d"]))

    def _rows(self, line: Instruction) -> None:
        """ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {…}, [address] · stmatrix… [address], {…}"""
        load = line.op[0] == "ldmatrix"
        operand, memory = line.args if load else line.args[::-1]
        registers = operand.items if isinstance(operand, Vec) else (operand,)
        known = {"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "cta", "b16"}
        if not known.issuperset(line.op[1:]) or "m8n8" not in line.op or "shared" not in line.op:
            raise refused(line)
        base, offset = self._memory(line, memory, "shared")
        turned = "trans" in line.op
        site = self.site(line, "shared", offset, "reads" if load else "writes", 16)
        if not load:
            values = ", ".join(self.value(item, "i4") for item in registers)
            self.emit(f"S.store_rows(L, {site}, {base}, [{values}], {turned})")
            return
        self.emit(f"got = S.load_rows(L, {site}, {base}, {len(registers)}, {turned})")
        for place, target in enumerate(registers):
            self.assign(target, f"got[{place}]", "i4")

    def _turn(self, line: Instruction) -> None:
        """movmatrix.sync.aligned.m8n8.trans.b16 d, a"""
        if line.op[1:] != ("sync", "aligned", "m8n8", "trans", "b16"):
            raise refused(line)
        target, source = line.args
        self.assign(target, f"S.turn(L, {self.site(line, 'warp', 0, 'moves', 4)}, {self.value(source, 'i4')})", "i4")

    MATRICES: Mapping[str, Callable[[Any, Instruction], None]] = {
        "wmma": _wmma,
        "mma": _multiply,
        "ldmatrix": _rows,
        "stmatrix": _rows,
        "movmatrix": _turn,
    }
