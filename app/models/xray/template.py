"""A draft of a new variant: the first kernel of a filter without its body. No widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.models.xray.drafts import Draft
from gpu_ops.own_kernels.template import template_text
from gpu_ops.types import Variant


def template(filter: str, variant: Variant, sets: Sequence[Mapping[str, Any]] = ()) -> Draft:
    """A draft of the variant whose kernels have no bodies: comments say what is given. `sets` are the defines of its
    compilations."""
    draft = Draft(filter, variant.id)
    return draft.with_text(draft.file, template_text(draft.file, sets))
