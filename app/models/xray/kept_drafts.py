"""Edited kernels in a session file. No widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from app.models.files.json_text import Fields
from app.models.xray.drafts import Draft
from gpu_ops import FILTERS, ParamError
from gpu_ops.devices.kernel_source import MOST_CHARACTERS, is_shipped
from gpu_ops.errors import InputError, plain

MOST_DRAFTS = 100


def _tr(text: str) -> str:
    return QCoreApplication.translate("Sessions", text)


def draft_json(draft: Draft) -> dict[str, Any]:
    """A draft as a session file keeps it."""
    about = {"filter": draft.filter, "variant": draft.variant, "texts": dict(draft.texts)}
    return about | ({"path": draft.path, "saved": draft.saved} if draft.path else {})


def read_drafts(content: Sequence[Mapping[str, Any]]) -> tuple[Draft, ...]:
    """The drafts of a session file, all checked. Drafts of variants that this version does not have are an error like
    other unknown variants. Raises InputError, ParamError."""
    drafts = []
    for fields in (Fields(item, "view.edited") for item in content[:MOST_DRAFTS]):
        filter = FILTERS.find(fields.text("filter"))
        variant = filter.variant(fields.text("variant"))
        if not variant.kernels:
            raise ParamError(_tr("{variant} has no kernel that can be edited.").format(variant=variant.id))
        texts = read_edits(fields)
        drafts.append(Draft(filter.id, variant.id, texts, fields.text("path", ""), fields.text("saved", "")))
    return tuple(drafts)


def read_edits(fields: Fields) -> dict[str, str]:
    """The "texts" of edited kernel files, by the names of shipped files. Raises InputError."""
    texts = fields.values("texts")
    for file, text in texts.items():
        if not is_file(file):
            raise InputError(_tr("It has an edited {file}, which is no kernel file.").format(file=plain(file, 80)))
        if not isinstance(text, str) or len(text) > MOST_CHARACTERS or "\0" in text:
            raise InputError(_tr("Its text of {file} is no text of a kernel.").format(file=plain(file, 80)))
    return {str(file): str(text) for file, text in texts.items()}


def is_file(file: str) -> bool:
    """Whether a name is that of a shipped kernel file or header."""
    return file.endswith((".cu", ".cuh")) and ".." not in file and not file.startswith("/") and is_shipped(file)
