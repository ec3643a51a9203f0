"""Filters and their presets as actions for the command palette."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QAction

from app.models.experiment.session import Session
from app.models.search import filter_words
from gpu_ops import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.types import Filter


class Offer(NamedTuple):
    """An entry of the palette: its name, its action, other words that find it, and why it is disabled, where that is
    worth showing."""

    name: str
    action: QAction
    words: str = ""
    reason: str = ""


class Catalogue(QObject):
    """Creates its actions once and enables those that suit the present input."""

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._filters = [(f, self._action(f.summary, partial(self._choose, f))) for f in FILTERS]
        self._presets = [
            (f, name, self._action(f.summary, partial(self._choose, f, name))) for f in FILTERS for name in f.presets
        ]

    def _action(self, tip: str, handler: partial[None]) -> QAction:
        action = QAction(self)
        action.setStatusTip(tip)
        action.triggered.connect(lambda _=False: handler())
        return action

    def _choose(self, filter: Filter, preset: str = "") -> None:
        checks = {param.name: param.check for param in filter.params}
        values = filter.preset(preset) if preset else {}
        self._session.set_filter(filter.id, {name: checks[name](value) for name, value in values.items()})

    def offers(self) -> list[Offer]:
        """Every filter and preset with its search words; those for other inputs have a reason."""
        kind = self._session.input.kind if self._session.input else ""
        needs = self.tr("needs {kind}")

        def reason(filter: Filter) -> str:
            if kind in ("", filter.accepts):
                return ""
            return needs.format(kind=QCoreApplication.translate("Kinds", INPUT_KINDS[filter.accepts].title))

        title, text, translate = self.tr("Filter: {name}"), self.tr("{filter}: {preset}"), QCoreApplication.translate
        offers = [Offer(title.format(name=f.title), a, filter_words(f), reason(f)) for f, a in self._filters]
        for filter, preset, action in self._presets:
            name = text.format(filter=filter.title, preset=translate("Presets", preset))
            words = self.tr("preset {family} {id} {name}").format(family=filter.family, id=filter.id, name=preset)
            offers.append(Offer(name, action, words, reason(filter)))
        for offer in offers:
            offer.action.setEnabled(not offer.reason)
        return offers
