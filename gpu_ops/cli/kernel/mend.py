"""How to mend findings, as text, with lines of shipped kernels."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpu_ops.own_kernels.mending import mending

MEND = "also how to mend what is found, with the line of a shipped kernel that does it right"


def add_mend(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """The flag that asks for advice."""
    parser.add_argument("--mend", action="store_true", help=MEND)


def mending_text(kinds: Iterable[str], filter: str = "") -> str:
    """Advice on findings of these kinds; "" where there is none."""
    return "\n".join(mending_lines(mending(kinds, filter)))


def mending_lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Advice as lines of text, with the line of an example below each."""
    lines = ["how to mend"] if found else []
    for one in found:
        lines.append(f"  {', '.join(one['kinds'])}: {one['advice']}")
        lines += [f"    {text}" for text in [example_text(one["example"])] if text]
    return lines


def example_text(example: Mapping[str, Any] | None) -> str:
    """Where the line of an example is, and the line; "" without one."""
    if example is None:
        return ""
    return f"{example['title']}, {example['file']}:{example['line']}:  {example['source']}"
