"""Edited kernels: the texts of a variant's kernel files as a user changed them. No widgets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from pathlib import PurePath
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.models.experiment.shown import edited_title
from app.models.xray.problem import Problem
from gpu_ops import FILTERS
from gpu_ops.devices.kernel_source import header_files, included_headers, read_source
from gpu_ops.run_key import hash_of_edits
from gpu_ops.types import Variant


@dataclass(frozen=True)
class Draft:
    """The edited kernel files of a variant. `texts` has the files that differ from the shipped ones; `path` is the
    user's file that the kernel was opened from or saved to, and `saved` its text then."""

    filter: str
    variant: str
    texts: Mapping[str, str] = field(default_factory=dict)
    path: str = ""
    saved: str = ""

    @property
    def origin(self) -> Variant:
        """The variant whose kernel is edited."""
        return FILTERS.find(self.filter).variant(self.variant)

    @property
    def file(self) -> str:
        """The variant's first kernel file."""
        return self.origin.kernels[0]

    @property
    def files(self) -> dict[str, str]:
        """Every file that can be edited with its present text: the kernels, then the headers that they include, those
        that they name first."""
        kernels, paths = self.origin.kernels, header_files(self.texts)
        headers = {name: paths[name] for kernel in kernels for name in included_headers(kernel, self.texts)}
        code = "".join(read_source(kernel, self.texts) for kernel in kernels)
        named = [paths[name] for name in headers if f'"{name}"' in code]
        files = dict.fromkeys((*kernels, *named, *headers.values(), *self.texts))
        return {file: read_source(file, self.texts) for file in files}

    @property
    def hash(self) -> str:
        """The hash of the edits; "" for the shipped texts."""
        return hash_of_edits(self.texts)

    @property
    def unsaved(self) -> bool:
        """Whether there are edits that no file of the user has."""
        return bool(self.texts) and (not self.path or self.one_file() != self.saved)

    @property
    def name(self) -> str:
        """What the edited kernel file is called in messages: the user's file, else "edited 1_naive.cu"."""
        return PurePath(self.path.replace("\\", "/")).name or self.name_of(self.file)

    def name_of(self, file: str) -> str:
        """What one of the files is called in messages."""
        if file == self.file and self.path:
            return self.name
        return QCoreApplication.translate("XRay", "edited {file}").format(file=file.rsplit("/", 1)[-1])

    def in_own_names(self, text: str) -> str:
        """A message about the edited kernels that names the edited files in place of the shipped ones."""
        for file in self.texts:
            short = file.rsplit("/", 1)[-1]  # headers have it in the compiler's messages
            text = re.sub(rf"(?<![\w/.]){re.escape(short)}(?=:)|{re.escape(file)}", self.name_of(file), text)
        return text

    @property
    def difference(self) -> list[str]:
        """What was edited, as lines of a unified difference."""
        lines: list[str] = []
        for file, text in self.texts.items():
            both = read_source(file).splitlines(), text.splitlines()
            lines += unified_diff(*both, file, self.name_of(file), lineterm="", n=1)
        return lines

    def with_text(self, file: str, text: str) -> Draft:
        """The draft with another text of a file; the shipped text is no edit."""
        texts = {name: other for name, other in self.texts.items() if name != file}
        return replace(self, texts=texts if text == read_source(file) else {**texts, file: text})

    def one_file(self) -> str:
        """The kernel as one file, for `kernelscope run --kernel`: edited headers are inserted where it includes
        them."""
        text = read_source(self.file, self.texts)
        for name, path in header_files(self.texts).items():
            if path in self.texts and path != self.file:
                text = _inserted(text, name, self.texts[path])
        return text


def _inserted(text: str, name: str, header: str) -> str:
    """A text with a header in place of the first line that includes it."""
    lines = text.split("\n")
    place = next((n for n, line in enumerate(lines) if line.split("//")[0].split() == ["#include", f'"{name}"']), None)
    if place is None:
        return text
    kept = [line for line in header.split("\n") if line.split("//")[0].split() != ["#pragma", "once"]]
    return "\n".join((*lines[:place], f"// {name}", *kept, *lines[place + 1 :]))


class Drafts(QObject):
    """The drafts of a window, by filter and variant. `changed(draft)`: another text, or another file of the user;
    `replaced(draft)`: the text came from elsewhere than the editor, such as from a file."""

    changed = Signal(object)
    replaced = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._drafts: dict[tuple[str, str], Draft] = {}

    def of(self, filter: str, variant: str) -> Draft:
        """The draft of a variant; without edits where there is none."""
        return self._drafts.get((filter, variant), Draft(filter, variant))

    def has(self, filter: str, variant: str) -> bool:
        """Whether there is a draft of a variant, also one whose edits were all taken back."""
        return (filter, variant) in self._drafts

    @property
    def edited(self) -> tuple[Draft, ...]:
        """The drafts that have edits."""
        return tuple(draft for draft in self._drafts.values() if draft.texts)

    @property
    def unsaved(self) -> tuple[Draft, ...]:
        """The drafts that no file of the user has."""
        return tuple(draft for draft in self.edited if draft.unsaved)

    def put(self, draft: Draft) -> None:
        """Take a draft whose text did not come from the editor."""
        self._put(draft)
        self.replaced.emit(draft)

    def set_text(self, filter: str, variant: str, file: str, text: str) -> None:
        """Take the text of the editor."""
        draft = self.of(filter, variant)
        if read_source(file, draft.texts) != text:
            self._put(draft.with_text(file, text))

    def _put(self, draft: Draft) -> None:
        if self.of(draft.filter, draft.variant) != draft:
            self._drafts[draft.filter, draft.variant] = draft
            self.changed.emit(draft)

    def set_file(self, draft: Draft, path: str) -> None:
        """Note the file that a draft was saved to."""
        self._put(replace(draft, path=path, saved=draft.one_file()))


# Answers of the engine about an edited kernel


def problems_of(content: Mapping[str, Any], draft: Draft) -> tuple[Problem, ...]:
    """The compiler's messages of an answer without an X-ray, by the paths of the draft's files."""
    paths, found = header_files(draft.texts), content.get("problems", ())
    texts = [draft.in_own_names(one["text"]) for one in found]
    places = [(paths.get(one["file"], one["file"]), one["line"], one["column"], one["severity"]) for one in found]
    return tuple(Problem(*place, text) for place, text in zip(places, texts, strict=True))


def named_content(content: Mapping[str, Any], draft: Draft) -> dict[str, Any]:
    """An X-ray of an edited kernel whose sentences name the edited files."""
    named: dict[str, Any] = {
        "sentences": _named(content["sentences"], draft),
        "findings": _named(content["findings"], draft),
    }
    for name in ("shipped", "comparison"):
        if comparison := content.get(name):
            named[name] = {**comparison, "sentences": _named(comparison.get("sentences", ()), draft)}
    title = edited_title(content["title"])
    return {**content, **named, "title": title, "edited": draft.name, "difference": draft.difference}


def _named(sentences: Any, draft: Draft) -> list[dict[str, Any]]:
    return [{**one, "text": draft.in_own_names(one["text"])} for one in sentences]
