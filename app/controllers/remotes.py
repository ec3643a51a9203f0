"""Engines on other machines: connecting, what ssh asks, and what became of each connection."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal, Slot

from app.base.worker import Engine
from app.models.settings import Settings
from gpu_ops.errors import KernelscopeError
from gpu_ops.remote.asking import Question
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.news import LinkState

SUBJECT = "remote"


@dataclass(frozen=True)
class Machine:
    """A machine of this window. `stage` is that of its connection, `sentence` what to do where it failed, and
    `question` what ssh asks, if it does."""

    to: Destination
    stage: str
    sentence: str = ""
    question: Question | None = None


class RemoteMachines(QObject):
    """`machines` by label, in the order in which they were added. `changed`: one of them has; `asked`: ssh has a
    question; `message` and `succeeded` are as those of the session's controller."""

    changed = Signal()
    asked = Signal()
    message = Signal(str, str, str, str)
    succeeded = Signal(str)

    def __init__(self, engine: Engine, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._settings = engine, settings
        self.machines: dict[str, Machine] = {}
        engine.link_changed.connect(self._take)
        engine.question.connect(self._ask)

    @property
    def remembered(self) -> tuple[tuple[str, str], ...]:
        """The hosts that were used, each with its command, the newest first."""
        return self._settings.hosts

    def add(self, host: str, command: str = "") -> str:
        """Connect to a machine. Returns what is wrong with the names, "" if nothing is."""
        try:
            to = Destination(host.strip(), command.strip()) if command.strip() else Destination(host.strip())
        except KernelscopeError as error:
            return str(error)
        self._settings.add_host(to.host, to.command)
        self.machines.pop(to.label, None)
        self.machines[to.label] = Machine(to, "connecting")
        self._engine.client.add(to)
        self.changed.emit()
        return ""

    def leave(self, label: str) -> None:
        """End the engine there, or the attempt to reach it, and forget the machine in this window."""
        machine = self.machines.pop(label, None)
        if machine is not None and machine.question is not None:
            machine.question.answer(None)
        self._engine.client.remove(label)
        self.succeeded.emit(f"{SUBJECT}/{label}")
        self.changed.emit()

    def forget(self, host: str) -> None:
        """Remember this host no more."""
        self._settings.forget_host(host)
        self.changed.emit()

    def answer(self, label: str, text: str | None) -> None:
        """Answer the question of ssh; None refuses."""
        machine = self.machines.get(label)
        if machine is not None and machine.question is not None:
            machine.question.answer(text)
            self.machines[label] = replace(machine, question=None)
            self.changed.emit()

    @Slot(object)
    def _ask(self, question: Question) -> None:
        machine = self.machines.get(question.host)
        if machine is None:
            question.answer(None)
            return
        self.machines[question.host] = replace(machine, question=question)
        self.changed.emit()
        self.asked.emit()

    @Slot(object)
    def _take(self, state: LinkState) -> None:
        machine = self.machines.get(state.host)
        if machine is None:
            return
        if machine.question is not None:  # ssh has ended before it was answered
            machine.question.answer(None)
        self.machines[state.host] = Machine(machine.to, state.stage, state.sentence)
        subject = f"{SUBJECT}/{state.host}"
        if state.stage != "lost":
            self.succeeded.emit(subject)
        if state.stage == "failed":
            self.message.emit("error", state.sentence, "", subject)
        elif state.stage == "lost":
            text = self.tr("The connection to {host} is lost; it is being made again, and jobs there go on.")
            words = " ".join(filter(None, (text.format(host=state.host), state.sentence)))
            self.message.emit("warning", words, "", subject)
        self.changed.emit()
