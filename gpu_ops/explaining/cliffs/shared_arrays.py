"""Arrays of shared memory in CUDA C, and the same source with longer rows or exchanged columns."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_WORDS = r"(?:(?:volatile|const|unsigned|signed|long|__align__\(\d+\)|alignas\(\d+\)|[A-Za-z_][\w:]*)\s+)+?"
_DECLARED = re.compile(
    rf"(?P<before>[^\n]*)\b__shared__\s+(?P<type>{_WORDS})(?P<name>[A-Za-z_]\w*)\s*(?P<dims>(?:\[[^\[\]]+\]\s*)+);"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S[^\n]*)$", re.M)
_CONSTANT = re.compile(r"\bconstexpr\s+(?:const\s+|unsigned\s+|static\s+)*\w+\s+(\w+)\s*=\s*([^;,]+);")
_CHANGES = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)")
_SIZES = (
    (1, ("char", "bool", "uint8_t", "int8_t")),
    (2, ("short", "half", "__half", "__nv_bfloat16", "uint16_t", "int16_t")),
)
WORD = 4
DEEPEST = 8
"""How often a constant may name another one."""


@dataclass(frozen=True)
class SharedArray:
    """An array of shared memory with a declaration of its own: its `dims` as they are written, and where in the text
    the last of them is. `step` is the number of elements of a 4-byte word, 1 for larger ones."""

    name: str
    line: int
    dims: tuple[str, ...]
    last: tuple[int, int]
    step: int


def shared_arrays(text: str) -> list[SharedArray]:
    """The arrays of fixed size and of two dimensions at least: those of one have no rows to lengthen."""
    found, code = [], _without_comments(text)
    for match in _DECLARED.finditer(code):
        dims = list(re.finditer(r"\[([^\[\]]+)\]", match["dims"]))
        if len(dims) < 2 or "extern" in match["before"]:
            continue
        start = match.start("dims")
        last = start + dims[-1].start(1), start + dims[-1].end(1)
        line = code.count("\n", 0, match.start("name")) + 1
        step = next((WORD // size for size, names in _SIZES if set(names) & set(match["type"].split())), 1)
        found.append(SharedArray(match["name"], line, tuple(dim[1].strip() for dim in dims), last, step))
    return found


def padded(text: str, array: SharedArray, elements: int) -> str:
    """The text with rows that are so many elements longer; its lines stay where they are."""
    start, end = array.last
    return f"{text[:start]}{text[start:end].strip()} + {elements}{text[end:]}"


def swizzled(text: str, array: SharedArray, defines: Mapping[str, object]) -> str | None:
    """The text in which row r keeps its columns in the order c ^ r, which costs no bytes; None where that cannot be
    written safely: the row's length must be a power of two, and each use must index both row and column, with nothing
    that changes a variable."""
    columns = _value(array.dims[-1], {**_constants(text), **{name: str(value) for name, value in defines.items()}})
    if len(array.dims) != 2 or not columns or columns & (columns - 1):
        return None
    code, pieces, done = _without_comments(text), [], 0
    for match in re.finditer(rf"\b{array.name}\b", code):
        if code.count("\n", 0, match.start()) + 1 == array.line and match.end() < array.last[0]:
            continue  # the declaration
        both = list(_indexes(code, match.end()))[:2]
        if len(both) < 2 or any(_CHANGES.search(code[start:end]) for start, end in both):
            return None
        (start, end), (first, last) = both
        if done > start:
            return None  # one use within another
        pieces += [text[done:first], f"({text[first:last]}) ^ (({text[start:end]}) & {columns - 1})"]
        done = last
    return "".join([*pieces, text[done:]]) if pieces else None


def _indexes(code: str, place: int) -> Iterator[tuple[int, int]]:
    """The spans within the brackets that follow each other from a place on."""
    while place < len(code) and code[place:].lstrip(" ")[:1] == "[":
        start = code.index("[", place) + 1
        depth, place = 1, start
        while depth and place < len(code):
            depth += {"[": 1, "]": -1}.get(code[place], 0)
            place += 1
        yield start, place - 1


def _without_comments(text: str) -> str:
    """The text with blanks in place of comments, so that all places stay."""
    return _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def _constants(text: str) -> dict[str, str]:
    code = _without_comments(text)
    return dict(_DEFINE.findall(code)) | dict(_CONSTANT.findall(code))


def _value(expression: str, names: Mapping[str, str], depth: int = 0) -> int | None:
    """The value of an integer expression of constants; None for any other."""
    for name in set(re.findall(r"[A-Za-z_]\w*", expression)):
        value = _value(names[name], names, depth + 1) if name in names and depth < DEEPEST else None
        if value is None:
            return None
        expression = re.sub(rf"\b{name}\b", str(value), expression)
    try:
        return _number(ast.parse(expression.replace("/", "//"), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _number(node: ast.AST) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left), _number(node.right)
        if isinstance(node.op, ast.FloorDiv):
            return left // right
        if isinstance(node.op, ast.LShift):
            return left << min(right, 64)
        if isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
            return {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right}[type(node.op)]
    raise ValueError("no integer expression")
