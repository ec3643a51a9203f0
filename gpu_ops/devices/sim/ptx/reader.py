"""Reads the PTX that NVRTC writes for sm_75 to sm_121, in both dialects: with typed registers, and with all floats in
.b32 and .b64."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpu_ops.devices.nvrtc import header_folders
from gpu_ops.devices.sim.ptx.declarations import Declarations
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
)
from gpu_ops.devices.sim.ptx.tokens import file_name, files_of, number_of, parts_of, paths_of, tokens_of
from gpu_ops.errors import KernelError
from gpu_ops.progress import advance

_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+\d+(?:\s*,\s*function_name\s+([\w$]+)\s*,\s*inlined_at\s+(\d+)\s+(\d+))?")

_DIGITS = "0123456789"
_NOT_NEEDED = {".loc", ".file", ".version", ".address_size", ".pragma", ".visible", ".weak", ".extern", ".common"}


def parse(text: str, source: str = "") -> Program:
    """The program of a PTX text. `source` is the name of the compiled file; paths in the text become file names.

    Raises KernelError for PTX that it cannot read.
    """
    return _Parser(text, source).program()


class _Parser(Declarations):
    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.files = files_of(text, source)
        tokens, self.line_of = tokens_of(text)
        self.start(tokens)
        own = {path for path in paths_of(text).values() if path.startswith(header_folders())}
        self.result = Program("", library=frozenset(file_name(path, source) for path in own))
        self.function = Function("", False)
        self.scopes: list[dict[str, str]] = []
        self.serial = 0
        self.ranges: list[dict[str, list[tuple[str, int, str, str]]]] = []
        self.place = Place("", 0)
        self.chains: dict[tuple[str, int], tuple[tuple[str, int], ...]] = {}

    # The file

    def program(self) -> Program:
        while self.peek():
            token = self.next()
            stripped = token.strip()
            if stripped.startswith(".target"):
                self.result.architecture = stripped.split()[1].rstrip(",")
            elif stripped.split()[0] in _NOT_NEEDED:
                continue
            elif token in (".entry", ".func"):
                self._function(token == ".entry")
            elif token in (".const", ".global", ".shared"):
                variable = self._variable(token[1:])
                self.result.variables[variable.name] = variable
            elif token != ";":
                raise KernelError(f"{self.source}: the simulator does not support the PTX directive {token}.")
        return self.result

    # Functions

    def _function(self, is_entry: bool) -> None:
        returns = self._params() if self.peek() == "(" else []
        first = self.line_of(self.at)
        function = self.function = Function(self.next(), is_entry, returns=returns)
        if self.peek() == "(":
            function.params = self._params()
        while self.peek() not in ("{", ";"):
            if self.next() == ".reqnctapercluster":  # the others: .maxntid, .minnctapersm, .noreturn …
                function.cluster = self._extents()
        if self.next() == ";":
            return  # a declaration without a definition: printf, assert
        self.result.functions[function.name] = function
        self.scopes, self.ranges = [{}], [{}]
        self.place, self.chains = Place("", 0), {}
        while self.scopes:
            advance(0, 1)
            self._statement()
        function.rows = first, self.line_of(self.at - 1)

    def _statement(self) -> None:
        token = self.next()
        if token[0].isalpha() and token[-1] != ":" and self.peek() != ":":  # most statements are instructions
            self._instruction(token)
        elif token == "{":
            self.scopes.append({})
            self.ranges.append({})
        elif token == "}":
            self.scopes.pop()
            self.ranges.pop()
        elif token.lstrip().startswith((".loc ", ".loc\t")):  # not .local
            self._loc(token)
        elif token == ".reg":
            self._registers()
        elif token in (".local", ".shared", ".param", ".const", ".global"):
            self._local_variable(token[1:])
        elif token.startswith(".") or token.lstrip().startswith("."):
            while token != ";" and "\n" not in token and not token.lstrip().startswith(".pragma"):
                token = self.next()
        elif token[-1] == ":" or self.peek() == ":":
            self._label(token.rstrip(":"))
        elif token != ";":
            self._instruction(token)

    def _loc(self, text: str) -> None:
        match = _LOC.search(text)
        if match is None:
            return
        file, line, _, at_file, at_line = match.groups()
        chain: tuple[tuple[str, int], ...] = ()
        if at_file:
            outer = (self.files.get(int(at_file), "?"), int(at_line))
            chain = (outer, *self.chains.get(outer, ()))
        name = self.files.get(int(file), "?")
        if int(line) == 0:  # the compiler's own code, which is attributed to the line before
            return
        self.place = Place(name, int(line), chain)
        self.chains[(name, int(line))] = chain
        if not self.function.place.line:
            self.function.place = self.place

    def _registers(self) -> None:
        type = self.next()[1:]
        if type in ("v2", "v4"):
            raise KernelError(f"{self.source}: vector registers are not simulated.")
        while True:
            name = self.next()
            if self.take("<"):
                count = int(self.next())
                self.expect(">")
                ranges = self.ranges[-1].setdefault(name.rstrip(_DIGITS), [])
                ranges.append((name, count, type, self._suffix()))
            else:
                self._declare(name, type)
            if self.next() == ";":
                return

    def _suffix(self) -> str:
        """A suffix that makes the names of an inner scope unique."""
        if len(self.scopes) == 1:
            return ""
        self.serial += 1
        return f"@{self.serial}"

    def _declare(self, name: str, type: str) -> None:
        unique = name + self._suffix()
        self.scopes[-1][name] = unique
        self.function.registers[unique] = type

    def _local_variable(self, space: str) -> None:
        variable = self._variable(space)
        unique = variable.name + self._suffix()
        if space == "shared" or space in ("const", "global"):
            unique = variable.name
            self.result.variables[unique] = variable
        else:
            self.scopes[-1][variable.name] = unique
            self.function.variables.append(Variable(unique, space, variable.nbytes, variable.align, variable.data))

    def _lookup(self, name: str) -> str:
        """The unique name of a register or variable. The first use of a register in a declared range declares it."""
        unique = self.scopes[-1].get(name)
        if unique is not None:
            return unique
        for scope, ranges in zip(reversed(self.scopes), reversed(self.ranges), strict=True):
            if name in scope:
                return scope[name]
            for prefix, count, type, suffix in ranges.get(name.rstrip(_DIGITS), ()):
                digits = name[len(prefix) :]
                if name.startswith(prefix) and digits.isdigit() and int(digits) < count:
                    scope[name] = name + suffix
                    self.function.registers[name + suffix] = type
                    return scope[name]
        return name

    def _label(self, name: str) -> None:
        self.take(":")
        if self.peek() == ".branchtargets":
            self.next()
            self.function.body.append(Targets(name, tuple(self._names())))
        elif self.take(".callprototype"):
            gives = self._params() if self.peek() == "(" else []
            self.expect("_")
            takes = self._params() if self.peek() == "(" else []
            sizes = (tuple(v.nbytes for v in variables) for variables in (takes, gives))
            self.function.body.append(Prototype(name, *sizes))
            while self.next() != ";":
                pass  # .noreturn
        else:
            self.function.body.append(Label(name))

    def _names(self) -> Iterator[str]:
        while True:
            yield self.next()
            if self.next() == ";":
                return

    def _instruction(self, token: str) -> None:
        guard, negated, row = None, False, self.line_of(self.at - 1)
        if token == "@":
            negated = self.take("!")
            guard = Reg(self._lookup(self.next()))
            token = self.next()
        op = parts_of(token)
        args: list[Operand] = []
        tokens, known = self.tokens, self.scopes[-1]
        while (token := tokens[self.at]) != ";":
            if token == ",":
                self.at += 1
            elif token[:1] == "%" and token in known and tokens[self.at + 1] in (",", ";"):  # most are
                self.at += 1
                args.append(Reg(known[token]))
            else:
                args.append(self._operand())
        self.at += 1
        if "cc" in op or op[0] in ("addc", "subc", "madc"):
            args = self._with_carry(op, args)
        self.function.body.append(Instruction(op, tuple(args), self.place, guard, negated, row))

    def _with_carry(self, op: tuple[str, ...], args: list[Operand]) -> list[Operand]:
        """The carry as a predicate: an instruction that sets it has it as the second result, one that reads it as the
        last operand."""
        self.function.registers["%carry"] = "pred"
        result = Vec((args[0], Reg("%carry"))) if "cc" in op else args[0]
        return [result, *args[1:], *([Reg("%carry")] if op[0] in ("addc", "subc", "madc") else [])]

    def _operand(self) -> Operand:
        token = self.next()
        if token[0] == "%" and self.tokens[self.at] in (",", ";"):  # most are registers
            return Reg(self._lookup(token))
        if token == "[":
            return self._address()
        if token in ("{", "("):
            items = []
            while not (self.take("}") or self.take(")")):
                items.append(self._operand())
                self.take(",")
            return Vec(tuple(items))
        if token == "!":
            inner = self._operand()
            return Vec((Sym("!"), inner))
        number = number_of(token)
        if number is not None:
            return number
        operand = self._register_or_symbol(token)
        if self.take("|"):  # two destinations
            return Vec((operand, self._operand()))
        if isinstance(operand, Sym) and self.peek() == "+":
            return Sym(operand.name, self._offset())
        return operand

    def _register_or_symbol(self, token: str) -> Reg | Sym:
        unique = self._lookup(token)
        if unique in self.function.registers or token.startswith("%") or token == "_":
            return Reg(unique)
        return Sym(unique)

    def _address(self) -> Operand:
        token = self.next()
        number = number_of(token)
        base: Reg | Sym | None = None if number else self._register_or_symbol(token)
        if self.take(","):  # a texture and its coordinates
            coordinates = self._operand()
            self.expect("]")
            assert base is not None
            return Vec((base, coordinates))
        offset = number.value if number else self._offset()
        self.expect("]")
        return Mem(base, offset)
