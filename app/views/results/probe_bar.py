"""Below the results: the statistics of the region, and the values along the line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QGridLayout,
    QLabel,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from app.base.nesting import bounded
from app.base.tips import set_tip
from app.models.experiment.session import Session
from app.models.pictures.probe import Probe
from app.models.pictures.profile import length
from app.models.pictures.region import Measuring
from app.views.boxes import in_column
from app.views.labels import named
from app.views.parts import ElidedLabel, number
from app.views.results.choice_button import ChoiceButton
from app.views.results.pictures import Pictures
from app.views.results.probe_sources import curved, curves, pictured
from app.views.results.reading import length_text, quantity
from app.views.results.region_table import RegionTable
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.output_kinds import Axis
from gpu_ops.types import Pixel

if TYPE_CHECKING:
    from app.views.curves.profile_plot import ProfilePlot

LATER_MS = 15
"""The minimum interval between two computations while something moves."""
LINES, LEAST, SHARE = 15, 5, 0.4
"""The height in text lines, the height in a low window, and the maximum share of the surrounding height."""
NARROW = (85, 48)
"""The width in letters below which the text is below the buttons, and below which there are no copy buttons."""


class ProbeBar(QWidget):
    """Visible while a tool is active or a shape is drawn. It describes the shape and its position, and shows its
    statistics or its profile; both can be copied."""

    def __init__(self, pictures: Pictures, session: Session, probe: Probe, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("probeBar")
        self._pictures, self._session, self.probe = pictures, session, probe
        self.measuring = Measuring(self)
        self.measuring.changed.connect(self._show_figures)
        self.plot: ProfilePlot | None = None
        self._later = QTimer(self, singleShot=True, interval=LATER_MS)
        self._later.timeout.connect(self.refresh)
        self._narrow = False
        self._make_head()
        self.table = RegionTable(self)
        self.hint = QLabel(self)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.setWordWrap(True)
        self._arrange()
        for signal in (pictures.arranged, pictures.view_changed, pictures.drawn_changed, probe.changed):
            signal.connect(self._soon)
        session.changed.connect(self._soon)
        self.setVisible(False)

    def _make_head(self) -> None:
        self._choices = QButtonGroup(self)
        self.choices: dict[str, ChoiceButton] = {}
        for tool, name in (("region", self.tr("Region")), ("profile", self.tr("Profile"))):
            choice = self.choices[tool] = ChoiceButton(self)
            choice.setText(name)
            choice.setAccessibleName(name)
            choice.setObjectName(f"probe-{tool}")
            choice.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
            self._choices.addButton(choice)
        self.choices["region"].clicked.connect(lambda: self.probe.bring("region"))
        self.choices["profile"].clicked.connect(lambda: self.probe.bring("profile"))
        self.words = named(ElidedLabel(parent=self), "probeWords")
        self.copy_text, self.copy_csv, self.close_button = (QToolButton(self) for _ in range(3))
        texts = (
            (self.copy_text, self.tr("Copy"), self.tr("Copy as text with tabs, as spreadsheets take it")),
            (self.copy_csv, self.tr("Copy CSV"), self.tr("Copy as comma-separated values, with all digits")),
            (self.close_button, "✕", self.tr("Remove region and profile, and close the tool")),
        )
        for button, text, tip in texts:
            button.setText(text)
            set_tip(button, tip)
            button.setAccessibleName(tip)
            button.setAutoRaise(True)
            button.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.copy_text.clicked.connect(lambda: self._copy(False))
        self.copy_csv.clicked.connect(lambda: self._copy(True))
        self.close_button.clicked.connect(self.probe.remove_all)

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        self._head = head = QGridLayout()
        head.setSpacing(unit)
        head.setColumnStretch(2, 1)
        for place, widget in enumerate((*self.choices.values(), self.words)):
            head.addWidget(widget, 0, place)
        for place, button in enumerate((self.copy_text, self.copy_csv, self.close_button)):
            head.addWidget(button, 0, 3 + place)
        self.pages = QStackedWidget(self)
        for page in (self.hint, self.table):
            self.pages.addWidget(page)
        in_column(head, (self.pages, 1), on=self, margins=(unit, unit // 2, unit, unit // 2), gap=unit // 2)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics, around = self.fontMetrics(), self.parentWidget()
        height = round(LINES * metrics.height())
        if around is not None:
            height = min(height, round(SHARE * around.height()))
        return QSize(40 * metrics.averageCharWidth(), height)

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Give the text its own row if there is little width; if there is hardly any, hide the copy buttons."""
        letters = self.width() / self.fontMetrics().averageCharWidth()
        narrow = letters < NARROW[0]
        if narrow != self._narrow:
            self._narrow = narrow
            self._head.removeWidget(self.words)
            self._head.addWidget(self.words, *((1, 0, 1, 6) if narrow else (0, 2)))
        for button in (self.copy_text, self.copy_csv):
            button.setVisible(letters >= NARROW[1])

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Resize and watched is self.parentWidget():
            self.updateGeometry()
        return False

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return False  # the height is the same for the hint, the table and the plot, so that nothing moves

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        return QSize(24 * metrics.averageCharWidth(), round(LEAST * metrics.height()))

    def watch(self, around: QWidget) -> None:
        """Limit the height to a share of what is around."""
        around.installEventFilter(self)

    # What is shown

    @Slot()
    def _soon(self) -> None:
        self.setVisible(bool(self.probe.tool) or self.probe.any)
        if not self._later.isActive():
            self._later.start()

    @property
    def pixel(self) -> Pixel | None:
        """The pixel size of the input, if it is known."""
        input = self._session.input
        return input.facts.pixel if input is not None else None

    @Slot()
    def refresh(self) -> None:
        """Compute and show the statistics or the profile again."""
        probe = self.probe
        for tool, choice in self.choices.items():
            choice.setChecked(tool == probe.last)
            choice.setEnabled(tool == "region" or len(probe.extent) == 2)
        if self.isHidden():
            self.measuring.clear()
            if self.plot is not None:
                self.plot.clear()
            return
        if probe.last == "profile":
            self.measuring.clear()
            self._show_profile()
        else:
            self._show_region()
        self.words.setText(self._words())
        there = self.pages.currentWidget() is not self.hint
        for button in (self.copy_text, self.copy_csv):
            button.setEnabled(there)

    def _is_shown(self) -> bool:
        """Whether the input has the measured size; between two inputs it may not."""
        input = self._session.input
        return input is not None and tuple(INPUT_KINDS[input.kind].spatial(input.array.shape)) == self.probe.extent

    def _show_region(self) -> None:
        probe, region, span = self.probe, self.probe.region, self.probe.span
        if region is not None and self._is_shown():
            start, shape = (region.top, region.left), (region.bottom - region.top, region.right - region.left)
            self.measuring.want(pictured(self._pictures, self._session, probe.extent), start, shape)
        elif span is not None and self._is_shown():
            self.measuring.want(curved(self._pictures, self._session), span[:1], (span[1] - span[0],))
        else:
            self.measuring.clear()
            if len(probe.extent) == 1:
                self.hint.setText(
                    self.tr(
                        "Drag over the curves to choose an interval. Arrows move it, Alt+arrows its end, Esc removes."
                    )
                )
            else:
                self.hint.setText(
                    self.tr(
                        "Drag on a picture to draw a region. Arrows move it, Alt+arrows its corner, Esc removes it."
                    )
                )
            self.pages.setCurrentWidget(self.hint)
            return
        self._show_figures()
        self.pages.setCurrentWidget(self.table)

    @Slot()
    def _show_figures(self) -> None:
        self.table.figures.show_rows(self.measuring.rows)
        self.words.setText(self._words())

    def _show_profile(self) -> None:
        line = self.probe.line
        if line is None or not self._is_shown():
            self.hint.setText(
                self.tr("Drag on a picture to draw a line. Arrows move it, Alt+arrows its end, Esc removes it.")
            )
            self.pages.setCurrentWidget(self.hint)
            return
        if self.plot is None:
            from app.views.curves.profile_plot import ProfilePlot

            self.plot = ProfilePlot(self)
            self.plot.pointed.connect(self.probe.set_mark)
            self.pages.addWidget(self.plot)
        sources = pictured(self._pictures, self._session, self.probe.extent)
        self.plot.show_line(sources, line, self.pixel, self._session.filter)
        self.pages.setCurrentWidget(self.plot)

    # Words

    def _words(self) -> str:
        probe = self.probe
        if probe.last == "profile":
            return self._line_words()
        if self.measuring.failure:
            return self.measuring.failure
        text = self._region_words() if probe.region is not None else self._span_words()
        return self.tr("{text} – computing…").format(text=text) if self.measuring.behind else text

    def _line_words(self) -> str:
        line, pixel = self.probe.line, self.pixel
        if line is None:
            return ""
        ends = [number(round(value, 1)) for value in line]
        whole = self.tr("{length} px").format(length=number(round(line.length, 1)))
        if pixel is not None:
            whole = self.tr("{length} ({size})").format(length=whole, size=length_text(*length(line, pixel)))
        text = self.tr("{length} from x {x0}, y {y0} to x {x1}, y {y1}")
        return text.format(x0=ends[0], y0=ends[1], x1=ends[2], y1=ends[3], length=whole)

    def _region_words(self) -> str:
        region, pixel = self.probe.region, self.pixel
        assert region is not None
        width, height = region.right - region.left, region.bottom - region.top
        text = self.tr("{width} × {height} px at x {x}, y {y}")
        places = [number(value) for value in (width, height, region.left, region.top)]
        text = text.format(width=places[0], height=places[1], x=places[2], y=places[3])
        if pixel is None:
            return text
        sizes = [length_text(n * size, pixel.unit) for n, size in ((width, pixel.x), (height, pixel.y))]
        return self.tr("{text} ({width} × {height})").format(text=text, width=sizes[0], height=sizes[1])

    def _span_words(self) -> str:
        span, axis = self.probe.span, self._axis()
        if span is None:
            return ""
        count = self.tr("{count} samples from {first} to {last}")
        text = count.format(count=number(span[1] - span[0]), first=number(span[0]), last=number(span[1] - 1))
        if axis is None or not axis.unit:
            return text
        times = [quantity(float(f"{axis.at(index):.7g}"), axis.unit) for index in (span[0], span[1] - 1)]
        whole = quantity(float(f"{axis.step * (span[1] - span[0]):.7g}"), axis.unit)
        return self.tr("{text} ({first} to {last}, {whole})").format(
            text=text, first=times[0], last=times[1], whole=whole
        )

    def _axis(self) -> Axis | None:
        """The axis of the input's samples."""
        found = [drawn for view in curves(self._pictures, self._session) if (drawn := view.drawn("input")) is not None]
        return found[0].form.axes[0] if found else None

    # Copies

    def _place(self) -> dict[str, float]:
        """The position of the region, or of the interval, by name."""
        region, span = self.probe.region, self.probe.span
        if region is not None:
            left, top, right, bottom = region
            return {"x": left, "y": top, "width": right - left, "height": bottom - top}
        return {"first": span[0], "samples": span[1] - span[0]} if span is not None else {}

    @property
    def filled(self) -> bool:
        """Whether there are statistics or a profile to copy and to save."""
        return not self.isHidden() and self._is_shown() and self.pages.currentWidget() is not self.hint

    def copied(self, full: bool) -> str:
        """What the buttons copy: the table or the profile, as text with tabs or, if `full`, as CSV."""
        if self.pages.currentWidget() is self.plot and self.plot is not None:
            return self.plot.as_text("," if full else "\t")
        return self.table.figures.as_csv(self._place()) if full else self.table.figures.as_text()

    def _copy(self, full: bool) -> None:
        QApplication.clipboard().setText(self.copied(full))

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()
