"""Standard output and standard error as they come: in any encoding, full, closed, or with nobody left to read."""

from __future__ import annotations

import argparse
import codecs
import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

PLAIN = "kernelscope.plain"
"""How text is encoded: signs that a terminal does not have become plain ones, any other is written as its code."""
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


def _plainly(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    codes = (SIGNS.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in text)
    return "".join(codes), error.end


class Parser(argparse.ArgumentParser):
    """argparse passes over that its help cannot be written."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if file is not None and file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)


def prepare() -> None:
    """Let both streams write whatever they are given."""
    codecs.register_error(PLAIN, _plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)


def say(sentence: object) -> None:
    """A sentence for standard error, under the program's name. Where nobody can hear it, nothing happens."""
    try:
        print(f"kernelscope: {sentence}", file=sys.stderr)
    except OSError:
        _give_up(sys.stderr)


def fault_of_output() -> str:
    """Write out what waits for either stream: why standard output takes it not, "" when all is well or its reader has
    enough. What waits in vain is dropped, so that Python does not try again at its exit."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        _give_up(sys.stdout)
        return "" if isinstance(error, BrokenPipeError) else str(error.strerror)
    return ""


def _give_up(stream: TextIO | None) -> None:
    with suppress(OSError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())  # type: ignore[union-attr]
        os.close(null)
