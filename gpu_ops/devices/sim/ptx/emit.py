"""Generates Python from PTX: one function for each basic block, which computes on whole frames of lanes at once.

A register is an array of bits. Its NumPy type is the one that most of its instructions use, so that a view in another
type (never a conversion) is rarely necessary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np

from gpu_ops.devices.sim.ptx import arithmetic, floating
from gpu_ops.devices.sim.ptx.computation import NUMPY, refused
from gpu_ops.devices.sim.ptx.emit_cluster import ClusterOperations
from gpu_ops.devices.sim.ptx.emit_matrix import MatrixOperations
from gpu_ops.devices.sim.ptx.emit_memory import MemoryOperations
from gpu_ops.devices.sim.ptx.flow import Block, results
from gpu_ops.devices.sim.ptx.inline import Flat, is_special
from gpu_ops.devices.sim.ptx.loops import spin_blocks, waiting_lines
from gpu_ops.devices.sim.ptx.opcodes import computation
from gpu_ops.devices.sim.ptx.program import Imm, Instruction, Mem, Operand, Reg, Sym, Vec, size_of
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.progress import advance

Array = np.ndarray[Any, Any]
POLLED = 32
"""A block checks for limits after this many instructions."""
WORKSPACE, RESERVED = "%envreg", "%reserved_smem_offset_"
"""Registers with the address of the state of a grid's barriers, in halves, and that of reserved shared memory."""
INDICES = {"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid"}
INDICES |= {"%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank"}
INDICES |= {"%is_explicit_cluster"}
NOTHING = {"prefetch", "prefetchu", "nanosleep", "discard", "applypriority", "brkpt", "pmevent", "griddepcontrol"}


@dataclass(frozen=True, eq=False)
class BlockCode:
    """A basic block ready to run: the `text` of a function, and the `space` of names in which it is compiled. Registers
    are numbers."""

    block: Block
    text: str
    space: dict[str, Any]
    takes: tuple[int, ...]
    gives: tuple[int, ...]
    live_in: frozenset[int]

    @cached_property
    def function(self) -> Callable[..., tuple[Any, ...]]:
        """`function(state, lanes, *registers)` takes the registers `takes` and returns the registers `gives`, then the
        value that the branch depends on, if any. Compiled on first use, because many blocks never run."""
        made: dict[str, Any] = {}
        exec(compile(self.text, "<block>", "exec"), self.space, made)
        return cast("Callable[..., tuple[Any, ...]]", made[f"b{self.block.number}"])

    @cached_property
    def watched(self) -> Callable[..., tuple[Any, ...]]:
        """The same function; before it returns, it gives the first and last values of its registers to the observer."""
        made: dict[str, Any] = {}
        text = self.text.replace(":\n", ":\n    before = dict(locals())\n", 1)
        text = text.replace("    return (", "    S.counters.observer.valued(before, locals())\n    return (")
        exec(compile(text, "<watched block>", "exec"), self.space, made)
        return cast("Callable[..., tuple[Any, ...]]", made[f"b{self.block.number}"])

    @cached_property
    def instructions(self) -> int:
        """The number of instructions, including the one that ends the block."""
        return len(self.block.lines) + (self.block.end in ("branch", "choose", "exit"))


@dataclass(frozen=True, eq=False)
class Code:
    """A kernel ready to run. `zeros` are the initial values of the registers, `numbers` the registers' numbers by name.
    Lanes in `spin_blocks` may wait for other threads, which publish in `publishers` or have just done so. `depends`:
    blocks of the grid may read what others publish. `live_registers` is the maximum number of registers that are live
    at once. `cooperative`: blocks meet at a barrier of the grid; `reserved`: cooperative groups keep their state in the
    shared memory that the system reserves; `cluster`: the extents of a cluster, where the kernel declares or uses
    them; `around`: see `barriers_around`."""

    blocks: tuple[BlockCode, ...]
    numbers: Mapping[str, int]
    zeros: tuple[Array, ...]
    sites: tuple[Site, ...]
    spin_blocks: frozenset[int]
    publishers: frozenset[int]
    depends: bool
    text: str
    live_registers: int
    cooperative: bool
    reserved: bool
    cluster: tuple[int, int, int] | None
    around: Mapping[int, Sequence[tuple[int, bool]]] = field(default_factory=dict)


class Emitter(MemoryOperations, MatrixOperations, ClusterOperations):
    """Generates the functions of one kernel. `addresses` are those of shared, local and parameter variables."""

    def __init__(self, flat: Flat, blocks: list[Block], addresses: Mapping[str, int]) -> None:
        self.flat, self.blocks, self.addresses = flat, blocks, addresses
        names = sorted({r for b in blocks for r in b.uses | b.defines | b.live_in})
        self.numbers = {name: n for n, name in enumerate(names)}
        self.codes = self._codes(names)
        self.waits = waiting_lines(blocks)
        self.depends = False
        self.system: set[str] = set()
        self.constants: dict[str, Any] = {}
        self.sites: list[Site] = []
        self.text: list[str] = []
        self.texts: list[str] = []
        self.block = blocks[0]
        self.line_number = 0

    def code(self) -> Code:
        """The finished functions. Raises KernelError for an instruction that is not simulated."""
        for block in self.blocks:
            advance(0, 1)
            self._block(block)
            self.texts.append("\n".join(self.text))
            self.text = []
        space: dict[str, Any] = {"A": arithmetic, "F": floating, "np": np, "SITES": self.sites, **self.constants}
        codes = []
        for block, text in zip(self.blocks, self.texts, strict=True):
            takes, gives = self._interface(block)
            live = frozenset(self.numbers[r] for r in block.live_in)
            numbers = tuple(self.numbers[r] for r in takes), tuple(self.numbers[r] for r in gives)
            codes.append(BlockCode(block, text, space, *numbers, live))
        zeros = tuple(np.zeros((1, 1), np.bool_ if self.codes[r] == "p" else self.codes[r]) for r in self.numbers)
        text, live_registers = "\n".join(self.texts), _live_registers(self.blocks)
        spinning, sites = spin_blocks(self.blocks), tuple(self.sites)
        publishing = [b for b in self.blocks if b.publishes and (b.number, 0) not in self.waits]
        publishers = frozenset(n for b in publishing for n in (b.number, *b.targets))
        depends = self.depends and bool(publishers)
        meets, reserved = (any(name.startswith(kind) for name in self.system) for kind in (WORKSPACE, RESERVED))
        clustered = any("cluster" in line.op for block in self.blocks for line in block.lines)
        return Code(
            *(tuple(codes), self.numbers, zeros, sites, spinning, publishers, depends, text, live_registers),
            cooperative=meets,
            reserved=reserved,
            cluster=self.flat.cluster or ((1, 1, 1) if clustered else None),
        )

    # Types

    def _codes(self, names: list[str]) -> dict[str, str]:
        """NumPy's code for each register: the type that most of its instructions use."""
        votes: dict[str, dict[str, int]] = {name: {} for name in names}
        for block in self.blocks:
            for line in block.lines:
                for operand, code in self._operand_types(line):
                    if isinstance(operand, Reg) and operand.name in votes:
                        own = votes[operand.name]
                        own[code] = own.get(code, 0) + 1
        return {name: self._most_frequent_type(name, votes[name]) for name in names}

    def _most_frequent_type(self, name: str, votes: Mapping[str, int]) -> str:
        type = self.flat.registers.get(name, "b32")
        if type == "pred":
            return "p"
        size = size_of(type)
        fitting = [code for code in votes if code[1:] == str(size)]
        return max(fitting, key=votes.__getitem__) if fitting else ("u2" if size == 2 else f"i{size}")

    def _operand_types(self, line: Instruction) -> list[tuple[Operand, str]]:
        """The pairs (operand, code) of the operands whose type an instruction determines."""
        kind = line.op[0]
        if kind in ("ld", "ldu", "st", "atom", "red", "mov"):
            code = NUMPY.get(line.op[-1], "")
            if code[:1] not in ("f", "p"):  # an integer move does not show whether the value is signed
                return []
            operands = [o for o in line.args if not isinstance(o, Mem)]
            wide = [i for o in operands for i in (o.items if isinstance(o, Vec) else (o,))]
            return [(o, code) for o in wide]
        if kind in self.HANDLERS or kind in NOTHING:
            return []
        operation = computation(line)
        pairs = zip(line.args, (*operation.gives, *operation.takes), strict=False)
        return [(o, c) for o, c in pairs if c[0] != "a"]

    # Blocks

    def _interface(self, block: Block) -> tuple[list[str], list[str]]:
        return sorted(block.uses), sorted(block.defines & block.live_out)

    def _block(self, block: Block) -> None:
        self.block = block
        takes, gives = self._interface(block)
        self.text.append(f"def b{block.number}({', '.join(['S', 'L', *map(self.var, takes)])}):")
        for number, line in enumerate(block.lines):
            self.line_number = number
            if number % POLLED == POLLED - 1:
                self.emit("S.poll()")
            self._line(line)
        values = [self.var(r) for r in gives]
        if block.chooser is not None:
            name = self.var(block.chooser.name)
            values.append(f"~{name}" if block.negated else name)
        self.text.append(f"    return ({', '.join(values)}{',' if values else ''})")

    def var(self, register: str) -> str:
        """The Python variable of a register."""
        return f"v{self.numbers[register]}"

    def emit(self, text: str) -> None:
        """Add a line to the function."""
        self.text.append("    " + text)

    def _line(self, line: Instruction) -> None:
        kind = line.op[0]
        if kind in NOTHING:
            return
        handler = self.HANDLERS.get(kind)
        if handler is not None:
            handler(self, line)
        else:
            self._compute(line)

    def is_read(self, operand: Operand) -> bool:
        """Whether any later instruction reads this line's result from a register."""
        if not isinstance(operand, Reg) or operand.name == "_":
            return False
        for line in self.block.lines[self.line_number + 1 :]:
            targets = results(line)
            for argument in line.args[len(targets) :]:
                if operand.name in _names(argument):
                    return True
            if any(operand.name in _names(t) for t in targets):
                return False
        return operand.name in self.block.live_out or operand == self.block.chooser

    # Operands

    def value(self, operand: Operand, code: str) -> str:
        """An expression for an operand as type `code`; "aN" is any integer of N bytes."""
        if isinstance(operand, Imm):
            return self.constant(operand, code)
        if isinstance(operand, Sym):
            return self.converted(self.address(operand), "i8", code)
        if isinstance(operand, Vec) and operand.items and operand.items[0] == Sym("!"):
            return f"~{self.value(operand.items[1], code)}"
        assert isinstance(operand, Reg)
        if is_special(operand.name):
            return self.converted(*self._special(operand.name), code)
        return self.converted(self.var(operand.name), self.codes[operand.name], code)

    def _special(self, name: str) -> tuple[str, str]:
        if name in ("%clock", "%clock64", "%globaltimer"):
            return "S.clock()", "i8"
        if name in ("%dynamic_smem_size", "%total_smem_size"):
            return f"S.shared_size({name!r})", "i4"
        if name in (f"{WORKSPACE}1", f"{WORKSPACE}2"):
            self.system.add(name)
            return f"S.workspace({32 if name.endswith('1') else 0})", "i4"
        if name.startswith(RESERVED):
            self.system.add(name)
            return "S.reserved()", "i4"
        if name.split(".")[0] not in INDICES and not name.startswith("%lanemask_"):
            raise refused(Instruction((f"register {name}",), (), self.block.lines[self.line_number].place))
        return f"L.special({name!r})", "i4"

    @staticmethod
    def converted(text: str, have: str, want: str) -> str:
        """An expression of type `have`, reinterpreted as type `want`; a wider one loses its upper bits."""
        if have == want or want == "p":
            return text
        if want[0] == "a":
            want = have if have[0] in "iu" and have[1:] == want[1:] else f"i{want[1:]}"
            if have == want:
                return text
        if have[1:] == want[1:]:
            return f"{text}.view(A.{want})"
        bits = text if have[0] in "iu" else f"{text}.view(A.i{have[1:]})"
        size = want[1:]
        cut = f"{bits}.astype(A.u{size})"
        return cut if want == f"u{size}" else f"{cut}.view(A.{want})"

    def constant(self, number: Imm, code: str) -> str:
        """The name of a constant array (1, 1) in the functions. Integers are bits, whatever the type."""
        code = f"i{code[1:]}" if code[0] == "a" else code
        if code == "p":
            array = np.array([[bool(number.value)]])
        else:
            size = 8 if number.kind == "f64" else 4 if number.kind == "f32" else int(code[1:])
            bits = number.value & ((1 << 8 * size) - 1)
            whole = np.array([[bits]], f"u{size}")
            array = whole.view(code) if size == int(code[1:]) else whole.view(f"f{size}").astype(code)
        name = f"K_{code}_{array.tobytes().hex()}"
        self.constants[name] = array
        return name

    def address(self, symbol: Sym) -> str:
        """The address of a variable as int64."""
        if symbol.name in self.addresses:
            return self.constant(Imm(self.addresses[symbol.name] + symbol.offset), "i8")
        plain = f"S.symbol({symbol.name!r})"
        return f"({plain} + {symbol.offset})" if symbol.offset else plain

    def assign(self, target: Operand, text: str, code: str) -> None:
        """Assign a value of type `code` to a register. A wider register extends it, with its sign if the type is
        signed."""
        if not isinstance(target, Reg) or target.name == "_":
            self.emit(text)
            return
        own = self.codes[target.name]
        if own == code:
            self.emit(f"{self.var(target.name)} = {text}")
        elif own[1:] == code[1:] or own == "p":
            self.emit(f"{self.var(target.name)} = ({text}).view(A.{own})")
        elif int(own[1:]) > int(code[1:]):
            whole = f"({text}).astype(A.{'i' if code[0] == 'i' else 'u'}{own[1:]})" if code[0] in "iu" else f"({text})"
            self.emit(f"{self.var(target.name)} = {whole}.view(A.{own})")
        else:
            self.emit(f"{self.var(target.name)} = {self.converted(f'({text})', code, own)}")

    # Computation

    def _compute(self, line: Instruction) -> None:
        operation = computation(line)
        targets = line.args[0].items if isinstance(line.args[0], Vec) else (line.args[0],)
        takes = self._concrete_types(operation.takes, targets[0])
        operands = [self.value(o, c) for o, c in zip(line.args[1:], takes, strict=False)]
        expression = self._shift(line, takes, operands) or operation.expression.format(*operands)
        code = operation.gives[0] if operation.gives[0][0] != "a" else takes[0]
        if len(targets) > 1:  # first, because the first result may overwrite an operand
            self.emit(f"second = {operation.second.format(*operands)}")
        self.assign(targets[0], expression, code)
        if len(targets) > 1:
            self.assign(targets[1], "second", "p")

    def _concrete_types(self, takes: tuple[str, ...], target: Operand) -> tuple[str, ...]:
        """The operand types. Where any integer type will do, it is the type of the result's register."""
        own = self.codes.get(target.name, "") if isinstance(target, Reg) else ""
        types = {c: own if own[:1] in ("i", "u") and own[1:] == c[1:] else f"i{c[1:]}" for c in takes}
        return tuple(types[c] if c[0] == "a" else c for c in takes)

    def _shift(self, line: Instruction, takes: tuple[str, ...], operands: list[str]) -> str:
        """A plain shift, which is correct for constants within the width; empty for all other instructions."""
        amount = line.args[-1]
        if line.op[0] not in ("shl", "shr") or not isinstance(amount, Imm) or amount.value >= 8 * int(takes[0][1:]):
            return ""
        return f"{operands[0]} {'<<' if line.op[0] == 'shl' else '>>'} {self.constant(amount, takes[0])}"

    def _move(self, line: Instruction) -> None:
        target, source = line.args
        size = size_of(line.op[-1]) if line.op[-1] != "pred" else 0
        if isinstance(source, Vec) and source.items[0] != Sym("!"):
            parts = [self.value(o, f"u{size // len(source.items)}") for o in source.items]
            self.assign(target, f"A.pack(A.i{size}, {', '.join(parts)})", f"i{size}")
        elif isinstance(target, Vec):
            each = size // len(target.items)
            self.emit(f"whole = {self.value(source, f'i{size}')}")
            for place, one in enumerate(target.items):
                if one != Reg("_"):
                    self.assign(one, f"A.part(whole, {place}, A.u{each})", f"u{each}")
        else:
            own = self.codes.get(target.name, f"i{size}") if isinstance(target, Reg) else f"i{size}"
            code = "p" if own == "p" else own if own[1:] == str(size) else NUMPY[line.op[-1]]
            self.assign(target, self.value(source, code), code)

    def site(self, line: Instruction, space: str, offset: int, verb: str, nbytes: int) -> str:
        """An expression for a new site in the functions."""
        ordered = bool({"volatile", "relaxed", "acquire", "release"} & set(line.op))
        is_ordered = ordered and line.op[0] in ("ld", "st")  # atomics are "relaxed" in the newer dialect only
        waits = (self.block.number, self.line_number) in self.waits or "acquire" in line.op
        releases = bool({"release", "acq_rel"} & set(line.op))
        how = (is_ordered, waits, releases, line.row)
        self.sites.append(Site(len(self.sites), line.place, space, offset, verb, nbytes, *how))
        return f"SITES[{len(self.sites) - 1}]"

    def named(self, value: Any) -> str:
        """The name of any constant in the functions."""
        name = f"N_{len(self.constants)}"
        self.constants[name] = value
        return name

    HANDLERS: Mapping[str, Callable[[Any, Instruction], None]] = {
        **MemoryOperations.HANDLERS,
        **MatrixOperations.MATRICES,
        **ClusterOperations.CLUSTERS,
        "mov": _move,
    }


def _live_registers(blocks: list[Block]) -> int:
    """The registers that live across blocks, plus those of the block that sets the most."""
    across = set().union(*(b.live_in | b.live_out for b in blocks))
    return max(1, len(across) + max(len(b.defines) for b in blocks))


def _names(operand: Operand) -> set[str]:
    if isinstance(operand, Reg):
        return {operand.name}
    if isinstance(operand, Mem):
        return {operand.base.name} if isinstance(operand.base, Reg) else set()
    if isinstance(operand, Vec):
        return {n for item in operand.items for n in _names(item)}
    return set()
