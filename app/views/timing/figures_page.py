"""The figures of the sources: published values, models and the points of a report, one figure at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, fixed_font, inked
from app.views.boxes import in_column, in_row
from app.views.labels import buddy, named, sentence_label
from app.views.parts import Combo
from app.views.picture_file import export_sheet, write_text
from app.views.scrolled import Squeezed
from app.views.sweep.figure_plot import FigurePlot, look_of
from app.views.sweep.legend import Legend
from app.views.upright import Upright
from gpu_ops import DrawnFigure
from gpu_ops.types import SOURCE_TITLES

COLUMN = 24
"""The width of a name in the legend, in letter heights."""


class FigureSheet(Squeezed):
    """The exported picture: heading, plot, legend, and the figure's description."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("figureSheet")
        self.setAutoFillBackground(True)
        names = ("heading", "origin", "text", "words", "missing", "commands")
        self.heading, self.origin, self.text, self.words, self.missing, self.commands = (
            sentence_label(f"figureSheet.{name}", self, True) for name in names
        )
        self.plot, self.legend = FigurePlot(self), Legend(self)
        gap = self.fontMetrics().averageCharWidth()
        above, below = (self.heading, self.origin, self.text), (self.legend, self.words, self.missing, self.commands)
        in_column(*above, (self.plot, 1), *below, on=self, margins=(gap, gap // 2, gap, gap // 2))
        self.drawn: DrawnFigure | None = None

    def show_figure(self, drawn: DrawnFigure) -> None:
        """Show this figure."""
        self.drawn = drawn
        figure = drawn.figure
        self.heading.setText(figure.title)
        where = self.tr("{number} of {source}").format(number=figure.number, source=SOURCE_TITLES[figure.source])
        self.origin.setText(" · ".join(filter(None, [where, self._machine()])))
        self.text.setText(figure.text)
        sources = dict.fromkeys(
            one.text for one in drawn.series if one.basis not in ("measured", "predicted") and one.text
        )
        self.words.setText("\n".join([*sources, *drawn.notes]))
        role = colours_of(self.palette()).warn
        self.missing.setText(f"{role.symbol} {drawn.missing}" if drawn.missing else "")
        self.commands.setText("\n\n".join(drawn.commands) if drawn.missing else "")
        for label in (self.missing, self.commands):
            label.setVisible(bool(label.text()))
        self.plot.show_figure(drawn)
        self._name()
        self._ink()

    def _machine(self) -> str:
        """The origin of the points; "" if there are none."""
        assert self.drawn is not None
        drawn = self.drawn
        if drawn.report:
            return self.tr("◉ {machine} ({report})").format(machine=drawn.machine, report=Path(drawn.report).name)
        bases = {one.basis for one in drawn.series}
        if "predicted" in bases:
            return self.tr("predicted {origin}").format(origin=drawn.machine)
        return self.tr("measured, {machine}").format(machine=drawn.machine) if "measured" in bases else ""

    def _name(self) -> None:
        """The legend: what was published, the model, and what was measured."""
        assert self.drawn is not None
        drawn = self.drawn
        titles = {
            "published": self.tr("published, {gpu}").format(gpu=drawn.figure.published_on),
            "model": self.tr("model"),
            "predicted": self.tr("predicted"),
            "measured": self.tr("measured, {machine}").format(machine=drawn.machine),
        }
        groups = []
        for basis, title in titles.items():
            own = [(one.name, look_of(drawn, one, self.palette())) for one in drawn.series if one.basis == basis]
            groups += [(title, own)] if own else []
        self.legend.set_columns(max(1, self.width() // (COLUMN * self.fontMetrics().height())))
        self.legend.show_groups(groups)

    def _ink(self) -> None:
        colours = colours_of(self.palette())
        bold, fixed = self.font(), self.font()
        bold.setBold(True)
        fixed.setFamily(fixed_font())
        self.heading.setFont(bold)
        self.commands.setFont(fixed)
        for label, ink in ((self.origin, colours.muted), (self.missing, colours.warn.colour)):
            label.setPalette(inked(self.palette(), ink))

    def export(self, path: str) -> None:
        """Write the figure: its points if the name ends in .csv or .json, else the picture, as SVG or PNG. Raises
        InputError if the file cannot be written."""
        drawn = self.drawn
        assert drawn is not None
        suffix = Path(path).suffix.lower()
        if suffix == ".csv":
            write_text(path, drawn.to_csv())
        elif suffix == ".json":
            write_text(path, drawn.to_json())
        else:
            export_sheet(self, path, drawn.figure.title, drawn.facts())

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if self.drawn is not None:
            self._name()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and getattr(self, "drawn", None):
            self._name()
            self._ink()


class FiguresPage(QWidget):
    """The selected one of these figures. `save_asked(page)`: the user saves it, `report_asked(page)`: the user wants
    the points of another report."""

    save_asked = Signal(object)
    report_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("figures_page")
        self.setWindowTitle(self.tr("Figures"))
        self.choice = named(Combo(self), "figures_page.figure", title=self.tr("Figure to show"))
        self.choice.set_letters(16)
        self.report_button = self._button("report", self.tr("&Report…"), self.tr("Show the points of another report"))
        self.copy_button = self._button("copy", self.tr("Cop&y"), self.tr("Copy all points as a table"))
        tip = self.tr("Save the figure as PNG or SVG, or its points as CSV or JSON")
        self.save_button = self._button("save", self.tr("&Save…"), tip)
        self.sheet = FigureSheet(self)
        self._arrange()
        self.drawn: tuple[DrawnFigure, ...] = ()
        self.choice.currentIndexChanged.connect(self._show)
        self.report_button.clicked.connect(lambda: self.report_asked.emit(self))
        self.copy_button.clicked.connect(self._copy)
        self.save_button.clicked.connect(lambda: self.save_asked.emit(self))

    def _button(self, name: str, text: str, tip: str) -> QPushButton:
        button = named(QPushButton(text, self), f"figures_page.{name}", tip=tip)
        return button

    def _arrange(self) -> None:
        label = buddy(self.tr("&Figure"), self.choice)
        top = in_row(label, (self.choice, 1), self.report_button, self.copy_button, self.save_button)
        inside = Upright(self)
        inside.setWidget(self.sheet)
        in_column(top, (inside, 1), on=self, margins=None)

    def set_figures(self, drawn: Sequence[DrawnFigure]) -> None:
        """Show these figures; the selected one stays selected."""
        before = self.choice.currentIndex()
        self.drawn = tuple(drawn)
        self.choice.blockSignals(True)
        self.choice.clear()
        for one in self.drawn:
            self.choice.addItem(f"{one.figure.source} {one.figure.number} · {one.figure.title}")
        self.choice.setCurrentIndex(max(before, 0))
        self.choice.blockSignals(False)
        for button in (self.copy_button, self.save_button):
            button.setEnabled(bool(self.drawn))
        self._show()

    @property
    def shown(self) -> DrawnFigure | None:
        """The selected figure; None if there is none."""
        place = self.choice.currentIndex()
        return self.drawn[place] if 0 <= place < len(self.drawn) else None

    @Slot()
    def _show(self) -> None:
        if self.shown is not None:
            self.sheet.show_figure(self.shown)

    @Slot()
    def _copy(self) -> None:
        if self.shown is not None:
            QGuiApplication.clipboard().setText(self.shown.to_csv())

    def export(self, path: str) -> None:
        """Write the selected figure, as FigureSheet does."""
        self.sheet.export(path)
