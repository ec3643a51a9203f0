"""What the registers of a kernel hold, in the words of its source, where the PTX shows it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from gpu_ops.devices.sim.block_run.run import BlockArray, Register
from gpu_ops.devices.sim.block_run.statements import line_in
from gpu_ops.devices.sim.ptx.flow import Block, registers_of, results
from gpu_ops.devices.sim.ptx.kernels import LoadedKernel
from gpu_ops.devices.sim.ptx.program import Imm, Instruction, Mem, Operand, Reg, Sym
from gpu_ops.devices.sim.shared import SharedMemory

INDICES = {"%tid": "threadIdx", "%ctaid": "blockIdx", "%ntid": "blockDim", "%nctaid": "gridDim"}
FORMS = {"add": "{} + {}", "sub": "{} - {}", "mul.lo": "{} * {}", "mad.lo": "{} * {} + {}"}
TYPES = {"float": "<f4", "double": "<f8", "int": "<i4", "unsigned": "<u4", "float2": "<f4", "float4": "<f4"}
TYPES |= {"short": "<i2", "half": "<f2", "__half": "<f2", "char": "|u1"}
_SHARED = re.compile(
    r"__shared__\s+(?:__align__\(\w+\)\s+)?(?:volatile\s+)?(?:unsigned\s+(?=char|int|short))?(\w+)\s+(\w+)"
)
LONGEST = 60
"""Letters of an expression that is worth showing."""
_DECLARED = re.compile(
    r"^\s*(?:const\s+)?(?:int|unsigned|unsigned int|long long)\s+(\w+)\s*=\s*([^=;][^;]*);", re.MULTILINE
)


def name_registers(loaded: LoadedKernel, file: str, text: str) -> tuple[Register, ...]:
    """All registers of a kernel by number. Parameters, pointers that they are converted to, and indices of threads and
    blocks are known from the instruction that loads them; so are integers that sums and products of these give, as an
    expression, or as the variable which the kernel's `text` declares with the same expression. The compiler leaves no
    other names in the PTX."""
    known = _Known(loaded)
    declared = {form: name for name, source in _DECLARED.findall(text) if (form := _normal(source))}
    types = [zero.dtype.str for zero in loaded.code.zeros]
    lines = _lines_of(loaded, file)
    registers = []
    for name, number in loaded.code.numbers.items():
        source = known.of(name)
        form = _normal(source) if not source.isidentifier() and source not in known.indices else ""
        registers.append(Register(name, declared.get(form, source), types[number], lines.get(name, ())))
    return tuple(registers)


def name_arrays(loaded: LoadedKernel, memory: SharedMemory, text: str) -> tuple[BlockArray, ...]:
    """The arrays in shared memory. Their type is the one that the kernel's `text` declares; of a type that it defines
    itself, that of the kernel's accesses."""
    types = dict((name, TYPES[kind]) for kind, name in _SHARED.findall(text) if kind in TYPES)
    ops = {line.op[-1] for code in loaded.code.blocks for line in code.block.lines if "shared" in line.op}
    usual = "<f4" if "f32" in ops else "<f8" if "f64" in ops else "<i4"
    fitting = [(n, first, min(last, memory.nbytes)) for n, first, last in memory.names if first < memory.nbytes]
    return tuple(BlockArray(*one, types.get(one[0], usual)) for one in fitting)


class _Known:
    """The registers that are set once by an instruction whose operands are known."""

    def __init__(self, loaded: LoadedKernel) -> None:
        function = loaded.program.functions[loaded.entry.symbol]
        self.params = dict(zip((v.name for v in function.params), loaded.param_names, strict=False))
        self.set_by = _set_once([one.block for one in loaded.code.blocks])
        self.indices = {f"{name}.{axis}" for name in INDICES.values() for axis in "xyz"}
        self.found: dict[str, str] = {}

    def of(self, register: str) -> str:
        """What a register holds; "" where that is not known."""
        if register not in self.found:
            self.found[register] = ""  # of a register that depends on itself nothing is known
            line = self.set_by.get(register)
            text = self._result(line) if line is not None else ""
            self.found[register] = text if len(text) <= LONGEST else ""
        return self.found[register]

    def _result(self, line: Instruction) -> str:
        kind, source = line.op[0], line.args[-1]
        if line.op[:2] == ("ld", "param") and isinstance(source, Mem) and isinstance(source.base, Sym):
            return self.params.get(source.base.name, "") if not source.offset else ""
        if kind in ("mov", "cvta"):
            return self._operand(source) if not isinstance(source, Imm) else ""
        form = FORMS.get(".".join(line.op[:2]), FORMS.get(kind, ""))
        operands = [self._operand(one) for one in line.args[1:]]
        if kind == "shl" and operands[0] and isinstance(source, Imm):
            return f"{_factor(operands[0])} * {1 << source.value}"
        if not form or line.op[-1] not in ("s32", "u32", "s64", "u64") or not all(operands):
            return ""
        if kind in ("mul", "mad"):
            operands[:2] = map(_factor, operands[:2])
        elif kind == "sub":
            operands[1] = _factor(operands[1])
        return form.format(*operands)

    def _operand(self, operand: Operand) -> str:
        if isinstance(operand, Imm):
            return str(operand.value) if operand.kind == "int" and operand.value < 1 << 31 else ""
        if not isinstance(operand, Reg):
            return ""
        kind, _, axis = operand.name.partition(".")
        return f"{INDICES[kind]}.{axis}" if kind in INDICES else self.of(operand.name)


def _factor(text: str) -> str:
    """An expression as a factor."""
    return f"({text})" if " " in text else text


def _lines_of(loaded: LoadedKernel, file: str) -> Mapping[str, tuple[int, ...]]:
    """The lines of a file that set each register, in order."""
    found: dict[str, set[int]] = {}
    for line in (line for code in loaded.code.blocks for line in code.block.lines):
        for name in (n for operand in results(line) for n in registers_of(operand)):
            found.setdefault(name, set()).add(line_in(line.place, file))
    return {name: tuple(sorted(lines - {0})) for name, lines in found.items()}


def _set_once(blocks: Sequence[Block]) -> Mapping[str, Instruction]:
    """The instruction that sets each register which only one sets."""
    found: dict[str, list[Instruction]] = {}
    for block in blocks:
        for line in block.lines:
            for name in (n for operand in results(line) for n in registers_of(operand)):
                found.setdefault(name, []).append(line)
    return {name: lines[0] for name, lines in found.items() if len(lines) == 1}


def _normal(text: str) -> str:
    """An integer expression with its sums and products in one order; "" for one that is none."""
    try:
        return _ordered(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        return ""


def _ordered(node: ast.expr) -> str:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        parts = sorted(_parts(node, type(node.op)))
        return "(" + (" + " if isinstance(node.op, ast.Add) else " * ").join(parts) + ")"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return f"({_ordered(node.left)} - {_ordered(node.right)})"
    if isinstance(node, ast.Name | ast.Attribute | ast.Constant):
        return ast.unparse(node)
    raise ValueError


def _parts(node: ast.expr, kind: type[ast.operator]) -> list[str]:
    """The operands of a sum or a product."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, kind):
        return [*_parts(node.left, kind), *_parts(node.right, kind)]
    return [_ordered(node)]
