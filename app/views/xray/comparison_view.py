"""Compares two variants: the choice of the other one, the counts of both, and what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QWidget

from app.views.boxes import in_column
from app.views.explained import ExplainedBrowser
from app.views.folding import Folding
from app.views.labels import buddy
from app.views.parts import Combo
from app.views.xray.text import comparison
from gpu_ops.types import Variant


class ComparisonView(QWidget):
    """Shows the comparison of an X-ray's variant with another; `chosen(id)`: the user chose that other, "" for none."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("xray.comparison")
        self._html = ""
        self.variants = Combo(self)
        self.variants.setObjectName("xray.against")
        self.variants.setAccessibleName(self.tr("Variant to compare with"))
        self.variants.setToolTip(self.tr("A second variant, simulated on the same part of the same input"))
        self.variants.set_letters(8)
        self.text = ExplainedBrowser(self)
        self.text.setObjectName("xray.comparison.text")
        self.text.setAccessibleName(self.tr("Counts of both variants, and what changed"))
        self.text.setOpenLinks(False)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        gap, row = self.fontMetrics().averageCharWidth(), Folding(self)
        row.set_space((0, 0, 0, 0), gap)
        row.one.addWidget(buddy(self.tr("Compare with"), self.variants))
        row.two.addWidget(self.variants)
        in_column(row, (self.text, 1), on=self, margins=(0, gap, 0, 0))
        self.variants.activated.connect(lambda place: self.chosen.emit(self.variants.itemData(place)))

    def show_variants(self, variants: Sequence[Variant], shown: str, against: str, edited: bool = False) -> None:
        """List the variants to compare with, "none" first, and select the present one. An `edited` kernel can be
        compared with the shipped one of its variant."""
        self.variants.clear()
        self.variants.addItem(self.tr("none"), "")
        for variant in variants:
            if variant.id != shown or edited:
                self.variants.addItem(variant.title, variant.id)
        self.select(against)

    def select(self, against: str) -> None:
        """Select the variant to compare with."""
        self.variants.setCurrentIndex(self.variants.findData(against))

    def show_content(self, content: Mapping[str, Any], against: str, palette: QPalette) -> None:
        """Show an X-ray's comparison with the chosen variant."""
        answer = content.get("shipped" if against == content["variant"] else "comparison")
        if not against:
            html = escape(self.tr("Choose a variant above to see what changed from it to this one."))
        elif not answer or answer["before"]["variant"] != against:
            html = escape(self.tr("The X-ray of both variants is not ready yet."))
        else:
            html = comparison(content["title"], answer, palette, content.get("difference", ()))
        if html != self._html:
            self._html = html
            self.text.setHtml(html)
