"""Standard output and standard error in any state: any encoding, a full disk, closed, or without a reader. Control
characters in file names and other texts from outside do not reach the terminal."""

from __future__ import annotations

import argparse
import codecs
import io
import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TextIO, cast

from gpu_ops.errors import BAD_INPUT

PLAIN = "kernelscope.plain"
"""How unencodable text is written: symbols become plain characters, all others their code."""
SIGNS = {
    "×": "x",
    "·": "*",
    "÷": "/",
    "−": "-",
    "–": "-",
    "…": "...",
    "²": "^2",
    "≤": "<=",
    "≥": ">=",
    "±": "+-",
    "µ": "u",
    "π": "pi",
}


def _encode_plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    codes = (SIGNS.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in text)
    return "".join(codes), error.end


class Parser(argparse.ArgumentParser):
    """A parser that raises OSError where its help cannot be written; argparse ignores it. A mistake is one sentence,
    without the list of all flags before it."""

    def error(self, message: str) -> NoReturn:
        say(f"{message[:1].upper()}{message[1:]}. All flags: {self.prog} --help")
        raise SystemExit(BAD_INPUT)

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is not None and file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)


_UNUSUAL = re.compile(r"[^\n\t -~]")


def printable(text: str) -> str:
    """The text with each control character replaced by its code, such as \\x1b; only line ends and tabs stay."""
    return _UNUSUAL.sub(_shown_sign, text)


def _shown_sign(found: re.Match[str]) -> str:
    sign = found[0]
    harmless = sign.isprintable() or unicodedata.category(sign) == "Zs"
    return sign if harmless else sign.encode("unicode_escape").decode("ascii")


class _Printable:
    """A stream to which only printable text is written. `raw` is the stream itself."""

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    def write(self, text: str) -> int:
        self.raw.write(printable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def _raw(stream: TextIO | None) -> TextIO | None:
    return stream.raw if isinstance(stream, _Printable) else stream


@contextmanager
def only_printable() -> Iterator[None]:
    """Inside the block, everything that is written to both streams is printable."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (s and cast(TextIO, _Printable(s)) for s in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def rewrite(text: str) -> None:
    """Replace the last line by a text, where standard error is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r\033[K{printable(text)}", end="", file=_raw(sys.stderr), flush=True)


def prepare() -> None:
    """Let both streams write any text."""
    codecs.register_error(PLAIN, _encode_plain)
    for stream in map(_raw, (sys.stdout, sys.stderr)):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)


def say(sentence: object) -> None:
    """Write a sentence to standard error, after the program's name; do nothing where that is not possible."""
    try:
        print(f"kernelscope: {sentence}", file=sys.stderr)
    except OSError:
        _drop_text(sys.stderr)


def fault_of_output() -> str:
    """Flush both streams. Returns why standard output cannot be written, "" where it can or where its reader has
    stopped reading. Text that cannot be written is dropped, so that Python does not try again at its exit."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        _drop_text(sys.stderr)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        _drop_text(sys.stdout)
        return "" if isinstance(error, BrokenPipeError) else str(error.strerror)
    return ""


def _drop_text(stream: TextIO | None) -> None:
    with suppress(OSError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())  # type: ignore[union-attr]
        os.close(null)
