"""SIMD vectors for compiled loops. Importing this loads Numba.

LLVM vectorises a plain loop only if it proves that no store changes what a later iteration loads. A butterfly has eight
load and eight store streams, for which it fails. So these functions vectorise explicitly: a vector of `BYTES` bytes is
loaded from an array, used in sums, products and comparisons, and stored. Sums and products are of floats, and may be
contracted to FMA. On a processor with narrower registers a vector takes several of them.

All positions count values of a flat array and are not checked: outside it they corrupt memory.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

BYTES = 64
"""The size of a vector: sixteen float32 or eight float64. As many complex numbers fill two neighbouring cache lines."""


class Lanes(types.Type):  # type: ignore[misc]
    """The type of a vector of floats or unsigned integers."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.count = 8 * BYTES // dtype.bitwidth
        super().__init__(name=f"Lanes({dtype}, {self.count})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        one = manager.lookup(lanes.dtype).get_value_type()
        super().__init__(manager, lanes, ir.VectorType(one, lanes.count))


class _Vectors:
    """Loads, stores and shuffles of one array, for the generators below."""

    def __init__(self, context: Any, builder: Any, array_type: Any, array: Any) -> None:
        self.builder, lanes = builder, Lanes(array_type.dtype)
        self.count, self.kind = lanes.count, context.get_value_type(lanes)
        self.align = array_type.dtype.bitwidth // 8
        self.data = context.make_array(array_type)(context, builder, array).data

    def _pointer(self, at: Any, plus: int) -> Any:
        place = self.builder.add(at, ir.Constant(at.type, plus))
        return self.builder.bitcast(self.builder.gep(self.data, [place]), self.kind.as_pointer())

    def load(self, at: Any, plus: int = 0) -> Any:
        value = self.builder.load(self._pointer(at, plus))
        value.align = self.align
        return value

    def store(self, value: Any, at: Any, plus: int = 0) -> None:
        self.builder.store(value, self._pointer(at, plus)).align = self.align

    def pick(self, a: Any, b: Any, places: Sequence[int]) -> Any:
        """A shuffle of a and b by these indices, which number the elements of both."""
        mask = ir.Constant(ir.VectorType(ir.IntType(32), self.count), [ir.IntType(32)(place) for place in places])
        return self.builder.shuffle_vector(a, b, mask)

    def parts(self, a: Any, b: Any) -> tuple[Any, Any]:
        """The elements with even and with odd indices of a and b."""
        return self.pick(a, b, range(0, 2 * self.count, 2)), self.pick(a, b, range(1, 2 * self.count, 2))

    def mix(self, a: Any, b: Any) -> tuple[Any, Any]:
        """a0 b0 a1 b1 … in two vectors."""
        order = [place for k in range(self.count) for place in (k, k + self.count)]
        return self.pick(a, b, order[: self.count]), self.pick(a, b, order[self.count :])

    def turn(self, rows: list[Any]) -> list[Any]:
        """The transpose of a square: each round of shuffles moves one bit of the index from the row to the column."""
        half = self.count // 2
        for _ in range(self.count.bit_length() - 1):
            rows = [value for k in range(half) for value in self.mix(rows[k], rows[k + half])]
        return rows


@intrinsic
def load(typing: Any, array: Any, at: Any) -> Any:
    """The vector of an array that begins at a position."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _Vectors(context, builder, signature.args[0], arguments[0]).load(arguments[1])

    return Lanes(array.dtype)(array, types.intp), generate


@intrinsic
def store(typing: Any, array: Any, at: Any, value: Any) -> Any:
    """Store a vector to an array, beginning at a position."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _Vectors(context, builder, signature.args[0], arguments[0]).store(arguments[2], arguments[1])
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@intrinsic
def spread(typing: Any, value: Any) -> Any:
    """A vector with one value in all elements."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        first = builder.insert_element(ir.Constant(kind, ir.Undefined), arguments[0], ir.IntType(32)(0))
        nulls = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), None)
        return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), nulls)

    return Lanes(value)(value), generate


@intrinsic
def load_pairs(typing: Any, array: Any, at: Any) -> Any:
    """The real and the imaginary parts of neighbouring complex numbers, (re, im)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x = _Vectors(context, builder, signature.args[0], arguments[0])
        parts = x.parts(x.load(arguments[1]), x.load(arguments[1], x.count))
        return cgutils.pack_array(builder, parts)

    return types.UniTuple(Lanes(array.dtype), 2)(array, types.intp), generate


@intrinsic
def store_pairs(typing: Any, array: Any, at: Any, re: Any, im: Any) -> Any:
    """Store vectors of real and imaginary parts to an array as interleaved complex numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x = _Vectors(context, builder, signature.args[0], arguments[0])
        low, high = x.mix(arguments[2], arguments[3])
        x.store(low, arguments[1])
        x.store(high, arguments[1], x.count)
        return context.get_dummy_value()

    return types.void(array, types.intp, re, im), generate


@intrinsic
def pairs_to_lanes(typing: Any, array: Any, at: Any, stride: Any, work: Any, re: Any, im: Any) -> Any:
    """A square of complex numbers of `array`, a row beginning every `stride` values from `at`: column k is stored to
    the vectors of `work` that begin k vectors after `re` and `im`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x = _Vectors(context, builder, signature.args[0], arguments[0])
        y = _Vectors(context, builder, signature.args[3], arguments[3])
        place, rows = arguments[1], []
        for _ in range(x.count):
            rows.append(x.parts(x.load(place), x.load(place, x.count)))
            place = builder.add(place, arguments[2])
        for part, start in enumerate(arguments[4:]):
            for k, column in enumerate(x.turn([row[part] for row in rows])):
                y.store(column, start, k * x.count)
        return context.get_dummy_value()

    at_all = (types.intp,) * 2
    return types.void(array, *at_all, work, *at_all), generate


@intrinsic
def lanes_to_pairs(typing: Any, work: Any, re: Any, im: Any, array: Any, at: Any, stride: Any) -> Any:
    """The inverse: vectors of `work` become columns of a square of complex numbers in `array`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        y = _Vectors(context, builder, signature.args[0], arguments[0])
        x = _Vectors(context, builder, signature.args[3], arguments[3])
        parts = [y.turn([y.load(start, k * y.count) for k in range(y.count)]) for start in arguments[1:3]]
        place = arguments[4]
        for re_row, im_row in zip(*parts, strict=True):
            low, high = x.mix(re_row, im_row)
            x.store(low, place)
            x.store(high, place, x.count)
            place = builder.add(place, arguments[5])
        return context.get_dummy_value()

    at_all = (types.intp,) * 2
    return types.void(work, *at_all, array, *at_all), generate


def _choice(comparison: str) -> Any:
    """The intrinsic that selects a where the comparison of a with b is true, else b, so b if either is NaN."""

    @intrinsic
    def choose(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            whole = isinstance(signature.return_type.dtype, types.Integer)
            compare = builder.icmp_unsigned if whole else builder.fcmp_ordered
            return builder.select(compare(comparison, *arguments), *arguments)

        return (a(a, b), generate) if isinstance(a, Lanes) and a == b else None

    return choose


least, most = _choice("<"), _choice(">")
"""The minimum and maximum values of two vectors of floats or unsigned integers; where one has NaN, the second's."""


@intrinsic
def mark_nan(typing: Any, marks: Any, a: Any, b: Any) -> Any:
    """The vector `marks` with NaN where a or b has NaN; integers have none."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.return_type.dtype
        if isinstance(kind, types.Integer):
            return arguments[0]
        every = ir.Constant(arguments[0].type, [float("nan")] * signature.return_type.count)
        return builder.select(builder.fcmp_unordered("uno", *arguments[1:]), every, arguments[0])

    return marks(marks, a, b), generate


def _define(symbol: Any, what: str) -> None:
    """Make an operation between two vectors per instruction."""

    @type_callable(symbol)
    def check(context: Any) -> Any:
        return lambda a, b: a if isinstance(a, Lanes) and a == b else None

    @lower_builtin(symbol, Lanes, Lanes)
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return getattr(builder, what)(*arguments, flags=("contract",))


for _symbol, _what in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _define(_symbol, _what)
