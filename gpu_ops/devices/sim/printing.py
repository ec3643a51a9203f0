"""The output of printf, from the bytes that a kernel stores for it."""

from __future__ import annotations

import re
import struct

from gpu_ops.devices.sim.memory import Table

_FIELD = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|z|j|t|L)?([diuoxXfFeEgGaAcsp%])")
_LONGEST = 4096


def text_at(table: Table, address: int) -> str:
    """The zero-terminated text at an address."""
    region = table.find(-1, address, address + 1)
    if region is None:
        return "?"
    start = address - region.base
    data = region.data[start : min(start + _LONGEST, region.high - region.base)].tobytes()
    return data.split(b"\0")[0].decode(errors="replace")


def format_call(form: str, data: bytes, table: Table) -> str:
    """The text of one call. `data` has the arguments in order, each aligned to its size."""
    at = 0

    def take(size: int, code: str) -> int | float:
        nonlocal at
        at = -(-at // size) * size
        at += size
        if at > len(data):
            return 0
        return struct.unpack_from("<" + code, data, at - size)[0]

    def field(match: re.Match[str]) -> str:
        flags, width, precision, length, kind = match.groups()
        if kind == "%":
            return "%"
        width = _size(take(4, "i") if width == "*" else width)
        precision = None if precision is None else _size(take(4, "i") if precision == "*" else precision)
        plain = f"%{flags}{width}" + (f".{precision}" if precision is not None else "")
        wide = length in ("l", "ll", "z", "j", "t")
        if kind in "di":
            return (plain + "d") % take(8 if wide else 4, "q" if wide else "i")
        if kind in "uoxX":
            return (plain + kind.replace("u", "d")) % take(8 if wide else 4, "Q" if wide else "I")
        if kind == "c":
            return (plain + "c") % chr(int(take(4, "i")) & 255)
        if kind == "s":
            return (plain + "s") % text_at(table, int(take(8, "Q")))
        if kind == "p":
            return (plain + "s") % f"{int(take(8, 'Q')):#x}"
        return (plain + kind.replace("a", "g").replace("A", "G")) % take(8, "d")

    return _FIELD.sub(field, form)


def _size(value: object) -> str:
    """A width or precision as text, limited to the longest line."""
    return "" if value is None else str(max(0, min(int(str(value)), _LONGEST)))
