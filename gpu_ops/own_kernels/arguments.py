"""Arguments of a kernel as text: arrays with their contents, numbers, structures and pointers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from gpu_ops.devices.compiler import KernelParam
from gpu_ops.devices.images import OPTIONS, Sampling, sampling_of
from gpu_ops.errors import InputError, ParamError, plain

Array = np.ndarray[Any, Any]
DTYPES = (
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bool"),
)
CONTENTS = ("random", "zeros", "ones", "range", "empty")
FORMS = (
    "a number, DTYPE:NUMBER, CONTENT:DTYPE:SHAPE with CONTENT one of " + ", ".join(CONTENTS) + ", FILE.npy, null, "
    "struct:DTYPE=NUMBER,…, pointers:NAME,…, texture:ARRAY,OPTION,… or surface:ARRAY,OPTION,… with ARRAY as above and "
    "OPTION of " + ", ".join(OPTIONS) + ", or variable:NAME for what a __device__ variable holds"
)
GIVEN = ("input", "result")
"""The arrays that the window gives to a launch, in the form NAME:DTYPE."""
TRUTHS = {"true": "1", "false": "0"}
MOST_ELEMENTS = 1 << 31
_TYPES = {"float", "double", "half", "__half", "int", "unsigned", "short", "long", "char", "bool"}
_PAIRS = {"float2", "double2", "cuFloatComplex", "cuDoubleComplex", "cuComplex", "cufftComplex", "cufftDoubleComplex"}
_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.S)


@dataclass(frozen=True)
class Argument:
    """An argument: an array with its contents (None: uninitialised memory of that shape and dtype), a scalar, the names
    of arrays whose addresses it has, or a null pointer. `text` is a number that takes the type of the parameter. With
    `sampling` it is a texture or surface over the array; with `variable` the address that this variable holds."""

    name: str
    array: Array | None = None
    empty: tuple[tuple[int, ...], np.dtype[Any]] | None = None
    scalar: np.generic | None = None
    pointers: tuple[str, ...] | None = None
    text: str | None = None
    sampling: Sampling | None = None
    variable: str | None = None

    @property
    def is_array(self) -> bool:
        return self.array is not None or self.empty is not None or self.pointers is not None


def parse(texts: Sequence[str], names: Sequence[str], given: Mapping[str, Array] = {}) -> tuple[Argument, ...]:
    """The arguments of a kernel whose parameters have these names; an argument may name itself, "x=zeros:float32:100".
    `given` are the arrays of GIVEN. Raises ParamError with the forms that are allowed, InputError for an NPY file."""
    named = [names[place] if place < len(names) else "" for place in range(len(texts))]
    found = [_parse(text, name, place, given) for place, (text, name) in enumerate(zip(texts, named, strict=True))]
    arrays = [a.name for a in found if a.is_array]
    for argument in found:
        for name in argument.pointers or ():
            if name != "null" and name not in arrays:
                known = ", ".join(arrays) or "none"
                raise ParamError(f"{argument.name} points to {plain(name, 60)}; the arrays are {known}, or null.")
    if len({a.name for a in found}) < len(found):
        raise ParamError(f"Two arguments have one name: {', '.join(a.name for a in found)}; name them NAME=….")
    return tuple(found)


def _parse(text: str, name: str, place: int, given: Mapping[str, Array]) -> Argument:
    named = _NAMED.fullmatch(text)
    if named and not text.startswith("struct:"):
        name, text = named[1], named[2]
    name = name or f"argument {place + 1}"
    kind, _, rest = text.partition(":")
    if text == "null":
        return Argument(name)
    if kind in ("texture", "surface"):
        array, *options = rest.split(",")
        inner = _parse(array, name, place, given)
        if inner.array is None and inner.empty is None:
            raise ParamError(
                f"--arg {plain(text, 80)} has no array; give {kind}:CONTENT:DTYPE:SHAPE or {kind}:FILE.npy."
            )
        return replace(inner, sampling=sampling_of([o.strip() for o in options], kind == "surface"))
    if text.endswith(".npy"):
        return Argument(name, array=_load(text))
    if kind == "variable":
        return Argument(name, variable=rest)
    if kind == "pointers":
        return Argument(name, pointers=tuple(part.strip() for part in rest.split(",")))
    if kind == "struct":
        return Argument(name, scalar=_struct(rest, text))
    if kind in given:
        return Argument(name, array=converted(given[kind], rest, kind))
    if kind in CONTENTS:
        return _array(name, kind, rest, text, place)
    if kind in DTYPES and rest:
        return Argument(name, scalar=number(rest, np.dtype(kind), name))
    try:
        complex(TRUTHS.get(text.lower(), text))
    except ValueError:
        raise ParamError(f"--arg {plain(text, 80)} cannot be read; give {FORMS}.") from None
    return Argument(name, text=text)


def converted(array: Array, dtype: str, name: str) -> Array:
    """An array in another type that holds all its values. Raises ParamError where that type does not."""
    to = np.dtype(dtype if dtype in DTYPES else array.dtype)
    if not np.can_cast(array.dtype, to):
        raise ParamError(
            f"The {name} is {array.dtype}, and {to} does not hold all its values; choose {array.dtype}, or convert it "
            "first with the step Convert the type."
        )
    return np.ascontiguousarray(array, to)


def _array(name: str, content: str, rest: str, text: str, place: int) -> Argument:
    dtype_name, _, shape_text = rest.partition(":")
    if dtype_name not in DTYPES or not re.fullmatch(r"\d{1,10}(x\d{1,10}){0,3}", shape_text):
        raise ParamError(
            f"--arg {plain(text, 80)} cannot be read; give {content}:DTYPE:SHAPE with a shape such as 1000 or 480x640 "
            f"and DTYPE one of {', '.join(DTYPES)}."
        )
    dtype, shape = np.dtype(dtype_name), tuple(map(int, shape_text.split("x")))
    count = int(np.prod(shape, dtype=object))
    if not 0 < count <= MOST_ELEMENTS:
        raise ParamError(f"--arg {plain(text, 80)} has {count:,} elements; 1 to {MOST_ELEMENTS:,} are allowed.")
    if content == "empty":
        return Argument(name, empty=(shape, dtype))
    if content == "random":
        return Argument(name, array=_random(np.random.default_rng(place + 1), shape, dtype))
    if content == "range":
        return Argument(name, array=np.arange(count).astype(dtype).reshape(shape))
    return Argument(name, array=np.full(shape, content == "ones", dtype))


def _random(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Uniform: floats in [0, 1), integers from 0 to 255 or to the largest of a smaller type. The same on each run."""
    if dtype.kind in "fc":
        values = rng.random(shape, np.float32)
        return (
            (values + 1j * rng.random(shape, np.float32)).astype(dtype) if dtype.kind == "c" else values.astype(dtype)
        )
    largest = 1 if dtype.kind == "b" else min(255, int(np.iinfo(dtype).max))
    return rng.integers(0, largest, shape, endpoint=True).astype(dtype)


def _load(path: str) -> Array:
    try:
        array = np.load(path, mmap_mode=None, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{plain(path)} cannot be read as NPY ({plain(error, 120)}); give an array's file.") from None
    if not isinstance(array, np.ndarray) or array.dtype.hasobject or not array.size:
        raise InputError(f"{plain(path)} has no array of numbers; give a file that numpy.save wrote.")
    return np.ascontiguousarray(array)


def _struct(rest: str, text: str) -> np.generic:
    """A structure with C's alignment, from "float32=1.5,int32=3"."""
    fields = [part.partition("=") for part in rest.split(",")]
    if not all(sign and dtype.strip() in DTYPES for dtype, sign, _ in fields):
        raise ParamError(
            f"--arg {plain(text, 80)} cannot be read; give struct:DTYPE=NUMBER,… with DTYPE of {', '.join(DTYPES)}."
        )
    dtype = np.dtype([(f"f{n}", kind.strip()) for n, (kind, _, _) in enumerate(fields)], align=True)
    value = np.zeros((), dtype)
    for n, (kind, _, number_text) in enumerate(fields):
        value[f"f{n}"] = number(number_text, np.dtype(kind.strip()), text)
    return cast(np.generic, value[()])


def number(text: str, dtype: np.dtype[Any], name: str) -> np.generic:
    """A number of that type. Raises ParamError where the text is none, or does not fit."""
    try:
        if dtype.kind in "iu":
            value: Any = int(text, 0)
            limits = np.iinfo(dtype)
            if not limits.min <= value <= limits.max:
                raise ParamError(
                    f"{plain(name, 60)}: {plain(text, 60)} does not fit {dtype}: {limits.min} to {limits.max}."
                )
        elif dtype.kind == "b":
            value = bool(int(TRUTHS.get(text.lower(), text)))
        else:
            value = complex(text) if dtype.kind == "c" else float(text)
        made: np.generic = dtype.type(value)
        return made
    except (ValueError, KeyError):
        raise ParamError(f"{plain(name, 60)}: {plain(text, 60)} is no {dtype}; give a number of that type.") from None


def scalar_of(text: str, param: KernelParam, declared: str, name: str) -> np.generic:
    """A number of the type that a parameter has. PTX does not always tell integers from floats; there the declaration
    in the source says it, or the number itself in a template."""
    if param.type == "ptr" or (param.nbytes == 8 and "*" in declared):
        raise ParamError(f"{name} is a pointer ({declared}); give an array, such as zeros:float32:1000, or null.")
    found = re.findall(r"\w+", declared)
    words = set(found[:-1] if _TYPES.intersection(found[:-1]) else found)  # a parameter's name may be "half"
    if param.type == "b8" and param.nbytes > 1:  # PTX has scalars by their types, and structures as bytes
        if param.nbytes in (8, 16) and words & _PAIRS:
            return number(text, np.dtype(f"complex{8 * param.nbytes}"), name)
        raise ParamError(f"{name} is a structure of {param.nbytes} bytes ({declared}); give struct:DTYPE=NUMBER,….")
    floats = {2: "float16", 4: "float32", 8: "float64"}
    if "bool" in words and param.nbytes == 1:
        return number(text, np.dtype(bool), name)
    is_float = param.type.startswith("f") or bool(words & {"float", "double", "half", "__half"})
    if not is_float and param.type.startswith("b") and not words & {"int", "unsigned", "short", "long", "char", "bool"}:
        is_float = not re.fullmatch(r"[-+]?(0x[0-9a-fA-F]+|\d+)", text)
    if is_float and param.nbytes in floats:
        return number(text, np.dtype(floats[param.nbytes]), name)
    signed = "u" if "unsigned" in words or text.lstrip("+")[:1].isdigit() and "int" not in words else ""
    return number(text, np.dtype(f"{signed}int{8 * param.nbytes}"), name)


def names_of(declarations: Sequence[str]) -> list[str]:
    """The names of declared parameters; "" where one has no name."""
    return [(re.findall(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?$", d) or [""])[0] for d in declarations]


def summary(array: Array) -> Mapping[str, Any]:
    """What a report says of an array: dtype, shape, minimum, maximum and the first values."""
    values = array.reshape(-1)
    numbers = values if values.dtype.kind != "V" else values.view(np.uint8)
    finite = numbers[np.isfinite(numbers)] if numbers.dtype.kind in "fc" else numbers
    extremes = (
        {"min": finite.min().item(), "max": finite.max().item()} if finite.size and finite.dtype.kind != "c" else {}
    )
    first = [str(v) if numbers.dtype.kind == "c" else v.item() for v in numbers[:8]]
    return {"dtype": str(array.dtype), "shape": list(array.shape), **extremes, "first": first}


def extents(text: str, flag: str) -> tuple[int, int, int]:
    """The extents (x, y, z) in a text such as "41" or "16x8". Raises ParamError, which names the flag."""
    parts = text.split("x")
    if len(parts) > 3 or not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise ParamError(
            f"{flag} {plain(text, 60)} is no extent; give up to three numbers above 0, such as 41 or 16x8."
        )
    x, y, z = (*map(int, parts), *(1,) * (3 - len(parts)))
    return x, y, z


def pairs(texts: Sequence[str], flag: str, default: str | None = None) -> dict[str, str]:
    """The values by name in texts such as "N=4"; one without a value has the default. Raises ParamError."""
    found = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not name.isidentifier() and not (flag == "--save" and name) or not (sign or default):
            raise ParamError(
                f"{flag} {plain(text, 80)} is no NAME=VALUE; the name has letters, digits and underscores."
            )
        found[name] = value if sign else str(default)
    return found
