"""The instruction set as a table: for each opcode its operands, its results, and the expression that computes them.

A rule's letters are types: t the instruction's own; a any integer of its width (only the bits count); w twice as wide;
u uint32; i int32; p a predicate; b uint of its width. In expressions {0}, {1} … are the operands, {T} and {W} the NumPy
types of t and w, and A the module `arithmetic`. An instruction without a row makes loading the kernel fail, with its
name and line.
"""

from __future__ import annotations

from typing import NamedTuple

from gpu_ops.devices.sim.ptx.computation import NUMPY, ROUNDINGS, Computation, refused
from gpu_ops.devices.sim.ptx.conversions import conversion, packing
from gpu_ops.devices.sim.ptx.program import Instruction

WIDER = {"i2": "i4", "u2": "u4", "i4": "i8", "u4": "u8"}


class Rule(NamedTuple):
    """One row. `gives` and `takes` are letters."""

    gives: str
    takes: str
    expression: str


INTEGER = {
    "add": Rule("a", "aa", "{0} + {1}"),
    "add.sat": Rule("t", "tt", "A.saturating_add({0}, {1})"),
    "sub": Rule("a", "aa", "{0} - {1}"),
    "sub.sat": Rule("t", "tt", "A.saturating_add({0}, {1}, -1)"),
    "mul.lo": Rule("a", "aa", "{0} * {1}"),
    "mul.hi": Rule("t", "tt", "A.multiply_high({0}, {1})"),
    "mul.wide": Rule("w", "tt", "{0}.astype({W}) * {1}"),
    "mad.lo": Rule("a", "aaa", "{0} * {1} + {2}"),
    "mad.hi": Rule("t", "ttt", "A.multiply_high({0}, {1}) + {2}"),
    "mad.wide": Rule("w", "ttw", "{0}.astype({W}) * {1} + {2}"),
    "mul24.lo": Rule("t", "tt", "A.multiply_24({0}, {1})"),
    "mad24.lo": Rule("t", "ttt", "A.multiply_24({0}, {1}) + {2}"),
    "sad": Rule("t", "ttt", "np.where({0} < {1}, {1} - {0}, {0} - {1}) + {2}"),
    "div": Rule("t", "tt", "A.divide({0}, {1})"),
    "rem": Rule("t", "tt", "A.remainder({0}, {1})"),
    "abs": Rule("t", "t", "np.abs({0})"),
    "neg": Rule("t", "t", "-{0}"),
    "min": Rule("t", "tt", "np.minimum({0}, {1})"),
    "max": Rule("t", "tt", "np.maximum({0}, {1})"),
    "min.relu": Rule("t", "tt", "np.maximum(np.minimum({0}, {1}), {T}(0))"),
    "max.relu": Rule("t", "tt", "np.maximum(np.maximum({0}, {1}), {T}(0))"),
    "and": Rule("a", "aa", "{0} & {1}"),
    "or": Rule("a", "aa", "{0} | {1}"),
    "xor": Rule("a", "aa", "{0} ^ {1}"),
    "not": Rule("a", "a", "~{0}"),
    "cnot": Rule("a", "a", "({0} == 0).astype({0}.dtype)"),
    "shl": Rule("a", "au", "A.shl({0}, {1})"),
    "shr": Rule("t", "tu", "A.shr({0}, {1})"),
    "shf.l.wrap": Rule("i", "iiu", "A.funnel({0}, {1}, {2}, False, True)"),
    "shf.l.clamp": Rule("i", "iiu", "A.funnel({0}, {1}, {2}, False, False)"),
    "shf.r.wrap": Rule("i", "iiu", "A.funnel({0}, {1}, {2}, True, True)"),
    "shf.r.clamp": Rule("i", "iiu", "A.funnel({0}, {1}, {2}, True, False)"),
    "bfe": Rule("t", "tuu", "A.extract_bits({0}, {1}, {2})"),
    "bfi": Rule("b", "bbuu", "A.insert_bits({0}, {1}, {2}, {3})"),
    "bfind": Rule("i", "t", "A.highest_bit({0})"),
    "bfind.shiftamt": Rule("i", "t", "A.shift_to_top({0})"),
    "brev": Rule("a", "a", "A.reverse_bits({0})"),
    "clz": Rule("i", "b", "A.leading_zeros({0})"),
    "popc": Rule("i", "b", "A.population({0})"),
    "prmt": Rule("i", "iiu", "A.permute_bytes({0}, {1}, {2})"),
    "lop3": Rule("a", "aaa", "A.logic3({0}, {1}, {2}, {table})"),
    "slct.f32": Rule("t", "ttx", "np.where({2} >= 0, {0}, {1})"),
    "slct.s32": Rule("t", "tti", "np.where({2} >= 0, {0}, {1})"),
    "selp": Rule("a", "aap", "np.where({2}, {0}, {1})"),
}
FLOAT = {
    "add": Rule("t", "tt", "{0} + {1}"),
    "sub": Rule("t", "tt", "{0} - {1}"),
    "mul": Rule("t", "tt", "{0} * {1}"),
    "div": Rule("t", "tt", "{0} / {1}"),
    "abs": Rule("t", "t", "np.abs({0})"),
    "neg": Rule("t", "t", "-{0}"),
    "min": Rule("t", "tt", "F.smaller({0}, {1})"),
    "max": Rule("t", "tt", "F.larger({0}, {1})"),
    "min.NaN": Rule("t", "tt", "np.minimum({0}, {1})"),
    "max.NaN": Rule("t", "tt", "np.maximum({0}, {1})"),
    "rcp": Rule("t", "t", "{T}(1) / {0}"),
    "sqrt": Rule("t", "t", "np.sqrt({0})"),
    "rsqrt": Rule("t", "t", "A.in_double(lambda x: 1 / np.sqrt(x), {0})"),
    "sin": Rule("t", "t", "A.in_double(np.sin, {0})"),
    "cos": Rule("t", "t", "A.in_double(np.cos, {0})"),
    "lg2": Rule("t", "t", "A.in_double(np.log2, {0})"),
    "ex2": Rule("t", "t", "A.in_double(np.exp2, {0})"),
    "tanh": Rule("t", "t", "A.in_double(np.tanh, {0})"),
    "copysign": Rule("t", "tt", "np.copysign({1}, {0})"),
    "selp": Rule("t", "ttp", "np.where({2}, {0}, {1})"),
    "testp.finite": Rule("p", "t", "np.isfinite({0})"),
    "testp.infinite": Rule("p", "t", "np.isinf({0})"),
    "testp.number": Rule("p", "t", "~np.isnan({0})"),
    "testp.notanumber": Rule("p", "t", "np.isnan({0})"),
    "testp.normal": Rule("p", "t", "np.isfinite({0}) & (np.abs({0}) >= np.finfo({T}).tiny)"),
    "testp.subnormal": Rule("p", "t", "({0} != 0) & (np.abs({0}) < np.finfo({T}).tiny)"),
}
FUSED = {
    "f16": "({0}.astype(A.f8) * {1} + {2}).astype(A.f2)",
    "f32": "F.fma32({0}, {1}, {2})",
    "f64": "F.fma64({0}, {1}, {2})",
}
NARROW = {
    "add": "lambda x, y: x + y",
    "sub": "lambda x, y: x - y",
    "mul": "lambda x, y: x * y",
    "fma": "lambda x, y, z: x * y + z",
    "min": "F.smaller",
    "max": "F.larger",
    "min.NaN": "np.minimum",
    "max.NaN": "np.maximum",
    "abs": "np.abs",
    "neg": "np.negative",
    "ex2": "np.exp2",
    "tanh": "np.tanh",
}
"""Functions of float16 in pairs, and of bfloat16."""
OF_NARROW = {"f16x2": ("half2", "i4"), "bf16": ("bfloat", "u2"), "bf16x2": ("bfloat2", "i4")}
LIMITED = {"relu": "A.limited({}, np.nan, 0.0, np.inf)", "sat": "A.limited({}, 0.0, 0.0, 1.0)"}
PAIRS = {"add": "np.add", "min": "np.minimum", "max": "np.maximum"}
PREDICATE = {
    "and": Rule("p", "pp", "{0} & {1}"),
    "or": Rule("p", "pp", "{0} | {1}"),
    "xor": Rule("p", "pp", "{0} ^ {1}"),
    "not": Rule("p", "p", "~{0}"),
}
COMPARE = {
    **{"eq": "{0} == {1}", "ne": "{0} != {1}", "lt": "{0} < {1}", "le": "{0} <= {1}", "gt": "{0} > {1}"},
    **{"ge": "{0} >= {1}", "lo": "{0} < {1}", "ls": "{0} <= {1}", "hi": "{0} > {1}", "hs": "{0} >= {1}"},
}
COMPARE_FLOAT = {
    **COMPARE,
    "ne": "({0} < {1}) | ({0} > {1})",
    "equ": "~(({0} < {1}) | ({0} > {1}))",
    "neu": "{0} != {1}",
    "ltu": "~({0} >= {1})",
    "leu": "~({0} > {1})",
    "gtu": "~({0} <= {1})",
    "geu": "~({0} < {1})",
    "num": "~(np.isnan({0}) | np.isnan({1}))",
    "nan": "np.isnan({0}) | np.isnan({1})",
}
COMBINE = {"and": "&", "or": "|", "xor": "^"}
IGNORED = {*ROUNDINGS, "ftz", "approx", "full", "sat", "uni", "b32", "xorsign"}
DIRECTED = {
    "add": "F.fma_directed(A.f4(1), {0}, {1}, {mode!r})",
    "sub": "F.fma_directed(A.f4(-1), {1}, {0}, {mode!r})",
    "mul": "F.directed({0}.astype(A.f8) * {1}, {mode!r})",
    "fma": "F.fma_directed({0}, {1}, {2}, {mode!r})",
}
DIRECTED_EXACTLY = {
    "add": "F.exactly('add', {mode!r}, {T}, {0}, {1})",
    "sub": "F.exactly('add', {mode!r}, {T}, {0}, -{1})",
    "mul": "F.exactly('mul', {mode!r}, {T}, {0}, {1})",
    "div": "F.exactly('div', {mode!r}, {T}, {0}, {1})",
    "fma": "F.exactly('fma', {mode!r}, {T}, {0}, {1}, {2})",
    "rcp": "F.exactly('rcp', {mode!r}, {T}, {0})",
    "sqrt": "F.exactly('sqrt', {mode!r}, {T}, {0})",
}


def computation(line: Instruction) -> Computation:
    """How to compute an instruction that touches only registers. Raises KernelError if the table has no row for it."""
    key = (*line.op, _table(line)) if line.op[0] == "lop3" else line.op
    if key not in _KNOWN:
        _KNOWN[key] = _computation(line)
    return _KNOWN[key]


_KNOWN: dict[tuple[str, ...], Computation] = {}


def _table(line: Instruction) -> str:
    """The truth table of a lop3."""
    return str(getattr(line.args[-1], "value", 0))


def _computation(line: Instruction) -> Computation:
    op = line.op
    if op[0] == "cvt":
        return packing(line) if op[1] == "pack" else conversion(line)
    if op[0] in ("setp", "set"):
        return _comparison(line)
    if op[0] in ("dp4a", "dp2a"):
        return _dot(line)
    if op[0] == "vabsdiff4":
        return _differences(line)
    if op[0] in CARRY_READERS or "cc" in op:
        return _carried(line)
    type = op[-1]
    if type == "pred":
        table: dict[str, Rule] = PREDICATE
    elif type in OF_NARROW:
        return _narrow(line)
    elif type in ("s16x2", "u16x2") and ".".join(op[:-1]) in PAIRS:
        return Computation(
            ("i4",), ("i4", "i4"), f"A.pairs({PAIRS['.'.join(op[:-1])]}, A.{NUMPY[type[:3]]}, {{0}}, {{1}})"
        )
    elif type in FUSED and op[0] in ("fma", "mad"):
        table = {op[0]: Rule("t", "ttt", FUSED[type])}
    else:
        table = FLOAT if type.startswith("f") and op[0] != "slct" else INTEGER
    rule = _row(table, line)
    base = _filled(rule, line)
    return _modified(base, line) if type.startswith("f") else base


def _narrow(line: Instruction) -> Computation:
    """An instruction on two float16, or on one or two bfloat16."""
    (call, code), parts = OF_NARROW[line.op[-1]], [p for p in line.op[1:-1] if p not in ("rn", "ftz", "approx")]
    function = NARROW.get(".".join([line.op[0], *(p for p in parts if p not in LIMITED)]), "")
    if not function:
        raise refused(line)
    count = 3 if line.op[0] == "fma" else 1 if line.op[0] in ("abs", "neg", "ex2", "tanh") else 2
    for part in (p for p in parts if p in LIMITED):
        function = LIMITED[part].format(function)
    operands = ", ".join(f"{{{n}}}" for n in range(count))
    return Computation((code,), (code,) * count, f"A.{call}({function}, {operands})")


def _row(table: dict[str, Rule], line: Instruction) -> Rule:
    """The row of an instruction, found by all parts of its name except those that may be ignored."""
    op = line.op
    if op[0] == "slct":
        return table["slct." + op[-1]]._replace()
    parts = [p for p in op[1:-1] if p not in IGNORED or (p == "sat" and not op[-1].startswith("f"))]
    name = ".".join([op[0], *parts])
    if name not in table:
        raise refused(line)
    return table[name]


def _filled(rule: Rule, line: Instruction) -> Computation:
    type = NUMPY.get(line.op[-1], "")
    if line.op[0] == "slct":
        type = NUMPY.get(line.op[-2], "")
    if not type:
        raise refused(line)
    wide = WIDER.get(type, "")
    size = type[1:]
    letters = {"t": type, "a": f"a{size}", "w": wide, "u": "u4", "i": "i4", "p": "p", "b": f"u{size}", "x": "f4"}
    expression = rule.expression.replace("{T}", f"A.{type}").replace("{W}", f"A.{wide}")
    if "{table}" in expression:
        expression = expression.replace("{table}", _table(line))
    return Computation(tuple(letters[g] for g in rule.gives), tuple(letters[t] for t in rule.takes), expression)


def _modified(base: Computation, line: Instruction) -> Computation:
    """Add the modifiers: directed rounding, flushing of subnormals, saturation."""
    expression = base.expression
    mode = next((p for p in line.op if p in ("rz", "rm", "rp")), "")
    if mode:
        table = DIRECTED | DIRECTED_EXACTLY if base.gives == ("f8",) else DIRECTED_EXACTLY | DIRECTED
        if base.gives[0] not in ("f4", "f8") or line.op[0] not in table:
            raise refused(line)
        expression = table[line.op[0]].replace("{mode!r}", repr(mode)).replace("{T}", f"A.{base.gives[0]}")
    if "ftz" in line.op and base.takes[0] == "f4":
        for place, type in enumerate(base.takes):
            if type == "f4":
                expression = expression.replace(f"{{{place}}}", f"A.flush({{{place}}})")
        expression = f"A.flush({expression})" if base.gives == ("f4",) else expression
    if "sat" in line.op:
        expression = f"A.saturate({expression})"
    return base._replace(expression=expression)


def _comparison(line: Instruction) -> Computation:
    """setp.lt.s32 p, a, b · setp.lt.and.s32 p|q, a, b, c · set.lt.u32.s32 d, a, b · set.lt.f16x2.f16x2 d, a, b"""
    op = [p for p in line.op if p != "ftz"]
    if op[0] == "set" and op[2:] in (["f16x2", "f16x2"], ["bf16x2", "bf16x2"]) and op[1] in COMPARE_FLOAT:
        function, code = OF_NARROW[op[2]]
        compared = COMPARE_FLOAT[op[1]].format("a", "b")
        return Computation((code,), (code, code), f"A.{function}(lambda a, b: ({compared}).astype(A.f8), {{0}}, {{1}})")
    number = line.op[0] == "set"
    gives, type = (op[-2], op[-1]) if number else ("pred", op[-1])
    table = COMPARE_FLOAT if type.startswith(("f", "bf")) else COMPARE
    combine = next((p for p in op[2:] if p in COMBINE), "")
    if op[1] not in table or type not in NUMPY or type == "f16x2":
        raise refused(line)
    code, compared = NUMPY[type], table[op[1]]
    if type == "bf16":
        compared = compared.format("A.from_bfloat({0})", "A.from_bfloat({1})")
    expression = f"({compared})"
    opposite = f"~{expression}"
    takes: tuple[str, ...] = (code, code)
    if combine:
        opposite = f"(~{expression} {COMBINE[combine]} {{2}})"
        expression, takes = f"({expression} {COMBINE[combine]} {{2}})", (*takes, "p")
    if not number:
        return Computation(("p",), takes, expression, opposite)
    target = NUMPY[gives]
    value = f"{expression}.astype(A.{target})" if target[0] == "f" else f"-({expression}.astype(A.{target}))"
    return Computation((target,), takes, value)


def _dot(line: Instruction) -> Computation:
    signs = tuple(p == "s32" for p in line.op[-2:])
    takes = ("i4", "i4", "i4")
    if line.op[0] == "dp4a":
        return Computation(("i4",), takes, f"A.dot_bytes({{0}}, {{1}}, {{2}}, {signs})")
    shift = 16 if "hi" in line.op else 0
    right = f"A.shr({{1}}.view(A.u4), A.u4({shift})).view(A.i4)"
    return Computation(("i4",), takes, f"A.dot_bytes({{0}}, {right}, {{2}}, {signs}, (16, 8))")


def _differences(line: Instruction) -> Computation:
    """vabsdiff4.u32.u32.u32 d, a, b, c; .add adds the differences to c, without it c has no effect."""
    add = line.op[-1] == "add"
    signs = tuple(p == "s32" for p in (line.op[-3:-1] if add else line.op[-2:]))
    if len(line.op) != (5 if add else 4):
        raise refused(line)
    name = "sum_of_differences({0}, {1}, {2}" if add else "absolute_differences({0}, {1}"
    return Computation(("i4",), ("i4", "i4", "i4"), f"A.{name}, {signs})")


CARRY_READERS = ("addc", "subc", "madc")


def _carried(line: Instruction) -> Computation:
    """add.cc, addc, mad.lo.cc, madc.hi and similar. Instructions that read the carry have it as the last operand.
    Subtraction adds the complement, so a carry means no borrow: PTX's own division of 128 bits relies on that."""
    kind, reads, code = line.op[0].rstrip("c"), line.op[0] in CARRY_READERS, NUMPY.get(line.op[-1], "  ")
    word = f"u{code[1:]}"
    first, other = ("{0}", "{1}")
    takes: tuple[str, ...] = (word, word)
    if kind == "mad":
        high, other = "hi" in line.op, "{2}"
        first = f"A.multiply_high({{0}}, {{1}}).view(A.{word})" if high else "({0} * {1})"
        takes = (code if high else word,) * 2 + (word,)
    if kind not in ("add", "sub", "mad") or word not in ("u4", "u8"):
        raise refused(line)
    more = f"{{{len(takes)}}}" if reads else "A.NO"
    takes = (*takes, "p") if reads else takes
    if kind == "sub":
        less = f"~{more}" if reads else more
        return Computation((word,), takes, f"{first} - {other} - {less}", f"~A.borrow({first}, {other}, {less})")
    return Computation((word,), takes, f"{first} + {other} + {more}", f"A.carry({first}, {other}, {more})")
