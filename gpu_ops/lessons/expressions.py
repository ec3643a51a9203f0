"""Expressions over counted and recorded figures, such as "naive.global_load_sectors / shared.global_load_sectors"."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from gpu_ops.errors import ParamError, plain

Lookup = Callable[[str, str], float]
"""The figure of a trial, by the trial's name and the figure's."""
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
LONGEST = 400
"""The most characters of an expression."""
ALLOWED = "numbers, NAME.FIGURE, + - * /, comparisons, and, or, parentheses"


def evaluate(text: str, figure: Lookup) -> float | bool:
    """The value of an expression. Raises ParamError where it is not one, or divides by zero."""
    try:
        if len(text) > LONGEST:
            raise SyntaxError
        tree = ast.parse(text.strip(), mode="eval").body
        value: float | bool = _value(tree, figure)
    except (SyntaxError, ValueError, RecursionError):
        raise ParamError(f"{plain(text, 80)!r} is no expression; it may have {ALLOWED}.") from None
    except ZeroDivisionError:
        raise ParamError(f"{plain(text, 80)!r} divides by zero.") from None
    return value


def _value(node: ast.expr, figure: Lookup) -> Any:
    match node:
        case ast.Constant(value=bool() | str()):
            raise SyntaxError
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Attribute(value=ast.Name(id=trial), attr=name):
            return figure(trial, name)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, figure), _value(right, figure))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, figure)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARED for op in ops):
            values = [_value(part, figure) for part in (left, *others)]
            pairs = zip(values, ops, values[1:], strict=False)
            return all(_COMPARED[type(op)](a, b) for a, op, b in pairs)
        case ast.BoolOp(op=op, values=parts):
            results = [bool(_value(part, figure)) for part in parts]
            return all(results) if isinstance(op, ast.And) else any(results)
    raise SyntaxError
