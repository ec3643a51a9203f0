"""Flattens a kernel to one list of instructions: device functions are inlined, with their parameters in registers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from gpu_ops.devices.sim.ptx.program import (
    Function,
    Instruction,
    Label,
    Mem,
    Operand,
    Place,
    Program,
    Prototype,
    Reg,
    Sym,
    Targets,
    Variable,
    Vec,
    size_of,
)
from gpu_ops.errors import KernelError
from gpu_ops.progress import advance

INTRINSICS = {"vprintf", "__assertfail"}
"""System functions that the simulator implements."""
DEEPEST = 32
MOST_LINES = 300_000
"""Instructions of a kernel after all calls are replaced, because functions that call others twice double at each
level."""

Line = Instruction | Label | Targets
FUNCTIONS = 1 << 59
"""Addresses of functions begin here, 16 bytes apart."""


@dataclass
class Flat:
    """A kernel without calls. `locals` are the .local variables of all its functions; `cluster` has the extents of its
    clusters, where it declares them."""

    name: str
    params: tuple[Variable, ...]
    registers: dict[str, str]
    locals: tuple[Variable, ...]
    body: list[Line]
    cluster: tuple[int, int, int] | None = None


def flatten(program: Program, kernel: str) -> Flat:
    """The kernel with every call replaced by the function's body.

    Raises KernelError for recursion, and for functions or kernels that are not in the program.
    """
    function = program.functions.get(kernel)
    if function is None or not function.is_entry:
        names = ", ".join(f.name for f in program.functions.values() if f.is_entry) or "none"
        raise KernelError(f'There is no kernel "{kernel}" in the PTX (found: {names}).')
    if (lines := _expanded(program, function, {}, 0)) > MOST_LINES:
        raise KernelError(
            f"{kernel} has {lines:,} instructions with all functions that it calls, too many to simulate; call fewer "
            "functions, or call them in a loop."
        )
    in_memory: set[str] = set()
    while True:
        inliner = _Inliner(program, in_memory)
        body = inliner.body(function, "", {}, (), "")
        if inliner.mixed <= in_memory:
            break
        in_memory |= inliner.mixed
    return Flat(kernel, tuple(function.params), inliner.registers, tuple(inliner.locals), body, function.cluster)


def function_addresses(program: Program) -> dict[str, int]:
    """The address of each device function."""
    names = (f.name for f in program.functions.values() if not f.is_entry)
    return {name: FUNCTIONS + 16 * number for number, name in enumerate(names, 1)}


def _pointed(program: Program) -> set[str]:
    """The functions whose address the program takes."""
    linked = {link.symbol.name for v in program.variables.values() for link in v.links}
    moved = {
        a.name
        for f in program.functions.values()
        for line in f.body
        if isinstance(line, Instruction) and line.op[0] != "call"
        for a in line.args
        if isinstance(a, Sym)
    }
    return (linked | moved) & program.functions.keys()


def _targets(program: Program, function: Function, line: Instruction) -> list[Function]:
    """The functions that a call may reach: the one that it names, or all with its prototype whose address is taken. A
    function that the program does not have is left out."""
    names = [a.name for a in line.args if isinstance(a, Sym)]
    kinds = {p.name: (p.takes, p.gives) for p in function.body if isinstance(p, Prototype)}
    if names and names[0] not in kinds:
        return [program.functions[names[0]]] if names[0] in program.functions else []
    kind = kinds.get(names[0]) if names else None
    pointed = [program.functions[name] for name in sorted(_pointed(program))]
    return [f for f in pointed if kind is None or f.prototype == kind]


def _expanded(program: Program, function: Function, known: dict[str, int], depth: int) -> int:
    """The lines of a function once its calls are replaced; calls that are too deep, which are refused later, count as
    one."""
    if function.name not in known:
        known[function.name] = len(function.body)
        calls = [line for line in function.body if isinstance(line, Instruction) and line.op[0] == "call"]
        for line in calls if depth < DEEPEST else []:
            for callee in _targets(program, function, line):
                known[function.name] += _expanded(program, callee, known, depth + 1)
    return known[function.name]


class _Inliner:
    """A parameter of a call becomes registers, one for each of its parts. If caller and function divide it into
    different parts (`mixed`), it becomes local memory (`in_memory`)."""

    def __init__(self, program: Program, in_memory: set[str]) -> None:
        self.program = program
        self.in_memory = in_memory
        self.mixed: set[str] = set()
        self.parts: dict[str, dict[int, int]] = {}
        self.registers: dict[str, str] = {}
        self.locals: list[Variable] = []
        self.calls = 0

    def body(
        self, function: Function, prefix: str, bound: dict[str, str], stack: tuple[Instruction, ...], leave: str
    ) -> list[Line]:
        """The lines of a function. `bound` maps its parameters to the caller's variables; its returns jump to the label
        `leave`, empty for a kernel."""
        advance(0, 1)
        param_names = {v.name: prefix + v.name for v in function.variables if v.space == "param"} | bound
        local_names = {v.name for v in function.variables if v.space == "local"}
        self.registers |= {prefix + name: type for name, type in function.registers.items()}
        self.locals += [replace(v, name=prefix + v.name) for v in function.variables if v.space == "local"]
        params = [replace(v, name=prefix + v.name, space="local") for v in function.variables if v.space == "param"]
        self.locals += [v for v in params if v.name in self.in_memory]
        scope = _Scope(prefix, param_names, local_names, function)
        lines: list[Line] = []
        for line in function.body:
            if isinstance(line, Label):
                lines.append(Label(prefix + line.name))
            elif isinstance(line, Targets):
                lines.append(Targets(prefix + line.name, tuple(prefix + name for name in line.labels)))
            elif isinstance(line, Prototype):
                continue
            elif not prefix and line.op[0] not in ("call", "ret") and line.op[1:2] != ("param",):
                lines.append(line)  # the kernel's own names are not renamed
            else:
                lines += self._instruction(line, scope, stack, leave)
        return lines

    def _instruction(self, line: Instruction, scope: _Scope, stack: tuple[Instruction, ...], leave: str) -> list[Line]:
        chain = tuple((c.place.file, c.place.line) for c in reversed(stack))
        place = line.place._replace(inlined_at=line.place.inlined_at + chain)
        if not place.line and stack:  # the compiler's own function: use its caller's line
            place = stack[-1].place
        if line.op[0] == "call":
            return self._call(line, scope, stack, place)
        if line.op[0] == "ret":
            op, args = (("bra",), (Sym(leave),)) if leave else (("exit",), ())
            return [line._replace(op=op, args=args, place=place, guard=scope.guard(line))]
        line = line._replace(args=tuple(scope.rename(a) for a in line.args), place=place, guard=scope.guard(line))
        if line.op[:2] in (("ld", "param"), ("st", "param")):
            return self._moves(line, scope)
        return [line]

    def _moves(self, line: Instruction, scope: _Scope) -> list[Line]:
        """Loads and stores of a call's parameters become moves of registers; the kernel's parameters stay in memory."""
        load = line.op[0] == "ld"
        memory, value = (line.args[1], line.args[0]) if load else line.args[:2]
        assert isinstance(memory, Mem)
        if not isinstance(memory.base, Sym) or memory.base.name not in scope.param_names.values():
            return [line]
        if memory.base.name in self.in_memory:
            return [line._replace(op=(line.op[0], "local", *line.op[2:]))]
        type = line.op[-1]
        values = value.items if isinstance(value, Vec) else (value,)
        moves: list[Line] = []
        for place, one in enumerate(values):
            name = f"{memory.base.name}+{memory.offset + place * size_of(type)}"
            self.registers.setdefault(name, type)
            self._note_part(memory.base.name, memory.offset + place * size_of(type), size_of(type))
            args: tuple[Operand, ...] = (one, Reg(name)) if load else (Reg(name), one)
            moves.append(line._replace(op=("mov", type), args=args))
        return moves

    def _note_part(self, name: str, offset: int, size: int) -> None:
        """Note a part of a parameter. If two parts overlap but are not equal, the parameter needs memory."""
        parts = self.parts.setdefault(name, {})
        if any(o < offset + size and offset < o + s and (o, s) != (offset, size) for o, s in parts.items()):
            self.mixed.add(name)
        parts[offset] = size

    def _call(self, line: Instruction, scope: _Scope, stack: tuple[Instruction, ...], place: Place) -> list[Line]:
        names = [a for a in line.args if isinstance(a, Sym)]
        returns = line.args[0] if isinstance(line.args[0], Vec) else Vec(())
        arguments = next((a for a in line.args[1:] if isinstance(a, Vec)), Vec(()))
        outer = [[scope.param_names[a.name] for a in v.items if isinstance(a, Sym)] for v in (returns, arguments)]
        pointer = next((a for a in line.args if isinstance(a, Reg)), None)
        if pointer is not None:
            return self._call_through(line, pointer, scope, stack, place, outer)
        name = names[0].name
        if name in INTRINSICS:
            for variable in outer[0]:
                self.registers.setdefault(f"{variable}+0", "b32")
            args = tuple(Reg(f"{variable}+0") for variable in (*outer[0], *outer[1]))
            return [line._replace(op=("system", name), args=args, place=place, guard=scope.guard(line))]
        function = self.program.functions.get(name)
        if function is None:
            raise KernelError(f"{_at(place)}: the function {name} is not simulated.")
        if _is_running(name, stack):
            raise KernelError(f"{_at(place)}: {name} calls itself; recursion is not simulated.")
        body, leave = self._inlined(function, outer, (*stack, line._replace(place=place)))
        skip: list[Line] = []
        if line.guard is not None:  # lanes without the guard skip the call
            skip = [Instruction(("bra",), (Sym(leave),), place, scope.guard(line), not line.negated)]
        return [*skip, *body, Label(leave)]

    def _inlined(
        self, function: Function, outer: list[list[str]], stack: tuple[Instruction, ...]
    ) -> tuple[list[Line], str]:
        """The lines of a called function, and the label at their end. `outer` are the caller's variables for results
        and parameters."""
        name = function.name
        self.calls += 1
        prefix, leave = f"{name}#{self.calls}.", f"{name}#{self.calls}.leave"
        inner = [v.name for v in function.returns], [v.name for v in function.params]
        bound = {i: o for a, b in zip(inner, outer, strict=True) for i, o in zip(a, b, strict=True)}
        return self.body(function, prefix, bound, stack, leave), leave

    def _call_through(
        self,
        line: Instruction,
        pointer: Reg,
        scope: _Scope,
        stack: tuple[Instruction, ...],
        place: Place,
        outer: list[list[str]],
    ) -> list[Line]:
        """A call through a pointer: each function that it may reach, for the lanes with its address. Others stop the
        kernel, as do those of a function that is running already."""
        self.calls += 1
        mark = f"pointer#{self.calls}"
        self.registers[f"{mark}.is"] = "pred"
        where = scope.rename(pointer)
        lines: list[Line] = []
        if line.guard is not None:
            lines.append(Instruction(("bra",), (Sym(f"{mark}.end"),), place, scope.guard(line), not line.negated))
        for number, function in enumerate(_targets(self.program, scope.function, line)):
            if _is_running(function.name, stack):
                continue
            named = line._replace(args=(*line.args, Sym(function.name)), place=place)
            body, leave = self._inlined(function, outer, (*stack, named))
            other = f"{mark}.{number}"
            test = Instruction(("setp", "eq", "b64"), (Reg(f"{mark}.is"), where, Sym(function.name)), place)
            lines += [test, Instruction(("bra",), (Sym(other),), place, Reg(f"{mark}.is"), True)]
            lines += [*body, Label(leave), Instruction(("bra",), (Sym(f"{mark}.end"),), place), Label(other)]
        return [*lines, Instruction(("trap", "pointer"), (where,), place), Label(f"{mark}.end")]


def _is_running(name: str, stack: tuple[Instruction, ...]) -> bool:
    """Whether a function is among the calls that lead here, or they are too deep."""
    return any(c.args and Sym(name) in c.args for c in stack) or len(stack) > DEEPEST


@dataclass(frozen=True)
class _Scope:
    """The names in one inlined copy of a function."""

    prefix: str
    param_names: dict[str, str]
    local_names: set[str]
    function: Function

    def guard(self, line: Instruction) -> Reg | None:
        return Reg(self.prefix + line.guard.name) if line.guard and self.prefix else line.guard

    def rename(self, operand: Operand) -> Operand:
        if isinstance(operand, Reg):
            return operand if is_special(operand.name) else Reg(self.prefix + operand.name)
        if isinstance(operand, Sym):
            return Sym(self._symbol(operand.name), operand.offset)
        if isinstance(operand, Vec):
            return Vec(tuple(self.rename(item) for item in operand.items))
        if isinstance(operand, Mem) and operand.base is not None:
            base = self.rename(operand.base)
            assert isinstance(base, Reg | Sym)
            return Mem(base, operand.offset)
        return operand

    def _symbol(self, name: str) -> str:
        if name in self.param_names:
            return self.param_names[name]
        return self.prefix + name if name in self.local_names or name.startswith("$L") else name


SPECIAL = (
    *("%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid", "%nwarpid", "%lanemask", "%smid", "%nsmid"),
    *("%clock", "%globaltimer", "%gridid", "%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size", "%envreg"),
    *("%pm", "%reserved", "%is_", "%cluster", "%nclusterid"),
)


@lru_cache(1 << 16)
def is_special(name: str) -> bool:
    """Whether the system sets this register, or it is "_", which discards a result."""
    return name.startswith(SPECIAL) or name == "_"


def _at(place: Place) -> str:
    return f"{place.file}:{place.line}"
