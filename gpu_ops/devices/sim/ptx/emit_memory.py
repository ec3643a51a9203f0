"""Generates Python for the instructions that access memory, textures, or other lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gpu_ops.devices.sim.atomics import OPERATIONS
from gpu_ops.devices.sim.ptx.computation import NUMPY, refused
from gpu_ops.devices.sim.ptx.flow import is_named, is_strong
from gpu_ops.devices.sim.ptx.program import Imm, Instruction, Mem, Operand, Reg, Sym, Vec, size_of

SPACES = ("global", "shared", "const", "local", "param")
SHARED_WINDOW = 1 << 56
LOCAL_WINDOW = 1 << 57
PARAM_WINDOW = 1 << 58
"""Generic addresses of shared, local and parameter memory, far from any address of the host."""
WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW, "param": PARAM_WINDOW}
IMAGE_AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3}
"""The coordinates of each kind of texture and surface; a: in layers."""
CLUSTER_SHIFT = 24
"""Where an address in shared memory has the number of a block of the cluster."""
COPY_WORDS = {"ca", "cg", "shared", "cta", "global", "L2", "64B", "128B", "256B"}
"""Additional parts of the name of a cp.async; none of them changes the copied values."""


class MemoryOperations:
    """The part of the emitter that generates calls of the batch's methods."""

    if TYPE_CHECKING:
        codes: dict[str, str]
        depends: bool

        def value(self, operand: Operand, code: str) -> str: ...
        def emit(self, text: str) -> None: ...
        def assign(self, target: Operand, text: str, code: str) -> None: ...
        def site(self, line: Instruction, space: str, offset: int, verb: str, nbytes: int) -> str: ...
        def is_read(self, operand: Operand) -> bool: ...
        def constant(self, number: Imm, code: str) -> str: ...
        def address(self, symbol: Sym) -> str: ...

        addresses: Mapping[str, int]

    def _space(self, line: Instruction) -> str:
        if {"shared", "cluster"} <= set(line.op):
            return "cluster"
        return next((p for p in line.op[1:] if p in SPACES), "generic")

    def _memory(self, line: Instruction, memory: Operand, space: str) -> tuple[str, int]:
        """The base address as an expression, and the constant offset."""
        assert isinstance(memory, Mem)
        if memory.base is None:
            return self.constant(Imm(memory.offset), "i8"), 0
        if isinstance(memory.base, Sym):
            return self.address(memory.base), memory.offset
        size = self.codes[memory.base.name][1:]
        return self.value(memory.base, f"i{size}"), memory.offset

    def _type(self, line: Instruction) -> tuple[str, int]:
        """NumPy code of one element, and the number of elements."""
        code = NUMPY.get(line.op[-1], "")
        if code in ("", "p"):
            raise refused(line)
        return code, self._count(line)

    @staticmethod
    def _count(line: Instruction) -> int:
        """The elements of a vector."""
        return next((int(p[1:]) for p in line.op if p in ("v2", "v4", "v8")), 1)

    def _load(self, line: Instruction) -> None:
        space = self._space(line)
        code, count = self._type(line)
        nbytes = int(code[1:]) * count
        base, offset = self._memory(line, line.args[1], space)
        site = self.site(line, space, offset, "reads", nbytes)
        self.depends |= is_strong(line) and space != "shared"
        self.emit(f"got = S.load_{space}(L, {site}, {base}, A.{code}, {count})")
        targets = line.args[0].items if isinstance(line.args[0], Vec) else (line.args[0],)
        for place, target in enumerate(targets):
            if target != Reg("_"):
                self.assign(target, f"got[{place}]", code)

    def _store(self, line: Instruction) -> None:
        space = self._space(line)
        code, count = self._type(line)
        base, offset = self._memory(line, line.args[0], space)
        site = self.site(line, space, offset, "writes", int(code[1:]) * count)
        source = line.args[1]
        items = source.items if isinstance(source, Vec) else (source,)
        values = ", ".join(self.value(item, code) for item in items)
        self.emit(f"S.store_{space}(L, {site}, {base}, A.{code}, [{values}])")

    def _copy(self, line: Instruction) -> None:
        """cp.async.ca.shared.global [to], [from], 16, bytes · cp.async.commit_group · cp.async.wait_group 1"""
        what = set(line.op[2:])
        if what == {"commit_group"}:
            self.emit("S.commit_copies(L)")
        elif what == {"wait_all"}:
            self.emit("S.wait_for_copies(L, None)")
        elif what == {"wait_group"} and isinstance(line.args[0], Imm):
            self.emit(f"S.wait_for_copies(L, {line.args[0].value})")
        elif {"mbarrier", "arrive", "shared"} <= what <= {"mbarrier", "arrive", "shared", "cta", "noinc", "b64"}:
            base, offset = self._memory(line, line.args[0], "shared")
            site = self.site(line, "shared", offset, "changes", 8)
            self.emit(f"S.arrive_after_copies(L, {site}, {base}, {'noinc' in what})")
        elif line.op[1] == "async" and {"shared", "global"} <= what <= COPY_WORDS and len(line.args) in (3, 4):
            assert isinstance(line.args[2], Imm)
            nbytes = line.args[2].value
            to, to_offset = self._memory(line, line.args[0], "shared")
            source, offset = self._memory(line, line.args[1], "global")
            target = self.site(line, "shared", to_offset, "writes", nbytes)
            origin = self.site(line, "global", offset, "reads", nbytes)
            given = self.value(line.args[3], "i4") if len(line.args) > 3 else "None"
            sites = f"({target}, {origin})"
            self.emit(f"S.copy_async(L, {sites}, {to}, {source}, {nbytes // 4}, {given}, {'cg' in what})")
        else:
            raise refused(line)

    def _atomic(self, line: Instruction) -> None:
        """atom.global.add.u32 d, [a], b · red.shared.add.f32 [a], b"""
        space = self._space(line)
        operation = next((p for p in line.op[1:] if p in OPERATIONS), "")
        code, count = self._type(line)
        if not operation or count > 1 or code in ("f2", "u1", "i1") or "f16x2" in line.op[-1]:
            raise refused(line)
        has_result = line.op[0] == "atom"
        memory, *operands = line.args[1:] if has_result else line.args
        base, offset = self._memory(line, memory, space)
        site = self.site(line, space, offset, "changes", int(code[1:]))
        values = ", ".join(self.value(item, code) for item in operands)
        needs_result = has_result and self.is_read(line.args[0])
        self.depends |= needs_result and space != "shared"
        call = f"S.atomic_{space}(L, {site}, {base}, A.{code}, {operation!r}, [{values}], {needs_result})"
        if needs_result:
            self.assign(line.args[0], call, code)
        else:
            self.emit(call)

    def _convert_address(self, line: Instruction) -> None:
        """cvta.to.global.u64 and cvta.shared.u64: between a space and generic addresses."""
        space = self._space(line)
        window = WINDOWS.get(space, 0)
        sign = "-" if "to" in line.op else "+"
        source = self.value(line.args[1], "i8")
        self.assign(line.args[0], f"{source} {sign} {self.constant(Imm(window), 'i8')}" if window else source, "i8")

    def _is_space(self, line: Instruction) -> None:
        space = self._space(line)
        self.assign(line.args[0], f"S.is_space({self.value(line.args[1], 'i8')}, {space!r})", "p")

    def _shuffle(self, line: Instruction) -> None:
        first = line.args[0]
        targets = first.items if isinstance(first, Vec) else (first,)
        site = self.site(line, "warp", 0, "shuffles", 4)
        code = self.codes[targets[0].name] if isinstance(targets[0], Reg) and targets[0].name in self.codes else "i4"
        values = ", ".join((self.value(line.args[1], code), *(self.value(a, "i4") for a in line.args[2:4])))
        mask = "None" if line.args[-1] == Imm(-1) else self.value(line.args[-1], "i4")
        self.emit(f"got = S.shuffle(L, {site}, {line.op[2]!r}, {values}, {mask})")
        self.assign(targets[0], "got[0]", code)
        if len(targets) > 1:
            self.assign(targets[1], "got[1]", "p")

    def _vote(self, line: Instruction) -> None:
        mode = next(p for p in line.op if p in ("all", "any", "uni", "ballot"))
        call = f"S.vote(L, {mode!r}, {self.value(line.args[1], 'p')}, {self.value(line.args[2], 'i4')})"
        self.assign(line.args[0], call, "i4" if mode == "ballot" else "p")

    def _match(self, line: Instruction) -> None:
        first = line.args[0]
        targets = first.items if isinstance(first, Vec) else (first,)
        code = f"i{size_of(line.op[-1])}"
        values = f"{self.value(line.args[1], code)}, {self.value(line.args[2], 'i4')}"
        self.emit(f"got = S.match(L, {line.op[1]!r}, {values})")
        self.assign(targets[0], "got[0]", "i4")
        if len(targets) > 1:
            self.assign(targets[1], "got[1]", "p")

    def _reduce(self, line: Instruction) -> None:
        code = NUMPY[line.op[-1]]
        if code not in ("i4", "u4"):
            raise refused(line)
        values = f"{self.value(line.args[1], code)}, {self.value(line.args[2], 'i4')}"
        self.assign(line.args[0], f"S.reduce(L, {line.op[2]!r}, {values})", code)

    def _active_mask(self, line: Instruction) -> None:
        self.assign(line.args[0], "S.active_mask(L)", "i4")

    def _barrier(self, line: Instruction) -> None:
        if "cluster" in line.op:
            self.emit("S.arrive_cluster(L)" if "arrive" in line.op else "S.left_cluster(L)")
            return
        if "warp" in line.op:
            self.emit(f"S.warp_barrier(L, {self.value(line.args[0], 'i4')})")
            return
        if is_named(line):  # the scheduler handles the waiting lanes
            if "arrive" in line.op:
                site = self.site(line, "barrier", 0, "arrives", 0)
                self.emit(f"S.arrive(L, {site}, {', '.join(self.value(a, 'i4') for a in line.args)})")
            return
        place = 1 if "red" in line.op else 0
        arrivals = [a for a in line.args[place:] if not isinstance(a, Imm) or a.value != 0]
        if "red" in line.op and line.args[1] == Imm(0) and len(line.args) == 3:
            operation = next(p for p in line.op if p in ("popc", "and", "or"))
            code = "i4" if operation == "popc" else "p"
            call = f"S.barrier_reduce(L, {operation!r}, {self.value(line.args[2], 'p')})"
            self.assign(line.args[0], call, code)
        elif arrivals or "arrive" in line.op or "red" in line.op:
            raise refused(line)

    def _fence(self, line: Instruction) -> None:
        """membar.gl · fence.acq_rel.gpu · membar.cta, which orders accesses for the own block only"""
        if not {"proxy", "cluster", "mbarrier_init"} & set(line.op):
            self.emit(f"S.fence(L, {'cta' in line.op})")

    def _image(self, line: Instruction, image: Operand) -> tuple[str, str, list[str]] | None:
        """The handle of a texture or surface, the layer ("None" without layers) and the coordinates of an access to
        [image, {x, y}]; None for a kind that is not simulated."""
        assert isinstance(image, Vec)
        kind = next((p for p in line.op if p in IMAGE_AXES), "")
        if not kind:
            return None
        where = list(image.items[1].items) if isinstance(image.items[1], Vec) else [image.items[1]]
        layer = self.value(where.pop(0), "i4") if kind[0] == "a" else "None"
        is_texture = line.op[0] in ("tex", "tld4")
        code = NUMPY[line.op[-1]] if is_texture and line.op[0] == "tex" else "f4" if is_texture else "i4"
        places = [self.value(c, code) for c in where[: IMAGE_AXES[kind]]]
        return self.value(image.items[0], "i8"), layer, places

    def _texture(self, line: Instruction) -> None:
        """tex.2d.v4.f32.f32 {r, g, b, a}, [texture, {x, y}] · tld4.g.2d.v4.f32.f32. There is one level, whatever level
        or gradients are given."""
        result, code = line.args[0], NUMPY.get(line.op[-2], "")
        image = self._image(line, line.args[1])
        if image is None or code not in ("f4", "i4", "u4") or not isinstance(result, Vec) or "base" in line.op:
            raise refused(line)
        handle, layer, places = image
        site = self.site(line, "texture", 0, "reads", 4)
        component = "rgba".index(line.op[1]) if line.op[0] == "tld4" else None
        where = f"[{', '.join(places)}], {layer}"
        self.emit(f"got = S.texture(L, {site}, {handle}, {where}, A.{code}, {component})")
        for place, target in enumerate(result.items):
            if target != Reg("_"):
                self.assign(target, f"got[{place}]", code)

    def _surface(self, line: Instruction) -> None:
        """suld.b.2d.v2.b32.trap {a, b}, [surface, {x, y}] · sust.b.2d.b32.clamp [surface, {x, y}], a"""
        load = line.op[0] == "suld"
        image = self._image(line, line.args[1 if load else 0])
        code, count, mode = NUMPY.get(line.op[-2], ""), self._count(line), line.op[-1]
        if image is None or not code or line.op[1] != "b" or mode not in ("trap", "clamp", "zero"):
            raise refused(line)
        handle, layer, places = image
        nbytes = int(code[1:]) * count
        site = self.site(line, "texture", 0, "reads" if load else "writes", nbytes)
        start = f"L, {site}, {handle}, [{', '.join(places)}], {layer}, {mode!r}, A.{code}"
        operand = line.args[0 if load else 1]
        items = operand.items if isinstance(operand, Vec) else (operand,)
        if not load:
            self.emit(f"S.write_surface({start}, [{', '.join(self.value(item, code) for item in items)}])")
            return
        self.emit(f"got = S.read_surface({start}, {count})")
        for place, target in enumerate(items):
            if target != Reg("_"):
                self.assign(target, f"got[{place}]", code)

    def _system(self, line: Instruction) -> None:
        site = self.site(line, "system", 0, "calls", 0)
        if line.op[1] == "vprintf":
            target, form, arguments = line.args
            self.assign(target, f"S.printf(L, {site}, {self.value(form, 'i8')}, {self.value(arguments, 'i8')})", "i4")
        else:
            self.emit(f"S.fail(L, {site}, {self.value(line.args[0], 'i8')})")

    def _trap(self, line: Instruction) -> None:
        site = self.site(line, "system", 0, "stops", 0)
        self.emit(f"S.lost(L, {site}, {self.value(line.args[0], 'i8')})" if line.args else f"S.fail(L, {site}, None)")

    HANDLERS: Mapping[str, Callable[[Any, Instruction], None]] = {
        "ld": _load,
        "ldu": _load,
        "st": _store,
        "cp": _copy,
        "atom": _atomic,
        "red": _atomic,
        "cvta": _convert_address,
        "isspacep": _is_space,
        "shfl": _shuffle,
        "vote": _vote,
        "match": _match,
        "redux": _reduce,
        "activemask": _active_mask,
        "bar": _barrier,
        "barrier": _barrier,
        "membar": _fence,
        "fence": _fence,
        "tex": _texture,
        "tld4": _texture,
        "suld": _surface,
        "sust": _surface,
        "system": _system,
        "trap": _trap,
    }
