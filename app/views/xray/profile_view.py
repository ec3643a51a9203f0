"""A report of Nsight Compute next to the simulated counts of a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl, Signal, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app.base.numbers import count, number
from app.base.theme import colours_of
from app.views.boxes import in_column
from app.views.explained import ExplainedBrowser
from app.views.flow import FlowLayout
from app.views.labels import named, sentence_label

GAP = "padding-right:0.8em; white-space:nowrap"
DIGITS = 12
"""The most digits of a count that is no integer."""


def _counted(value: float) -> str:
    """A count of a profile; one that is no integer, such as an average, with its decimals."""
    return count(value) if value == round(value) else number(value, DIGITS)


def _is_equal(one: Mapping[str, Any]) -> bool:
    return bool(one["profiled"] == one["simulated"])


class ProfileView(QWidget):
    """Shows the comparison with a profile. `open_wanted`: the user wants to choose a file; `closed`: to see none any
    more; `place_chosen((file, line))`: to see a source line."""

    open_wanted = Signal()
    closed = Signal()
    place_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("xray.profile")
        self._html = ""
        self._places: list[tuple[str, int]] = []
        self.file = sentence_label("xray.profile.file", self)
        tip = self.tr("Open a report of Nsight Compute (.ncu-rep, or what ncu --csv prints) of this kernel")
        self.open = named(QPushButton(self.tr("Open profile…"), self), "xray.profile.open", tip=tip)
        self.close_button = named(
            QPushButton(self.tr("Close profile"), self), "xray.profile.close", tip=self.tr("Compare with no profile")
        )
        self.text = named(
            ExplainedBrowser(self), "xray.profile.text", title=self.tr("Simulated and profiled counts of each line")
        )
        self.text.setOpenLinks(False)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        gap = self.fontMetrics().averageCharWidth()
        buttons = QWidget(self)
        row = FlowLayout(buttons, gap)
        row.setContentsMargins(0, 0, 0, 0)
        for button in (self.open, self.close_button):
            row.addWidget(button)
        in_column(self.file, buttons, (self.text, 1), on=self, margins=(0, gap, 0, 0))
        self.open.clicked.connect(self.open_wanted)
        self.close_button.clicked.connect(self.closed)
        self.text.anchorClicked.connect(self._follow)

    def show_content(self, content: Mapping[str, Any], kernel: str, path: str, palette: QPalette) -> None:
        """Show the comparison of a kernel with the profile of this path, "" for none."""
        self.file.setText(Path(path).name)
        self.close_button.setVisible(bool(path))
        self._places = []
        html = self._text(content, kernel, path, palette)
        if html != self._html:
            self._html = html
            self.text.setHtml(html)

    def _text(self, content: Mapping[str, Any], kernel: str, path: str, palette: QPalette) -> str:
        if content.get("profile_reason"):
            return escape(content["profile_reason"])
        found = next((one for one in content.get("profiles", ()) if one["kernel"] == kernel), None)
        if found is None:
            ready = "profiles" in content
            return escape(
                self.tr("The profile does not have this kernel.") if ready else self.tr("Reading the profile…")
            )
        notes = "".join(f"<p style='margin:0'>• {escape(note)}</p>" for note in found["notes"])
        known = [one for one in found["lines"] if one["profiled"] is not None]
        equal = [one for one in known if _is_equal(one)]
        parts = (
            (self.tr("Lines whose counts differ"), [one for one in known if not _is_equal(one)]),
            (self.tr("In all"), found["totals"]),
            (self.tr("Lines with equal counts"), equal),
            (self.tr("Lines that the profile does not count"), [o for o in found["lines"] if o["profiled"] is None]),
        )
        muted = colours_of(palette).muted.name()
        heads = self.tr("counter"), self.tr("simulated"), self.tr("profiled")
        head = "".join(f"<td style='color:{muted}; {GAP}'>{escape(text)}</td>" for text in ("", *heads))
        rows = "".join(
            f"<tr><td colspan='4'><b>{escape(name)}</b></td></tr>{self._rows(some, palette)}"
            for name, some in parts
            if some
        )
        if known:
            said = self.tr("{equal} of {all} counts of lines are equal.")
            notes += f"<p style='margin:0'>{said.format(equal=count(len(equal)), all=count(len(known)))}</p>"
        return f"{notes}<table cellpadding='1'><tr>{head}</tr>{rows}</table>"

    def _rows(self, all_counts: Sequence[Mapping[str, Any]], palette: QPalette) -> str:
        colours, rows = colours_of(palette), ""
        for one in all_counts:
            where = ""
            if one["line"]:
                name = f"{one['file'].rsplit('/', 1)[-1]}:{one['line']}"
                where = f"<a href='#{len(self._places)}'>{escape(name)}</a>"
                self._places.append((one["file"], one["line"]))
            profiled, sign, colour = "–", "", colours.muted
            if one["profiled"] is not None:
                role = colours.ok if _is_equal(one) else colours.warn
                profiled, sign, colour = _counted(one["profiled"]), role.symbol, role.colour
            mark = f"<span style='color:{colour.name()}'>{escape(sign)}</span>"
            cells = f"<td style='{GAP}'>{where}</td><td style='{GAP}'>{escape(one['counter'])}</td>"
            for text in (count(one["simulated"]), f"{profiled} {mark}"):
                cells += f"<td align='right' style='{GAP}'>{text}</td>"
            rows += f"<tr>{cells}</tr>"
            if one["why"]:
                muted = colours.muted.name()
                rows += f"<tr><td></td><td colspan='3' style='color:{muted}'>{escape(one['why'])}</td></tr>"
        return rows

    @Slot(QUrl)
    def _follow(self, link: QUrl) -> None:
        self.place_chosen.emit([self._places[int(link.fragment())]])
