"""What cannot be done and is known before anything runs: a filter refuses its input, or nothing can be timed. No
widgets."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication

from app.models.experiment.shown import Shown
from app.models.pictures.nonfinite import count_words
from gpu_ops import conversions
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.shared import SharedInput
from gpu_ops.types import REFERENCE, Filter


def refuses(filter: Filter, input: SharedInput | None) -> bool:
    """Whether the filter does not take the input's type, or takes finite values only and the input has NaN or
    infinity."""
    if input is None:
        return False
    return takes_not_type(filter, input) or (filter.finite_only and not input.finite)


def takes_not_type(filter: Filter, input: SharedInput) -> bool:
    """Whether the input's values are of a type that the filter does not take."""
    return input.array.dtype not in filter.dtypes


def refusal_sentence(filter: Filter, input: SharedInput) -> str:
    """Why the filter refuses the input, and what to do."""
    translate = QCoreApplication.translate
    if takes_not_type(filter, input):
        text = translate("Refusal", "{name} is {dtype}, and {filter} takes {allowed}; convert it first.")
        allowed = ", ".join(filter.dtypes)
        return text.format(name=input.name, dtype=input.array.dtype, filter=filter.title, allowed=allowed)
    counts = [text for text in count_words(input.statistics.nan, input.statistics.infinite) if text]
    text = translate(
        "Refusal", "{name} has {counts} values, and {filter} takes finite values only; choose another filter"
    )
    others = translate("Refusal", "{words}, or open the file with 0 instead of them.") if path_of(input) else "{words}."
    both = translate("Refusal", "{first} and {second}") if len(counts) == 2 else "{first}"
    words = both.format(first=counts[0], second=counts[-1])
    return others.format(words=text.format(name=input.name, counts=words, filter=filter.title))


def conversion_steps(filter: Filter, input: SharedInput) -> dict[str, dict[str, Any]]:
    """The steps that convert the input to a type that the filter takes, by the text of their buttons."""
    translate, found = QCoreApplication.translate, input.statistics
    texts = {
        "keep": translate("Refusal", "Convert to {dtype}"),
        "round": translate("Refusal", "Convert to {dtype}, rounded"),
        "scale": translate("Refusal", "Convert to {dtype}, scaled"),
    }
    steps = conversions(input.array.dtype, found.minimum, found.maximum, filter.dtypes)
    return {texts[step["how"]].format(dtype=step["dtype"]): step for step in steps}


def untimed_reason(shown: Shown) -> str:
    """Why nothing that is shown can be timed; "" where something can."""
    translate = QCoreApplication.translate
    picks = [shown.pick(id) for id in shown.ids if shown.here(id)]
    if any(pick.variant != REFERENCE and not is_simulated(pick.device) for pick in picks):
        return ""
    if any(is_simulated(pick.device) for pick in picks):
        return translate(
            "Refusal",
            "a simulated GPU counts work and has no clock; tick a variant that runs on the CPU or on a real GPU",
        )
    return translate("Refusal", "no variant that can be timed is ticked; tick one that runs on the CPU or on a GPU")


def path_of(input: SharedInput) -> str:
    """The file that an input was read from; empty where the input cannot be opened again."""
    return str(input.origin.get("path", ""))
