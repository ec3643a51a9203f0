"""All errors that a user can see. Each is one sentence: what is wrong, what is allowed, and the next step."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import isgeneratorfunction
from numbers import Integral
from typing import Any

FINE, BAD_INPUT, WRONG, UNAVAILABLE, REGRESSED, STOPPED = 0, 2, 3, 4, 5, 130
"""The exit codes of the command line."""
FAILURE_CODES = {"unsupported": BAD_INPUT, "kernel": BAD_INPUT, "memory": UNAVAILABLE}
LONGEST = 240
"""The maximum number of characters of an external name in a message."""
LONGEST_MESSAGE = 400
"""The maximum number of characters of a message."""


def plain(text: object, most: int = LONGEST) -> str:
    """External text made safe for a message: on one line, without control characters, at most `most` characters. A text
    that is too long keeps both ends, because the last part of a path is the most informative."""
    whole = str(text)
    if len(whole) > 4 * most:  # the middle is dropped in any case
        whole = whole[: 2 * most] + whole[-2 * most :]
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in whole)
    if len(shown) <= most:
        return shown
    end = most // 2
    return f"{shown[: most - end - 1]}…{shown[len(shown) - end :]}"


def grouped(value: object) -> str:
    """A value as text; whole numbers have thousands separators."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        return f"{value:,g}" if isinstance(value, float) else str(value)
    return f"{int(value):,}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: "1 file", "1,024 files". `plural` is needed where adding an s is wrong."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def either(names: Sequence[str]) -> str:
    """Names of which one is to be chosen: ".npy, .tif or .h5"."""
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def signed(value: float) -> str:
    """A number for people, with the minus sign: an int in full, a float with six digits."""
    return (str(value) if isinstance(value, int) else f"{value:.6g}").replace("-", "−")


def shortened(text: str, most: int = LONGEST_MESSAGE) -> str:
    """A text cut to `most` characters for a message, followed by the number of characters left out."""
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most} letters more)"


FLAG = re.compile(
    r"(?<![\w-])--([a-z][a-z0-9-]*)(?:=(\S*[^\s.,;)])| ([0-9]\w*|u?int\d+|float\d+|all|cpu|keep|none|zero)\b)?"
)
"""A command-line option in a message, with its value after an equals sign, or after a space if it is a number or one of
these words."""
COMMAND = "kernelscope "
"""The beginning of a complete command, which is not changed."""
ELSEWHERE = {"dtype": "convert(input, dtype)", "json": "path"}
"""What replaces an option in Python where it is not an argument of the same name."""


def in_python(sentence: str) -> str:
    """A message that names command-line options, rewritten with Python's arguments: `--limit 9` becomes limit=9,
    `--nonfinite keep` becomes nonfinite="keep"."""
    before, command, after = sentence.partition(COMMAND)
    return FLAG.sub(_argument, before) + command + after


def _argument(flag: re.Match[str]) -> str:
    name, value = flag[1].replace("-", "_"), flag[2] or flag[3] or ""
    quote = "" if value[:1].isdigit() or not value else '"'
    if name == "dtype" and value:
        return f'convert(input, "{value}")'
    return ELSEWHERE.get(name) or f"{name}={quote}{value}{quote}"


class KernelscopeError(Exception):
    """Base class of all errors raised on purpose; the command line returns `exit_code`. The message names command-line
    options; `for_python` is the same error for callers of the package, with arguments in their place."""

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
    """A filter or variant does not do what it declares; the message names it and the expected behaviour."""

    exit_code = 3


class WrongResult(KernelscopeError):
    """A result differs from the reference by more than its tolerance; the message contains the position and the size of
    the error."""

    exit_code = 3


class InputError(KernelscopeError):
    """A file or array cannot be used as input, or a result cannot be written."""


class NonFiniteError(InputError):
    """An input contains NaN or infinity, and the caller did not choose how to treat them. `problem` is the message
    without the advice for the command line; `choices` are the values that load() accepts as `nonfinite`."""

    choices = ("keep", "zero")

    def __init__(self, problem: str, nan: int, infinite: int) -> None:
        super().__init__(problem, nan, infinite)
        self.problem, self.nan, self.infinite = problem, nan, infinite

    def sentence(self) -> str:
        return f"{self.problem}; add --nonfinite keep to use them as they are or --nonfinite zero to replace them by 0."


class DeviceError(KernelscopeError):
    """A device, driver or library is not available on this machine, or it failed."""

    exit_code = 4


class DeviceMemoryError(DeviceError):
    """An allocation does not fit; the message contains the needed and the free bytes."""


class PinnedMemoryError(DeviceMemoryError):
    """The system grants no more page-locked host memory; the message names a remedy."""

    def __init__(self, needed: int, free: int) -> None:
        super().__init__(
            f"The system grants no {needed:,} bytes of pinned (page-locked) host memory, with {free:,} bytes of memory "
            "free: a limit of the container, or of locked memory (ulimit -l), may be lower. Raise it, end other "
            "programs that pin memory, or use a smaller input."
        )


class LibraryMissing(DeviceError):
    """A library that serves as a comparison is not installed; the message names the package to install."""


class PeerMissing(DeviceError):
    """The machine has no second device of this kind."""


class DeviceLost(DeviceError):
    """A device's context is destroyed, with all its memory; this process can no longer use that device."""


class ReportError(KernelscopeError):
    """A report file cannot be read, resumed or written."""


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler's log. `line` and `column` count from 1; column 0 means unknown."""

    file: str
    line: int
    column: int
    severity: str
    text: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")
        return f"{place}: {self.severity}: {self.text}"


class KernelError(KernelscopeError):
    """A kernel does not compile, does not match its name, arguments, block or grid, or traps. `findings` are those that
    a simulated GPU had recorded by then."""

    findings: tuple[Any, ...] = ()

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = (), log: str = "") -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        self.log = log


class LimitReached(KernelError):
    """Compiling or simulating a kernel exceeded a limit of time or memory. `limit` is the limit in words, such as "30
    s", `flag` the option that raises it, "" where none does, `place` the kernel's position when it was stopped."""

    def __init__(self, limit: str, flag: str, place: str = "") -> None:
        self.limit, self.flag = limit, flag
        advice = f"; {flag} allows more" if flag else ""
        super().__init__(f"{place or 'The work'} took more than {limit}{advice}.")


class KernelFault(KernelError):
    """A kernel failed during execution, for example with an illegal address. This process can no longer use that
    device."""

    exit_code = 3


def public(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a public function for Python programs: errors that it raises are `for_python`."""

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
