"""What there is to choose, beside what there is to do: filters and their presets as actions for the palette."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QAction

from app.models.search import filter_words
from app.models.session import Session
from gpu_ops import FILTERS
from gpu_ops.types import Filter


class Offer(NamedTuple):
    """An action under the name that is shown, and other words that find it."""

    name: str
    action: QAction
    words: str = ""


class Catalogue(QObject):
    """Its actions are made once; those are enabled that suit the input there is."""

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._filters = [(f, self._action(f.summary, partial(self._choose, f))) for f in FILTERS]
        self._presets = [
            (f, name, self._action(f.summary, partial(self._choose, f, name))) for f in FILTERS for name in f.presets
        ]

    def _action(self, tip: str, deed: partial[None]) -> QAction:
        action = QAction(self)
        action.setStatusTip(tip)
        action.triggered.connect(lambda _=False: deed())
        return action

    def _choose(self, filter: Filter, preset: str = "") -> None:
        self._session.set_filter(filter.id)
        if preset:
            self._session.set_params({**self._session.choice.params, **filter.preset(preset)})

    def offers(self) -> list[Offer]:
        """Every filter and preset, by the words a person looks for."""
        kind = self._session.input.kind if self._session.input else ""
        for filter, action in (*self._filters, *((f, a) for f, _, a in self._presets)):
            action.setEnabled(kind in ("", filter.accepts))
        title, translate = self.tr("Filter: {name}"), QCoreApplication.translate
        filters = [Offer(title.format(name=f.title), a, filter_words(f)) for f, a in self._filters]
        text = self.tr("{filter}: {preset}")
        presets = [
            Offer(
                text.format(filter=f.title, preset=translate("Presets", name)),
                action,
                self.tr("preset filter {family} {id} {preset}").format(family=f.family, id=f.id, preset=name),
            )
            for f, name, action in self._presets
        ]
        return filters + presets
