"""The sweep tab: the varied quantity and its values, the plot with its findings, and the rows behind it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QGridLayout, QLineEdit, QPushButton, QStackedWidget, QWidget

from app.base.nesting import bounded
from app.base.theme import checkable, colours_of, inked
from app.base.tips import tip_text
from app.controllers.sweep import SweepController
from app.models.timing.laws import LawPicture
from app.models.timing.sweep import Option, Sweep
from app.views.boxes import in_column
from app.views.labels import buddy, named, sentence_label
from app.views.parts import Combo
from app.views.picture_file import export_sheet, write_text
from app.views.scrolled import Squeezed
from app.views.sweep.law_sheet import LawSheet
from app.views.sweep.legend import SweepLegend
from app.views.sweep.occupancy_plot import SweepOccupancy
from app.views.sweep.plot import SweepPlot
from app.views.sweep.table import SweepTable
from app.views.sweep.text import findings, heading, option_title, recorded_title, shown_title
from app.views.upright import Upright
from gpu_ops import comment_lines

WIDE = 40
"""The width, in letter heights, from which on the legend is next to the plot."""
FIRST = 3
"""The number of sentences above the plot; the others are below it."""
COLUMN = 17
"""The width of a name below the plot."""


class SweepSheet(Squeezed):
    """The exported picture: heading, plot, legend and findings."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sweepSheet")
        self.setAutoFillBackground(True)
        names = ("sweepHeading", "sweepFindings", "sweepMore")
        self.heading, self.findings, self.more = (sentence_label(name, self, True) for name in names)
        self.plot, self.legend = SweepPlot(self), SweepLegend(self)
        self.occupancy = SweepOccupancy(self.plot, self)
        plots = in_column((self.plot, 3), (self.occupancy, 2))
        self._across = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._across.addLayout(plots, 1)
        self._across.addWidget(self.legend)
        gap = self.fontMetrics().averageCharWidth()
        in_column(
            self.heading, self.findings, (self._across, 1), self.more, on=self, margins=(gap, gap // 2, gap, gap // 2)
        )

    def show_sweep(self, sweep: Sweep | None) -> None:
        """Show the rows of this sweep that have run."""
        self.plot.show_sweep(sweep)
        self.legend.show_sweep(sweep)
        self.plot.setVisible(bool(self.plot.lines))
        self.occupancy.show_sweep(sweep)
        self.occupancy.setVisible(bool(self.occupancy.lines))
        self.heading.setText(heading(sweep) if sweep else "")
        texts = findings(sweep) if sweep else []
        for label, sentences in ((self.findings, texts[:FIRST]), (self.more, texts[FIRST:])):
            label.setText("\n".join(sentences))
            label.setVisible(bool(sentences))
        self.plot.setAccessibleDescription("\n".join(texts))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """The width of the plot alone; the legend is below it if there is no space next to it."""
        width = self.plot.minimumSizeHint().width() + 2 * self.fontMetrics().averageCharWidth()
        return QSize(width, super().minimumSizeHint().height())

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        unit = self.fontMetrics().height()
        wide = self.width() >= WIDE * unit
        directions = QBoxLayout.Direction
        self._across.setDirection(directions.LeftToRight if wide else directions.TopToBottom)
        self.legend.set_columns(1 if wide else max(1, self.width() // (COLUMN * unit)))

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_across"):
            self.legend.refresh()
            self._fit()


class SweepPanel(Squeezed):
    """Shows a SweepController and passes on the user's actions."""

    def __init__(self, controller: SweepController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sweepPanel")
        self.controller = controller
        self.varies = self._combo("sweepVaries", self.tr("What varies"), 16)
        self.values = named(
            QLineEdit(self), "sweepValues", title=self.tr("Values"), tip=self.tr("Whole numbers, such as 4, 8, 16, 32")
        )
        self.values.setMinimumWidth(22 * self.fontMetrics().averageCharWidth())
        self.button = QPushButton(self.tr("Sweep"), self)
        self.button.setObjectName("sweepStart")
        self.button.setToolTip(
            self.tr("Time the ticked variants quickly at each value, and verify every result in full")
        )
        self.source = self._combo("sweepSource", self.tr("Sweep to show"), 14)
        self.figure = self._combo("sweepFigure", self.tr("Time or counter to show"), 12)
        self.ghost = self._combo("sweepGhost", self.tr("Recorded GPU beside the sweep"), 10)
        self.ghost.setToolTip(
            self.tr("Draw GPU times that were recorded elsewhere over your own CPU lines, to see where they cross")
        )
        self.rows = named(QPushButton(self.tr("Rows"), self), "sweepRows")
        checkable(self.rows)
        self.rows.setToolTip(self.tr("Show the rows as a table instead of the plot"))
        self.reason, self.state = (sentence_label(name, self) for name in ("sweepReason", "sweepState"))
        self.reason.hide()
        self.state.hide()
        self.sheet, self.table, self.laws = SweepSheet(self), SweepTable(self), LawSheet(self)
        self._arrange()
        self._listen()
        self._list_options()
        self._show()
        self._colour()

    def _combo(self, name: str, title: str, letters: int) -> QComboBox:
        combo = named(Combo(self), name, title=title)
        combo.set_letters(letters)
        return combo

    def _arrange(self) -> None:
        gap = self.fontMetrics().averageCharWidth()
        controls = QGridLayout()
        controls.setContentsMargins(gap, gap // 2, gap, 0)
        controls.setHorizontalSpacing(gap)
        controls.setVerticalSpacing(gap // 2)
        controls.setColumnStretch(1, 1)
        pairs = (
            (self.tr("Varies"), self.varies, None),
            (self.tr("Values"), self.values, self.button),
            (self.tr("Figure"), self.figure, None),
            (self.tr("Shown"), self.source, self.rows),
            (self.tr("Recorded GPU"), self.ghost, None),
        )
        for row, (title, widget, button) in enumerate(pairs):
            self._ghost_label = buddy(title, widget)  # that of the last row
            controls.addWidget(self._ghost_label, row, 0)
            controls.addWidget(widget, row, 1, 1, 1 if button is not None else 2)
            if button is not None:
                controls.addWidget(button, row, 2)
        scroll = Upright(self)
        scroll.setWidget(self.sheet)
        self.stack = QStackedWidget(self)
        self.stack.addWidget(scroll)
        self.stack.addWidget(self.table)
        below = Upright(self)
        below.setWidget(self.laws)
        self.stack.addWidget(below)
        layout = in_column(controls, on=self)
        for label in (self.reason, self.state):
            label.setContentsMargins(gap, 0, gap, 0)
            layout.addWidget(label)
        layout.addWidget(self.stack, 1)

    def _listen(self) -> None:
        self.controller.changed.connect(self._show)
        self.controller.options_changed.connect(self._list_options)
        self.controller.refused.connect(self._refuse)
        self.varies.activated.connect(self._propose)
        self.values.returnPressed.connect(self.start)
        self.button.clicked.connect(self.start)
        self.source.activated.connect(self._choose_source)
        self.figure.activated.connect(lambda place: self.controller.show_figure(self.figure.itemData(place)))
        self.ghost.activated.connect(lambda place: self.controller.show_ghost(self.ghost.itemData(place)))
        self.rows.toggled.connect(self._show_page)

    # User actions

    @Slot()
    def start(self) -> None:
        """Sweep over the entered values."""
        option = self.varies.currentData()
        if option is not None:
            self.controller.start(option, self.values.text())

    @Slot()
    def _propose(self) -> None:
        option: Option | None = self.varies.currentData()
        self.values.setText(", ".join(str(value) for value in option.proposed) if option else "")
        self.values.setCursorPosition(0)
        self._refuse("")

    def _choose_source(self, place: int) -> None:
        chosen = self.source.itemData(place)
        if isinstance(chosen, str):
            self.controller.show_law(chosen)
        else:
            self.controller.show(chosen)

    @Slot()
    def _show_page(self) -> None:
        """The laws, the rows of the sweep, or its plot."""
        law = self.controller.law is not None
        self.rows.setEnabled(not law)
        self.stack.setCurrentIndex(2 if law else int(self.rows.isChecked()))

    # Changes of the controller

    @Slot()
    def _list_options(self) -> None:
        """List the current options; the chosen one and its values stay."""
        kind = self.controller.kind
        before: Option | None = self.varies.currentData()
        with QSignalBlocker(self.varies):
            self.varies.clear()
            for option in self.controller.options:
                self.varies.addItem(option_title(option, kind), option)
                self.varies.setItemData(self.varies.count() - 1, tip_text(option.help), Qt.ItemDataRole.ToolTipRole)
            titles = [self.varies.itemData(place) for place in range(self.varies.count())]
            if before in titles:
                self.varies.setCurrentIndex(titles.index(before))
        if before not in titles:
            self._propose()
        for widget in (self.varies, self.values, self.button):
            widget.setEnabled(bool(titles))
        self._list_sources()
        self._list_figures()

    def _list_sources(self) -> None:
        with QSignalBlocker(self.source):
            self.source.clear()
            self.source.addItem(self.tr("measured here"), self.controller.made)
            for sweep in self.controller.recorded:
                self.source.addItem(recorded_title(sweep), sweep)
                self.source.setItemData(
                    self.source.count() - 1, tip_text(recorded_title(sweep)), Qt.ItemDataRole.ToolTipRole
                )
            titles = {"n": self.tr("laws over N, counted"), "p": self.tr("laws over P, counted")}
            for picture in self.controller.laws:
                self.source.addItem(titles[picture.over], picture.over)
            over = self.controller.over
            shown = [self.source.itemData(place) for place in range(self.source.count())]
            places = [k for k, one in enumerate(shown) if (one == over if over else one is self.controller.shown)]
            self.source.setCurrentIndex(places[0] if places else 0)
        view = self.source.view()
        view.setMinimumWidth(view.sizeHintForColumn(0) + 2 * self.fontMetrics().averageCharWidth())

    def _list_figures(self) -> None:
        """The stages and counters to show, and the machines whose GPU rows can be shown for comparison."""
        controller, filter = self.controller, self.controller.filter
        with QSignalBlocker(self.figure):
            self.figure.clear()
            for id in controller.figures:
                self.figure.addItem(shown_title(filter, id), id)
            self.figure.setCurrentIndex(max(self.figure.findData(controller.figure), 0))
        ghosts = controller.shown.ghosts if controller.shown is not None and not controller.counting else {}
        with QSignalBlocker(self.ghost):
            self.ghost.clear()
            self.ghost.addItem(self.tr("none"), "")
            for machine in ghosts:
                self.ghost.addItem(f"◉ {machine}", machine)
            self.ghost.setCurrentIndex(max(self.ghost.findData(controller.ghost), 0))
        for widget in (self._ghost_label, self.ghost):
            widget.setVisible(bool(ghosts))

    @Slot()
    def _show(self) -> None:
        sweep = self.controller.shown
        self._list_sources()
        self._list_figures()
        self.sheet.show_sweep(sweep)
        self.table.show_sweep(sweep)
        self.laws.show_picture(self.controller.law)
        self._show_page()
        self.button.setEnabled(bool(self.controller.options) and not self.controller.running)
        text = self._state(sweep)
        self.state.setText(text)
        self.state.setVisible(bool(text))

    def _state(self, sweep: Sweep | None) -> str:
        """The progress of the visible sweep."""
        if self.controller.law is not None:
            return ""
        if sweep is None:
            return self.tr("No sweep yet: choose what varies and press Sweep, or choose a recorded one.")
        if not self.controller.current:
            return self.tr("Of an earlier input, filter or parameter; press Sweep for the present one.")
        done, total = self.controller.done
        if sweep is not self.controller.made or (done == total and not self.controller.running):
            return ""
        if self.controller.running:
            return self.tr("Running: {done} of {total} values done.").format(done=done, total=total)
        return self.tr("Stopped: {done} of {total} values done.").format(done=done, total=total)

    @Slot(str)
    def _refuse(self, sentence: str) -> None:
        self.reason.setText(f"{colours_of(self.palette()).error.symbol} {sentence}" if sentence else "")
        self.reason.setVisible(bool(sentence))

    def _colour(self) -> None:
        self.reason.setPalette(inked(self.reason.palette(), colours_of(self.palette()).error.colour))

    # Files

    @property
    def subject(self) -> str:
        """The name of what is visible, for a file; "" if there is nothing."""
        law, sweep = self.controller.law, self.controller.shown
        return f"laws-{law.over}" if law else f"sweep-{sweep.varied.name}" if sweep else ""

    def export(self, path: str, kind: str) -> None:
        """Write the rows ("csv" or "json"), or the "picture" of heading, plot, legend and findings, as SVG if the name
        ends so and else as PNG, with metadata. Raises InputError if the file cannot be written."""
        sweep, provenance, law = self.controller.shown, self.controller.provenance, self.controller.law
        if law is not None:
            self._export_law(law, path, kind)
            return
        assert sweep is not None
        facts = sweep.facts(provenance)
        if kind == "csv":
            write_text(path, comment_lines(facts) + sweep.to_csv(provenance))
        elif kind == "json":
            write_text(path, sweep.to_json(provenance))
        else:
            if self.rows.isChecked():  # hidden widgets are not laid out
                self.rows.setChecked(False)
            export_sheet(self.sheet, path, self.sheet.heading.text(), facts)

    def _export_law(self, law: LawPicture, path: str, kind: str) -> None:
        facts = {"filter": law.filter.id, "counted on": "a simulated GPU"}
        if kind == "picture":
            export_sheet(self.laws, path, self.laws.heading.text(), facts)
        else:
            write_text(path, comment_lines(facts) + law.to_csv() if kind == "csv" else law.to_json())

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.controller.watch()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "reason"):
            self._colour()
