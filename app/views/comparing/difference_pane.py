"""A difference as a pane of its own, and a difference in words."""

from __future__ import annotations

import math

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from app.base.nesting import bounded
from app.models.experiment.differences import MINUS
from app.models.pictures.difference import Difference, Distance
from app.models.pictures.difference_style import DifferenceStyle
from app.models.pictures.display import Display
from app.models.pictures.layer import Tone
from app.views.labels import named
from app.views.parts import number
from app.views.pictures.image_pane import ImagePane
from app.views.results.reading import pixel_place, reading_text, sized_place, values_text, with_unit

LEAST_SHARE = 0.01
"""The smallest share that is given as a number, in percent."""
SCALED = 8
"""From so many lines on a pane is high enough for a scale of colours over its picture."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Difference", text)


def range_text(difference: Difference) -> str:
    """How large a difference is, and what its colours mean; empty while it is unknown."""
    distance = difference.distance
    if distance is None or not distance.most:
        return _nothing_text(difference)
    if difference.labels:
        return _tr("red where the labels differ")
    level, signed = difference.display.high, difference.look.signed
    if level == distance.most:
        text = _tr("± {most}, blue below, red above") if signed else _tr("up to {most}")
    elif signed:
        text = _tr("up to ± {most}; full colour at ± {level}, blue below, red above")
    else:
        text = _tr("up to {most}; full colour at {level}")
    most = with_unit(number(distance.most), difference.unit)
    level_text = with_unit(number(float(f"{level:.3g}")), difference.unit)
    return _with_nonfinite(text.format(most=most, level=level_text), difference)


def count_text(difference: Difference) -> str:
    """How many pixels differ; empty where none does, and while it is unknown."""
    distance = difference.distance
    if distance is None or not distance.most:
        return ""
    text = _tr("{count} of {all} pixels differ ({share} %)")
    if difference.enlarged:
        text = _tr("{count} of {all} pixels differ ({share} %), drawn larger")
    counts = number(distance.differing), number(distance.values.size), _share(distance)
    return text.format(**dict(zip(("count", "all", "share"), counts, strict=True)))


def share_text(difference: Difference) -> str:
    """The same in fewer words: "0.5 % differ"."""
    distance = difference.distance
    return _tr("{share} % differ").format(share=_share(distance)) if distance is not None and distance.most else ""


def _share(distance: Distance) -> str:
    share = 100 * distance.differing / distance.values.size
    return number(float(f"{share:.2g}")) if share >= LEAST_SHARE else f"< {number(LEAST_SHARE)}"


def largest_text(difference: Difference) -> str:
    """The largest difference and its place; empty while it is unknown."""
    distance, place = difference.distance, difference.place
    if distance is None or distance.at is None or place is None:
        return _nothing_text(difference)
    where = pixel_place(difference.layer, *place)
    if difference.labels:
        return _tr("the labels differ first at {place}").format(place=where)
    most = distance.most if distance.most.is_integer() else float(f"{distance.most:.5g}")
    value = values_text(math.copysign(most, distance.values[distance.at]), difference.unit)
    return _tr("largest {value} at {place}").format(value=value, place=where)


def _nothing_text(difference: Difference) -> str:
    """Where nothing differs: that both are equal; empty while that is unknown."""
    distance = difference.distance
    if distance is None or distance.most:
        return ""
    if distance.equal:
        return _tr("equal in every pixel")
    return _tr("equal except for {count} non-finite pixels").format(count=number(distance.undefined))


def _with_nonfinite(text: str, difference: Difference) -> str:
    count = difference.distance.undefined if difference.distance is not None else 0
    if not count:
        return text
    return _tr("{range}; {count} non-finite pixels").format(range=text, count=number(count))


def missing_text(difference: Difference) -> str:
    """Why there is no picture of a difference; empty where there is one."""
    if difference.layer.pyramid is not None:
        return ""
    if (waited := difference.waits_for) is not None:
        failed = waited.state == "failed"
        text = _tr("no difference: {title} failed") if failed else _tr("no difference yet: {title} has no picture")
        return text.format(title=waited.title)
    return difference.failure or _tr("Computing the difference…")


def scale_of(difference: Difference) -> Tone | None:
    """The colours to explain; None where nothing differs, and for labels."""
    distance = difference.distance
    return difference.layer.tone if distance is not None and distance.most and not difference.labels else None


class DifferencePane(ImagePane):
    """Shows the difference of two other panes, named by both, with its largest value, levels of its own and a button
    that removes it. It is computed while it is visible.

    `close_asked`: the user wants it no longer.
    """

    close_asked = Signal()
    between = MINUS

    def __init__(self, display: Display, style: DifferenceStyle, parent: QWidget | None = None) -> None:
        self.difference = difference = Difference(style)
        self.close_button = QToolButton()
        super().__init__(display, parent, difference.layer)
        difference.setParent(self)
        difference.set_active(False)
        self._add_button()
        difference.changed.connect(self._describe)
        self._describe()

    def _add_button(self) -> None:
        button = named(self.close_button, "differenceClose")
        button.setText("×")  # noqa: RUF001 - the sign of closing
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)  # the title says how high
        button.clicked.connect(self.close_asked)
        self.head.addWidget(button)

    @bounded
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.difference.set_active(True)

    @bounded
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.difference.set_active(False)

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._describe()

    def _describe(self) -> None:
        super()._describe()
        difference = self.difference
        largest, missing = largest_text(difference), missing_text(difference)
        notes = _with_nonfinite(largest, difference) if difference.place is not None else largest
        stale = self.tr("of an earlier setting") if self.layer.state == "stale" else ""
        name = ", ".join(text for text in (self.layer.title, notes, missing, stale) if text)
        self.canvas.setAccessibleName(self.tr("Difference {title}").format(title=name))
        high = self.canvas.height() > SCALED * self.canvas.fontMetrics().height()
        self.canvas.set_notes(notes, missing, scale_of(difference) if high else None)
        tip = self.tr("Remove the difference {title}").format(title=self.layer.title)
        named(self.close_button, title=tip, tip=tip)

    def _size_texts(self) -> tuple[str, ...]:
        text = count_text(self.difference)
        return (text, share_text(self.difference)) if text else super()._size_texts()

    def value_text(self) -> str:
        """Place and difference under the cursor, of every channel; empty without one."""
        value = self.difference.value(*self.display.cursor) if self.display.cursor is not None else None
        if value is None or self.display.cursor is None:
            return ""
        words = values_text(value, self.difference.unit)
        if self.difference.labels:
            words = self.tr("the labels differ") if value.any() else self.tr("the same label")
        return reading_text(sized_place(self.layer, *self.display.cursor, self.display.pixel), words)
