"""The glossary: what each technical word means, with the place of the guide that goes on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpu_ops.errors import ParamError, plain
from gpu_ops.params import nearest

FILE = Path(__file__).parents[2] / "resources" / "glossary" / "en.toml"


@dataclass(frozen=True)
class Term:
    """A term. `text` is one or two sentences, `guide` a page of the guide with its heading, as in
    "simulated.md#x-ray", `also` are other forms of the word."""

    name: str
    text: str
    guide: str
    also: tuple[str, ...]


@cache
def glossary() -> tuple[Term, ...]:
    """All terms, in the order of the alphabet."""
    content = tomllib.loads(FILE.read_text(encoding="utf-8"))
    terms = [Term(name, e["text"], e["guide"], tuple(e.get("also", ()))) for name, e in content.items()]
    return tuple(sorted(terms, key=lambda term: term.name.lower()))


@cache
def _forms() -> dict[str, Term]:
    return {form.lower(): term for term in glossary() for form in (term.name, *term.also)}


@cache
def _pattern() -> re.Pattern[str]:
    longest_first = sorted(_forms(), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])", re.IGNORECASE)


def find_term(word: str) -> Term:
    """The term with this name or form, in any case. Raises ParamError that names a close one."""
    term = _forms().get(" ".join(word.lower().split()))
    if term is None:
        text = f"The glossary has no {plain(word, 60)!r}{nearest(word.lower(), tuple(_forms()))}"
        raise ParamError(f"{text}; `kernelscope explain` lists its terms.")
    return term


def terms_in(text: str) -> Iterator[tuple[int, int, Term]]:
    """The terms of a text, each with its first and the position after its last character; of several that begin at one
    place the longest."""
    for found in _pattern().finditer(text):
        yield *found.span(), _forms()[found[0].lower()]


def term_at(text: str, position: int) -> Term | None:
    """The term at a position of a text."""
    return next((term for start, stop, term in terms_in(text) if start <= position < stop), None)
