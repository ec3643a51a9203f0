"""PTX as data: functions, variables, and instructions with their source positions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

SIZES = {"pred": 1, "8": 1, "16": 2, "32": 4, "64": 8, "128": 16, "f16x2": 4, "bf16x2": 4}


class Place(NamedTuple):
    """A line of a source file, and the lines of the callers that it was inlined at, innermost first."""

    file: str
    line: int
    inlined_at: tuple[tuple[str, int], ...] = ()


class Reg(NamedTuple):
    """A register, by the name it has after scopes are distinguished."""

    name: str


class Imm(NamedTuple):
    """A number: an int, or a float by its bits ("f32" or "f64")."""

    value: int
    kind: str = "int"


class Sym(NamedTuple):
    """The address of a variable, or a label or function."""

    name: str
    offset: int = 0


class Mem(NamedTuple):
    """[base + offset]; `base` is a register, a variable's name, or None for a plain address."""

    base: Reg | Sym | None
    offset: int


class Vec(NamedTuple):
    """{a, b, …}"""

    items: tuple[Operand, ...]


Operand = Reg | Imm | Sym | Mem | Vec


class Instruction(NamedTuple):
    """One instruction. `op` is its parts ("ld", "global", "f32"); `guard` the predicate register it depends on; `row`
    its line in the text of the PTX, 0 for one that the simulator added."""

    op: tuple[str, ...]
    args: tuple[Operand, ...]
    place: Place
    guard: Reg | None = None
    negated: bool = False
    row: int = 0

    @property
    def name(self) -> str:
        return ".".join(self.op)


@dataclass(frozen=True)
class Label:
    """A jump target."""

    name: str


@dataclass(frozen=True)
class Targets:
    """The labels that a brx.idx chooses from."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Prototype:
    """The bytes of the parameters of functions that a call through a pointer may reach, and of their results."""

    name: str
    takes: tuple[int, ...]
    gives: tuple[int, ...]


class Link(NamedTuple):
    """Bytes of a variable's initial value that are those of an address: the address of `symbol` and its `offset`,
    shifted right by so many bits."""

    at: int
    nbytes: int
    symbol: Sym
    shift: int


@dataclass(frozen=True)
class Variable:
    """A variable of a state space: const, global, shared, local or param. `nbytes` 0: its size is set by the launch.
    `links` are the addresses in its initial value."""

    name: str
    space: str
    nbytes: int
    align: int
    data: bytes = b""
    links: tuple[Link, ...] = ()


@dataclass
class Function:
    """A kernel or device function. `registers` gives each register's PTX type, `cluster` the extents of a cluster,
    `rows` are its first and its last line in the text of the PTX."""

    name: str
    is_entry: bool
    params: list[Variable] = field(default_factory=list)
    returns: list[Variable] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    body: list[Instruction | Label | Targets | Prototype] = field(default_factory=list)
    place: Place = Place("", 0)
    cluster: tuple[int, int, int] | None = None
    rows: tuple[int, int] = (0, 0)

    @property
    def prototype(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The bytes of its parameters, and of its results."""
        takes, gives = (tuple(v.nbytes for v in variables) for variables in (self.params, self.returns))
        return takes, gives


@dataclass
class Program:
    """A parsed PTX file. `library` are the names of the files in it that are CUDA's own headers."""

    architecture: str
    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    library: frozenset[str] = frozenset()


def size_of(type: str) -> int:
    """Bytes of a PTX type such as u8, f32, b64, f16x2."""
    return SIZES[type] if type in SIZES else SIZES[type[1:]] if type[1:] in SIZES else SIZES[type[2:]]
