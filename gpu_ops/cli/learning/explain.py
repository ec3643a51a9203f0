"""explain: what a technical word means."""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

from gpu_ops.errors import FINE
from gpu_ops.lessons.glossary import find_term, glossary

WIDTH = 100


def add_explain(commands: Any) -> None:
    """The command `explain`."""
    text = "say what a technical word means, such as sector; without a word, list all"
    parser = commands.add_parser("explain", help=text, description=text)
    parser.add_argument("term", nargs="*", metavar="TERM", help="a word of the glossary, such as bank conflict")
    parser.set_defaults(json=None, command=run)


def run(args: argparse.Namespace) -> int:
    """Print a term of the glossary, or the names of all."""
    if not args.term:
        print(textwrap.fill(", ".join(term.name for term in glossary()), WIDTH, break_on_hyphens=False))
        return FINE
    term = find_term(" ".join(args.term))
    print(textwrap.fill(f"{term.name}: {term.text}", WIDTH, break_on_hyphens=False))
    print(f"Guide: {term.guide}")
    return FINE
