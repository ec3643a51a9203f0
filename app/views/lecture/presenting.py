"""Holds a lecture: keys and a presenter's remote, parts of the window alone on the screen, and stills of the scenes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QPixmap
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QComboBox, QLineEdit, QPlainTextEdit, QWidget

from app.base.nesting import bounded
from app.controllers.lectures import LectureController
from app.views.lecture.board import Board, picture_of
from app.views.lecture.notes import COMMANDS, NotesWindow
from app.views.window.panels import PANELS, XRAY
from app.views.window.session_link import view_of
from app.views.window.window_parts import WindowParts
from gpu_ops.errors import KernelscopeError

TYPING = (QLineEdit, QAbstractSpinBox, QComboBox, QPlainTextEdit)
"""Where letters and digits are text."""
STRETCH = 0.1
ALSO = {".": "black"}
"""What a presenter's remote sends besides."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Lecture", text)


class Presenting(QObject):
    """Between the choice of a scene and its last result a still of it is shown, where there is one of this size: every
    scene that was shown once has one."""

    def __init__(self, parts: WindowParts) -> None:
        super().__init__(parts.window)
        context = parts.context
        self._parts, self._window = parts, parts.window
        own = context.controller, context.sessions, context.xray, context.look
        self.controller = LectureController(*own, self)
        self.state = self.controller.state
        self.board = Board(parts.window, self.state)
        self.notes = NotesWindow(self.state, context.files.choose, parts.window)
        self.stills: dict[int, QPixmap] = {}
        self.part = "pictures"
        self._waits = False
        """Whether the panel is shown until the X-ray is there, of which a part is wanted."""
        self._layout = parts.docks.layout()
        self._keys = {QKeySequence(key).toString(): name for name, (key, _, _) in COMMANDS.items()} | ALSO
        self._commands: dict[str, Callable[[], object]] = {
            "previous": lambda: self.controller.go(self.state.place - 1),
            "next": lambda: self.controller.go(self.state.place + 1),
            "hold": self._hold,
            "zoom": lambda: self.board.zoom(picture_of(self._window, self.board)),
            "draw": lambda: self.board.set_tool("pen"),
            "pointer": lambda: self.board.set_tool("pointer"),
            "clear": self.board.wipe,
            "black": lambda: self.board.set_black(not self.board.black),
            "ask": self.state.ask,
            "answer": self.state.reveal,
        }
        parts_shown = [name for name in COMMANDS if name not in self._commands]
        self._commands |= {name: partial(self.show_part, name) for name in parts_shown}
        self.notes.opened.connect(self.open)
        self.notes.prepare_wanted.connect(self._prepare)
        self.notes.commanded.connect(self.do)
        self.notes.ended.connect(self.controller.end)
        self.state.place_changed.connect(self._show_place)
        context.sessions.restored.connect(self._show_scene)
        self.controller.ready.connect(self._complete)
        self.controller.prepared.connect(self._say_prepared)
        # After the present event: another part on the whole screen leaves it for a moment.
        self._left = QTimer(self, singleShot=True, interval=0)
        self._left.timeout.connect(self._clear_board)
        parts.full_screen.changed.connect(lambda: self._left.start())
        self.board.touched.connect(lambda: self.board.show_still(None))

    # What the lecturer does

    @Slot(str)
    def open(self, path: str) -> None:
        """Begin the lecture in a file; one that cannot be shown is refused in words."""
        self.stills, running, layout = {}, self.state.lecture is not None, self._parts.docks.layout()
        try:
            self.controller.open(path, view_of(self._parts))
        except KernelscopeError as error:
            self.notes.say(error.sentence())
            return
        if not running:
            self._layout = layout
        if self.state.lecture is not None:
            self.notes.offer(self.state.lecture)
        self.notes.say(_tr("Prepare shows every scene once; after that none waits. Esc brings the whole window back."))
        application().installEventFilter(self)
        self._window.installEventFilter(self)

    @Slot(str)
    def do(self, name: str) -> None:
        """Carry out one of COMMANDS."""
        if self.state.lecture is not None:
            self._commands[name]()

    def show_part(self, name: str) -> None:
        """Show the pictures, a panel, or the source or the tabs of the X-ray alone, in the place of what is shown."""
        docks, self.part, self._waits = self._parts.docks, name, False
        if name == "pictures":
            part: QWidget = self._parts.pictures
        elif name in ("source", "tabs"):
            docks.show_panel(XRAY.id)
            self._waits = self._parts.context.xray.state != "shown"
            inner = docks[XRAY].texts if name == "source" else docks[XRAY].tabs
            part = docks[XRAY] if self._waits else inner  # the panel says why there is nothing yet
        else:
            docks.show_panel(name)
            part = docks[next(spec for spec in PANELS if spec.id == name)]
        self._parts.full_screen.show_only(part)
        if name == "source":
            docks[XRAY].source.adapt()  # the letters around it are larger now
            docks[XRAY].source.centerCursor()
        self.board.refresh()

    def _hold(self) -> None:
        """Hold what is on the screen, or let it go."""
        self.board.show_still(None if self.board.held else picture_of(self._window, self.board), True)
        self.board.held = self.board.still is not None

    @Slot()
    def _prepare(self) -> None:
        self.controller.prepare()

    # What follows

    @Slot()
    def _show_place(self) -> None:
        """Another scene: its still, until everything in it is there."""
        if self.state.lecture is None:
            application().removeEventFilter(self)
            self._window.removeEventFilter(self)
            self.board.put_away()
            self._parts.full_screen.leave()
            self._parts.docks.restore(self._layout)
            self.notes.say("")
            return
        self.board.show_still(None if self.controller.preparing else self._still())
        self.board.repaint()  # before the scene is opened

    @Slot()
    def _clear_board(self) -> None:
        """The whole window is back, with letters as before the lecture: the mouse is for its controls, and the question
        is no longer over them."""
        if self.state.lecture is not None:
            self.controller.enlarge(self._parts.full_screen.active)
        if not self._parts.full_screen.active:
            self.board.put_away()
            if self.state.asked:
                self.state.ask()

    def _still(self) -> QPixmap | None:
        """The still of the scene, if it has about the size of the window: one that is stretched more would jump."""
        still, now = self.stills.get(self.state.place), self._window.size()
        if still is None:
            return None
        size = still.deviceIndependentSize()
        off = max(abs(size.width() / now.width() - 1), abs(size.height() / now.height() - 1))
        return still if off < STRETCH else None

    @Slot()
    def _show_scene(self) -> None:
        if self.state.scene is not None:
            self.show_part(self.state.scene.part)

    @Slot()
    def _complete(self) -> None:
        """Everything in the scene is there: keep a still of it, unless another part is shown."""
        scene = self.state.scene
        if self._waits and self._parts.full_screen.active and self._parts.context.xray.state == "shown":
            self.show_part(self.part)
        if scene is not None and self.part == scene.part:
            self.stills[self.state.place] = picture_of(self._window, self.board)
        if not self.board.held and not self.board.zoomed:
            self.board.show_still(None)

    @Slot(int)
    def _say_prepared(self, count: int) -> None:
        lecture = self.state.lecture
        if lecture is not None:
            text = _tr("{count} of {scenes} scenes are prepared.")
            self.notes.say(text.format(count=count, scenes=len(lecture.scenes)))
            if count == len(lecture.scenes):
                self.notes.restart_clock()

    # Events

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if watched is self._window and event.type() == QEvent.Type.Resize:
            self.board.refresh()
        if watched is self._window and event.type() == QEvent.Type.Close:
            self.controller.end()  # the next window has the size of letters from before the lecture
        if not isinstance(event, QKeyEvent) or event.type() not in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride):
            return False
        name = self._command_of(event, watched) if self._concerns(watched) else ""
        if not name:
            return False
        event.accept()
        if event.type() == QEvent.Type.KeyPress:
            self.do(name)
        return True

    def _concerns(self, watched: QObject) -> bool:
        """Whether a key goes to the window or to the notes, and is no text there."""
        return isinstance(watched, QWidget) and watched.window() in (self._window, self.notes)

    def _command_of(self, event: QKeyEvent, widget: QObject) -> str:
        """The command of a key; "" for none. In a box for text, letters and digits are text."""
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return ""
        name = self._keys.get(QKeySequence(event.key()).toString(), "")
        types = isinstance(widget, TYPING) and not (isinstance(widget, QPlainTextEdit) and widget.isReadOnly())
        return "" if types and name not in ("previous", "next") else name


def application() -> QObject:
    """The application, which hears of every event first."""
    app = QApplication.instance()
    assert app is not None
    return app


def open_lectures(parts: WindowParts) -> None:
    """Show the lecturer's window."""
    presenting = parts.window.findChild(Presenting) or Presenting(parts)
    presenting.notes.present()
