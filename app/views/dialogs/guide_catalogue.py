"""The headings of the guide as actions for the command palette."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from app.models.guide import GuidePage, Heading, guide_pages
from app.views.dialogs.catalogue import Offer


class GuideCatalogue(QObject):
    """An action for each heading, created when the palette is first opened. `open(name, anchor)` shows it."""

    def __init__(self, open: Callable[[str, str], None], parent: QObject) -> None:
        super().__init__(parent)
        self._open = open
        self._offers: list[Offer] = []

    def offers(self) -> list[Offer]:
        """Every heading by its name, with those above it; the title of its page finds it too."""
        if not self._offers:
            self._offers = [self._offer(page, heading) for page in guide_pages() for heading in page.headings]
        return self._offers

    def _offer(self, page: GuidePage, heading: Heading) -> Offer:
        action = QAction(self)
        action.setStatusTip(self.tr("Open the guide at this heading"))
        go = partial(self._open, page.name, heading.anchor)
        action.triggered.connect(lambda _=False: go())
        if heading.level == 1:
            name = self.tr("Guide: {title}").format(title=heading.text)
        else:
            name = self.tr("Guide: {title} ({page})").format(title=" · ".join(heading.path), page=page.title)
        return Offer(name, action, f"guide help {page.title}")
