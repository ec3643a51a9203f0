"""How far a kernel is from the next change of its occupancy on each GPU, and what would clear its bank conflicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from PySide6.QtCore import QEvent, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, inked
from app.controllers.kernels.cliffs import CliffsController
from app.views.boxes import in_column, in_row
from app.views.explained import ExplainedBrowser
from app.views.labels import named, sentence_label
from app.views.xray.text import with_place


class CliffsView(QWidget):
    """Shows a CliffsController. Nothing is computed until it is watched."""

    def __init__(self, controller: CliffsController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("xray.cliffs")
        self._controller = controller
        self._html = ""
        self.state = sentence_label("xray.cliffs.state", self)
        self.again = named(
            QPushButton(self.tr("Look again"), self), "xray.cliffs.again", tip=self.tr("Look for the cliffs again")
        )
        self.text = named(
            ExplainedBrowser(self), "xray.cliffs.text", title=self.tr("Cliffs of the occupancy, and bank conflicts")
        )
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        gap = self.fontMetrics().averageCharWidth()
        in_column(in_row((self.state, 1), self.again), (self.text, 1), on=self, margins=(0, gap, 0, 0))
        self.again.clicked.connect(controller.again)
        controller.changed.connect(self._show)
        self._show()

    def watch(self, on: bool) -> None:
        """Set whether this is in front."""
        self._controller.watch(on)

    @property
    def content(self) -> Mapping[str, Any] | None:
        """The cliffs of the present choice, if they are known."""
        return self._controller.content if self._controller.state == "shown" else None

    @Slot()
    def _show(self) -> None:
        controller = self._controller
        state, stale = controller.state, controller.content is not None and controller.state != "shown"
        texts = {
            "empty": self.tr("Open an input to see the cliffs of a kernel."),
            "waiting": self.tr("Waiting for other work to end."),
            "running": self.tr("Compiling for each GPU and trying layouts of shared memory…"),
            "stopped": self.tr("Stopped; press Look again to restart."),
            "failed": self.tr("There are no cliffs: {reason}").format(reason=controller.reason),
            "shown": "",
        }
        text = self.tr("{state} The cliffs below belong to an earlier setting.") if stale else "{state}"
        self.state.setText(text.format(state=texts[state]) if texts[state] else "")
        self.state.setVisible(bool(texts[state]))
        self.again.setVisible(state in ("stopped", "failed"))
        colours = colours_of(self.palette())
        self.state.setPalette(inked(self.state.palette(), colours.error.colour if state == "failed" else colours.muted))
        html = self._text(controller.content) if controller.content is not None else ""
        self.text.setVisible(bool(html))
        if html != self._html:
            self._html = html
            self.text.setHtml(html)

    def _text(self, content: Mapping[str, Any]) -> str:
        muted = colours_of(self.palette()).muted.name()
        parts = [
            _heading(with_place(self.tr("Bank conflicts of shared memory"), self._controller.where)),
            _list(content["conflicts"]["texts"]),
        ]
        if layouts := content["conflicts"]["layouts"]:
            heads = ("", self.tr("wavefronts"), self.tr("bytes per block"), "")
            rows = "".join(self._layout(one) for one in layouts)
            head = "".join(f"<td style='color:{muted}; padding-right:0.8em'>{escape(text)}</td>" for text in heads)
            parts.append(f"<table cellpadding='1'><tr>{head}</tr>{rows}</table>")
        parts.append(_heading(with_place(self.tr("Next steps of the occupancy"), self._controller.where)))
        for target in content["targets"]:
            parts.append(f"<p style='margin-top:4px; margin-bottom:0'>{escape(target['title'])}</p>")
            parts.append(_list(target["texts"]))
        return "".join(parts)

    def _layout(self, one: Mapping[str, Any]) -> str:
        """A layout that was tried on the simulated GPU."""
        colours = colours_of(self.palette())
        good = not one["refused"]
        said = one["refused"] or (self.tr("proposed") if one["proposed"] else self.tr("works as well"))
        role = colours.ok if good else colours.error
        ran = bool(one["wavefronts"])
        numbers = (f"{one['wavefronts']:,}", f"{one['extra_bytes']:+,}".replace("-", "−")) if ran else ("–", "–")
        cells = f"<td style='padding-right:0.8em'>{escape(one['what'])}</td>"
        cells += "".join(f"<td align='right' style='padding-right:0.8em'>{escape(text)}</td>" for text in numbers)
        mark = f"<span style='color:{role.colour.name()}'>{role.symbol if good else '–'}</span>"
        return f"<tr>{cells}<td>{mark} {escape(said)}</td></tr>"

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "again"):
            self._show()


def _heading(text: str) -> str:
    return f"<p style='margin-top:0.5em; margin-bottom:2px'><b>{escape(text)}</b></p>"


def _list(items: Iterable[str]) -> str:
    return "".join(f"<p style='margin-top:0; margin-bottom:2px'>• {escape(text)}</p>" for text in items)
