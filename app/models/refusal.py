"""Whether a filter refuses the input, which is known before anything runs. No widgets."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.models.nonfinite import count_words
from gpu_ops.engine.shared import SharedInput
from gpu_ops.types import Filter


def refuses(filter: Filter, input: SharedInput | None) -> bool:
    """Whether the input has NaN or infinite values, and the filter takes finite ones only."""
    return input is not None and filter.finite_only and not input.finite


def refusal_sentence(filter: Filter, input: SharedInput) -> str:
    """Why the filter refuses the input, and what to do."""
    translate = QCoreApplication.translate
    counts = [text for text in count_words(input.statistics.nan, input.statistics.infinite) if text]
    text = translate(
        "Refusal", "{name} has {counts} values, and {filter} takes finite values only; choose another filter"
    )
    others = translate("Refusal", "{words}, or open the file with 0 in their place.") if path_of(input) else "{words}."
    both = translate("Refusal", "{first} and {second}") if len(counts) == 2 else "{first}"
    words = both.format(first=counts[0], second=counts[-1])
    return others.format(words=text.format(name=input.name, counts=words, filter=filter.title))


def path_of(input: SharedInput) -> str:
    """The file that an input was read from; empty where it comes from nowhere that can be opened again."""
    return str(input.origin.get("path", ""))
