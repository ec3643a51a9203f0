"""The frame bar below the pictures: it selects and plays the frames of a stack, or projections of all."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, QSize, Qt, Slot
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QPainter, QPalette, QPixmap, QPolygonF
from PySide6.QtWidgets import QLabel, QSlider, QSpinBox, QToolButton, QWidget

from app.base.nesting import bounded
from app.base.numbers import shown
from app.base.tips import set_tip
from app.controllers.frames import PROJECTIONS, FrameController
from app.views.boxes import in_column
from app.views.folding import Folding
from app.views.labels import named
from app.views.parts import Combo, TickBox

FASTEST = 60
"""Frames per second."""


class FrameBar(QWidget):
    """Visible while the input is a frame of a stack, or a projection of one. Frames are numbered from 1 in the window.

    While the bar has the focus, Space plays and pauses, the arrow keys step, and Home and End go to the first and last
    frame.
    """

    def __init__(self, frames: FrameController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("frameBar")
        self.setAccessibleName(self.tr("Frames of the stack"))
        self._frames = frames
        self._row = Folding(self)
        self._buttons: dict[Sign, QToolButton] = {}
        self._make_buttons()
        self._make_fields()
        self._arrange()
        self._paint_icons()
        frames.changed.connect(self.refresh)
        self.refresh()

    def _make_buttons(self) -> None:
        frames = self._frames
        self.first = self._button("first", self.tr("First frame (Home)"), lambda: frames.go(0))
        self.back = self._button("back", self.tr("Previous frame (Left)"), lambda: frames.step(-1))
        self.play = self._button("play", self.tr("Play (Space)"), frames.toggle)
        self.on = self._button("on", self.tr("Next frame (Right)"), lambda: frames.step(1))
        self.last = self._button("last", self.tr("Last frame (End)"), lambda: frames.go(frames.count - 1))

    def _button(self, sign: Sign, title: str, do: Callable[[], None]) -> QToolButton:
        button = self._buttons[sign] = QToolButton(self._row)
        button.setObjectName(f"frame.{sign}")
        button.setAccessibleName(title)
        set_tip(button, title)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(lambda _=False: do())
        return button

    def _make_fields(self) -> None:
        self.slider = named(QSlider(Qt.Orientation.Horizontal, self._row), "frameSlider", title=self.tr("Frame"))
        self.slider.valueChanged.connect(lambda place: self._frames.go(place - 1))
        self.number = named(QSpinBox(self._row), "frameNumber", title=self.tr("Frame"))
        self.number.setKeyboardTracking(False)
        self.number.setPrefix(self.tr("frame "))
        self.number.valueChanged.connect(lambda place: self._frames.go(place - 1))
        self.rate = QSpinBox(self._row)
        self.rate.setObjectName("frameRate")
        self.rate.setRange(1, FASTEST)
        self.rate.setKeyboardTracking(False)
        self.rate.setSuffix(self.tr(" per second"))
        self.rate.setAccessibleName(self.tr("Frames per second"))
        self.rate.setToolTip(self.tr("Frames per second while it plays; frames that come too fast are skipped"))
        self.rate.valueChanged.connect(self._frames.set_rate)
        self.loop = TickBox(self.tr("Loop"), self._row)
        self.loop.setObjectName("frameLoop")
        self.loop.setToolTip(self.tr("Repeat from the first frame after the last"))
        self.loop.toggled.connect(self._frames.set_loop)
        self.way = named(Combo(self._row), "frameProjection")
        titles = self.tr("one frame"), self.tr("maximum of all"), self.tr("mean of all")
        for title, way in zip(titles, PROJECTIONS, strict=True):
            self.way.addItem(title, way)
        self.way.setAccessibleName(self.tr("What is shown of the stack"))
        self.way.setToolTip(self.tr("One frame, or the largest or the mean value of each pixel over all frames"))
        self.way.activated.connect(lambda _: self._frames.project(self.way.currentData()))
        self.real = QLabel(self._row)
        self.real.setObjectName("frameRealRate")
        self.real.setToolTip(
            self.tr("Results are compared with the reference once it stops: there is no time for it between frames")
        )

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        self._row.set_space((unit, unit // 2, unit, unit // 2), unit // 2)
        for button in self._buttons.values():
            self._row.one.addWidget(button)
        self._row.one.addWidget(self.slider, 1)
        self._row.one.addWidget(self.number)
        self.slider.setMinimumWidth(unit * 16)
        for widget in (self.rate, self.loop, self.real):
            self._row.two.addWidget(widget)
        self._row.two.addStretch(1)
        self._row.two.addWidget(self.way)
        self.real.setMinimumWidth(self.real.fontMetrics().horizontalAdvance(self._real_text(FASTEST + 0.9, True)))
        in_column(self._row, on=self)

    def _paint_icons(self) -> None:
        side = self.fontMetrics().height()
        for sign, button in self._buttons.items():
            button.setIconSize(QSize(side, side))
            playing = sign == "play" and self._frames.playing
            button.setIcon(player_icon("stop" if playing else sign, self.palette()))

    def _real_text(self, rate: float, unverified: bool) -> str:
        text = self.tr("shown: {rate} per second, unverified") if unverified else self.tr("shown: {rate} per second")
        return text.format(rate=shown(rate, "f", 1))

    @Slot()
    def refresh(self) -> None:
        """Show the controller's state."""
        frames = self._frames
        self.setVisible(frames.count > 1)
        with QSignalBlocker(self.slider), QSignalBlocker(self.number), QSignalBlocker(self.rate):
            self.slider.setRange(1, frames.count)
            self.slider.setPageStep(max(1, frames.count // 10))
            self.number.setRange(1, frames.count)
            self.number.setSuffix(self.tr(" of {count}").format(count=shown(frames.count)))
            tip = self.tr("The command line counts from 0: --frame {frame}").format(frame=frames.frame)
            set_tip(self.number, tip)
            self.slider.setValue(frames.frame + 1)
            self.number.setValue(frames.frame + 1)
            self.rate.setValue(frames.rate)
        with QSignalBlocker(self.loop):
            self.loop.setChecked(frames.loop)
        self.way.setCurrentIndex(self.way.findData(frames.projection))
        single = frames.projection == "none"
        for widget in (self.slider, self.number, *self._buttons.values()):
            widget.setEnabled(single)
        self._show_playing()

    def _show_playing(self) -> None:
        frames = self._frames
        title = self.tr("Stop (Space)") if frames.playing else self.tr("Play (Space)")
        if self.play.toolTip() != title:
            set_tip(self.play, title)
            self.play.setAccessibleName(title)
            self._paint_icons()
        self.real.setText(self._real_text(frames.real_rate, frames.unverified) if frames.real_rate else "")

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - the controls pass on keys that they do not use
        frames = self._frames
        moves: dict[Qt.Key, Callable[[], None]] = {
            Qt.Key.Key_Space: frames.toggle,
            Qt.Key.Key_Left: lambda: frames.step(-1),
            Qt.Key.Key_Right: lambda: frames.step(1),
            Qt.Key.Key_Home: lambda: frames.go(0),
            Qt.Key.Key_End: lambda: frames.go(frames.count - 1),
        }
        do = moves.get(Qt.Key(event.key()))
        if do is None or frames.projection != "none":
            super().keyPressEvent(event)
        else:
            do()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._buttons:
            self._paint_icons()


Sign = Literal["first", "back", "play", "stop", "on", "last"]
SIDES = (16, 24, 32, 48)
_MIRRORED = {"first": "last", "back": "on"}


def player_icon(sign: Sign, palette: QPalette) -> QIcon:
    """The icon for the first frame, previous frame, play, stop, next frame, and last frame; paler if it is disabled."""
    groups = (QPalette.ColorGroup.Active, QPalette.ColorGroup.Disabled)
    return _icon(sign, *(palette.color(group, QPalette.ColorRole.ButtonText).name() for group in groups))


@lru_cache(maxsize=64)
def _icon(sign: Sign, colour: str, disabled: str) -> QIcon:
    result = QIcon()
    for ink, mode in ((colour, QIcon.Mode.Normal), (disabled, QIcon.Mode.Disabled)):
        for side in SIDES:
            result.addPixmap(_pixmap(sign, QColor(ink), side), mode)
    return result


def _pixmap(sign: str, colour: QColor, side: int) -> QPixmap:
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(side / 24, side / 24)
    if sign in _MIRRORED:
        painter.translate(24, 0)
        painter.scale(-1, 1)
        sign = _MIRRORED[sign]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    if sign == "stop":
        painter.drawRect(QRectF(6, 6, 12, 12))
    elif sign == "play":
        painter.drawPolygon(_triangle(7, 20))
    else:  # a bar after the triangle for the last frame, before it for one step
        painter.drawPolygon(_triangle(5, 15) if sign == "last" else _triangle(9.5, 19.5))
        painter.drawRect(QRectF(16 if sign == "last" else 5, 5, 2.5, 14))
    painter.end()
    return pixmap


def _triangle(left: float, right: float) -> QPolygonF:
    return QPolygonF([QPointF(left, 5), QPointF(right, 12), QPointF(left, 19)])
