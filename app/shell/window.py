"""Creates the window and drives it from the command line through the same calls as clicks."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication

from app.base.icons import DESKTOP_ENTRY, program_icon
from app.base.paths import DEFAULT_SAMPLE, is_session, settings_file
from app.base.worker import Engine
from app.controllers.engine_log import EngineLog
from app.controllers.look import Appearance
from app.controllers.session import SessionController
from app.models.experiment.session import Session
from app.models.files.importing import Question
from app.models.log import Log
from app.models.results.results import Results
from app.models.settings import Settings
from app.shell.faults import log_faults
from app.views.window.main_window import MainWindow
from app.views.window.placing import put_on_screen
from gpu_ops import FILTERS, parse_step
from gpu_ops.cli import stopping
from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.client_jobs import EarlyAnswers
from gpu_ops.engine.messages import LoadRequest
from gpu_ops.errors import KernelscopeError
from gpu_ops.io.opening import CHOICES
from gpu_ops.params import Value
from gpu_ops.task import Meta

DEFAULT_SIZE = "1280x800"
PATIENCE_MS = 300_000
"""The longest wait for results before a screenshot."""


def show(
    args: argparse.Namespace,
    report: Callable[[Session, Results], int] | None = None,
    early: tuple[EngineClient, EarlyAnswers] | None = None,
    opened: Callable[[QApplication, MainWindow], None] | None = None,
) -> int:
    """Open the window and run Qt's loop. Returns the exit code; `report` is called when the loop has ended, and returns
    the code where nothing else failed. `early` is an engine that starts already, and its answers so far; `opened` is
    called with the application and its window before that is shown."""
    app = _application()
    app.setApplicationName("Kernelscope")
    app.setOrganizationName("Kernelscope")
    app.setDesktopFileName(DESKTOP_ENTRY)
    app.setWindowIcon(program_icon())
    settings = settings_for(args)
    look = Appearance(app, args.scheme or settings.scheme, args.presenter or settings.presenter)
    engine, log = Engine(None, *(early or ())), Log(app)
    EngineLog(engine, log, engine)
    controller = SessionController(engine, Session(), Results())
    window = MainWindow(controller, look, settings=settings, log=log)
    width, _, height = (args.size or DEFAULT_SIZE).partition("x")
    window.resize(int(width), int(height))
    if not (args.size or args.screenshot):
        put_on_screen(window)
    window.restore()
    if opened is not None:
        opened(app, window)
    window.show()
    script = Script(controller, window, args)
    QTimer.singleShot(0, script.start)

    def close(number: int, _frame: object) -> None:
        window.close()
        app.exit(128 + number)

    try:
        # Python handles signals only while Python code runs, as in the timer of collected_here.
        with log_faults(log), collected_here(), stopping.handled(close, stopping.CTRL_C, stopping.TERMINATION):
            code = int(app.exec()) or script.code
            return code or (report(controller.session, controller.results) if report is not None else 0)
    finally:
        engine.close()


def _application() -> QApplication:
    there = QApplication.instance()
    return there if isinstance(there, QApplication) else QApplication(sys.argv[:1])


def settings_for(args: argparse.Namespace) -> Settings:
    """The stored settings; empty ones, never written, where the command line sets the window's look."""
    explicit = args.size or args.scheme or args.presenter or args.screenshot
    return Settings(None if explicit else settings_file())


MOMENT_MS = 300
"""Time for views to draw the last result before their picture is taken."""


class Script(QObject):
    """Carries out the command line – open, choose, measure, draw – through the controller, as clicks do."""

    def __init__(self, controller: SessionController, window: MainWindow, args: argparse.Namespace) -> None:
        super().__init__(window)
        self._controller, self._window, self._args = controller, window, args
        self._steps = [self._choose, *([controller.measure] if args.measure else [])]
        self.code = 0

    def start(self) -> None:
        self._controller.start()
        if self._args.remote:
            fault = self._window.context.remotes.add(self._args.remote, self._args.remote_command)
            if fault:
                self._controller.message.emit("error", fault, "", "command line")
        sessions = self._window.context.sessions
        if self._args.screenshot:
            for speaker in (self._controller, sessions):
                speaker.message.connect(self._failed)
            sessions.asked.connect(lambda sentence, _choices: self._failed("error", sentence))
            self._controller.nonfinite_found.connect(self._refuse_values)
            self._window.context.importing.asked.connect(self._refuse_question)
            QTimer.singleShot(PATIENCE_MS, self._stop_waiting)
        self._controller.settled.connect(self._next)
        self._controller.session.changed.connect(self._choose_soon)
        if self._args.file or self._asks_for_something:
            sessions.ask_about_crash()
        if self._args.file and is_session(self._args.file):
            sessions.open(self._args.file, self._open_sample)
        elif self._args.file:
            self._window.files.open_path(self._args.file, self._choices())
        elif self._asks_for_something:
            self._open_sample()
        else:
            sessions.begin(self._begin_anew)

    @property
    def _asks_for_something(self) -> bool:
        """Whether the command line says what to show; else the last session may be opened."""
        args = self._args
        return bool(args.sample or args.filter or args.set or args.variant or args.device or args.step or args.measure)

    def _begin_anew(self) -> None:
        """No session is opened: show the start page next to the default input."""
        if self._window.context.settings.start_page and not self._args.screenshot:
            self._window.docks.show("start")
        self._open_sample()

    def _open_sample(self) -> None:
        self._controller.open_sample(self._args.sample or DEFAULT_SAMPLE)

    def _choices(self) -> dict[str, Value]:
        """The reading choices of the command line."""
        given = {param.name: getattr(self._args, param.name, None) for param in CHOICES}
        return {param.name: param.check(given[param.name]) for param in CHOICES if given[param.name] is not None}

    @Slot()
    def _choose_soon(self) -> None:
        """Choose once there is an input and a GPU, before the default filter runs."""
        if self._controller.session.input is not None and self._controller.session.device:
            QTimer.singleShot(0, self._choose_now)

    @Slot()
    def _choose_now(self) -> None:
        if self._steps[:1] == [self._choose]:
            self._steps.pop(0)()

    def _next(self) -> None:
        if self._controller.session.input is None and not self.code:
            return  # the engine may be ready before an input is chosen
        if self._steps:
            step = self._steps.pop(0)
            step()
            if not self._controller.busy:
                QTimer.singleShot(0, self._next)
        elif self._args.screenshot:
            QTimer.singleShot(MOMENT_MS, self._draw_when_done)

    def _draw_when_done(self) -> None:
        """Draw after a delay: by then every view has painted the last result; a difference of large pictures takes
        longer."""
        grid = self._window.stack.view.grid
        if grid is not None and grid.computing:
            QTimer.singleShot(MOMENT_MS, self._draw_when_done)
        else:
            self._draw()

    def _picks(self, session: Session, names: Sequence[str]) -> tuple[str, ...]:
        """The named variants by the ids of this version; standard error names those that have been renamed."""
        filter, shown = session.filter, session.input
        meta = None if shown is None else Meta(shown.kind, shown.array.shape, shown.array.dtype)
        ids = [filter.today(name, meta, session.params) for name in names]
        for sentence in (filter.renaming(a, b) for a, b in zip(names, ids, strict=True) if a != b):
            print(sentence, file=sys.stderr)
        return tuple(dict.fromkeys(filter.variant(id).id for id in ids))

    def _choose(self) -> None:
        session, args = self._controller.session, self._args
        try:
            if args.step and session.original is not None:
                session.set_steps(map(parse_step, args.step))
            if args.filter and session.input is not None:
                session.set_filter(FILTERS.find(args.filter, session.input.kind).id)
            if args.device == "cpu":
                session.set_picks(tuple(v.id for v in session.filter.variants if v.device == "cpu"))
            elif args.device:
                session.set_device(args.device)
            if args.variant:
                session.set_picks(self._picks(session, args.variant))
            params = {p.name: p for p in session.filter.params}
            values = dict(text.partition("=")[::2] for text in args.set)
            checked = {name: params[name].check(value) for name, value in values.items() if name in params}
            session.set_params({**session.choice.params, **checked})
        except KernelscopeError as error:
            self._controller.message.emit("error", str(error), "", "command line")

    def _failed(self, kind: str, sentence: str, *_: str) -> None:
        if kind == "error":
            print(f"kernelscope: {sentence}", file=sys.stderr)
            self.code = 2

    def _refuse_values(self, sentence: str, _found: object, request: LoadRequest) -> None:
        self._failed("error", f"{sentence} kernelscope run --input {request.path} --nonfinite zero replaces them.")

    def _refuse_question(self, question: Question) -> None:
        """Fail with a sentence: without a user to ask, it names the flags that give the answer."""
        flags = " or ".join(f"--{param.name}" for param in question.choices)
        self._failed("error", f"{question.path} can be read in several ways; say which with {flags}.")
        self._window.context.importing.cancel()
        self._draw()

    def _stop_waiting(self) -> None:
        if self._args.screenshot:
            seconds = PATIENCE_MS // 1000
            print(
                f"kernelscope: Not everything is done after {seconds} s; the picture shows what is finished.",
                file=sys.stderr,
            )
            self._draw()

    def _draw(self) -> None:
        if self._args.screenshot:
            path, self._args.screenshot = self._args.screenshot, None
            if not self._window.grab().save(path):
                print(f"kernelscope: {path} cannot be saved; choose another file.", file=sys.stderr)
                self.code = 2
            self._window.close()
            QApplication.quit()


INTERVAL_MS = 500


@contextmanager
def collected_here() -> Iterator[None]:
    """While the block runs, garbage collection runs only now and then, in Qt's loop of this thread, and in no other
    thread."""
    timer = QTimer()
    timer.timeout.connect(collect)
    before = gc.isenabled()
    gc.disable()
    timer.start(INTERVAL_MS)
    try:
        yield
    finally:
        timer.stop()
        if before:
            gc.enable()


def collect() -> None:
    """Collect what Python's automatic collection would: the oldest generation whose count is above its threshold, and
    all younger ones."""
    over = [count > threshold > 0 for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True)]
    due = over.index(False) if False in over else len(over)
    if due:
        gc.collect(due - 1)
