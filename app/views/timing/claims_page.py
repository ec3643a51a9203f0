"""The claims of the sources, the predictions, the results, and whether each claim holds."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app.base.theme import Role, colours_of
from app.models.timing.claims_table import Claims
from app.views.pages import TextPage


class ClaimsPage(TextPage):
    """Judgements as listed by `kernelscope claims --json -`. `save_asked(claims)`: the user wants to save them."""

    save_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("claims_page", "", parent)
        self.setWindowTitle(self.tr("Claims"))
        self.browser.setAccessibleName(self.tr("Claims"))
        self.save_button = QPushButton(self.tr("&Save…"), self)
        self.save_button.setObjectName("claims_page.save")
        self.save_button.setToolTip(
            self.tr("Save the claims as CSV or JSON, with the machine that they were measured on")
        )
        self.save_button.setEnabled(False)
        self.save_button.clicked.connect(lambda: self.save_asked.emit(self._claims))
        self.top.addWidget(self.save_button)
        self._claims: tuple[Mapping[str, Any], ...] = ()
        self.refresh()

    def set_claims(self, claims: Claims) -> None:
        """Show these judgements."""
        self._claims = tuple(claims)
        self.save_button.setEnabled(bool(self._claims))
        self.refresh()

    def refresh(self) -> None:
        counts = {holds: sum(c["holds"] is holds for c in self._claims) for holds in (True, False, None)}
        text = self.tr("{total} claims: {yes} hold, {no} do not, {open} undecided")
        self.summary.setText(
            text.format(total=len(self._claims), yes=counts[True], no=counts[False], open=counts[None])
        )
        super().refresh()

    def _judgement(self, holds: bool | None) -> tuple[Role, str]:
        colours = colours_of(self.palette())
        if holds is None:
            return colours.stale, self.tr("undecided")
        return (colours.ok, self.tr("holds")) if holds else (colours.error, self.tr("does not hold"))

    def html(self) -> str:
        if not self._claims:
            return f"<p>{escape(self.tr('There are no claims to show.'))}</p>"
        return "".join(self._card(claim) for claim in self._claims)

    def _card(self, claim: Mapping[str, Any]) -> str:
        role, word = self._judgement(claim["holds"])
        colours = colours_of(self.palette())
        muted, ink = colours.muted.name(), role.colour.name()
        where = f" <span style='color:{muted}'>({escape(claim['where'])})</span>" if claim.get("where") else ""
        rows = (
            (self.tr("published"), escape(claim["published"])),
            (self.tr("found"), f"{escape(claim['found'])}{where}"),
            (self.tr("holds?"), f"<span style='color:{ink}'><b>{role.symbol} {escape(word)}</b></span>"),
            (self.tr("predicted"), escape(claim["prediction"])),
        )
        cells = "".join(
            f"<tr><td style='color:{muted}; padding-right:1em'>{escape(name)}</td><td>{text}</td></tr>"
            for name, text in rows
        )
        title = claim.get("source_title") or claim["source"]
        tags = " · ".join(escape(t) for t in (claim["id"], title, self._basis(claim["basis"])) if t)
        return (
            f"<p style='margin-top:1.2em; margin-bottom:2px'><b>{escape(claim['claim'])}</b><br>"
            f"<span style='color:{muted}'>{tags}</span></p><table cellpadding='2'>{cells}</table>"
        )

    def _basis(self, basis: str) -> str:
        return {"counted": self.tr("counted"), "measured": self.tr("measured")}.get(basis, basis)

    def plain(self) -> str:
        """A line for each claim, tab-separated, with a header line."""
        lines = [
            "\t".join(
                (
                    self.tr("source"),
                    self.tr("claim"),
                    self.tr("published"),
                    self.tr("found"),
                    self.tr("holds?"),
                    self.tr("predicted"),
                )
            )
        ]
        for claim in self._claims:
            word = self._judgement(claim["holds"])[1]
            fields = (claim["source"], claim["claim"], claim["published"], claim["found"], word, claim["prediction"])
            lines.append("\t".join(fields))
        return "\n".join(lines) + "\n"
