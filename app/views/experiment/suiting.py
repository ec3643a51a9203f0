"""The editor that suits a parameter."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.views.experiment.editors import (
    BoolEditor,
    ChoiceEditor,
    Editor,
    FloatEditor,
    GridEditor,
    IntEditor,
    TextEditor,
)
from app.views.experiment.look_editor import LookEditor
from gpu_ops.params import Param


def editor(param: Param, parent: QWidget | None = None) -> Editor:
    """The editor that suits the parameter."""
    if param.look is not None:
        return LookEditor(param, parent)
    if param.choices:
        return ChoiceEditor(param, parent)
    kinds: tuple[tuple[type, type[Editor]], ...] = (
        (bool, BoolEditor),
        (int, IntEditor),
        (float, FloatEditor),
        (tuple, GridEditor),
    )
    return next((maker for kind, maker in kinds if isinstance(param.default, kind)), TextEditor)(param, parent)
