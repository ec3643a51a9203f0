"""The words of the catalogue and of messages: terms of CUDA and signal processing, none that only this project uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sources import nodes

from gpu_ops.counters import CATALOGUE
from gpu_ops.devices.kernel_source import header_fields, kernel_files, read_source
from gpu_ops.filters import FILTERS
from gpu_ops.params import Param
from gpu_ops.stages import STAGES
from gpu_ops.types import Filter, Variant

ROOT = Path(__file__).parent.parent
EACH = (
    "thread|block|warp|lane|launch|row|column|line|pixel|sample|value|output|point|butterfly|stage|level|channel|pass"
)
COUNTED = (
    "threads?|blocks?|values?|rows?|columns?|lines?|samples?|pixels?|points?|vectors?|outputs?|bytes?|launch(?:es)?"
)
PRIVATE = {
    r"\bmarch\w*": "row streaming, ring buffer",
    r"\btold from\b": "distinguished from",
    r"\b(?:is|are|was|were|been) told\b|\btold (?:of|about|at|in)\b": "say, report, receive, notify",
    r"\bthere and back\b|\bway back\b|\btransformed back\b": "forward and inverse",
    r"\blone\b|\bwarps? (?:that are )?alone\b": "independent warp",
    r"\bmade twice\b": "recomputed",
    r"\bever fewer\b|\bjoin(?:s|ed)?\b": "combine, reduce, merge",
    r"\btells? (?:its|what|them|the)\b": "publish, report",
    r"\bplaces? (?:apart|before|behind)\b": "positions, addresses",
    r"\b(?:lie|lies|lay)\b(?! out\b)": "is in, is at",
    r"\bbeside\b": "in addition to, adjacent",
    r"\bfirst GPUs\b": "compute capability 1.0",
    r"\bdoes? not stand for\b|\bstands? for\b": "represents",
    r"\bnothing to write\b": "no kernel to write",
    r"\bcarr(?:y|ies) NaN\b": "propagates NaN",
    r"\bpast the registers\b": "asynchronously",
    r"\btakes? (?:off|apart)\b|\btaken off\b": "subtract, separate",
    r"\bunder way\b": "in flight",
    rf"\b(?:{COUNTED}) an? (?:{EACH})\b": "per",
}
"""Words that are no terms of the field, as patterns, and how the field says it."""
MESSAGES = {pattern: PRIVATE[pattern] for pattern in list(PRIVATE)[:4]} | {
    r"\bthe way (?:there|back)\b": "forward, inverse",
    r"\bevent loop is never away\b": "is never blocked",
}
"""Those that no message may have either."""
OLD_NAMES = {"apart", "held", "turn", "turns", "told", "lone", "wish", "place", "places", "there", "back", "each"}
"""Names of variants, parameters and knobs that say nothing by themselves."""


def private_words(text: str, patterns: dict[str, str] = PRIVATE) -> list[str]:
    """The private words of a text, each with the field's."""
    if not re.search("|".join(patterns), text, re.IGNORECASE):
        return []
    found = ((re.search(pattern, text, re.IGNORECASE), words) for pattern, words in patterns.items())
    return [f"{match[0]!r} (say: {words})" for match, words in found if match]


def _of_params(params: tuple[Param, ...]) -> Iterator[str]:
    yield from (param.help for param in params)


def _of_variant(variant: Variant) -> Iterator[str]:
    yield from (variant.title, variant.idea, variant.counts.uncounted, *(rule.words for rule in variant.rules))
    yield variant.exactness.caveat if variant.exactness else ""
    yield from _of_params(variant.knobs)


@pytest.mark.parametrize("filter", FILTERS, ids=lambda f: f.id)
def test_titles_ideas_help_and_refusals_have_no_private_words(filter: Filter) -> None:
    texts = [("", text) for text in (filter.title, filter.summary, *_of_params(filter.params))]
    texts += [(variant.id, text) for variant in filter.all_variants for text in _of_variant(variant)]
    wrong = [
        f"{filter.id} {id}: {', '.join(words)} in {text!r}" for id, text in texts if (words := private_words(text))
    ]
    assert wrong == []


def test_counters_and_stages_have_no_private_words() -> None:
    texts = [c.description for c in CATALOGUE] + [s.description for s in STAGES.values()]
    assert [(words, text) for text in texts if (words := private_words(text))] == []


@pytest.mark.parametrize("source", kernel_files())
def test_headers_of_kernels_have_no_private_words(source: str) -> None:
    fields = header_fields(read_source(source))
    assert [(words, name) for name in ("What", "Idea") if (words := private_words(fields[name]))] == []


def test_names_that_people_type_say_what_they_are() -> None:
    names = {f"{f.id} {p.name}" for f in FILTERS for p in f.params}
    names |= {f"{f.id} {name}" for f in FILTERS for v in f.variants for name in (v.id, *(k.name for k in v.knobs))}
    assert [name for name in sorted(names) if name.split()[1] in OLD_NAMES] == []


def _private_in(path: Path) -> Iterator[tuple[list[str], str]]:
    """Private words in the docstrings of a module, without the names in them, and in its messages: other texts of
    several words."""
    docstrings = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
    for node in nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 1:
            is_message = id(node) not in docstrings
            text = node.value if is_message else re.sub(r"`[^`]*`", "", node.value)
            words = private_words(text, MESSAGES if is_message else PRIVATE)
            yield from [(words, text)] if words else []


@pytest.mark.parametrize("folder", ["gpu_ops", "app"])
def test_messages_and_docstrings_have_no_private_words(folder: str) -> None:
    modules = sorted((ROOT / folder).rglob("*.py"))
    assert modules and [(module.name, *found) for module in modules for found in _private_in(module)] == []


@pytest.mark.parametrize(
    "text",
    [
        "A thread marches down a few rows of 16 bytes.",
        "Neighbours are joined, then pairs: ever fewer lanes of every warp work.",
        "The source's way back: one thread a pair.",
        "one thread per row, threads a block",
        "A tile tells its sum at once.",
        "its running sums carry NaN and infinity on to the end",
    ],
)
def test_private_words_are_found(text: str) -> None:
    assert private_words(text)
