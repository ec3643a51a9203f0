"""Paints the ladder onto a widget, a picture or an SVG file."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPalette, QPen, QPolygonF

from app.base.numbers import seconds
from app.base.terms import counter_name
from app.base.theme import TINT, Colours, Role, colours_of, mix
from app.models.results.entry import Entry
from app.views.eliding import elided_text
from app.views.timing.ladder_axis import BAR_STAGES, MARKS, Axis
from app.views.timing.ladder_layout import Geometry, LegendItem, Line, Section
from app.views.timing.row_text import (
    device_name,
    failure_text,
    knobs_text,
    part_text,
    recorded_text,
    state_text,
    verdict_role,
)
from gpu_ops.device_names import device_kind

SMALL = 0.86
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
LEFT_TOP = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter


def small_font(font: QFont) -> QFont:
    """The font of secondary texts."""
    result = QFont(font)
    result.setPointSizeF(font.pointSizeF() * SMALL)
    return result


class LadderPainter:
    """Draws a geometry with a palette."""

    def __init__(
        self, painter: QPainter, geometry: Geometry, palette: QPalette, font: QFont, current: int = -1
    ) -> None:
        self.p, self.geometry, self.palette, self.current = painter, geometry, palette, current
        self.font, self.small = font, small_font(font)
        # The paint device's own font metrics differ from the layout's for an SVG file.
        self.unit = QFontMetricsF(font).height()
        self.colours: Colours = colours_of(palette)
        self.text = palette.color(QPalette.ColorRole.Text)
        self.base = palette.color(QPalette.ColorRole.Base)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def paint(self) -> None:
        self.p.fillRect(QRectF(0, 0, self.geometry.width, self.geometry.height), self.base)
        self._current()
        for item in self.geometry.legend:
            self._legend(item)
        for section in self.geometry.sections:
            self._section(section)

    def _current(self) -> None:
        lines = self.geometry.lines
        if 0 <= self.current < len(lines):
            highlight = self.palette.color(QPalette.ColorRole.Highlight)
            rect = lines[self.current].rect
            self.p.fillRect(rect, mix(self.base, highlight, TINT))
            self.p.fillRect(QRectF(rect.left(), rect.top(), max(2.0, self.unit / 6), rect.height()), highlight)

    def _write(self, rect: QRectF, text: str, align: Qt.AlignmentFlag, colour: QColor, small: bool = False) -> None:
        font = self.small if small else self.font
        self.p.setFont(font)
        self.p.setPen(colour)
        fitted = elided_text(text, QFontMetricsF(font), rect.width() + 0.5)
        self.p.drawText(rect, align | Qt.TextFlag.TextSingleLine, fitted)

    # ---------------------------------------------------------------- legend and headings

    def _legend(self, item: LegendItem) -> None:
        if item.kind == "note":
            self._wrap(item.rect, item.text)
            return
        side = self.unit * 0.7
        box = QRectF(item.rect.left(), item.rect.center().y() - side / 2, side, side)
        looks = {
            "cpu": self.colours.cpu,
            "kernel": self.colours.kernel,
            "upload": self.colours.upload,
            "download": self.colours.download,
            "simulated": self.colours.simulated.colour,
        }
        middle = box.center().y()
        if item.kind in looks:
            self._fill(box, looks[item.kind], False, False)
            if item.kind in ("upload", "download"):
                self._arrow(box, item.kind == "upload", self.base)
        elif item.kind in MARKS:
            self._mark(box.center(), item.kind, False)
        elif item.kind == "bound":
            self._notch(box.center().x(), box, False)
        elif item.kind == "quartiles":
            self._whisker(box.left(), box.right(), middle, False)
        else:
            self._fill(box, self.colours.muted, item.kind == "recorded", item.kind == "stale")
        rect = item.rect.adjusted(side + self.unit * 0.4, 0, 0, 0)
        self._write(rect, item.text, LEFT, self.colours.muted, small=True)

    def _section(self, section: Section) -> None:
        if section.title:
            bold = QFont(self.font)
            bold.setBold(True)
            self.p.setFont(bold)
            self.p.setPen(self.text)
            self.p.drawText(section.heading, LEFT | Qt.TextFlag.TextSingleLine, section.title)
        if not section.is_counted:
            self._grid(section)
        for counter, rect in section.names.items():
            self._heading(rect, counter_name(counter), Qt.AlignmentFlag.AlignLeft)
        for name, rect in section.heads.items():
            side = Qt.AlignmentFlag.AlignLeft if name == "verdict" else Qt.AlignmentFlag.AlignRight
            self._heading(rect, self.geometry.headings[name], side)
        for line in section.lines:
            self._line(line, section)

    def _heading(self, rect: QRectF, text: str, side: Qt.AlignmentFlag) -> None:
        self.p.setFont(self.small)
        self.p.setPen(self.colours.muted)
        flags = side | Qt.AlignmentFlag.AlignBottom | Qt.TextFlag.TextWordWrap
        self.p.drawText(rect.adjusted(0, 0, 0, -self.unit * 0.15), flags, text)

    def _grid(self, section: Section) -> None:
        axis, box = section.axis, section.axis_box
        if box.isNull():
            return
        metrics = QFontMetricsF(self.small)
        widest = metrics.horizontalAdvance("000.0 µs") + self.unit
        pen = QPen(self.colours.grid, 1)
        pen.setCosmetic(True)
        bottom = section.lines[-1].rect.bottom() if section.lines else box.bottom()
        for tick in axis.ticks(int((axis.right - axis.left) / widest)):
            x = round(axis.x(tick)) + 0.5
            self.p.setPen(pen)
            for line in section.lines:
                bars = line.bars if self.geometry.narrow else line.rect
                if bars.height() > 0:
                    self.p.drawLine(QLineF(x, bars.top(), x, bars.bottom()))
            if section.show_axis:
                label = seconds(tick) if tick else "0"
                width = metrics.horizontalAdvance(label) + 2
                left = min(max(x - width / 2, box.left()), box.right() - width)
                self._write(QRectF(left, box.top(), width, box.height()), label, CENTRE, self.colours.muted, True)
        if not self.geometry.narrow:
            self.p.setPen(QPen(mix(self.base, self.text, 0.3), 1))
            x = round(axis.left) + 0.5
            self.p.drawLine(QLineF(x, box.bottom(), x, bottom))

    # ---------------------------------------------------------------- lines

    def _line(self, line: Line, section: Section) -> None:
        axis = section.axis
        entry = line.entry or (line.fair.entry if line.fair else None)
        faded = entry is not None and entry.state in ("stale", "running", "waiting")
        colour = self.colours.muted if faded else self.text
        title = line.entry.name if line.entry else line.fair.title if line.fair else ""
        self._write(line.name, title, LEFT, colour)
        if line.entry:
            if not line.sub.isEmpty():
                self._sub(line.sub, line.entry)
            if not line.bars.isEmpty():
                self._counted(line, line.entry) if section.is_counted else self._bars(line, line.entry, axis)
            self._reason(line)
        elif line.fair:
            self._fair(line, axis)
        for name, rect in line.cells.items():
            if name == "verdict" and line.entry:
                self._verdict(rect, line, faded)
            else:
                small, left = name in ("who", "summary"), name == "who" and "kernel" in line.cells
                roles = {"faster": self.colours.ok, "slower": self.colours.error}
                role = roles.get(line.texts.get("change verdict", "")) if name == "change" and not faded else None
                shade = role.colour if role else self.colours.muted if name in ("who", "error") else colour
                self._write(rect, line.texts.get(name, ""), LEFT if left else RIGHT, shade, small=small)

    def _sub(self, rect: QRectF, entry: Entry) -> None:
        """Draw the device, chips for unusual states, and as many knobs as fit."""
        metrics = QFontMetricsF(self.small)
        gap = self.unit * 0.4
        x = rect.left()
        device = self.colours.simulated if entry.simulated else None
        texts: list[tuple[str, Role | None]] = [(device_name(entry.device), device)]
        texts.append((part_text(entry), device))
        texts.append((state_text(entry), None if entry.state == "waiting" else self.colours.stale))
        texts += [(recorded_text(entry), self.colours.recorded), (knobs_text(entry.row), None)]
        for text, role in texts:
            if not text:
                continue
            shown = f"{role.symbol} {text}" if role else text
            width = metrics.horizontalAdvance(shown) + (self.unit * 0.6 if role else 2)
            box = QRectF(x, rect.top(), min(width, rect.right() - x), rect.height())
            if box.width() < self.unit * 1.5:
                return
            self._chip(box, shown, role) if role else self._write(box, shown, LEFT, self.colours.muted, small=True)
            x = box.right() + gap

    def _chip(self, box: QRectF, text: str, role: Role) -> None:
        pen = QPen(mix(self.base, role.colour, 0.6), 1)
        pen.setCosmetic(True)
        self.p.setPen(pen)
        self.p.setBrush(mix(self.base, role.colour, 0.08))
        radius = self.unit * 0.25
        self.p.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        self._write(box.adjusted(self.unit * 0.3, 0, -self.unit * 0.2, 0), text, LEFT, role.colour, small=True)

    def _verdict(self, rect: QRectF, line: Line, faded: bool) -> None:
        entry = line.entry
        if entry is None or not line.texts.get("verdict"):
            return
        role = verdict_role(entry, self.colours)
        align = RIGHT if self.geometry.narrow else LEFT
        self._write(rect, f"{role.symbol} {line.texts['verdict']}", align, self.colours.muted if faded else role.colour)

    def _bars(self, line: Line, entry: Entry, axis: Axis) -> None:
        words = failure_text(entry)
        if entry.seconds("kernel") is None:
            room = line.bars.adjusted(self.unit * 1.5, 0, 0, 0)
            self._write(room, words, LEFT, self.colours.muted, small=True)
            return
        faded = entry.state in ("stale", "running")
        lane = self._lanes(line, entry, axis, faded) if axis.log else self._stack(line, entry, axis, faded)
        for stage in MARKS:
            value = entry.seconds(stage)
            if value is not None:
                self._mark(QPointF(axis.x(value), lane.center().y()), stage, faded)

    def _counted(self, line: Line, entry: Entry) -> None:
        """Draw a bar for each counter, or the reason why there is none."""
        if not line.counted:
            self._write(line.bars, failure_text(entry), LEFT, self.colours.muted, small=True)
        faded = entry.state in ("stale", "running")
        for bar in line.counted:
            self._fill(bar.box, self.colours.simulated.colour, entry.recorded, faded)
            self._write(
                bar.place,
                bar.text,
                RIGHT if bar.label.height() else LEFT,
                self.colours.muted if faded else self.text,
                small=True,
            )
            if not bar.label.isEmpty():
                self._write(bar.label, counter_name(bar.counter), LEFT, self.colours.muted, small=True)

    def _reason(self, line: Line) -> None:
        """Write why a row differs from the rung before."""
        if line.reason.height() < 1.5 * self.unit:
            self._write(line.reason, line.texts.get("reason", ""), LEFT_TOP, self.colours.muted, small=True)
        else:
            self._wrap(line.reason, line.texts["reason"])

    def _wrap(self, rect: QRectF, text: str) -> None:
        self.p.setFont(self.small)
        self.p.setPen(self.colours.muted)
        self.p.drawText(rect, LEFT_TOP | Qt.TextFlag.TextWordWrap, text)

    def _kernel_colour(self, entry: Entry) -> QColor:
        return self.colours.cpu if device_kind(entry.device) == "cpu" else self.colours.kernel

    def _lanes(self, line: Line, entry: Entry, axis: Axis, faded: bool) -> QRectF:
        """On a logarithmic axis lengths are not additive, so each stage has its own lane from the axis."""
        transfers = [s for s in ("upload", "download") if entry.seconds(s) is not None]
        tall = self.unit * 0.72
        thin = self.unit * 0.3
        total = tall + len(transfers) * (thin + self.unit * 0.1)
        top = line.bars.center().y() - total / 2
        kernel = entry.seconds("kernel") or 0.0
        lane = QRectF(axis.left, top, axis.x(kernel) - axis.left, tall)
        self._fill(lane, self._kernel_colour(entry), entry.recorded, faded)
        self._bound(entry, axis, 0.0, lane, faded)
        self._quartiles(entry, axis, 0.0, lane.center().y(), faded)
        y = lane.bottom() + self.unit * 0.1
        for stage in transfers:
            box = QRectF(axis.left, y, axis.x(entry.seconds(stage) or 0.0) - axis.left, thin)
            colour = self.colours.upload if stage == "upload" else self.colours.download
            self._fill(box, colour, entry.recorded, faded)
            arrow = QRectF(axis.left - self.unit * 0.7, y, self.unit * 0.5, thin)
            self._arrow(arrow, stage == "upload", self.colours.muted)
            y += thin + self.unit * 0.1
        return lane

    def _stack(self, line: Line, entry: Entry, axis: Axis, faded: bool) -> QRectF:
        tall = self.unit * 0.9
        lane = QRectF(axis.left, line.bars.center().y() - tall / 2, 0, tall)
        looks = (self.colours.upload, self._kernel_colour(entry), self.colours.download)
        start = 0.0
        for stage, colour in zip(BAR_STAGES, looks, strict=True):
            value = entry.seconds(stage)
            if value is not None:
                left, right = axis.x(start), axis.x(start + value)
                box = QRectF(left, lane.top(), max(1.0, right - left), tall)
                self._fill(box, colour, entry.recorded, faded)
                if stage == "kernel":
                    self._bound(entry, axis, start, box, faded)
                    self._quartiles(entry, axis, start, box.center().y(), faded)
                start += value
        return lane

    def _fair(self, line: Line, axis: Axis) -> None:
        bar = line.fair
        if bar is None or bar.seconds is None or bar.entry is None:
            return
        tall = min(self.unit * 0.8, line.bars.height())
        box = QRectF(axis.left, line.bars.center().y() - tall / 2, axis.x(bar.seconds) - axis.left, tall)
        self._fill(box, self._kernel_colour(bar.entry), bar.entry.recorded, bar.entry.state in ("stale", "running"))

    # ---------------------------------------------------------------- shapes

    def _fill(self, box: QRectF, colour: QColor, hatched: bool, faded: bool) -> None:
        ground = mix(self.base, colour, 0.35) if faded else colour
        self.p.fillRect(box, ground)
        if hatched:
            self.p.fillRect(box, QBrush(mix(ground, self.base, 0.65), Qt.BrushStyle.BDiagPattern))
        pen = QPen(colour, 1, Qt.PenStyle.DashLine if faded else Qt.PenStyle.SolidLine)
        pen.setCosmetic(True)
        self.p.setPen(pen)
        self.p.setBrush(Qt.BrushStyle.NoBrush)
        self.p.drawRect(box)

    def _quartiles(self, entry: Entry, axis: Axis, start: float, y: float, faded: bool) -> None:
        kernel = entry.stage("kernel")
        if kernel:
            self._whisker(axis.x(start + kernel.q1), axis.x(start + kernel.q3), y, faded)

    def _bound(self, entry: Entry, axis: Axis, start: float, bar: QRectF, faded: bool) -> None:
        """Mark the shortest time that its bound allows in the bar of a kernel."""
        if entry.shortest is not None:
            self._notch(axis.x(start + entry.shortest), bar, faded)

    def _notch(self, x: float, bar: QRectF, faded: bool) -> None:
        """A line across a bar and beyond it, with light on either side, so that it shows on every colour."""
        wide, more = max(2.0, self.unit / 9), self.unit * 0.14
        self.p.fillRect(QRectF(x - 1.5 * wide, bar.top(), 3 * wide, bar.height()), self.base)
        line = QRectF(x - wide / 2, bar.top() - more, wide, bar.height() + 2 * more)
        self.p.fillRect(line, self.colours.muted if faded else self.text)

    def _whisker(self, left: float, right: float, y: float, faded: bool) -> None:
        pen = QPen(self.colours.muted if faded else self.text, max(1.0, self.unit / 14))
        self.p.setPen(pen)
        cap = self.unit * 0.2
        segments: Sequence[QLineF] = (
            QLineF(left, y, right, y),
            QLineF(left, y - cap, left, y + cap),
            QLineF(right, y - cap, right, y + cap),
        )
        self.p.drawLines(list(segments))

    def _mark(self, centre: QPointF, stage: str, faded: bool) -> None:
        """A diamond, filled for pageable memory; a triangle where chunks overlap."""
        r, streamed, filled = self.unit * 0.3, stage == "elapsed_streamed", stage == "elapsed"
        corners = [QPointF(0, -r), QPointF(r, 0), QPointF(0, r), QPointF(-r, 0)]
        corners = [QPointF(0, -r), QPointF(r, r), QPointF(-r, r)] if streamed else corners
        colour = self.colours.muted if faded else self.text
        self.p.setPen(QPen(colour, max(1.0, self.unit / 12)))
        self.p.setBrush(colour if filled else self.base)
        self.p.drawPolygon(QPolygonF([centre + c for c in corners]))

    def _arrow(self, box: QRectF, up: bool, colour: QColor) -> None:
        """Draw an arrow up to the GPU or down from it."""
        half = min(box.width() * 0.36, box.height() * 0.6)
        x, y, sign = box.center().x(), box.center().y(), -1.0 if up else 1.0
        self.p.setPen(Qt.PenStyle.NoPen)
        self.p.setBrush(colour)
        tip = QPointF(x, y + sign * half)
        self.p.drawPolygon(QPolygonF([tip, QPointF(x - half, y - sign * half), QPointF(x + half, y - sign * half)]))
