"""The page on which a source of live input is chosen and started."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QRect, Slot
from PySide6.QtWidgets import QFormLayout, QPushButton, QSpinBox, QWidget

from app.base.numbers import count
from app.controllers.live.live import LiveController
from app.controllers.live.screen import whole_screen
from app.views.boxes import in_column, in_row
from app.views.labels import buddy, named, sentence_label
from app.views.parts import Combo, ElidedLabel, TickBox
from gpu_ops.io.live.source import LiveSource, found_cameras

Choose = Callable[[str, str], list[str]]
SIZES = ((0, 0), (320, 240), (640, 480), (1280, 720), (1920, 1080))
"""Sizes that a camera is asked for; the first is its own."""
BLOCKS = (1024, 4096, 16384, 65536)
USUAL_BLOCK = 4096
VIDEOS = "*.avi *.mp4 *.mov *.mkv *.webm"
FASTEST, USUAL_RATE = 60, 10
"""Pictures of a screen per second."""
COLUMNS = 56
"""The width of sentences, in letters."""


class LivePage(QWidget):
    """A form with the fields of the chosen device alone. `choose(title, kinds)` asks for files."""

    def __init__(self, live: LiveController, choose: Choose, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("livePage")
        self.setWindowTitle(self.tr("Live input"))
        self._live, self._choose, self._path = live, choose, ""
        self.device = named(Combo(self), "live.device")
        for id, title in (
            ("camera", self.tr("Camera")),
            ("video", self.tr("Video file")),
            ("microphone", self.tr("Microphone")),
            ("screen", self.tr("Region of the screen")),
        ):
            self.device.addItem(title, id)
        self._make_fields()
        self.about, self.reason = sentence_label("live.about", self), sentence_label("live.reason", self)
        self.about.setText(
            self.tr(
                "The ticked variants run on each newest frame; frames that come too fast are dropped and counted. "
                "Hold keeps a frame, whose results are verified and timed. Variants on a simulated GPU wait for that."
            )
        )
        self.start = named(QPushButton(self.tr("&Start"), self), "live.start")
        self.start.setDefault(True)
        self._arrange()
        self.device.currentIndexChanged.connect(self._show_fields)
        self.start.clicked.connect(self._start)
        self.file.clicked.connect(self._choose_video)
        self._show_fields()

    def _make_fields(self) -> None:
        self.camera, self.extent = named(Combo(self), "live.camera"), named(Combo(self), "live.extent")
        for number, name in found_cameras() or (("0", ""),):
            self.camera.addItem(f"{number} – {name}" if name else number, number)
        for width, height in SIZES:
            text = f"{width} × {height}" if width else self.tr("the camera's own")
            self.extent.addItem(text, (width, height))
        self.colour = named(TickBox(self.tr("In &colour"), self), "live.colour", tip=self.tr("Else in grey"))
        self.file = named(QPushButton(self.tr("Choose a &video…"), self), "live.file")
        self.path = named(ElidedLabel("", self), "live.path", title=self.tr("The video"))
        self.path.setMinimumWidth(20 * self.fontMetrics().averageCharWidth())
        self.repeat = named(TickBox(self.tr("&Repeat"), self), "live.repeat", tip=self.tr("Begin again at the end"))
        self.block = named(Combo(self), "live.block")
        for samples in BLOCKS:
            self.block.addItem(self.tr("{count} samples").format(count=count(samples)), samples)
        self.block.setCurrentIndex(BLOCKS.index(USUAL_BLOCK))
        screen = whole_screen()
        self.x0, self.y0, self.across, self.down = (
            self._spin(f"live.{name}", title, low, high, value)
            for name, title, low, high, value in (
                ("left", self.tr("Left edge"), 0, screen.width() - 1, 0),
                ("top", self.tr("Top edge"), 0, screen.height() - 1, 0),
                ("width", self.tr("Width"), 1, screen.width(), min(640, screen.width())),
                ("height", self.tr("Height"), 1, screen.height(), min(480, screen.height())),
            )
        )
        self.rate = self._spin("live.rate", self.tr("Pictures per second"), 1, FASTEST, USUAL_RATE)
        self.rate.setSuffix(self.tr(" per second"))

    def _spin(self, name: str, title: str, low: int, high: int, value: int) -> QSpinBox:
        spin = named(QSpinBox(self), name, title=title, tip=title)
        spin.setRange(low, high)
        spin.setValue(value)
        return spin

    def _arrange(self) -> None:
        form = self._form = QFormLayout()
        form.addRow(buddy(self.tr("&Source:"), self.device), self.device)
        video, place, area = QWidget(self), QWidget(self), QWidget(self)
        in_row(self.file, (self.path, 1), self.repeat, on=video)
        in_row(self.x0, self.y0, 1, on=place)
        in_row(self.across, self.down, 1, on=area)
        self._rows = (
            (self.camera, self.tr("C&amera:"), self.camera, ("camera",)),
            (self.extent, self.tr("Si&ze:"), self.extent, ("camera",)),
            (video, self.tr("Video:"), self.file, ("video",)),
            (self.block, self.tr("&Block:"), self.block, ("microphone",)),
            (place, self.tr("Left and to&p:"), self.x0, ("screen",)),
            (area, self.tr("&Width and height:"), self.across, ("screen",)),
            (self.rate, self.tr("Pict&ures:"), self.rate, ("screen",)),
            (self.colour, "", self.colour, ("camera", "video", "screen")),
        )
        for field, text, focus, _ in self._rows:
            form.addRow(buddy(text, focus), field)
        unit = self.fontMetrics().averageCharWidth()
        self.about.setMinimumWidth(COLUMNS * unit)
        in_column(self.about, form, self.reason, 1, in_row(1, self.start), on=self, margins=unit, gap=unit)

    @Slot()
    def _show_fields(self) -> None:
        for field, _, _, devices in self._rows:
            self._form.setRowVisible(field, self.device.currentData() in devices)
        self._say("")

    def _say(self, text: str) -> None:
        self.reason.setText(text)
        self.reason.setVisible(bool(text))

    @Slot()
    def _choose_video(self) -> None:
        for path in self._choose(self.tr("Choose a video"), self.tr("Videos") + f" ({VIDEOS})")[:1]:
            self._path = path
            self.path.setText(Path(path).name)
            self._say("")

    @property
    def source(self) -> LiveSource:
        """The source of the fields."""
        device, colour = self.device.currentData(), self.colour.isChecked()
        if device == "camera":
            width, height = self.extent.currentData()
            return LiveSource("camera", self.camera.currentData(), colour, width, height)
        if device == "video":
            return LiveSource("video", self._path, colour, repeat=self.repeat.isChecked())
        if device == "microphone":
            return LiveSource("microphone", samples=self.block.currentData())
        return LiveSource("screen", colour=colour, rate=float(self.rate.value()))

    @Slot()
    def _start(self) -> None:
        source = self.source
        if source.device == "video" and not source.place:
            self._say(self.tr("Choose a video first."))
            return
        region = QRect(self.x0.value(), self.y0.value(), self.across.value(), self.down.value())
        self.window().close()
        self._live.start(source, region)
