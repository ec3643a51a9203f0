"""Loads kernels for the simulator: it reads the PTX, inlines calls, lays out memory and generates functions. Results
are cached by the compilation's key."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from gpu_ops.devices.compiler import Compiled, Entry
from gpu_ops.devices.kernel_source import base_name, code_of, header_files, included_headers, read_source
from gpu_ops.devices.sim.block_run.statements import StatementEmitter, cut_at_lines
from gpu_ops.devices.sim.ptx.decided import Raced, raced, unsettled
from gpu_ops.devices.sim.ptx.emit import Code, Emitter
from gpu_ops.devices.sim.ptx.flow import Block, blocks_of
from gpu_ops.devices.sim.ptx.inline import Flat, flatten, function_addresses
from gpu_ops.devices.sim.ptx.loops import barriers_around, in_running_order
from gpu_ops.devices.sim.ptx.program import Mem, Operand, Place, Program, Sym, Variable, Vec, size_of
from gpu_ops.devices.sim.ptx.reach import Reach, reached
from gpu_ops.devices.sim.ptx.reader import parse
from gpu_ops.devices.statements import encloses
from gpu_ops.errors import KernelError

_KEPT = 256
_LOADED: OrderedDict[tuple[str, str, bool], LoadedKernel] = OrderedDict()
_PROGRAMS: OrderedDict[str, Program] = OrderedDict()


@dataclass(frozen=True, eq=False)
class LoadedKernel:
    """A kernel that can run. `shared` are (name, first, last + 1) in a block's shared memory, where the dynamic part
    begins at `dynamic_from`; `unit` is the smallest shared access in bytes, `global_unit` the smallest other one;
    `reach` says what memory the kernel may access; the accesses of the PTX's lines in `unsettled` depend on which
    thread comes first, those of `raced` may; `seconds` is the time of loading. Parameters have `symbols` in the PTX,
    and `param_names` in the source."""

    entry: Entry
    program: Program
    code: Code
    param_offsets: tuple[int, ...]
    param_names: tuple[str, ...]
    symbols: tuple[str, ...]
    param_bytes: int
    shared: tuple[tuple[str, int, int], ...]
    dynamic_from: int
    unit: int
    local_bytes: int
    global_unit: int
    reach: Reach
    unsettled: frozenset[int]
    raced: Raced | None
    seconds: float


def load_kernel(
    compiled: Compiled, name: str, edits: Mapping[str, str] | None = None, by_line: bool = False
) -> LoadedKernel:
    """The kernel of a compilation; `by_line`: in blocks that each belong to one line of its source. Raises KernelError
    for an instruction that is not simulated, with its name and line."""
    key = (compiled.key, name, by_line)
    if key not in _LOADED:
        _LOADED[key] = _load(compiled, name, edits, by_line)
        while len(_LOADED) > _KEPT:
            _LOADED.popitem(last=False)
    _LOADED.move_to_end(key)
    return _LOADED[key]


def _load(compiled: Compiled, name: str, edits: Mapping[str, str] | None, by_line: bool) -> LoadedKernel:
    entry = compiled.entry(name)
    start = time.perf_counter()
    if compiled.key not in _PROGRAMS:
        _PROGRAMS[compiled.key] = parse(compiled.ptx, compiled.source)
        while len(_PROGRAMS) > _KEPT:
            _PROGRAMS.popitem(last=False)
    program = _PROGRAMS[compiled.key]
    flat = flatten(program, entry.symbol)
    blocks, emitter = in_running_order(blocks_of(flat)), Emitter
    if by_line:
        blocks, emitter = cut_at_lines(blocks, compiled.source), StatementEmitter
    params, param_bytes = _layout(list(flat.params), 0)
    local, local_bytes = _layout(list(flat.locals), 0)
    shared, static_bytes = _shared(program, flat)
    addresses = {**function_addresses(program), **params, **local, **{n: first for n, first, _ in shared}}
    code = emitter(flat, blocks, addresses).code()
    code = replace(code, around=barriers_around(blocks, partial(_encloses, edits)))
    offsets = tuple(params[v.name] for v in flat.params)
    headers = included_headers(compiled.source, edits).values()
    names = _param_names([read_source(compiled.source, edits), *headers], name, len(offsets))
    seconds = time.perf_counter() - start
    entry = replace(entry, resources={"shared_bytes": static_bytes})
    unit = _unit(blocks, {"global", "const", "local", "param"})
    others = _unit(blocks, {"shared", "const", "local", "param"})
    symbols = tuple(v.name for v in flat.params)
    found = reached(blocks)
    reads, read_only, writes = (_renamed(those, symbols, names) for those in found[:3])
    reach = Reach(reads, read_only, writes, found.in_order)
    layout = (offsets, names, symbols, param_bytes, shared, static_bytes, unit, local_bytes, others)
    waits = code.depends or code.cluster is not None  # blocks may wait for one another
    races = None if waits else raced(blocks, found)
    return LoadedKernel(entry, program, code, *layout, reach, unsettled(blocks), races, seconds)


def _encloses(edits: Mapping[str, str] | None, branch: Place, barrier: Place) -> bool:
    """Whether a barrier is in the body of a branch, in the same function of the source."""
    inner, outer = (((place.file, place.line), *place.inlined_at) for place in (barrier, branch))
    (file, line), callers = outer[0], outer[1:]
    at = len(inner) - len(outer)
    if at < 0 or inner[at][0] != file or inner[at + 1 :] != callers:
        return False
    path = header_files(edits).get(file, file)
    try:
        return encloses(read_source(path, edits), line, inner[at][1])
    except KernelError:  # a header of CUDA
        return False


def _renamed(found: frozenset[str], params: tuple[str, ...], names: tuple[str, ...]) -> frozenset[str]:
    """Names in the PTX as those in the source."""
    source = dict(zip(params, names, strict=True))
    return frozenset(source.get(name, name) for name in found)


def _layout(variables: list[Variable], start: int) -> tuple[dict[str, int], int]:
    """The offset of each variable, and the bytes of all."""
    places = {}
    for variable in variables:
        start = -(-start // variable.align) * variable.align
        places[variable.name] = start
        start += variable.nbytes
    return places, -(-start // 16) * 16


def _shared(program: Program, flat: Flat) -> tuple[tuple[tuple[str, int, int], ...], int]:
    """The shared variables of the kernel: those of fixed size first, then the one whose size the launch sets."""
    used = {s for line in flat.body for a in getattr(line, "args", ()) for s in _symbols(a)}
    mine = [v for v in program.variables.values() if v.space == "shared" and v.name in used]
    fixed = [v for v in mine if v.nbytes]
    places, end = _layout(fixed, 0)
    variables = [(plain_name(v.name), v.name, places[v.name], places[v.name] + v.nbytes) for v in fixed]
    variables += [(v.name, v.name, end, 1 << 30) for v in mine if not v.nbytes]
    return tuple((name, first, last) for _, name, first, last in variables), end


def plain_name(name: str) -> str:
    """The name in the source for a mangled name: _ZZ1kE4tile is tile."""
    match = re.fullmatch(r"_ZZ.*?E(\d+)(\w+)", name)
    return match[2][: int(match[1])] if match else name


def _symbols(operand: Operand) -> set[str]:
    if isinstance(operand, Sym):
        return {operand.name}
    if isinstance(operand, Mem):
        return {operand.base.name} if isinstance(operand.base, Sym) else set()
    if isinstance(operand, Vec):
        return {s for item in operand.items for s in _symbols(item)}
    return set()


def _unit(blocks: list[Block], others: set[str]) -> int:
    """Bytes of the smallest access that is not to the other spaces, at most 4."""
    sizes = [
        size_of(line.op[-1])
        for block in blocks
        for line in block.lines
        if (
            line.op[0] in ("ld", "st", "atom", "red", "ldmatrix", "stmatrix") or line.op[1:2] in (("load",), ("store",))
        )
        and not others & set(line.op)
    ]
    return min([4, *sizes])


def _param_names(texts: Iterable[str], kernel: str, count: int) -> tuple[str, ...]:
    """The names of the kernel's parameters in its source or in a header; numbers if they cannot be found."""
    for code in map(code_of, texts):
        for match in re.finditer(rf"\b{re.escape(base_name(kernel))}\s*\(", code):
            names = _listed_names(code, match.end())
            if len(names) == count:
                return names
    return tuple(f"argument {n}" for n in range(1, count + 1))


def _listed_names(code: str, start: int) -> tuple[str, ...]:
    """The last word of each parameter of a list without comments, from behind its parenthesis on."""
    names, depth = list[str](), 1
    for place in range(start, len(code)):
        depth += {"(": 1, "<": 1, "[": 1, ")": -1, ">": -1, "]": -1}.get(code[place], 0)
        if depth == 0 or (depth == 1 and code[place] == ","):
            words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^]]*\]", "", code[start:place]))
            names.append(words[-1] if words else "")
            start = place + 1
        if depth == 0:
            break
    return tuple(names)
