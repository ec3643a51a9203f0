"""Reads the declarations of PTX: variables with their initial values, and parameters."""

from __future__ import annotations

from gpu_ops.devices.sim.ptx.program import Imm, Link, Sym, Variable, size_of
from gpu_ops.devices.sim.ptx.tokens import number_of
from gpu_ops.errors import KernelError


class Declarations:
    """The tokens of a PTX text, and what reads declarations from them. `source` is the compiled file."""

    source: str

    def start(self, tokens: list[str]) -> None:
        """Begin with these tokens, of which the last one is empty."""
        self.tokens, self.at = tokens, 0

    def next(self) -> str:
        token = self.tokens[self.at]
        if not token:
            raise KernelError(f"{self.source}: the PTX ends in the middle of a statement; compile the file again.")
        self.at += 1
        return token

    def peek(self) -> str:
        return self.tokens[self.at]

    def take(self, token: str) -> bool:
        if self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        actual = self.next()
        if actual != token:
            near = " ".join(self.tokens[max(0, self.at - 8) : self.at + 4])
            raise KernelError(f"{self.source}: unknown PTX at {near!r}: expected {token!r}, found {actual!r}.")

    def _variable(self, space: str) -> Variable:
        """The rest of a declaration after its state space: attributes, type, name, extent and values, up to ; , or
        )."""
        align = 0
        type = ""
        while self.peek().startswith("."):
            token = self.next()
            if token == ".align":
                align = int(self.next())
            elif token == ".attribute":  # a variable that the host sees as well
                while self.next() != ")":
                    pass
            elif token not in (".ptr", ".global", ".const", ".shared", ".local", ".v2", ".v4"):
                type = token[1:]
        name = self.next()
        count, unit = 1, size_of(type)
        while self.take("["):
            if self.take("]"):
                count = 0
            else:
                count *= int(self.next())
                self.expect("]")
        data, links = self._values(unit) if self.take("=") else (b"", ())
        if self.peek() == ";":
            self.next()
        return Variable(name, space, count * unit, align or unit, data, links)

    def _values(self, unit: int) -> tuple[bytes, tuple[Link, ...]]:
        """The bytes of an initial value, and the addresses among them: name, generic(name) + 8, or one byte of it as
        0xFF00(generic(name))."""
        data, links, depth = b"", [], 0
        while True:
            if self.take("{"):
                depth += 1
            elif self.take("}"):
                depth -= 1
            elif not self.take(","):
                number = number_of(self.peek())
                if number is not None:
                    self.next()
                mask = number.value if number is not None and self.take("(") else 0
                if mask or number is None:
                    shift = max(0, (mask & -mask).bit_length() - 1)
                    links.append(Link(len(data), unit, self._linked(), shift))
                    if mask:
                        self.expect(")")
                    number = Imm(0)
                data += (number.value & ((1 << 8 * unit) - 1)).to_bytes(unit, "little")
            if depth == 0:
                return data, tuple(links)

    def _linked(self) -> Sym:
        """An address in an initial value."""
        name = self.next()
        if name == "generic":
            self.expect("(")
            name = self.next()
            self.expect(")")
        return Sym(name, self._offset())

    def _extents(self) -> tuple[int, int, int]:
        """Up to three numbers."""
        found = [int(self.next())]
        while self.take(","):
            found.append(int(self.next()))
        x, y, z = (*found, 1, 1)[:3]
        return x, y, z

    def _params(self) -> list[Variable]:
        self.expect("(")
        params = []
        while not self.take(")"):
            token = self.next()
            if token == ".param":
                params.append(self._variable("param"))
        return params

    def _offset(self) -> int:
        if self.take("+"):
            number = number_of(self.next())
            assert number is not None
            return number.value
        number = number_of(self.peek())
        if number is not None:
            self.next()
            return number.value
        return 0
