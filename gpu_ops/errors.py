"""Every error a user can meet. One sentence each: what is wrong, what is allowed, what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LONGEST = 240
"""Characters of a name that comes from outside, in a sentence."""


def plain(text: object, most: int = LONGEST) -> str:
    """Text from outside as it may stand in a sentence: on one line, without control characters, at most `most` long.
    What is too long keeps both ends, because a path's last part tells most."""
    whole = str(text)
    if len(whole) > 4 * most:  # nothing in the middle will be seen
        whole = whole[: 2 * most] + whole[-2 * most :]
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in whole)
    if len(shown) <= most:
        return shown
    end = most // 2
    return f"{shown[: most - end - 1]}…{shown[len(shown) - end :]}"


class KernelscopeError(Exception):
    """Parent of all errors raised on purpose; `exit_code` is what the command line returns."""

    exit_code = 2


class ParamError(KernelscopeError):
    """A parameter, knob or choice is outside its limits."""


class InputError(KernelscopeError):
    """A file or array cannot be used as input, or a result cannot be written."""


class DeviceError(KernelscopeError):
    """A device, driver or library is not available here, or failed while it worked."""

    exit_code = 4


class DeviceMemoryError(DeviceError):
    """An allocation does not fit; the message gives needed and free bytes."""


class LibraryMissing(DeviceError):
    """A peer's library is not installed here; the message says what to install."""


class DeviceLost(DeviceError):
    """A device's context is lost with everything in it: the process can use that device no more."""


class ReportError(KernelscopeError):
    """A report file cannot be read, resumed or written."""


@dataclass(frozen=True)
class Diagnostic:
    """One line of the compiler's log. `line` and `column` count from 1; column 0 means unknown."""

    file: str
    line: int
    column: int
    severity: str
    text: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")
        return f"{place}: {self.severity}: {self.text}"


class KernelError(KernelscopeError):
    """A kernel does not compile, does not fit its name, arguments, block or grid, or stops itself. `findings` is what
    a simulated GPU had found until then."""

    findings: tuple[Any, ...] = ()

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = (), log: str = "") -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        self.log = log


class KernelFault(KernelError):
    """A kernel died while it ran: an illegal address, say. The process can use that device no more."""

    exit_code = 3
