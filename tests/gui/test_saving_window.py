"""Results saved from the window: what becomes of values that a format cannot hold, and the facts in every file."""

from __future__ import annotations

import csv
import errno
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from live import PATIENCE, live_window, real_engine, settle
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from simulated_rows import shared_result
from xray_answers import show, window_with

from app.controllers.engine_log import describe
from app.models.files.small_print import small_print
from app.models.results.results import Results
from app.models.results.row_cells import QUALITY
from app.views.window.panels import LADDER
from gpu_ops import FILTERS, from_array, load, save
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.messages import Finished, ResultSaved, RunUpdate, SaveRequest
from gpu_ops.report.about import SEVERAL
from gpu_ops.report.files import read_report
from gpu_ops.report.rows import Row
from gpu_ops.types import Closeness, Facts, Pixel, Quality

GPU = (DeviceStatus("cuda:0", "A GPU", True, architecture="sm_75"),)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine):
    window = make(qtbot, engine)
    engine.show(replace(from_array(np.zeros((6, 7), np.float32)), name="floats", origin=ORIGIN))
    yield window
    engine.end()
    window.controller.cancel()


ORIGIN = {"path": "/a/b/floats.tif", "hash": "ab" * 32, "steps": [{"step": "noise", "sigma": 2.0, "seed": 1}]}


def row_of(window, variant: str = "serial", **changes: Any) -> Row:
    key = window.controller.session.shown.key(variant)
    row = Row(key.filter, variant, key.device, key.params, key.knobs, (6, 7), "float32", "stream", input=ORIGIN)
    return replace(row, ok=True, error_max=1e-9, tolerance=1e-6, **changes)


def bring(engine: FakeEngine, window, array: np.ndarray, variant: str = "serial", kind: str = "image") -> None:
    """A result of a variant comes."""
    name = f"made{len(engine.arrays)}"
    engine.arrays[name] = array
    outputs = {window.controller.session.output.id: shared_result(kind, name, array, None)}
    update = RunUpdate(1, window.controller.queue.generation, "verified", row_of(window, variant), outputs)
    engine.answered.emit(replace(update, provenance={"cpu": "A processor", "devices": {}}))


def save_to(window, path: Path) -> None:
    window.files.target = lambda *_: str(path)
    act(window, "save")


def requests(engine: FakeEngine) -> list[SaveRequest]:
    return [r for r in engine.asked if isinstance(r, SaveRequest)]


def press(qtbot, window, text: str) -> None:
    buttons = {b.text(): b for b in window.messages.rows[0].choice_buttons if b.isVisible()}
    qtbot.mouseClick(buttons[text], Qt.MouseButton.LeftButton)


FLOATS = np.linspace(-1, 3, 42, dtype=np.float32).reshape(6, 7)


def test_a_picture_of_floats_asks_what_becomes_of_its_values(qtbot, window, engine, tmp_path: Path) -> None:
    bring(engine, window, FLOATS)
    save_to(window, tmp_path / "out.png")
    assert requests(engine) == []
    message = window.messages.current()
    assert (
        "The format of out.png holds whole numbers from 0 on" in message.text and "It is not saved yet" in message.text
    )
    assert list(message.choices) == ["Scale to the full range", "Clip", "As shown"]
    press(qtbot, window, "Scale to the full range")
    (request,) = requests(engine)
    assert (request.saving.map, request.saving.levels, request.path) == ("scale", None, str(tmp_path / "out.png"))
    assert request.saving.about["variant"] == "serial" and request.saving.about["input"] == "floats.tif"
    assert request.saving.about["sha256"] == "ab" * 32 and request.saving.about["machine"] == "A processor"
    (tmp_path / "out.png").write_bytes(b"12345")
    engine.answered.emit(ResultSaved(request.job, request.path, "-1…3 became 0…65535"))
    engine.answered.emit(Finished(request.job))
    assert [m.text for m in window.messages.messages()] == [
        f"Saved out.png (5 bytes) in {tmp_path}. Its values: -1…3 became 0…65535."
    ]


def test_as_shown_takes_the_levels_of_the_window(qtbot, window, engine, tmp_path: Path) -> None:
    bring(engine, window, FLOATS)
    window.display.set_levels(0.25, 2.5)
    save_to(window, tmp_path / "out.png")
    press(qtbot, window, "As shown")
    assert requests(engine)[0].saving.levels == (0.25, 2.5) and requests(engine)[0].saving.map == "levels"


def test_a_format_that_holds_the_values_asks_nothing(window, engine, tmp_path: Path) -> None:
    bring(engine, window, FLOATS)
    save_to(window, tmp_path / "out.npy")
    assert requests(engine)[0].saving.map == "none" and requests(engine)[0].saving.about["filter"] == "mean2d"
    bring(engine, window, np.zeros((6, 7), np.uint8))
    save_to(window, tmp_path / "out.png")
    assert len(requests(engine)) == 2 and not window.messages.messages()


def test_a_result_has_the_pixel_of_the_input_that_it_is_of(window, engine, tmp_path: Path) -> None:
    pixel, session = Pixel(0.5, 0.25, "mm"), window.controller.session
    session.set_input(replace(session.original, facts=Facts(pixel=pixel)))
    bring(engine, window, FLOATS)
    save_to(window, tmp_path / "out.tif")
    session.set_stepped(replace(session.original, facts=Facts(pixel=Pixel(1.0, 0.5, "mm"))), ())
    save_to(window, tmp_path / "out.tif")
    assert [r.saving.pixel for r in requests(engine)] == [pixel, None], "the second is of the input before its steps"


def test_a_result_that_changed_since_the_question_is_not_saved_as_the_old_one(qtbot, window, engine, tmp_path) -> None:
    bring(engine, window, FLOATS)
    save_to(window, tmp_path / "out.png")
    bring(engine, window, FLOATS + 1)
    press(qtbot, window, "Clip")
    assert requests(engine) == [] and "the result has changed since" in window.messages.current().text


def test_signals_have_no_levels(qtbot, window, engine, tmp_path: Path) -> None:
    engine.show(from_array(np.zeros(9, np.uint8)))
    bring(engine, window, np.arange(9, dtype=np.uint8), kind="signal")
    save_to(window, tmp_path / "out.wav")
    assert list(window.messages.current().choices) == ["Scale to the full range"]
    assert "sound from −1 to 1" in window.messages.current().text


# Facts in tables and pictures


def test_tables_begin_with_the_facts_and_have_the_quality(window, engine, tmp_path: Path) -> None:
    bring(engine, window, FLOATS)
    bring(engine, window, FLOATS, "parallel")
    quality = {"image": Quality(Closeness(10.0, 20.5, 0.5), Closeness(12.0, float("inf"), None))}
    engine.answered.emit(RunUpdate(1, window.controller.queue.generation, "verified", row_of(window, quality=quality)))
    window.files.target = lambda *_: str(tmp_path / "t.csv")
    act(window, "export_csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[:6] == [
        "# input: floats.tif",
        f"# sha256: {'ab' * 32}",
        "# steps: noise sigma 2 seed 1",
        "# filter: mean2d",
        "# parameter border: reflect",
        "# parameter window: 3",
    ]
    assert f"# variant: {SEVERAL}" in lines and "# machine: A processor" in lines
    rows = {r["variant"]: r for r in csv.DictReader(line for line in lines if not line.startswith("#"))}
    found = [rows["serial"][name] for name in QUALITY]
    assert found == ["image", "10.0", "12.0", "20.5", "infinite", "0.5", ""] and rows["parallel"]["quality_of"] == ""
    window.files.target = lambda *_: str(tmp_path / "t.json")
    act(window, "export_json")
    about = json.loads((tmp_path / "t.json").read_text())["about"]
    assert about["parameters"] == {"window": 3, "border": "reflect"} and about["sha256"] == "ab" * 32
    assert len(read_report(tmp_path / "t.json").rows) == 2


def test_columns_of_quality_come_only_with_a_quality() -> None:
    results = Results()
    results.load([Row("mean2d", "serial", "cpu", {}, {}, (6, 7), "uint8", "stream", input=ORIGIN)], "elsewhere")
    assert "snr" not in results.to_csv() and results.facts()["machine"] == "elsewhere"
    assert next(csv.DictReader(io.StringIO(results.to_csv())))["input"] == "floats.tif"


def test_pictures_have_the_facts_in_small_print_and_inside(window, engine, tmp_path: Path) -> None:
    bring(engine, window, FLOATS)
    for id, widget in (("export_view", window.stack.view.sheet), ("export_png", window.docks[LADDER].canvas)):
        window.files.target = lambda *_, id=id: str(tmp_path / f"{id}.png")
        act(window, id)
        picture = QImage(str(tmp_path / f"{id}.png"))
        assert picture.width() == 2 * widget.width() and "parameter window: 3" in picture.text("Description")
        window.files.target = lambda *_, id=id: str(tmp_path / f"{id}.svg")
        act(window, id)
        drawing = (tmp_path / f"{id}.svg").read_text()
        assert "floats.tif" in drawing and "A processor" in drawing and "window 3" in drawing
    plain, sheet = QImage(str(tmp_path / "export_view.png")), window.stack.view.sheet
    assert plain.height() > 2 * sheet.height()


def test_the_small_print_is_three_lines() -> None:
    facts = {"input": "a.png", "sha256": "0123456789abcdef", "steps": ["crop 3 x 4"], "filter": "mean2d"}
    facts |= {"parameters": {"window": 5, "matrix": (1.5, 2)}, "variant": SEVERAL, "machine": "A GPU"}
    facts |= {"versions": {"kernelscope": "1", "commit": "abcdef0123456789"}, "time": "now"}
    assert small_print(facts) == [
        "a.png · crop 3 x 4 · SHA-256 0123456789ab…",
        "mean2d · window 5, matrix 1.5, 2",
        "A GPU · Kernelscope 1 abcdef012345 · now",
    ]
    assert small_print({}) == [] and small_print({"steps": SEVERAL, "input": "b"}) == ["b"]


def test_the_claims_are_saved_as_their_ending_says(qtbot, window, tmp_path: Path) -> None:
    page = window.parts.pages["claims"].page
    for name in ("claims.csv", "claims.json"):
        window.files.target = lambda *_, name=name: str(tmp_path / name)
        qtbot.mouseClick(page.save_button, Qt.MouseButton.LeftButton)
        assert f"Saved {name}" in window.messages.current().text
    events = json.loads((tmp_path / "claims.json").read_text())
    text = (tmp_path / "claims.csv").read_text()
    assert len(events["claims"]) == len(FILTERS.claims) and "machine" in events["about"]
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("# ")))
    assert [row["id"] for row in rows] == [claim.id for claim in FILTERS.claims]
    decided = [row for row in rows if row["basis"] == "measured" and row["holds"] != "undecided"]
    assert decided and all(row["machine"] and row["machine"] in row["where"] for row in decided)


def test_an_xray_is_saved_with_its_facts(qtbot, engine, tmp_path: Path) -> None:
    window = window_with(qtbot, engine, GPU)
    act(window, "export_xray_json")
    assert "There is no X-ray to save yet" in window.messages.current().text
    show(qtbot, window, engine)
    for id, name in (("export_xray_json", "x.json"), ("export_xray_picture", "x.png")):
        window.files.target = lambda *_, name=name: str(tmp_path / name)
        act(window, id)
    content = json.loads((tmp_path / "x.json").read_text())
    assert content["about"]["input"] == "array" and content["kernels"][0]["totals"]
    assert "filter: mean2d" in QImage(str(tmp_path / "x.png")).text("Description")
    window.controller.cancel()


def test_what_cannot_be_written_leaves_the_old_file(window, engine, tmp_path: Path) -> None:
    bring(engine, window, FLOATS)
    (tmp_path / "folder.png").mkdir()
    for id in ("export_view", "export_png", "export_csv", "export_json"):
        window.messages.clear()
        window.files.target = lambda *_: str(tmp_path / "folder.png")
        act(window, id)
        assert "is a folder or device; choose a file name." in window.messages.current().text
    assert [p.name for p in tmp_path.iterdir()] == ["folder.png"]


def test_a_full_disk_is_a_sentence_and_the_old_file_stays(window, engine, tmp_path: Path, monkeypatch) -> None:
    bring(engine, window, FLOATS)

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("gpu_ops.io.files.os.fsync", full)
    for id, name in (("export_view", "a.png"), ("export_png", "b.svg"), ("export_csv", "c.csv"), ("export_json", "d")):
        path = tmp_path / name
        path.write_text("old")
        window.files.target = lambda *_, path=path: str(path)
        window.messages.clear()
        act(window, id)
        assert "No space left on device); free some space" in window.messages.current().text
        assert path.read_text() == "old" and len(list(tmp_path.glob(".*"))) == 0


def test_the_log_says_what_became_of_the_values(qtbot, window, engine, tmp_path: Path) -> None:
    bring(engine, window, FLOATS)
    window.display.set_levels(0.5, 2)
    save_to(window, tmp_path / "out.png")
    press(qtbot, window, "As shown")
    assert describe(requests(engine)[0]).endswith("out.png, 7 × 6 float32, mapping levels 0.5 to 2")


def test_with_an_engine_the_file_says_what_it_is(qtbot, tmp_path: Path) -> None:
    save(tmp_path / "in.npy", FLOATS)
    with real_engine() as engine, live_window(qtbot, engine, picks=("serial",)) as window:
        settle(qtbot, window.controller, lambda: window.controller.open_file(str(tmp_path / "in.npy")))
        save_to(window, tmp_path / "out.png")
        press(qtbot, window, "Scale to the full range")
        qtbot.waitUntil(lambda: (tmp_path / "out.png").exists(), timeout=PATIENCE)
        qtbot.waitUntil(lambda: any("Its values: " in m.text for m in window.messages.messages()), timeout=PATIENCE)
        text = QImage(str(tmp_path / "out.png")).text("Description")
    assert "became 0…65535" in text and "input: in.npy" in text and "machine: " in text
    assert load(tmp_path / "out.png").array.dtype == np.uint16


def test_a_file_that_is_saved_again_has_one_message(window, tmp_path) -> None:
    for name, content in (("a.html", "1"), ("b.html", "22"), ("a.html", "333")):
        (tmp_path / name).write_text(content)
        window.files.say_written(str(tmp_path / name))
    texts = [message.text for message in window.messages.messages()]
    assert texts == [f"Saved {name} in {tmp_path}." for name in ("b.html (2 bytes)", "a.html (3 bytes)")]
