"""Generates Python for clusters, and for barriers in shared memory (mbarrier), as cuda::barrier and cuda::pipeline use
them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gpu_ops.devices.sim.ptx.computation import refused
from gpu_ops.devices.sim.ptx.program import Imm, Instruction, Mem, Operand, size_of

WAITS = ("try_wait", "test_wait")
WORDS = {"b64", "shared", "cta", "cluster", "release", "acquire", "relaxed", "parity", "noComplete", "noinc"}


class ClusterOperations:
    """The part of the emitter that generates calls for clusters and for barriers in shared memory."""

    if TYPE_CHECKING:

        def value(self, operand: Operand, code: str) -> str: ...
        def emit(self, text: str) -> None: ...
        def assign(self, target: Operand, text: str, code: str) -> None: ...
        def site(self, line: Instruction, space: str, offset: int, verb: str, nbytes: int) -> str: ...
        def _space(self, line: Instruction) -> str: ...
        def _memory(self, line: Instruction, memory: Operand, space: str) -> tuple[str, int]: ...

    def _map(self, line: Instruction) -> None:
        """mapa.shared::cluster.u32 d, a, rank · mapa.u64, of a generic address"""
        code = f"i{size_of(line.op[-1])}"
        call = f"S.map_rank({self.value(line.args[1], code)}, {self.value(line.args[2], 'i4')})"
        self.assign(line.args[0], call, code)

    def _rank(self, line: Instruction) -> None:
        """getctarank.shared::cluster.u32 d, a"""
        code = "i4" if "u32" in line.op and "shared" in line.op else "i8"
        self.assign(line.args[0], f"S.rank_of(L, {self.value(line.args[1], code)})", "i4")

    def _mbarrier(self, line: Instruction) -> None:
        """mbarrier.init.shared.b64 [a], n · mbarrier.arrive.shared.b64 state, [a], n · mbarrier.try_wait.shared.b64 p,
        [a], state · mbarrier.try_wait.parity.shared.b64 p, [a], parity · mbarrier.inval.shared.b64 [a]"""
        what = line.op[1]
        if not WORDS.issuperset(line.op[2:]) or what not in ("init", "inval", "arrive", "arrive_drop", *WAITS):
            raise refused(line)
        place = 0 if isinstance(line.args[0], Mem) else 1
        base, offset = self._memory(line, line.args[place], self._space(line))
        site = self.site(line, "shared", offset, "changes", 8)
        rest = line.args[place + 1 :]
        if what == "inval":
            return
        if what == "init":
            self.emit(f"S.begin_barrier(L, {site}, {base}, {self.value(rest[0], 'i4')})")
        elif what in WAITS:
            by_parity = "parity" in line.op
            token = self.value(rest[0], "i4" if by_parity else "i8")
            self.assign(line.args[0], f"S.has_opened(L, {site}, {base}, {token}, {by_parity})", "p")
        else:
            count = self.value(rest[0] if rest else Imm(1), "i4")
            call = f"S.arrive_at(L, {site}, {base}, {count}, {what == 'arrive_drop'})"
            if place:
                self.assign(line.args[0], call, "i8")
            else:
                self.emit(call)

    CLUSTERS: Mapping[str, Callable[[Any, Instruction], None]] = {
        "mapa": _map,
        "getctarank": _rank,
        "mbarrier": _mbarrier,
    }
