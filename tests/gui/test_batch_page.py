"""Batches over a folder: a small one by clicks, and many files, faults and closing with a batch whose events
a test gives."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from PySide6.QtCore import QUrl
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from app.models.batch import previews as drawing
from app.models.batch.previews import MOST, Previews, preview
from app.models.batch.table import STATES, BatchTable
from app.models.batch.wanted import Wanted, spec_of
from app.models.experiment.pin import Pin
from app.models.settings import Settings
from app.views.window.main_window import MainWindow
from gpu_ops import BatchEvent, BatchProcess, BatchRun, BatchSpec, save
from gpu_ops.batch import apart, edited
from gpu_ops.batch.run import Pace
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.errors import FINE, STOPPED
from gpu_ops.io.reading import Reading
from gpu_ops.own_kernels import checking, kernel_process
from gpu_ops.run_key import hash_of_edits
from gpu_ops.version import install

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
IMAGE = np.random.default_rng(1).integers(0, 256, (16, 16), np.uint8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    for k in range(3):
        save(tmp_path / "in" / f"{k}.png", np.roll(IMAGE, k))
    (tmp_path / "in" / "broken.png").write_bytes(b"\x89PNG and then nothing")
    return tmp_path


@pytest.fixture
def window(qtbot, folder: Path) -> MainWindow:
    made = make(qtbot, FakeEngine())
    made.files.open_path(str(folder / "in" / "0.png"), {})
    return made


class Told:
    """A batch whose events a test gives."""

    def __init__(self, spec: BatchSpec) -> None:
        self.spec, self.given, self.cancelled, self.closed = spec, list[BatchEvent](), False, False

    def cancel(self) -> None:
        self.cancelled = True

    def close(self) -> None:
        self.closed = True

    def events(self, wait: bool = True) -> Iterator[BatchEvent]:
        while self.given:
            yield self.given.pop(0)


class HereProcess:
    """The test of an edited kernel in this process, where a test shortens it."""

    def __init__(self, work: str) -> None:
        assert work == edited.WORK

    def start(self, request: dict[str, object], name: str) -> None:
        self.outcome = kernel_process.Outcome(edited.work(request))

    def poll(self, seconds: float) -> kernel_process.Outcome:
        return self.outcome

    def close(self) -> None:
        pass


def page_of(window: MainWindow, begin=Told):
    window.actions_by_id["batch"].trigger()
    page = window.parts.pages["batch"].page
    page.batch.begin = begin
    page._waiting.setInterval(0)
    return page


def fill(qtbot, page, folder: Path, output: str = "out", pattern: str = "") -> None:
    page.form.folder.setText(str(folder / "in"))
    page.form.pattern.setText(pattern)
    page.form.output.setText(str(folder / output))
    page.form.variant.setCurrentIndex(page.form.variant.findData("scipy"))
    qtbot.waitUntil(lambda: not page._waiting.isActive() and page._counted is not None)


def done(name: str, status: str = "right", **more) -> BatchEvent:
    row = {"file": name, "status": status, "seconds": 0.5, "output": f"{name}.out", "sentence": "", **more}
    return BatchEvent("done" if status == "right" else "failed", Pace(1, 4, 2.0, 1.5), row)


def ended(code: int, text: str = "") -> BatchEvent:
    return BatchEvent("ended", Pace(1, 4, 0.0, None), text=text, code=code)


def test_no_batch_begins_with_a_simulated_gpu_unasked(window) -> None:
    session = window.controller.session
    session.set_devices(("sim",))
    session.set_picks(("scipy", "naive"))
    page = page_of(window)
    assert page.form.variant.currentData() == "scipy"
    assert page.form.variant.findData("naive") > 0, "it can be chosen"


def test_a_folder_is_run_by_clicks_and_resumed(qtbot, window, folder) -> None:
    window.controller.session.set_params({"window": 5})
    page = page_of(window, lambda spec: Run(spec))
    assert not page.run.isEnabled() and "Choose the folder" in page.reason.text()
    fill(qtbot, page, folder)
    assert page.form.count.text() == "4 files, the first is 0.png" and page.reason.text() == ""
    page.form.frames.toggle()
    assert page.run.isEnabled(), "the files are the same"
    page.form.frames.toggle()
    page.run.click()
    assert page.batch.running and not page.form.isEnabled() and page.stop.isEnabled()
    window.controller.session.set_params({"window": 3})
    qtbot.waitUntil(lambda: not page.batch.running)
    assert page.batch.table.tally == {"right": 3, "failed": 1}
    assert "window 5" in page.state.text() and "window 3" in page.settings.text()
    content = json.loads((folder / "out" / "kernelscope-batch.json").read_text())
    assert {row["params"]["window"] for row in content["files"] if row["status"] == "right"} == {5}
    assert "3 right, 1 failed" in next(r.message.text for r in window.messages.rows if r.message)
    page.open_url = lambda url: False
    page.report.click()
    assert page.where.text().endswith("The system has no program that opens it.")
    (folder / "in" / "broken.png").unlink()
    save(folder / "in" / "broken.png", IMAGE)
    page.resume.click()
    assert not any(r.message for r in window.messages.rows), "the new batch has no end yet"
    assert page.where.isHidden()
    qtbot.waitUntil(lambda: not page.batch.running)
    assert page.batch.table.tally == {"right": 1, "done before": 3} and not page.resume.isEnabled()
    content = json.loads((folder / "out" / "kernelscope-batch.json").read_text())
    assert {row["params"]["window"] for row in content["files"]} == {5}  # its own settings, not the present ones
    opened: list[QUrl] = []
    page.open_url = opened.append
    page.report.click()
    assert page.where.isVisible() and page.where.text() == f"The report is {page.batch.report}."
    page.folder.click()
    assert [Path(url.toLocalFile()).name for url in opened] == ["kernelscope-batch.json", "out"]
    qtbot.waitUntil(lambda: isinstance(page.pictures.result._preview, QImage))
    assert page.pictures.name.text() == "broken.png"


class Run(BatchRun):
    """A batch in a thread, which is begun as one in a process."""

    def __init__(self, spec: BatchSpec) -> None:
        super().__init__(spec)
        self.start()

    def close(self) -> None:
        self._thread.join()


def test_the_folder_of_the_inputs_takes_no_results(qtbot, window, folder) -> None:
    page = page_of(window)
    fill(qtbot, page, folder, output="in")
    assert "has inputs itself" in page.reason.text() and not page.run.isEnabled()
    fill(qtbot, page, folder, pattern="*.nothing")
    assert "No file is called like" in page.reason.text() and not page.run.isEnabled()
    fill(qtbot, page, folder, pattern="*[0-9].png")
    assert page.form.count.text() == "3 files, the first is 0.png" and page.run.isEnabled()


def test_without_dask_one_process_still_works(qtbot, window, folder, monkeypatch) -> None:
    monkeypatch.setattr("app.models.batch.wanted.find_spec", lambda name: None)
    page = page_of(window)
    fill(qtbot, page, folder)
    page.form.place.setCurrentIndex(1)
    qtbot.waitUntil(lambda: page._counted is not None)
    assert install("batch") in page.reason.text() and not page.run.isEnabled()
    page.form.place.setCurrentIndex(0)
    qtbot.waitUntil(lambda: page.run.isEnabled())


def test_workers_and_their_dashboard(qtbot, window, folder) -> None:
    page = page_of(window)
    fill(qtbot, page, folder)
    page.form.place.setCurrentIndex(3)
    assert "address of the scheduler" in page.reason.text()
    page.form.scheduler.setText("tcp://lab:8786")
    qtbot.waitUntil(lambda: page.run.isEnabled())
    page.run.click()
    told = page.batch._run
    assert told.spec.scheduler == "tcp://lab:8786" and told.spec.variant == "scipy" and page.dashboard.isHidden()
    told.given += [
        BatchEvent("message", Pace(0, 4, 0.0, None), text="2 workers.", dashboard="http://lab/status"),
        BatchEvent("started", Pace(0, 4, 0.0, None), {"name": "a", "file": "/x/a.png"}, dashboard="http://lab/status"),
    ]
    qtbot.waitUntil(lambda: not page.dashboard.isHidden())
    assert "2 workers." in page.state.text() and page.batch.table.rows[0].state == "running"
    opened: list[QUrl] = []
    page.open_url = opened.append
    page.dashboard.click()
    assert opened[0].toString() == "http://lab/status"
    part = {"name": "a", "file": "/x/a.png", "done": 3, "count": 9}
    told.given.append(BatchEvent("within", Pace(0, 4, 0.0, None), part))
    qtbot.waitUntil(lambda: page.batch.table.index(0, 3).data() == "3 of 9 parts")
    page.stop.click()
    assert told.cancelled and not page.stop.isEnabled() and "It stops after the files at work" in page.state.text()
    told.given += [done("/x/a.png"), ended(STOPPED)]
    qtbot.waitUntil(lambda: not page.batch.running)
    assert (
        told.closed and "3 not reached" in page.state.text() and page.resume.isEnabled() and page.dashboard.isHidden()
    )


def test_what_ends_a_batch_is_said_and_open_files_are_not_finished(qtbot, window, folder) -> None:
    page = page_of(window)
    fill(qtbot, page, folder)
    page.run.click()
    started = BatchEvent("started", Pace(0, 4, 0.0, None), {"name": "b", "file": "/x/b.png"})
    page.batch._run.given += [
        done("/x/a.png"),
        started,
        ended(2, "/x/out cannot be written (No space left on device)."),
    ]
    qtbot.waitUntil(lambda: not page.batch.running)
    assert "No space left on device). 1 right, 1 not finished, 2 not reached; Resume goes on" in page.state.text()
    assert page.batch.table.tally == {"right": 1, "not finished": 1}
    assert any(
        "No space left" in r.message.text and r.message.kind == "warning" for r in window.messages.rows if r.message
    )


def test_what_ended_last_stays_in_view_above_those_that_run(qtbot, window, folder) -> None:
    page = page_of(window)
    fill(qtbot, page, folder)
    page.where.setText("The report is that of another batch.")
    page.run.click()
    assert page.where.text() == ""
    names, told = [f"/x/{k:03d}.png" for k in range(200)], page.batch._run
    started = [BatchEvent("started", Pace(0, 200, 0.0, None), {"name": n, "file": n}) for n in names]

    def seen() -> range:
        view = page.view
        return range(view.rowAt(0), view.rowAt(view.viewport().height() - 2) + 1)

    told.given += [*started[:150], *map(done, names[:50])]
    qtbot.waitUntil(lambda: page.batch.table.tally["right"] == 50)
    QApplication.processEvents()
    assert 49 in seen() and 51 in seen() and 149 not in seen()
    told.given += [*started[150:], *map(done, names[50:100])]
    qtbot.waitUntil(lambda: page.batch.table.tally["right"] == 100)
    assert 99 in seen() and 49 not in seen()
    page.view.scrollToTop()
    told.given += map(done, names[100:150])
    qtbot.waitUntil(lambda: page.batch.table.tally["right"] == 150)
    assert 0 in seen(), "the user looks at others"


def test_the_last_file_has_its_pictures_though_another_was_drawn_at_the_end(qtbot, window, folder, monkeypatch) -> None:
    """Of files that end fast, only some are drawn; a page that was closed draws what it shows when it is open again."""
    page, draws, real = page_of(window), threading.Event(), drawing.preview
    fill(qtbot, page, folder)
    monkeypatch.setattr(drawing, "preview", lambda *file: draws.wait(5) and real(*file))
    page.run.click()
    inputs = [str(folder / "in" / f"{k}.png") for k in range(3)]
    page.batch._run.given.append(done(inputs[0], output=inputs[0]))
    qtbot.waitUntil(lambda: page.batch.previews.busy)
    page.batch._run.given.append(done(inputs[1], output=inputs[1]))
    qtbot.waitUntil(lambda: page.batch.table.tally["right"] == 2)
    draws.set()
    qtbot.waitUntil(lambda: isinstance(page.pictures.result._preview, QImage))
    assert page.pictures.name.text() == "1.png" and isinstance(page.pictures.input._preview, QImage)
    window.parts.pages["batch"].hide()
    page.batch._run.given += [done(inputs[2], output=inputs[2]), ended(FINE)]
    qtbot.waitUntil(lambda: not page.batch.running)
    window.parts.pages["batch"].show()
    qtbot.waitUntil(lambda: page.pictures.name.text() == "2.png")
    monkeypatch.setattr(drawing, "preview", lambda *file: 1 / 0)
    page.batch.previews.clear()
    page._draw()
    qtbot.waitUntil(lambda: page.pictures.result._preview == "division by zero")


def test_no_state_is_cut_in_larger_letters(window) -> None:
    """The window's letters may grow while the page is there, and the sentence about the batch has the whole width."""
    page = page_of(window)
    font = page.font()
    font.setPointSize(2 * font.pointSize())
    page.setFont(font)
    metrics, header = page.view.fontMetrics(), page.view.horizontalHeader()
    for state in STATES:
        assert metrics.horizontalAdvance(page.batch.table.state_words(state)) < header.sectionSize(1)
    page.batch.spec = spec_of(window.controller.session, Wanted("/in", output="/out"), "scipy")
    page.batch.fault = "/out cannot be written. " * 20
    page.show_batch()
    QApplication.processEvents()
    assert (
        page.state.height() >= page.state.heightForWidth(page.state.width()) and page.state.width() > 0.9 * page.width()
    )


def test_closing_the_window_asks_and_stops_the_batch_first(qtbot, window, folder) -> None:
    page = page_of(window)
    fill(qtbot, page, folder)
    page.run.click()
    told = page.batch._run
    assert not window.close() and window.isVisible()
    (message,) = (r.message for r in window.messages.rows if r.message)
    message.choices["Stop it and close"]()
    assert told.cancelled and window.isVisible()
    told.given.append(ended(STOPPED))
    qtbot.waitUntil(lambda: not window.isVisible())


def test_closing_at_once_ends_its_process(qtbot, window, folder) -> None:
    page = page_of(window)
    fill(qtbot, page, folder)
    page.run.click()
    told = page.batch._run
    window.close()
    next(r.message for r in window.messages.rows if r.message).choices["Close at once"]()
    assert told.closed and not told.cancelled and not window.isVisible()


def test_many_files_are_told_in_few_signals_and_pictures_are_bounded(qtbot, folder) -> None:
    table, told = BatchTable(), list[str]()
    table.rowsInserted.connect(lambda *_: told.append("inserted"))
    table.dataChanged.connect(lambda *_: told.append("changed"))
    for first in range(0, 20_000, 10_000):
        names = [f"/x/{k}.png" for k in range(first, first + 10_000)]
        table.take(BatchEvent("started", Pace(0, 1, 0.0, None), {"name": n, "file": n}) for n in names)
        table.take(done(n, "failed" if n.endswith("7.png") else "right", sentence=f"{n} is bad") for n in names)
    assert told == ["inserted", "changed"] * 2 and table.rowCount() == 20_000
    assert table.tally == {"right": 18_000, "failed": 2_000}
    table.show_only_failed(True)
    assert table.rowCount() == 2_000 and table.index(0, 3).data() == "7.png is bad"
    told.clear()
    table.take([done("/x/new.png"), done("/x/bad.png", "wrong")])
    assert told == ["inserted"] and table.index(2_000, 1).data() == "wrong"
    pictures = Previews()
    path = str(folder / "in" / "0.png")
    pictures._keep({str(k): "" for k in range(5 * MOST)})
    pictures.ask([(path, Reading())])
    qtbot.waitUntil(lambda: pictures.get(path) is not None)
    assert isinstance(pictures.get(path), QImage) and len(pictures._kept) == MOST


def test_previews_of_what_cannot_be_drawn_are_sentences(folder, monkeypatch) -> None:
    assert "no such file" in str(preview(str(folder / "gone.png"), Reading())).lower()
    assert isinstance(preview(str(folder / "in" / "broken.png"), Reading()), str)
    save(folder / "s.npy", np.linspace(0, 1, 500, dtype=np.float32))
    np.save(folder / "c.npy", np.ones((8, 8), np.complex64) * 1j)
    for name, reading in (("s.npy", Reading()), ("in/0.png", Reading())):
        assert isinstance(preview(str(folder / name), reading), QImage)
    monkeypatch.setattr(drawing, "LARGEST", 10)
    assert preview(str(folder / "in" / "0.png"), Reading()) == "too large for a preview"


def test_the_present_settings_become_the_batch(window, folder) -> None:
    session = window.controller.session
    session.set_steps([{"step": "crop", "start": [0, 0], "shape": [8, 8]}])
    wanted = Wanted(str(folder / "i[n"), "*.tif", str(folder / "out"), "tif", "workers", 3, frames=True)
    spec = spec_of(session, wanted, "scipy")
    assert spec.inputs == [str(folder / "i[[]n" / "*.tif")] and spec.devices == ["cpu"] and spec.workers == 3
    assert spec.reading.steps == ("crop start=0,0 shape=8,8",) and spec.frames and spec.format == "tif"
    assert spec.values == session.params and spec_of(session, wanted, "").devices == []


@pytest.mark.thorough
def test_an_edited_kernel_and_a_pinned_result_run_on_a_folder(qtbot, window, folder, monkeypatch) -> None:
    """Both are offered. The kernel's text goes along, and the contract is tested with it before any file."""
    cases = checking.covering_cases
    monkeypatch.setattr(checking, "covering_cases", lambda *args, **how: cases(*args, **how)[:2])
    monkeypatch.setattr(checking, "long_cases", lambda *args, **how: [])
    monkeypatch.setattr(kernel_process, "KernelProcess", HereProcess)
    session, file = window.controller.session, "mean2d/1_naive.cu"
    session.set_devices(("sim",))
    session.set_picks(("naive", "scipy"))
    session.set_params({"window": 5})
    pinned = session.pin("scipy")
    session.set_params({"window": 3})
    text = read_source(file)
    pin = session.show_pin(Pin.edited("naive", {file: f"// mine\n{text}"}))
    page = page_of(window, lambda spec: Run(spec))
    fill(qtbot, page, folder, pattern="0.png")
    titles = [page.form.variant.itemText(k) for k in range(page.form.variant.count())]
    assert "1 naive, edited" in titles and len(set(titles)) == len(titles) == 5
    assert spec_of(session, page.form.wanted, pinned).values["window"] == 5
    page.form.variant.setCurrentIndex(page.form.variant.findData(pin))
    assert "1 naive, edited on sim" in page.settings.text()
    qtbot.waitUntil(lambda: page.run.isEnabled())
    page.run.click()
    qtbot.waitUntil(lambda: not page.batch.running)
    assert page.batch.table.tally == {"right": 1}, page.batch.fault
    (row,) = json.loads((folder / "out" / "kernelscope-batch.json").read_text())["files"]
    assert row["edits"] == hash_of_edits({file: f"// mine\n{text}"})
    session.show_pin(Pin.edited("naive", {file: text.replace("finish(", "2 * finish(")}))
    page.form.output.setText(str(folder / "other"))
    qtbot.waitUntil(lambda: not page._waiting.isActive() and page.run.isEnabled())
    page.run.click()
    qtbot.waitUntil(lambda: not page.batch.running)
    assert not page.batch.table.rows and "The edited kernel of 1 naive is not right" in page.state.text()
    assert "error" in page.state.text() and "Mend it, and run" in page.state.text()


@pytest.mark.parametrize("text", ["", "[]", '{"workers": "many", "place": "moon", "x": 1}', "{"])
def test_fields_are_remembered_and_foreign_ones_are_left_out(text: str, tmp_path) -> None:
    settings = Settings(tmp_path / "window.ini")
    settings.set_batch(Wanted("/a", "*.tif", "/b", place="gpus").text)
    assert Wanted.from_text(Settings(tmp_path / "window.ini").batch) == Wanted("/a", "*.tif", "/b", place="gpus")
    assert Wanted.from_text(text) == Wanted()


def test_a_spec_reaches_another_process_unchanged(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    reading = Reading("image", "zero", steps=("crop start=0,0 shape=8,8",), values={"frame": 2, "columns": (1, 2)})
    spec = BatchSpec(["in/*.tif"], "out", "mean", {"scales": (1.0, 2.0)}, reading=reading, report="r.json", workers=2)
    sent = apart._spec(json.loads(json.dumps(apart._as_json(spec))))
    names = {"inputs": [str(tmp_path / "in/*.tif")], "output_dir": str(tmp_path / "out")}
    assert replace(sent, devices=()) == replace(spec, **names, report=str(tmp_path / "r.json"))


@pytest.mark.thorough
def test_a_batch_in_a_process_of_its_own_is_cancelled_and_may_die(folder) -> None:
    spec = BatchSpec(
        [str(folder / "in")], str(folder / "out"), "mean2d", {"window": 3}, variant="scipy", devices=["cpu"]
    )
    run = BatchProcess(spec)
    try:
        events = list(run.events())
    finally:
        run.close()
    assert [e.what for e in events].count("done") == 3 and events[-1].what == "ended" and events[-1].code == 2
    killed = BatchProcess(spec)
    killed._process._process.kill()
    (end,) = killed.events()
    killed.close()
    assert end.what == "ended" and "by signal 9" in end.text and end.code not in (FINE, STOPPED)
