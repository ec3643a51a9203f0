"""The report of an X-ray, with advice on each finding where the user asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QUrl, Signal, Slot
from PySide6.QtWidgets import QFrame, QWidget

from app.base.nesting import bounded
from app.models.xray.xray import KernelView
from app.views.explained import ExplainedBrowser
from app.views.labels import named
from app.views.xray.text import MEND, SHIPPED, report
from gpu_ops.own_kernels.mending import advice_on


class ReportView(ExplainedBrowser):
    """Shows a report. `line_wanted(kernel, file, line)`: the user wants to see that line, of the kernel and its file by
    their numbers; `example_wanted(example)`: the line of a shipped kernel that does it right."""

    line_wanted = Signal(int, int, int)
    example_wanted = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, name, title=self.tr("Findings, explanations and totals"))
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._shown: tuple[Mapping[str, Any], Sequence[KernelView], str] | None = None
        self._mended: set[str] = set()
        self.anchorClicked.connect(self._follow)

    def show_report(self, content: Mapping[str, Any], kernels: Sequence[KernelView], head: str = "") -> None:
        """Show the report of an X-ray, after a first sentence; what is visible stays visible."""
        self._shown = content, kernels, head
        self.paint_anew()

    def paint_anew(self) -> None:
        """Show the same report in the present colours."""
        if self._shown is None:
            return
        content, kernels, head = self._shown
        place = self.verticalScrollBar().value()
        self.setHtml(report(content, kernels, self.palette(), head, self._mended))
        self.verticalScrollBar().setValue(place)

    @Slot(QUrl)
    @bounded
    def _follow(self, link: QUrl) -> None:
        """Show a line, show or hide advice, or show the line of an example."""
        what, _, rest = link.fragment(QUrl.ComponentFormattingOption.FullyDecoded).partition("-")
        if what == MEND:
            self._mended ^= {rest}
            self.paint_anew()
        elif what == SHIPPED:
            advice = advice_on(rest)
            assert advice is not None and self._shown is not None
            self.example_wanted.emit(advice.example(self._shown[0].get("filter", "")))
        else:
            file, line = map(int, rest.split("-"))
            self.line_wanted.emit(int(what), file, line)
