"""A page of text with a heading and a Copy button: the base of the claims, shortcut and diagnostics pages."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from app.base.nesting import bounded
from app.views.boxes import in_column, in_row
from app.views.explained import ExplainedBrowser
from app.views.labels import named


class TextPage(QWidget):
    """HTML from `html`, rebuilt when palette or font change, and copied as `plain` text."""

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.summary = named(QLabel(self), f"{name}.summary")
        self.summary.setWordWrap(True)
        self.copy_button = QPushButton(self.tr("Cop&y"), self)
        self.copy_button.setObjectName(f"{name}.copy")
        self.copy_button.setToolTip(self.tr("Copy the page as text"))
        self.copy_button.clicked.connect(self.copy)
        self.browser = named(ExplainedBrowser(self), f"{name}.text", title=title)
        self.browser.setOpenLinks(False)
        self.top = in_row((self.summary, 1), self.copy_button)
        in_column(self.top, (self.browser, 1), on=self, margins=None)

    def html(self) -> str:
        raise NotImplementedError

    def plain(self) -> str:
        """The page as text."""
        return self.browser.toPlainText()

    def refresh(self) -> None:
        """Rebuild the page and keep the scroll position."""
        bar = self.browser.verticalScrollBar()
        place = bar.value()
        self.browser.document().setDocumentMargin(self.fontMetrics().height())
        self.browser.setHtml(self.html())
        bar.setValue(place)

    def copy(self) -> None:
        """Copy the page as text to the clipboard."""
        QGuiApplication.clipboard().setText(self.plain())

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "browser"):
            self.refresh()
