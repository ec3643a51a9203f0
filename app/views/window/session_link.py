"""Sessions in a window: the view is saved and restored with them, and their questions are asked."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QCoreApplication, QObject, Qt, QTimer, SignalInstance, Slot

from app.base.paths import SESSION, is_session
from app.models.curves.lanes import choice_of
from app.models.experiment.job_kind import RESTORE
from app.models.files.session_file import SavedSession
from app.models.files.session_view import Offered, View, put_channels, put_probe
from app.models.xray.drafts import Draft
from app.views.results.view_table import BANDS, COUNTS, SPECTRUM
from app.views.window.panels import LADDER, LESSONS, PANELS
from app.views.window.window_parts import WindowParts
from gpu_ops import KernelscopeError
from gpu_ops.errors import InputError, plain
from gpu_ops.input_kinds import INPUT_KINDS

if TYPE_CHECKING:
    from app.controllers.batch import BatchController

OFFERED = Offered(
    tabs=tuple(panel.id for panel in PANELS if panel.dock == LADDER.dock),
    scales=tuple(dict.fromkeys(scale.id for scale in (*SPECTRUM, *COUNTS, *BANDS))),
)


KEPT_MS = 2000
"""Delay from a change to keeping the session; further changes in this time are included."""
CRASH = "crash"
LOSING = "loses_kernels"
"""The window's property that the user closes it without saving edited kernels."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Sessions", text)


def session_kinds() -> str:
    """The file filter of a dialog for sessions, in Qt's notation."""
    return _tr("Sessions") + f" (*{SESSION})"


# Handlers of actions


def open_session(parts: WindowParts) -> None:
    """Ask for a session and open it."""
    for path in parts.context.files.choose(_tr("Open a session"), session_kinds())[:1]:
        parts.context.importing.open(path)


def save_session(parts: WindowParts) -> None:
    """Save to the session's file, or ask for one where there is none yet."""
    path = parts.context.sessions.path
    if path:
        _save(parts, path)
    else:
        save_session_as(parts)


def save_session_as(parts: WindowParts) -> None:
    """Ask for a file and save the session to it."""
    input, sessions = parts.context.session.input, parts.context.sessions
    name = PurePath(sessions.path).name or PurePath(input.name if input is not None else "").stem + SESSION
    path = parts.context.files.ask_target(_tr("Save the session"), name, session_kinds())
    if path:
        _save(parts, path if PurePath(path).suffix else path + SESSION)


def _save(parts: WindowParts, path: str) -> None:
    try:
        if not is_session(path):
            text = _tr("{name} is no name for a session, because it does not end in {suffix}; choose another one.")
            raise InputError(text.format(name=plain(PurePath(path).name), suffix=SESSION))
        _refuse_pasted(parts)
        parts.context.sessions.save(path, view_of(parts))
    except KernelscopeError as error:
        parts.context.files.say_not_written(str(error))
    else:
        parts.recent.add(path)
        parts.context.files.say_written(path)


def _refuse_pasted(parts: WindowParts) -> None:
    """Raises InputError where the input is a pasted picture: its file is deleted with the window."""
    original = parts.context.session.original
    if original is not None and original.origin.get("path") == parts.pasted.path:
        raise InputError(
            _tr("The input was pasted, and no file holds it: save it, open the file, and save the session.")
        )


def keep_last(parts: WindowParts) -> None:
    """Keep the settings as the last session; a failure goes to the log, because the window closes."""
    try:
        _refuse_pasted(parts)
        parts.context.sessions.keep_last(view_of(parts))
    except KernelscopeError as error:
        parts.context.log.add("window warning", str(error))


def unsaved_kernels(parts: WindowParts) -> tuple[Draft, ...]:
    """The edited kernels that neither a file nor the last session keeps when the window closes."""
    sessions, original = parts.context.sessions, parts.context.session.original
    pasted = original is not None and original.origin.get("path") == parts.pasted.path
    kept = parts.context.settings.last_session is not None and sessions.can_save and not pasted
    return () if kept else parts.context.xray.drafts.unsaved


def ask_to_close(parts: WindowParts) -> bool:
    """Whether the window can close now; otherwise ask what to do with unsaved kernels, and a batch that runs."""
    if _asks_about_batch(parts):
        return False
    unsaved = () if parts.window.property(LOSING) else unsaved_kernels(parts)
    if not unsaved:
        return True

    def close() -> None:
        parts.window.setProperty(LOSING, True)
        parts.window.close()

    names = ", ".join(draft.origin.title for draft in unsaved)
    text = _tr("Edited kernels are not saved: {names}. Save them in the X-ray panel, or close without them.")
    choices: dict[str, Callable[[], object]] = {_tr("Close without saving"): close}
    parts.context.messages.show_message("warning", text.format(names=names), "", "unsaved", choices=choices)
    return False


def batch_of(parts: WindowParts) -> BatchController | None:
    """The window's batches; None before their page was opened."""
    page = parts.pages.existing("batch")
    return None if page is None else page.batch  # type: ignore[attr-defined]


def _asks_about_batch(parts: WindowParts) -> bool:
    """Whether a batch runs; then ask whether it is to stop after the files at work, or at once."""
    batch = batch_of(parts)
    if batch is None or not batch.running:
        return False

    def after() -> None:
        batch.ended.connect(parts.window.close, Qt.ConnectionType.QueuedConnection)
        batch.cancel()

    def at_once() -> None:
        batch.close()
        parts.window.close()

    text = _tr("A batch runs. Stop it after the files at work and close, or close at once; it can be resumed later.")
    choices: dict[str, Callable[[], object]] = {_tr("Stop it and close"): after, _tr("Close at once"): at_once}
    parts.context.messages.show_message("warning", text, "", "batch", choices=choices)
    return True


# The view


def view_of(parts: WindowParts) -> View:
    """The window's view of the experiment."""
    context, pictures, probe = parts.context, parts.pictures, parts.probe
    grid, display, channels = pictures.view.grid, pictures.display, choice_of(pictures)
    levelled = display is context.display and display.levelled and isfinite(display.high - display.low)
    placed = not context.session.lacks_steps  # otherwise positions refer to an input that is being replaced
    tab = parts.docks.tabs[LADDER.dock].currentIndex()
    return View(
        mode=grid.mode if grid is not None else "side by side",
        pair=(grid.first.currentData() or "", grid.second.currentData() or "") if grid is not None else ("", ""),
        scale=pictures.bar.scales.present if len(pictures.bar.scales.choices) > 1 else "",
        colormap=display.colormap if display is not None else context.display.colormap,
        levels=context.display.mode if levelled else "",
        low=context.display.low if levelled else 0.0,
        high=context.display.high if levelled else 0.0,
        region=probe.region if placed else None,
        line=probe.line if placed else None,
        span=probe.span if placed else None,
        tool=probe.tool,
        front=probe.last,
        scale_bar=probe.scale_bar,
        only=channels.only,
        stacked=channels.stacked,
        tab=OFFERED.tabs[tab],
        layout=bytes(parts.docks.layout().toBase64().data()).decode(),
        presenter=context.look.presenter,
        xray=context.xray.variant,
        against=context.xray.against,
        counter=context.xray.counter,
        xray_tab=context.xray.tab,
        timeline=context.timeline.model,
        drafts=context.xray.drafts.edited,
        editing=context.xray.editing,
    )


class SessionLink(QObject):
    """Restores a session's view, and asks its questions. It keeps the session after every change, in case the window
    crashes."""

    def __init__(self, parts: WindowParts) -> None:
        super().__init__(parts.window)
        self._not_kept = ""
        self._parts, self._sessions, messages = parts, parts.context.sessions, parts.context.messages
        self._sessions.offered = OFFERED
        self._sessions.restored.connect(self._restore)
        self._sessions.placed.connect(self._place)
        self._sessions.message.connect(messages.show_message)
        self._sessions.succeeded.connect(messages.settle)
        self._sessions.asked.connect(self._ask)
        self._sessions.file_wanted.connect(self._choose_file)
        self._sessions.crash_found.connect(self._ask_about_crash)
        parts.context.importing.session_wanted.connect(self._sessions.open)
        self._later = QTimer(self, singleShot=True, interval=KEPT_MS)
        self._later.timeout.connect(self._keep)
        for signal in self._changes():
            signal.connect(self._soon)

    def _changes(self) -> list[SignalInstance]:
        """The signals of everything that a session file contains."""
        parts, session, probe = self._parts, self._parts.context.session, self._parts.probe
        pictures, display, xray = parts.pictures, parts.context.display, parts.context.xray
        return [
            session.changed,
            parts.context.timeline.model_changed,
            *(pictures.view_changed, display.levels_changed, choice_of(pictures).changed, xray.changed),
            *(xray.drafts.changed, xray.editing_changed, xray.gpu_changed, xray.counter_changed, xray.tab_changed),
            *(probe.changed, probe.tool_changed, probe.scale_bar_changed),
            *(parts.context.look.changed, parts.docks.toggled, parts.docks.tabs[LADDER.dock].currentChanged),
        ]

    @Slot()
    def _soon(self) -> None:
        """Keep the session once this change and its consequences are done."""
        if not self._later.isActive():
            self._later.start()

    @Slot()
    def _keep(self) -> None:
        try:
            _refuse_pasted(self._parts)
            self._sessions.keep_unfinished(view_of(self._parts))
        except KernelscopeError as error:
            if str(error) != self._not_kept:
                self._not_kept = str(error)
                self._parts.context.log.add("window warning", self._not_kept)

    @Slot(str, object)
    def _ask_about_crash(self, sentence: str, choices: dict[str, Callable[[], object]]) -> None:
        self._parts.context.messages.show_message("warning", sentence, "", CRASH, choices=choices)

    @Slot(object)
    def _restore(self, saved: SavedSession) -> None:
        """Restore what does not depend on the steps of the input."""
        parts, view = self._parts, saved.view
        if self._sessions.path:
            parts.recent.add(self._sessions.path)
        parts.probe.remove_all()
        # The last session restores its layout only where the user asked for it.
        if self._sessions.path or parts.context.settings.restored:
            self._lay_out(view)
        self._restore_drafts(view)
        parts.context.xray.choose(view.xray)
        parts.context.xray.set_editing(view.editing)
        parts.context.xray.compare_with(view.against)
        parts.context.xray.show_counter(view.counter)
        parts.context.xray.show_tab(view.xray_tab)
        parts.context.timeline.set_model(view.timeline)
        self._show(view)

    def _restore_drafts(self, view: View) -> None:
        """Take the session's edited kernels, except where the window has an unsaved one of the same variant."""
        drafts = self._parts.context.xray.drafts
        for draft in view.drafts:
            present = drafts.of(draft.filter, draft.variant)
            if not present.unsaved or present == draft:
                drafts.put(draft)
                continue
            text = _tr("The window's unsaved {variant}, edited, stays: save it and open the session again for its own.")
            self._sessions.say(text.format(variant=present.origin.title))

    def _lay_out(self, view: View) -> None:
        """Restore the positions and sizes of the panels; a lesson that is open stays open."""
        parts, lessons = self._parts, LESSONS.dock
        reading, in_front = parts.docks.is_open(lessons), parts.docks.in_front(lessons)
        if view.presenter != parts.context.look.presenter:
            parts.context.look.set_presenter(view.presenter)
        if view.layout and not parts.docks.restore(QByteArray.fromBase64(view.layout.encode())):
            self._sessions.say(_tr("The panels stay where they are: the session was saved by another version."))
        if in_front:
            parts.docks.show(lessons)
        elif reading:
            parts.docks.places[lessons].setVisible(True)
        if view.tab:
            parts.docks.tabs[LADDER.dock].setCurrentIndex(OFFERED.tabs.index(view.tab))

    def _show(self, view: View) -> None:
        """Restore how results are compared and drawn."""
        pictures = self._parts.pictures
        if pictures.view.grid is not None:
            pictures.view.grid.set_mode(view.mode)
            if all(key in pictures.view.grid.panes for key in view.pair):
                pictures.view.grid.set_pair(*view.pair)
        if view.scale and view.scale != pictures.bar.scales.present:
            pictures.set_scale(view.scale)
        if pictures.display is not None:
            pictures.display.set_colormap(view.colormap)
        if not put_channels(view, choice_of(pictures)):
            self._sessions.say(_tr("The input has fewer channels than the session's; all of them are shown."))

    @Slot(object)
    def _place(self, saved: SavedSession) -> None:
        """Restore what has positions or values in the input after its steps."""
        parts, view, input = self._parts, saved.view, self._parts.context.session.input
        assert input is not None
        display = parts.context.display
        if view.levels == "manual":
            display.set_levels(view.low, view.high)
        elif view.levels and parts.pictures.display is display:
            display.auto_levels(view.levels)
        if not put_probe(view, parts.probe, INPUT_KINDS[input.kind].spatial(input.array.shape)):
            self._sessions.say(_tr("The session's region, line or interval lies outside of the input and is left out."))

    @Slot(str, object)
    def _ask(self, sentence: str, choices: dict[str, Callable[[], object]]) -> None:
        self._parts.context.messages.show_message("warning", sentence, "", RESTORE.subject, choices=choices)

    @Slot(str, object)
    def _choose_file(self, name: str, take: Callable[[str], object]) -> None:
        """Ask for the file that a session needs."""
        title = _tr("Choose {name}").format(name=Path(name).name)
        for path in self._parts.context.files.choose(title)[:1]:
            take(path)
