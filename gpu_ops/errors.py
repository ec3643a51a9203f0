"""Every error a user can meet. One sentence each: what is wrong, what is allowed, what to do next."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import isgeneratorfunction
from typing import Any

FINE, BAD_INPUT, WRONG, UNAVAILABLE, REGRESSED, STOPPED = 0, 2, 3, 4, 5, 130
"""The exit codes of the command line."""
FAILURE_CODES = {"unsupported": BAD_INPUT, "kernel": BAD_INPUT, "memory": UNAVAILABLE}
LONGEST = 240
"""The most characters of a name from outside that a sentence shows."""
LONGEST_MESSAGE = 400
"""The most characters of a message that a person still reads."""


def plain(text: object, most: int = LONGEST) -> str:
    """Text from outside, made safe for a sentence: on one line, without control characters, at most `most` long. A text
    that is too long keeps both ends, because the last part of a path says most."""
    whole = str(text)
    if len(whole) > 4 * most:  # nothing in the middle will be seen
        whole = whole[: 2 * most] + whole[-2 * most :]
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in whole)
    if len(shown) <= most:
        return shown
    end = most // 2
    return f"{shown[: most - end - 1]}…{shown[len(shown) - end :]}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: "1 file", "1,024 files"; `plural` where it is more than the noun with an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def shortened(text: str, most: int = LONGEST_MESSAGE) -> str:
    """A text cut to `most` characters for a message, followed by the number of characters left out."""
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most} letters more)"


FLAG = re.compile(
    r"(?<![\w-])--([a-z][a-z0-9-]*)(?:=(\S*[^\s.,;)])| ([0-9]\w*|u?int\d+|float\d+|all|cpu|keep|none|zero)\b)?"
)
"""An option in a sentence, with its value behind a sign, or where it is a number or one of these words."""
COMMAND = "kernelscope "
"""What begins a whole command, which stays as it is."""
ELSEWHERE = {"dtype": "convert(input, dtype)", "json": "path"}
"""What in Python does the work of an option, where it is no argument of the same name."""


def in_python(sentence: str) -> str:
    """A sentence that names options of the command line, with Python's arguments in their place: `--limit 9` becomes
    limit=9, `--nonfinite keep` becomes nonfinite="keep"."""
    before, command, after = sentence.partition(COMMAND)
    return FLAG.sub(_argument, before) + command + after


def _argument(flag: re.Match[str]) -> str:
    name, value = flag[1].replace("-", "_"), flag[2] or flag[3] or ""
    quote = "" if value[:1].isdigit() or not value else '"'
    if name == "dtype" and value:
        return f'convert(input, "{value}")'
    return ELSEWHERE.get(name) or f"{name}={quote}{value}{quote}"


class KernelscopeError(Exception):
    """Parent of all errors raised on purpose; the command line returns `exit_code`. Its sentence names options as the
    command line has them. One that leaves a public function of the package is `for_python`, and names arguments."""

    exit_code = 2
    for_python = False

    def sentence(self) -> str:
        """The message as the command line shows it."""
        return super().__str__()

    def __str__(self) -> str:
        return in_python(self.sentence()) if self.for_python else self.sentence()


class ParamError(KernelscopeError):
    """A parameter, knob or choice is outside its limits."""


class DeclarationError(KernelscopeError):
    """A filter or a variant does not do what it declares; the message names it and says what it should do."""

    exit_code = 3


class WrongResult(KernelscopeError):
    """A result differs from the reference by more than its tolerance; the message says where and by how much."""

    exit_code = 3


class InputError(KernelscopeError):
    """A file or array cannot be used as input, or a result cannot be written."""


class NonFiniteError(InputError):
    """An input holds NaN or infinity, and the caller did not say what to do with them. `problem` is the message without
    the advice for the command line; `choices` are the rules that load() takes as `nonfinite`."""

    choices = ("keep", "zero")

    def __init__(self, problem: str, nan: int, infinite: int) -> None:
        super().__init__(problem, nan, infinite)
        self.problem, self.nan, self.infinite = problem, nan, infinite

    def sentence(self) -> str:
        return f"{self.problem}; add --nonfinite keep to use them as they are or --nonfinite zero to replace them by 0."


class DeviceError(KernelscopeError):
    """A device, driver or library is not available here, or it failed during work."""

    exit_code = 4


class DeviceMemoryError(DeviceError):
    """An allocation does not fit; the message gives needed and free bytes."""


class PinnedMemoryError(DeviceMemoryError):
    """The system grants no more page-locked memory of the host; the message says what to do."""

    def __init__(self, needed: int, free: int) -> None:
        super().__init__(
            f"The system grants no {needed:,} bytes of pinned (page-locked) host memory, with {free:,} bytes of memory "
            "free: a limit of the container, or of locked memory (ulimit -l), may be lower. Raise it, end other "
            "programs that pin memory, or use a smaller input."
        )


class LibraryMissing(DeviceError):
    """A library for comparison is not installed here; the message says what to install."""


class PeerMissing(DeviceError):
    """A device has no second one beside it."""


class DeviceLost(DeviceError):
    """A device's context is lost with everything in it; the process cannot use that device any more."""


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
    """A kernel does not compile, does not fit its name, arguments, block or grid, or stops itself. `findings` are those
    of a simulated GPU up to then."""

    findings: tuple[Any, ...] = ()

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = (), log: str = "") -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        self.log = log


class LimitReached(KernelError):
    """Compiling or simulating a kernel took more time or memory than it may. `limit` is the limit in words, such as
    "30 s", `flag` the option that raises it, `place` where the kernel was."""

    def __init__(self, limit: str, flag: str, place: str = "") -> None:
        self.limit, self.flag = limit, flag
        super().__init__(f"{place or 'The work'} took more than {limit}; {flag} allows more.")


class KernelFault(KernelError):
    """A kernel died while it ran, for example of an illegal address. The process cannot use that device any more."""

    exit_code = 3


def public(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as the package gives it to a Python program: errors that leave it are `for_python`."""

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except KernelscopeError as error:
            error.for_python = True
            raise

    @wraps(function)
    def generate(*args: Any, **named: Any) -> Any:
        try:
            yield from function(*args, **named)
        except KernelscopeError as error:
            error.for_python = True
            raise

    return generate if isgeneratorfunction(function) else call
