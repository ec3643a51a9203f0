"""Parts of the window that are created when first visible, so that the window opens sooner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.base.nesting import bounded
from app.views.scrolled import Scrolled

W = TypeVar("W", bound=QWidget)


class Lazy(QWidget, Generic[W]):
    """A placeholder of the widget from `make(parent)`, which is created when the placeholder is shown or its `content`
    is used. The content does not affect the size of its surroundings: it is scrolled where space is short."""

    def __init__(self, make: Callable[[QWidget], W], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._content: W | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)

    @property
    def content(self) -> W:
        if self._content is None:
            self._content = self._make(self)
            scroll = Scrolled(self._content, self)
            self._layout.addWidget(scroll)
            scroll.show()  # a child created under a visible parent starts hidden
        return self._content

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        self.content.show()
        super().showEvent(event)
