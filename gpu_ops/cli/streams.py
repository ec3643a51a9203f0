"""Standard output and standard error in any state: of any encoding, full, closed, or without a reader."""

from __future__ import annotations

import argparse
import codecs
import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

PLAIN = "kernelscope.plain"
"""The encoding of text: signs that a terminal does not have become plain ones, any others become their code."""
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
    """A parser that raises OSError where its help cannot be written; argparse ignores it."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is not None and file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)


def prepare() -> None:
    """Let both streams write any text."""
    codecs.register_error(PLAIN, _encode_plain)
    for stream in (sys.stdout, sys.stderr):
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
    stopped. Text that cannot be written is dropped, so that Python does not try again at its exit."""
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
