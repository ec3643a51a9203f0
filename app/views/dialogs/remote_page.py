"""The page of other machines: adding one, what their connections do, and the questions of ssh."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCompleter,
    QDialog,
    QFormLayout,
    QFrame,
    QGroupBox,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.base.nesting import bounded
from app.base.tips import set_tip
from app.base.translate import QT_TRANSLATE_NOOP
from app.controllers.remotes import Machine, RemoteMachines
from app.views.boxes import in_column, in_row
from app.views.labels import buddy, named, sentence_label
from gpu_ops.remote.destination import COMMAND

STATES = {
    "connecting": QT_TRANSLATE_NOOP("RemotePage", "{host}: connecting…"),
    "asked": QT_TRANSLATE_NOOP("RemotePage", "{host}: ssh asks"),
    "again": QT_TRANSLATE_NOOP("RemotePage", "{host}: that was not accepted; ssh asks again"),
    "ready": QT_TRANSLATE_NOOP("RemotePage", "{host}: connected"),
    "lost": QT_TRANSLATE_NOOP("RemotePage", "{host}: the connection is lost; connecting again…"),
    "failed": QT_TRANSLATE_NOOP("RemotePage", "{host}: not connected"),
}
"""What a connection does, in words."""
COLUMNS = 64
"""The width of sentences, in letters."""


class RemotePage(QWidget):
    """A form for a machine, and a row for each that was added. `open_asked`: the location of a file on one of them."""

    open_asked = Signal(str)

    def __init__(self, remotes: RemoteMachines, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("remotePage")
        self.setWindowTitle(self.tr("Other machines"))
        self._remotes = remotes
        self.rows: dict[str, MachineRow] = {}
        tip = self.tr("As ssh takes it: user@host, or a Host of ~/.ssh/config")
        self.host = named(QLineEdit(self), "remoteHost", tip=tip)
        self.host.setPlaceholderText(self.tr("user@host"))
        tip = self.tr("Only where Kernelscope is in a folder of its own")
        self.command = named(QLineEdit(self), "remoteCommand", tip=tip)
        self.command.setPlaceholderText(COMMAND)
        self.connect_button = named(QPushButton(self.tr("&Connect"), self), "remoteConnect")
        self.connect_button.setDefault(True)
        self.reason = sentence_label("remoteReason", self)
        self.about = sentence_label("remoteAbout", self)
        self.about.setText(
            self.tr(
                "Its GPUs then appear under GPU in the Experiment panel. An input is sent once. What a pane shows of "
                "a result comes first; all of its values follow while nothing else runs. Kernelscope of the same "
                "version must be installed there."
            )
        )
        self._list = QVBoxLayout()
        self._arrange()
        self.connect_button.clicked.connect(self._connect)
        for edit in (self.host, self.command):
            edit.returnPressed.connect(self._connect)
        self.host.textChanged.connect(self._typed)
        remotes.changed.connect(self.show_machines)
        self._typed()
        self.show_machines()

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """What is typed answers the question for which the page was opened."""
        super().showEvent(event)
        if isinstance(dialog := self.window(), QDialog):
            dialog.finished.connect(self._refuse, Qt.ConnectionType.UniqueConnection)
        for row in self.rows.values():
            row.focus_question()

    @Slot()
    def _refuse(self) -> None:
        """The page is closed: nobody would see what ssh asks."""
        for label in list(self.rows):
            self._remotes.answer(label, None)

    def _arrange(self) -> None:
        box, unit = QGroupBox(self.tr("Add a machine"), self), self.fontMetrics().averageCharWidth()
        form = QFormLayout()
        form.addRow(buddy(self.tr("&Host:"), self.host), self.host)
        form.addRow(buddy(self.tr("Co&mmand there:"), self.command), self.command)
        in_column(self.about, form, self.reason, in_row(1, self.connect_button), on=box, margins=None)
        in_column(box, self._list, 1, on=self, margins=unit, gap=unit)
        self.about.setMinimumWidth(unit * COLUMNS)

    def _typed(self) -> None:
        self.connect_button.setEnabled(bool(self.host.text().strip()))
        self.reason.setText("")
        self.reason.hide()
        for host, command in self._remotes.remembered:
            if host == self.host.text().strip() and not self.command.text():
                self.command.setText("" if command == COMMAND else command)

    @Slot()
    def _connect(self) -> None:
        if not self.host.text().strip():
            return
        fault = self._remotes.add(self.host.text(), self.command.text())
        self.reason.setText(fault)
        self.reason.setVisible(bool(fault))
        if not fault:
            self.host.clear()
            self.command.clear()

    @Slot()
    def show_machines(self) -> None:
        """Show the present machines, and offer the hosts that were used before."""
        completer = QCompleter([host for host, _ in self._remotes.remembered], self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self.host.setCompleter(completer)
        for label in [label for label in self.rows if label not in self._remotes.machines]:
            self.rows.pop(label).deleteLater()
        for label, machine in self._remotes.machines.items():
            if label not in self.rows:
                self.rows[label] = MachineRow(self._remotes, label, self)
                self.rows[label].open_asked.connect(self.open_asked)
                self._list.addWidget(self.rows[label])
            self.rows[label].show_machine(machine)


class MachineRow(QFrame):
    """One machine: its name, its state, the question of ssh where there is one, and a file to open there."""

    open_asked = Signal(str)

    def __init__(self, remotes: RemoteMachines, label: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(f"machine.{label}")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._remotes, self._label = remotes, label
        self.state = sentence_label("machineState", self)
        self.state.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.leave = named(QPushButton(self.tr("Disconnect"), self), "machineLeave")
        self.leave.clicked.connect(partial(remotes.leave, label))
        self.again = named(QPushButton(self.tr("Try again"), self), "machineAgain")
        self.again.clicked.connect(self._again)
        self.question = sentence_label("machineQuestion", self, selectable=True)
        self.secret = named(QLineEdit(self), "machineSecret", title=self.tr("The answer to ssh"))
        self.secret.setEchoMode(QLineEdit.EchoMode.Password)
        self.accept = named(QPushButton(self), "machineAccept")
        self.refuse = named(QPushButton(self.tr("Cancel"), self), "machineRefuse")
        self.accept.clicked.connect(self._answer)
        self.secret.returnPressed.connect(self._answer)
        self.refuse.clicked.connect(lambda: remotes.answer(label, None))
        self._asks = QWidget(self)
        in_column(self.question, in_row((self.secret, 1), self.accept, self.refuse), on=self._asks)
        self.file = named(QLineEdit(self), "machineFile", title=self.tr("File there"))
        self.file.setPlaceholderText("data/large.tif")
        set_tip(self.file, self.tr("A path there, from the home folder or from /: only what is looked at travels"))
        self.open = named(QPushButton(self.tr("&Open"), self), "machineOpen")
        self.open.clicked.connect(self._open)
        self.file.returnPressed.connect(self._open)
        self._files = QWidget(self)
        in_row(buddy(self.tr("&File there:"), self.file), (self.file, 1), self.open, on=self._files)
        in_column(in_row((self.state, 1), self.again, self.leave), self._files, self._asks, on=self, margins=None)
        for button in (self.leave, self.again, self.accept, self.refuse, self.open):
            button.setAutoDefault(False)

    def show_machine(self, machine: Machine) -> None:
        """Show what its connection does."""
        asked = machine.question
        words = _tr(STATES[machine.stage if asked is None else "again" if asked.again else "asked"])
        self.state.setText(machine.sentence or words.format(host=machine.to.host))
        failed = machine.stage == "failed"
        self._files.setVisible(machine.stage == "ready" and asked is None)
        self.again.setVisible(failed)
        self.leave.setText(self.tr("Remove") if failed else self.tr("Disconnect"))
        self._asks.setVisible(asked is not None)
        if asked is not None and asked.text.strip() != self.question.text():
            self.question.setText(asked.text.strip())
            self.secret.clear()
            self.secret.setVisible(not asked.confirmation)
            self.accept.setText(self.tr("Yes, connect") if asked.confirmation else self.tr("Send"))
            self.focus_question()
        elif asked is None:
            self.question.setText("")
            self.secret.clear()

    def focus_question(self) -> None:
        """Keys go to the answer, if there is a question."""
        machine = self._remotes.machines.get(self._label)
        if machine is not None and machine.question is not None:
            (self.refuse if machine.question.confirmation else self.secret).setFocus()

    @Slot()
    def _open(self) -> None:
        if path := self.file.text().strip():
            self.open_asked.emit(f"{self._remotes.machines[self._label].to.label}:{path}")

    def _again(self) -> None:
        machine = self._remotes.machines[self._label]
        self._remotes.add(machine.to.host, machine.to.command)

    @Slot()
    def _answer(self) -> None:
        machine = self._remotes.machines.get(self._label)
        if machine is not None and machine.question is not None:
            self._remotes.answer(self._label, "yes" if machine.question.confirmation else self.secret.text())
            self.secret.clear()


def _tr(text: str) -> str:
    return QCoreApplication.translate("RemotePage", text)
