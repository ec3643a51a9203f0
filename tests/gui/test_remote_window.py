"""Machines that ssh reaches, in the window: added, asked about, used, lost and left, over a fake ssh."""

from __future__ import annotations

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from live import PATIENCE, live_window, real_engine, settle
from PySide6.QtCore import QObject, Signal
from remote_machines import THERE, own_folders

from app.controllers.remotes import RemoteMachines
from app.models.experiment.slot import RowSlot
from app.models.results.origin import Origin
from app.models.settings import Settings
from app.views.parts import mark_texts
from app.views.window.panels import SWEEP
from gpu_ops import device_statuses, from_array
from gpu_ops.engine.messages import Finished, RunRequest
from gpu_ops.engine.shared import SharedArray
from gpu_ops.remote.asking import Question
from gpu_ops.remote.news import LinkState

__all__ = ["own_folders"]
REASON = next(s.reason for s in device_statuses() if s.kind == "sim")
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
NEEDS_SIM = pytest.mark.skipif(bool(REASON), reason=REASON or "the simulated GPU is there")


class FakeClient:
    def __init__(self) -> None:
        self.added: list = []
        self.removed: list[str] = []

    def add(self, to) -> None:
        self.added.append(to)

    def remove(self, label: str) -> None:
        self.removed.append(label)


@pytest.fixture
def window(qtbot):
    engine = FakeEngine()
    engine.client = FakeClient()
    return make(qtbot, engine)


def _page(window):
    window.actions_by_id["add_remote"].trigger()
    return window.parts.pages["remote"].page


def test_a_machine_is_added_and_its_state_is_shown(qtbot, window) -> None:
    page, remotes = _page(window), window.context.remotes
    assert not page.connect_button.isEnabled()
    page.host.setText("me@gpu-host")
    page.connect_button.click()
    (to,) = window.context.remotes._engine.client.added
    assert to.host == "me@gpu-host" and page.host.text() == ""
    row = page.rows["gpu-host"]
    assert row.state.text() == "me@gpu-host: connecting…" and row.again.isHidden()
    for stage, words in (("ready", "connected"), ("lost", "the connection is lost; connecting again…")):
        remotes._engine.link_changed.emit(LinkState("gpu-host", stage))
        assert row.state.text() == f"me@gpu-host: {words}"
    assert any("is being made again" in r.message.text for r in window.messages.rows if r.message)
    remotes._engine.link_changed.emit(LinkState("gpu-host", "failed", "gpu-host is off; switch it on."))
    assert row.state.text() == "gpu-host is off; switch it on." and not row.again.isHidden()
    assert [r.message.text for r in window.messages.rows if r.message] == ["gpu-host is off; switch it on."]
    row.leave.click()
    assert "gpu-host" not in page.rows and window.context.remotes._engine.client.removed == ["gpu-host"]
    assert not window.actions_by_id["leave_remotes"].isEnabled()


def test_a_file_of_a_connected_machine_is_opened(window, monkeypatch) -> None:
    page, remotes, opened = _page(window), window.context.remotes, []
    monkeypatch.setattr(window.files, "_importing", type("", (), {"open": lambda self, *what: opened.append(what)})())
    remotes.add("me@gpu-host")
    row = page.rows["gpu-host"]
    assert row._files.isHidden()
    remotes._engine.link_changed.emit(LinkState("gpu-host", "ready"))
    assert not row._files.isHidden()
    row.open.click()
    assert not opened, "no file is named"
    row.file.setText(" data/a.npy ")
    row.open.click()
    assert opened == [("gpu-host:data/a.npy", None)]
    remotes._engine.link_changed.emit(LinkState("gpu-host", "lost"))
    assert row._files.isHidden()


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "a b"])
def test_a_host_that_is_none_says_why(window, host: str) -> None:
    page = _page(window)
    page.host.setText(host)
    page.connect_button.click()
    assert "no machine for ssh" in page.reason.text() and not page.rows
    page.host.setText("gpu")
    assert not page.reason.isVisible()


def test_a_host_key_and_a_password_are_asked_for(window) -> None:
    page, answers = _page(window), []
    page.host.setText("gpu-host")
    page.connect_button.click()
    row, engine = page.rows["gpu-host"], window.context.remotes._engine
    engine.question.emit(Question("gpu-host", "Is it right (yes/no)? ", True, answers.append))
    assert row.question.text() == "Is it right (yes/no)?" and row.secret.isHidden()
    assert row.state.text() == "gpu-host: ssh asks"
    row.accept.click()
    engine.question.emit(Question("gpu-host", "me@gpu-host's password: ", False, answers.append))
    assert not row.secret.isHidden() and row.secret.echoMode() == row.secret.EchoMode.Password
    row.secret.setText("sesame")
    row.accept.click()
    assert answers == ["yes", "sesame"] and row.secret.text() == "" and row.question.text() == ""
    engine.question.emit(Question("gpu-host", "password: ", False, answers.append, again=True))
    assert row.state.text() == "gpu-host: that was not accepted; ssh asks again"
    row.refuse.click()
    assert answers[2:] == [None]
    engine.question.emit(Question("gpu-host", "password: ", False, answers.append))
    engine.link_changed.emit(LinkState("gpu-host", "failed", "x"))  # ssh has ended
    assert answers[3:] == [None] and row._asks.isHidden()
    engine.question.emit(Question("elsewhere", "password: ", False, answers.append))
    assert answers[4:] == [None]


def test_keys_answer_the_question_for_which_the_page_opens(window) -> None:
    """A password must not be typed into the name of a host, which can be read."""
    remotes = window.context.remotes
    remotes.add("gpu-host")
    remotes._engine.question.emit(Question("gpu-host", "password: ", False, lambda text: None))
    page = window.parts.pages["remote"].page
    assert page.isVisible() and page.window().focusWidget() is page.rows["gpu-host"].secret


def test_a_question_that_nobody_sees_is_refused(window) -> None:
    """Else every job there would wait for an answer, and nothing would say so."""
    remotes, answers = window.context.remotes, []
    remotes.add("gpu-host")
    remotes._engine.question.emit(Question("gpu-host", "password: ", False, answers.append))
    page = window.parts.pages["remote"].page
    assert page.isVisible() and not answers
    page.window().close()
    assert answers == [None]


def test_hosts_are_remembered(tmp_path) -> None:
    class Signals(QObject):
        link_changed, question = Signal(object), Signal(object)

    engine = Signals()
    engine.client = FakeClient()
    path = tmp_path / "window.ini"
    remotes = RemoteMachines(engine, Settings(path))
    remotes.add("a@one")
    remotes.add("two", "~/lab/bin/kernelscope --x")
    remotes.add("a@one")
    again = RemoteMachines(engine, Settings(path))
    assert again.remembered == (("a@one", "kernelscope"), ("two", "~/lab/bin/kernelscope --x"))
    again.forget("two")
    assert Settings(path).hosts == (("a@one", "kernelscope"),)


def test_a_part_that_is_looked_at_is_asked_for(qtbot, window) -> None:
    """The runs say what is in view and on how many pixels, and a picture that is moved asks anew."""
    engine, display = window.context.remotes._engine, window.context.display
    engine.show(from_array(np.zeros((900, 1200), np.uint8)))
    runs = [r for r in engine.asked if isinstance(r, RunRequest)]
    canvas = window.panes.pane("input").canvas
    assert runs[-1].view == () and display.pixels == canvas.width() * canvas.height() > 0
    engine.looked.clear()
    display.one_to_one()
    qtbot.waitUntil(lambda: bool(engine.looked))
    ((segment, view, pixels),) = engine.looked
    assert segment == window.controller.session.input.array.segment and pixels == display.pixels
    assert view == display.in_view != ()
    window.controller.session.set_params({"window": 5, "border": "reflect"})
    for job in list(window.controller.queue.jobs):
        engine.answered.emit(Finished(job))
    newest = [r for r in engine.asked if isinstance(r, RunRequest)][-1]
    assert newest.params["window"] == 5 and (newest.view, newest.pixels) == (view, pixels)
    other = SharedArray("other", (30, 40), "uint8")  # such as a histogram: no part of it is in view
    window.controller._outputs.look(other)
    assert engine.looked[-1] == ("other", (), pixels)


def _sweep(panel) -> None:
    """Sweep a counter over the size of noise."""
    panel.figure.setCurrentIndex(panel.figure.findText("bytes requested from L2"))
    panel.figure.activated.emit(panel.figure.currentIndex())
    panel.varies.setCurrentIndex(1)
    panel.varies.activated.emit(1)
    panel.values.setText("16, 32")
    panel.start()


@NEEDS_SIM
def test_kernels_run_there_and_all_else_goes_on(qtbot, own_folders, tmp_path) -> None:
    values = np.random.default_rng(3).integers(0, 200, (500, 600)).astype(np.uint8)
    np.save(tmp_path / "noise.npy", values)
    with real_engine() as engine, live_window(qtbot, engine, "sim", ("scipy", "constant")) as window:
        controller, remotes = window.controller, window.context.remotes
        settle(qtbot, controller, lambda: window.files.open_path(str(tmp_path / "noise.npy"), {}))
        assert remotes.add("me@gpu-host", THERE) == ""
        qtbot.waitUntil(lambda: "gpu-host/sim" in controller.session.devices, timeout=PATIENCE)
        assert controller.session.device == "sim"  # until a person chooses
        settle(qtbot, controller, lambda: controller.session.set_device("gpu-host/sim"))
        entry = controller.results.entry(RowSlot("constant", "gpu-host/sim"))
        assert entry.ok and entry.row.device == "gpu-host/sim"
        arrays = [window.panes.pane(v).layer.pyramid.array for v in ("scipy", "constant")]
        qtbot.waitUntil(lambda: np.array_equal(*arrays))  # its values have come
        window.docks.turn_to(SWEEP)
        settle(qtbot, controller, lambda: _sweep(window.sweep))
        (line,) = window.sweep.controller.made.lines()
        assert line.device == "gpu-host/sim" and [point.value for point in line.points] == [16, 32]
        assert controller.results.provenance["hosts"]["gpu-host"]["remote"] == "gpu-host"
        settle(qtbot, controller, lambda: window.files.open_path(f"gpu-host:{tmp_path / 'noise.npy'}", {}))
        assert controller.session.input.origin["path"] == f"gpu-host:{tmp_path / 'noise.npy'}"
        qtbot.waitUntil(lambda: np.array_equal(window.panes.pane("input").layer.pyramid.array, values))
        engine.client._remotes["gpu-host"]._line.drop()
        settle(qtbot, controller, lambda: controller.session.set_params({"window": 5, "border": "reflect"}))
        assert controller.results.entry(RowSlot("constant", "gpu-host/sim")).ok
        settle(qtbot, controller, lambda: remotes.leave("gpu-host"))
        assert controller.session.device == "sim" and controller.results.entry(RowSlot("constant", "sim")).ok


@NEEDS_SIM
def test_a_file_of_a_machine_that_is_not_there_says_so(qtbot, own_folders) -> None:
    with real_engine() as engine, live_window(qtbot, engine, "sim", ("scipy",)) as window:
        window.files.open_path("gpu-host:data/a.npy", {})
        qtbot.waitUntil(
            lambda: any("gpu-host is not connected" in r.message.text for r in window.messages.rows if r.message)
        )


def test_a_result_whose_values_are_to_come_is_marked(qapp) -> None:
    assert mark_texts(Origin(step=11), None) == ("1:11", "1:11 · values to come")
    assert mark_texts(Origin(), None) == ("", "")
