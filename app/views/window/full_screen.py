"""One result, or one panel, alone on the whole screen."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPointF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QMainWindow, QSplitterHandle, QTabBar, QWidget

from app.base.letter_sizes import LetterSizes
from app.base.nesting import bounded
from app.models.results.view_data import INPUT
from app.views.parts import draw_tag
from app.views.results.pictures import Pictures
from app.views.window.docks import Docks
from gpu_ops.types import REFERENCE

LINES = 26
"""Lines of text that are as high as the screen: they can be read from the last row of a room."""
HINT_MS = 4000
"""How long the keys are shown."""
STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}


class Hint(QWidget):
    """A line over the lower end of the window, above the values under the cursor, for a moment; the mouse passes
    through it."""

    stays_in_full_screen = True

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("fullScreenHint")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.text, self._around = "", window
        self._gone = QTimer(self, singleShot=True, interval=HINT_MS)
        self._gone.timeout.connect(self.hide)
        self.hide()

    def say(self, text: str) -> None:
        """Show the text at the lower right."""
        self.text = text
        self.setAccessibleName(text)
        self.place()
        self.show()
        self.raise_()
        self.update()
        self._gone.start()

    def place(self) -> None:
        """Move to the lower right of the window."""
        around, metrics = self._around, self.fontMetrics()
        gap = metrics.averageCharWidth()
        width = min(metrics.horizontalAdvance(self.text) + 3 * gap, around.width())
        self.setGeometry(around.width() - width, around.height() - 4 * metrics.height(), width, 2 * metrics.height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        draw_tag(painter, QPointF(self.width(), 0), self.text, self.width(), right=True)
        painter.end()


class FullScreen(QObject):
    """Hides everything in the window but the results or one panel, and makes the window as large as the screen.

    Of results side by side one is visible; arrows and digits walk through them and the input, and Space shows the
    reference while it is held, or the input where the reference has no pane. Of two that are compared in one place,
    arrows and digits change the first. Escape or a double click brings the window back. `changed`: it began or ended.
    """

    changed = Signal()

    def __init__(self, window: QMainWindow, pictures: Pictures, docks: Docks) -> None:
        super().__init__(window)
        self._window, self._pictures, self._docks = window, pictures, docks
        self._part: QWidget | None = None
        self._others: list[QWidget] = []
        self._hidden: list[QWidget] = []
        self._state = window.windowState()
        self._before = ""
        self._stays = False
        """Whether the part stays when the results are of another kind."""
        self.hint = Hint(window)
        self._view = pictures.view
        pictures.view_changed.connect(self._leave_other)
        pictures.installEventFilter(self)
        docks.toggled.connect(self._leave_closed)
        docks.made.connect(lambda panel: panel.installEventFilter(self))
        for panel in docks.enlargeable():
            panel.installEventFilter(self)

    @property
    def active(self) -> bool:
        return self._part is not None

    def toggle(self) -> None:
        """Show what has the focus on the whole screen, or the window again."""
        if self.active:
            self.leave()
            return
        focus = QApplication.focusWidget()
        panel = next((p for p in self._docks.enlargeable() if focus is not None and p.isAncestorOf(focus)), None)
        if panel is not None:
            self._enter(panel)
        else:
            self.present(self._pictures.looked_at.clicked)

    def present(self, key: str = "") -> None:
        """Show a result, the input or a difference by its key, else the first result; or the two that are compared."""
        keys = self.keys
        if not keys:
            return
        key = self.key or key  # two in one place stay
        self._enter(self._pictures.sides.main)
        self._show(key if key in keys else next((k for k in keys if k != INPUT), keys[0]))

    def show_only(self, part: QWidget) -> None:
        """Show a part of the window alone, also in place of the one that is; it stays whatever the results are. No key
        is named over it: it is shown to others."""
        before = self._state if self.active else self._window.windowState()
        if self.active:
            self._state = self._window.windowState()
        self.leave()
        self._enter(part)
        self._state, self._stays = before, True
        self.hint.hide()

    # What is shown

    @property
    def keys(self) -> list[str]:
        """What can be walked through, in order."""
        return list(self._pictures.view.walk)

    @property
    def key(self) -> str:
        """What is shown, and changed by walking."""
        return self._pictures.view.alone

    def _show(self, key: str) -> None:
        self._pictures.view.show_alone(key)
        self._say_place()

    def _say_place(self) -> None:
        """Say what is shown as one of how many, and the keys."""
        keys = self.keys
        place = keys.index(self.key) + 1 if self.key in keys else 0
        text = _tr("{place} of {count} · arrows or 1–9: another one · Space: {other} · Esc: back")
        other = _tr("reference") if REFERENCE in keys else _tr("input")
        self.hint.say(text.format(place=place, count=len(keys), other=other))

    def walk(self, steps: int) -> None:
        """Show the next result, or the one before, in a circle."""
        keys = self.keys
        self._show(keys[(keys.index(self.key) + steps) % len(keys)] if self.key in keys else keys[0])

    def flicker(self, other: bool) -> None:
        """Show the reference, or what was shown before it."""
        view, keys = self._pictures.view, self.keys
        if view.grid is not None and view.grid.mode != "side by side":
            view.grid.flicker(other)
            return
        reference = next((key for key in (REFERENCE, INPUT) if key in keys), "")
        if other and not self._before and reference:
            self._before = self.key
            view.show_alone(reference)
        elif not other and self._before:
            back, self._before = self._before, ""
            view.show_alone(back)

    # The window

    def _enter(self, part: QWidget) -> None:
        """Hide all that is not in or around the part."""
        if self.active:
            return
        self._part, self._state, inner = part, self._window.windowState(), part
        self._view = self._pictures.view
        while inner is not self._window and (around := inner.parentWidget()) is not None:
            self._others += [w for w in around.children() if isinstance(w, QWidget) and _hides(w) and w is not inner]
            inner = around
        self._hidden = [other for other in self._others if not other.isHidden()]
        for other in self._hidden:
            other.hide()
        self._window.showFullScreen()
        self._enlarge()
        application().installEventFilter(self)
        self._window.installEventFilter(self)
        if part is not self._pictures.sides.main:
            self.hint.say(_tr("Esc: back"))
        self.changed.emit()

    def _enlarge(self) -> None:
        """Give the part letters that suit the height of the screen. That of the window would follow the letters: where
        it cannot shrink to the screen, each makes the other larger."""
        plain, wanted = QFontMetrics(QApplication.font()).height(), self._window.screen().size().height() / LINES
        font = QFont()
        font.setPointSizeF(QApplication.font().pointSizeF() * max(1.0, wanted / plain))
        self._write_with(font)

    def _write_with(self, font: QFont) -> None:
        """Change the letters of the part, with the sizes that depend on them."""
        for widget in filter(None, (self._part, self.hint)):
            sizes = LetterSizes([widget], widget.font())
            widget.setFont(font)
            sizes.follow(widget.font())

    @Slot()
    def leave(self) -> None:
        """Show the whole window again."""
        if self._part is None:
            return
        application().removeEventFilter(self)
        self._window.removeEventFilter(self)
        self._write_with(QFont())
        part, self._part, self._before, self._stays = self._part, None, "", False
        self.hint.hide()
        if part is self._pictures.sides.main:
            self._view.show_alone("")
        self._window.setWindowState(self._state)
        hidden, self._hidden, self._others = self._hidden, [], []
        for widget in reversed(hidden):
            widget.show()
        self.changed.emit()

    @Slot()
    def _leave_other(self) -> None:
        """The results are of another kind now, and have another view."""
        if self._pictures.view is not self._view and not self._stays:
            self.leave()

    @Slot()
    def _leave_closed(self) -> None:
        """The panel that fills the screen was closed: nothing would be left on it."""
        part, places = self._part, self._docks.places
        if any(
            part is not None and one.isAncestorOf(part) and not self._docks.is_open(id) for id, one in places.items()
        ):
            self.leave()

    # Events

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QMouseEvent):
            if event.type() != QEvent.Type.MouseButtonDblClick or event.button() != Qt.MouseButton.LeftButton:
                return False
            return self._on_double_click(watched, event)
        if self.active and watched is self._window and isinstance(event, QResizeEvent):
            self._enlarge()
            self.hint.place()
        if event.type() == QEvent.Type.ShowToParent and isinstance(watched, QWidget) and watched in self._others:
            self._hidden = [*(other for other in self._hidden if other is not watched), watched]
            watched.hide()  # results that arrive may show their controls
        if self.active and isinstance(event, QKeyEvent) and self._concerns(watched):
            return self._on_key(event)
        return False

    def _concerns(self, watched: QObject) -> bool:
        """Whether a key goes to the window, or to something in it."""
        if isinstance(watched, QWidget):
            return watched.window() is self._window and QApplication.activePopupWidget() is None
        return watched is self._window.windowHandle()

    def _on_double_click(self, watched: QObject, event: QMouseEvent) -> bool:
        """A double click that nothing in the results or in a panel has taken."""
        panels = self._docks.enlargeable()
        if watched is not self._pictures and watched not in panels:
            return False
        if self.active:
            self.leave()
        elif watched is self._pictures:
            self.present(self._pictures.looked_at.key_at(event.globalPosition().toPoint()))
        else:
            self._enter(next(panel for panel in panels if panel is watched))
        return True

    def _on_key(self, event: QKeyEvent) -> bool:
        key, plain = event.key(), not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        walks = self._part is self._pictures.sides.main and plain
        digit = key - Qt.Key.Key_1
        if not (key == Qt.Key.Key_Escape or (walks and (key in STEPS or key == Qt.Key.Key_Space or 0 <= digit < 9))):
            return False
        event.accept()
        if event.type() == QEvent.Type.KeyRelease:
            if key == Qt.Key.Key_Space and not event.isAutoRepeat():
                self.flicker(False)
        elif event.type() == QEvent.Type.KeyPress:
            if key == Qt.Key.Key_Escape:
                self.leave()
            elif key == Qt.Key.Key_Space:
                self.flicker(True)
            elif key in STEPS:
                self.walk(STEPS[Qt.Key(key)])
            elif digit < len(self.keys):
                self._show(self.keys[digit])
        return True


def _hides(widget: QWidget) -> bool:
    """Whether a part is hidden while another fills the screen. Windows are left alone, and so is what a splitter, a
    scroll area or the docks show and hide: they would repeatedly show what is hidden here."""
    around = widget.parentWidget()
    stays = getattr(widget, "stays_in_full_screen", False)
    own = isinstance(around, QAbstractScrollArea) or (isinstance(widget, QTabBar) and isinstance(around, QMainWindow))
    return not (widget.isWindow() or isinstance(widget, QSplitterHandle) or stays or own)


def application() -> QObject:
    """The application, which hears of every event first."""
    app = QApplication.instance()
    assert app is not None
    return app


def _tr(text: str) -> str:
    return QCoreApplication.translate("FullScreen", text)
