"""What a launch of a kernel might look like, from the declarations of its parameters: a start for a form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gpu_ops.own_kernels.arguments import names_of
from gpu_ops.own_kernels.sources import Declared

LENGTH = 10_000
"""Elements of each array at first, and the value of integers that may be a length."""
BLOCK = 256
C_TYPES: Mapping[str, str] = {
    **{"float": "float32", "double": "float64", "half": "float16", "__half": "float16", "bool": "bool"},
    **{"char": "int8", "signed char": "int8", "unsigned char": "uint8", "uchar": "uint8"},
    **{"short": "int16", "unsigned short": "uint16", "ushort": "uint16"},
    **{"int": "int32", "long": "int64", "long long": "int64", "long long int": "int64", "ptrdiff_t": "int64"},
    **{"unsigned": "uint32", "unsigned int": "uint32", "uint": "uint32"},
    **{"unsigned long": "uint64", "unsigned long long": "uint64", "size_t": "uint64"},
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{"float2": "complex64", "cuFloatComplex": "complex64", "double2": "complex128"},
}
"""The dtype of a type of CUDA C."""
LONG = ("long", "unsigned long", "long int")
_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|struct|std::)\b|\bstd::")
_LENGTHS = re.compile(r"n|.*(?:len|length|size|count|num|elements).*|n[a-z_]+|.*_n", re.I)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: its declaration, its name, the dtype of its value or of what it points to ("" where it
    is another type), and whether it is a pointer, also to what the kernel may write."""

    declaration: str
    name: str
    dtype: str
    pointer: bool
    written: bool

    @property
    def holds(self) -> str:
        """The dtype of the elements that a pointer points to; "" where it is not sure: of a template, of a pointer to
        pointers, or of long, which is not the same on all systems."""
        what = " ".join(_QUALIFIERS.sub(" ", self.declaration.split("*")[0].split("[")[0]).split())
        named = self.name if self.declaration.count("*") == 0 else ""
        kind = " ".join(what.removesuffix(named).split())
        return C_TYPES.get(kind, "") if self.pointer and self.declaration.count("*") < 2 and kind not in LONG else ""

    @property
    def preset(self) -> str:
        """The argument's text at first, as --arg takes it: an input is random, an output is zero."""
        if self.pointer:
            return f"{'zeros' if self.written else 'random'}:{self.dtype or 'float32'}:{LENGTH}"
        if self.dtype.startswith(("int", "uint")) and _LENGTHS.fullmatch(self.name):
            return str(LENGTH)
        return "1"


def parameters(declared: Declared, instance: str = "") -> tuple[Parameter, ...]:
    """The parameters of a kernel. Of a template's `instance`, such as "reduce<int>", the first type is taken for each
    type that C does not name."""
    inner = instance[instance.find("<") + 1 : instance.rfind(">")] if "<" in instance else ""
    types = [C_TYPES[t] for part in inner.split(",") if (t := " ".join(part.split())) in C_TYPES]
    return tuple(_parameter(text, types[0] if types and declared.template else "") for text in declared.params)


def _parameter(declaration: str, other: str) -> Parameter:
    (name,) = names_of([declaration])
    head, _, rest = declaration.rpartition(name) if name else (declaration, "", "")
    pointer, what = "*" in head or "[" in rest, head.split("*")[0]
    kind = " ".join(_QUALIFIERS.sub(" ", what).split())
    constant = re.search(r"\bconst\b", what) is not None
    return Parameter(declaration, name, C_TYPES.get(kind, other), pointer, pointer and not constant)


def blocks_for(elements: int, block: int = BLOCK) -> int:
    """Blocks of a grid with a thread for each element."""
    return -(-elements // block)
