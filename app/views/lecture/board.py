"""What a lecturer puts over the window: a still picture, ink, a pointer, a magnifier, and a question to the class."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from app.base.nesting import bounded
from app.models.lecture import LectureState

INK = QColor(227, 26, 28)
RIM = QColor(255, 255, 255)
"""Under the ink, so that it is seen on every picture."""
SHEET = QColor(24, 26, 30)
"""Behind a question: what is below it would make its letters hard to read."""
PAPER = QColor(255, 255, 255)
BAR = QColor(86, 160, 211)
ZOOM = 2.5
TOOLS = ("", "pen", "pointer")


class Board(QWidget):
    """Covers the whole window while there is something on it. `still` is a picture of the window in its place;
    `touched`: the lecturer clicked on a still that only bridges the time until the results are there."""

    touched = Signal()
    stays_in_full_screen = True

    def __init__(self, window: QWidget, state: LectureState) -> None:
        super().__init__(window)
        self.setObjectName("board")
        self.setAccessibleName(self.tr("What the lecturer draws over the window"))
        self.setMouseTracking(True)
        self._state, self._window = state, window
        self.still: QPixmap | None = None
        self.held = self.black = self.zoomed = False
        self.tool = ""
        self.ink: list[QPolygonF] = []
        self._mouse = QPointF(window.width() / 2, window.height() / 2)
        state.poll_changed.connect(self.refresh)
        state.place_changed.connect(self.wipe)
        self.hide()

    @property
    def covers(self) -> bool:
        """Whether anything is on the board."""
        return bool(self.still or self.black or self.tool or self.ink or self._state.asked)

    def refresh(self) -> None:
        """Show the board while something is on it; the mouse reaches the window below where nothing needs it here."""
        self.setGeometry(self._window.rect())
        takes = bool(self.tool or self.still or self.black)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not takes)
        self.setCursor(Qt.CursorShape.BlankCursor if self.tool == "pointer" else Qt.CursorShape.ArrowCursor)
        self.setVisible(self.covers)
        self.raise_()
        self.update()

    def show_still(self, picture: QPixmap | None, held: bool = False) -> None:
        """Show this picture in place of the window, or the window (None)."""
        self.still, self.held, self.zoomed = picture, held, False
        self.refresh()

    def zoom(self, picture: QPixmap) -> None:
        """Magnify around the mouse, in this picture of the window where no still is shown; or show all again."""
        if self.zoomed:
            self.zoomed, self.still = False, self.still if self.held else None
        else:
            self.zoomed, self.still = True, self.still or picture
            self._mouse = QPointF(self.mapFromGlobal(self.cursor().pos()))
        self.refresh()

    def set_tool(self, tool: str) -> None:
        """Take one of TOOLS, or put it away where it is in hand."""
        self.tool = "" if tool == self.tool else tool
        self.refresh()

    def set_black(self, black: bool) -> None:
        """Show nothing at all, or what was there."""
        self.black = black
        self.refresh()

    def wipe(self) -> None:
        """Remove the ink; another scene begins with a clean board."""
        self.ink, self.black, self.zoomed = [], False, False
        self.refresh()

    def put_away(self) -> None:
        """Leave the window as it is without a board: no tool, no ink, no still."""
        self.tool = ""
        self.show_still(None)
        self.wipe()

    # Events

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        if self.tool == "pen":
            self.ink.append(QPolygonF([event.position()]))
        elif self.still is not None and not self.held and not self.zoomed and not self.tool:
            self.touched.emit()
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self._mouse = event.position()
        if self.tool == "pen" and event.buttons() & Qt.MouseButton.LeftButton and self.ink:
            self.ink[-1].append(event.position())
        if self.tool or self.zoomed:
            self.update()
        event.accept()

    @bounded
    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.black:
            painter.fillRect(self.rect(), Qt.GlobalColor.black)
            painter.end()
            return
        if self.still is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(QRectF(self.rect()), self.still, self._part(self.still))
        if self._state.asked:
            self._draw_poll(painter)
        unit = self.fontMetrics().height() / 6
        for colour, width in ((RIM, 2.2 * unit), (INK, 1.3 * unit)):
            pen = QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
            painter.setPen(pen)
            for line in self.ink:
                painter.drawPolyline(line) if line.size() > 1 else painter.drawPoint(line.first())
        if self.tool == "pointer":
            painter.setPen(QPen(RIM, unit / 2))
            painter.setBrush(INK)
            painter.drawEllipse(self._mouse, 2.5 * unit, 2.5 * unit)
        painter.end()

    def _part(self, still: QPixmap) -> QRectF:
        """The part of a still that is shown."""
        whole = QRectF(still.rect())
        if not self.zoomed:
            return whole
        size = QSizeF(whole.width() / ZOOM, whole.height() / ZOOM)
        x, y = (
            min(max(self._mouse.x() / max(self.width(), 1), 0.0), 1.0),
            min(max(self._mouse.y() / max(self.height(), 1), 0.0), 1.0),
        )
        return QRectF(QPointF(x * (whole.width() - size.width()), y * (whole.height() - size.height())), size)

    def _draw_poll(self, painter: QPainter) -> None:
        """The question, and a line for each choice with a bar of hands; the right one has a mark and a word."""
        scene = self._state.scene
        if scene is None or scene.poll is None:
            return
        poll, hands = scene.poll, self._state.hands
        font = QFont(self.font())
        font.setPointSizeF(max(font.pointSizeF(), 8) * 1.5)
        painter.setFont(font)
        line, wide = painter.fontMetrics().height(), self.width() * 0.8
        wraps = int(Qt.TextFlag.TextWordWrap)
        space = QRect(0, 0, round(wide - 2 * line), 10 * line)
        texts = [self._choice(choice, count) for choice, count in zip(poll.choices, hands, strict=True)]
        heights = [painter.fontMetrics().boundingRect(space, wraps, text).height() for text in (poll.ask, *texts)]
        gap = line * (1.1 if sum(hands) else 0.4)
        height = sum(heights) + 2 * line + len(texts) * gap
        # At the lower end: what the question is about stays visible above it.
        box = QRectF((self.width() - wide) / 2, max(0.0, self.height() - height - line / 2), wide, height)
        painter.setPen(QPen(BAR, line / 12))
        painter.setBrush(SHEET)
        painter.drawRoundedRect(box, line / 2, line / 2)
        left, top = box.left() + line, box.top() + line
        painter.setPen(PAPER)
        painter.drawText(QRectF(left, top, space.width(), heights[0]), wraps, poll.ask)
        top += heights[0] + line / 2
        for text, high, count in zip(texts, heights[1:], hands, strict=True):
            painter.drawText(QRectF(left, top, space.width(), high), wraps, text)
            share = count / max(sum(hands), 1)
            painter.fillRect(QRectF(left, top + high + line * 0.1, space.width() * share, line / 3), BAR)
            top += high + gap

    def _choice(self, choice: str, count: int) -> str:
        """A choice with its hands, and whether it is the answer."""
        scene = self._state.scene
        right = scene is not None and scene.poll is not None and self._state.revealed and choice == scene.poll.answer
        counted = self.tr("{choice} · hands: {count}").format(choice=choice, count=count)
        text = counted if sum(self._state.hands) else choice
        return self.tr("✓ {choice} – right").format(choice=text) if right else text


def picture_of(window: QWidget, board: Board) -> QPixmap:
    """The window as it is below the board."""
    shown = board.isVisible()
    board.setVisible(False)
    picture = window.grab(QRect(QPoint(0, 0), window.size()))
    board.setVisible(shown)
    return picture
