"""A template of a new variant: the first kernel of a filter without its body. No widgets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.models.xray.code_text import partner
from app.models.xray.drafts import Draft
from gpu_ops.devices.kernel_source import compiled_with, header_fields, included_headers, read_source
from gpu_ops.types import Variant

WIDTH = 114
"""The letters of a line of comments."""
HEAD = ("What", "Shapes", "Launch")
"""The fields of a kernel file that hold for every kernel with its parameters."""
_KERNEL = re.compile(r"__global__[^;{]*?\b\w+\s*\(")


def template(filter: str, variant: Variant, sets: Sequence[Mapping[str, Any]] = ()) -> Draft:
    """A draft of the variant whose kernels have no bodies: comments say what is given. `sets` are the defines of its
    compilations."""
    draft = Draft(filter, variant.id)
    return draft.with_text(draft.file, template_text(draft.file, sets))


def template_text(file: str, sets: Sequence[Mapping[str, Any]] = ()) -> str:
    """The text of a kernel file without the bodies of its kernels."""
    text = read_source(file)
    fields = header_fields(text)
    lines = [line for name in HEAD if name in fields for line in _field(name, fields[name])]
    lines += _field("Idea", "what this variant does, and why it should be faster")
    for defines in compiled_with(sets)[:1]:
        lines += _field("Given", f"compiled with {defines}")
    for name in included_headers(file):
        lines += _field("Given", f"{name}, in a tab of its own")
    body = text[next((m.start() for m in re.finditer(r"^(?!//)", text, re.M)), 0) :]
    return "\n".join(lines) + "\n" + _without_bodies(body).lstrip("\n")


def _field(name: str, text: str) -> list[str]:
    """A field of the leading comment, on as many lines as it needs."""
    lines, line = [], f"// {name + ':':<9}"
    for word in text.split():
        if len(line) + len(word) >= WIDTH:
            lines.append(line.rstrip())
            line = "//" + " " * 10
        line += f"{word} "
    return [*lines, line.rstrip()]


def _without_bodies(code: str) -> str:
    """Code whose kernels have only a comment between their braces."""
    place = 0
    while found := _KERNEL.search(code, place):
        closing = partner(code, found.end() - 1)
        opening = code.find("{", closing) if closing else -1
        end = partner(code, opening) if opening >= 0 else None
        if not end or end < 0:
            break
        body = "\n    // Write every element of the output once; a thread beyond the end of the data does nothing.\n"
        code, place = code[: opening + 1] + body + code[end:], opening + len(body)
    return code
