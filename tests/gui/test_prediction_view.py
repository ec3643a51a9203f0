"""Predicted times in the X-ray panel: when launches are counted, what is shown, and what needs no new counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fake_engine import FakeEngine
from live import pause
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from xray_answers import THERE, content, show, window_with
from xray_answers import answer as answer_xray
from xray_answers import asked as asked_xrays

from app.base import theme
from app.base.numbers import seconds
from app.controllers.engine_log import describe
from app.models.experiment.slot import RowSlot
from app.models.results.entry import Entry
from app.models.xray.predicted import DIGITS
from app.views.window.main_window import MainWindow
from app.views.xray.prediction_view import PredictionView, VariantTimes
from gpu_ops import recorded_reports
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.kernel_messages import Counted, PredictionAnswer, PredictionRequest, XRayAnswer
from gpu_ops.engine.messages import Failed, Finished, RunRequest
from gpu_ops.explaining.prediction.gpus import GPUS, what_if
from gpu_ops.explaining.prediction.launches import LaunchCounts
from gpu_ops.explaining.prediction.model import LIMITS, predict
from gpu_ops.explaining.prediction.waterfall import waterfall

SIM = DeviceStatus("sim", "simulated GPU", True)
H100 = GPUS["h100"]
SLOW = LaunchCounts("k", 4096, 256, 8, counts={"issued": 1 << 26, "batch_load_sectors": 1 << 20})
FAST = LaunchCounts("k", 4096, 256, 8, counts={"issued": 1 << 24, "batch_load_sectors": 1 << 20})


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, qapp, engine: FakeEngine) -> Iterator[MainWindow]:
    yield window_with(qtbot, engine, (SIM,))
    theme.apply(qapp, Qt.ColorScheme.Light)


def asked(engine: FakeEngine) -> list[PredictionRequest]:
    return [r for r in engine.asked if isinstance(r, PredictionRequest)]


def answer(engine: FakeEngine, *counted: Counted) -> None:
    """Answer the last request."""
    last = asked(engine)[-1]
    engine.answered.emit(PredictionAnswer(last.job, last.gpu, counted))
    engine.end()


def click(window: MainWindow, page: Any) -> None:
    """Click the tab of a page."""
    tabs = window.xray_panel.tabs
    QTest.mouseClick(tabs.button(page), Qt.MouseButton.LeftButton)
    assert tabs.currentWidget() is page


def open_tab(qtbot, window: MainWindow, engine: FakeEngine) -> PredictionView:
    """X-ray the kernel, and show the tab."""
    show(qtbot, window, engine)
    view = window.xray_panel.prediction
    click(window, view)
    qtbot.waitUntil(lambda: bool(asked(engine)))
    return view


def texts(part: VariantTimes) -> dict[str, str]:
    """The texts of all bars that are shown, by name."""
    return {row.name.text(): row.text.text() for row in part.rows if row.bar.isVisible()}


def interval(launch: LaunchCounts, gpu: Any = H100) -> str:
    found = predict([launch], gpu)
    return f"{seconds(found.low, DIGITS)} to {seconds(found.high, DIGITS)}"


def test_launches_are_counted_only_while_the_tab_is_in_front(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    qtbot.wait(20)
    assert asked(engine) == []
    view = window.xray_panel.prediction
    click(window, view)
    qtbot.waitUntil(lambda: len(asked(engine)) == 1)
    (request,) = asked(engine)
    assert (request.filter, request.gpu, [p.variant for p in request.picks]) == ("mean2d", "h100", ["shared"])
    said = "counts of launches on h100: mean2d window=3 border=reflect of 600 × 512 uint8; shared"
    assert describe(request) == said
    assert view.state.text() == "Counting launches for NVIDIA H100 80GB HBM3…" and not view.times.isVisible()
    click(window, window.xray_panel.report)
    qtbot.waitUntil(lambda: view.controller.state == "empty")
    engine.end()
    window.controller.session.set_params({"window": 5, "border": "reflect"})
    engine.end()
    qtbot.wait(20)
    assert len(asked(engine)) == 1, "nobody sees it"


def test_bars_say_what_each_limit_takes_and_what_is_predicted_and_measured(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((SLOW,), recorded=12.3e-6))
    assert not view.state.isVisible()
    assert "The whole of array (600 × 512 uint8) on NVIDIA H100 80GB HBM3: 3.03 TB/s" in view.what.text()
    assert view.what.text().endswith("132 multiprocessors; roofs measured.")
    found, shown = predict([SLOW], H100), texts(view.variants[0])
    assert view.variants[0].title.text() == "3 constant + shared" and not view.variants[1].title.isVisible()
    names = [f"{text} ◂" if limit == "instructions" else text for limit, text in LIMITS.items()]
    assert list(shown) == [*names, "predicted", "measured"]
    assert [shown[name] for name in names] == [seconds(found.terms[limit], DIGITS) for limit in LIMITS]
    assert (shown["predicted"], shown["measured"]) == (interval(SLOW), "12.3 µs")
    assert "3 constant + shared: instructions would take" in view.sentences.text()
    assert "Choose a variant in Compare" in view.sentences.text()
    bars = {row.bar.bar.name: row.bar for row in view.variants[0].rows}
    assert bars["predicted"].accessibleName() == f"predicted: {interval(SLOW)}"
    full = bars["predicted"]
    assert full.box().left() == pytest.approx((full.width() - 1) * found.low / found.high), "it begins at its low end"
    assert full.box().right() == pytest.approx(full.width() - 1), "and what is longest fills the width"


def test_the_compared_variant_is_beside_and_a_sentence_says_what_the_change_is_worth(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((FAST,)))
    window.context.xray.compare_with("naive")
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    assert [p.variant for p in asked(engine)[-1].picks] == ["shared", "naive"]
    answer(engine, Counted((FAST,)), Counted((SLOW,)))
    assert [part.title.text() for part in view.variants] == ["3 constant + shared", "1 naive"]
    assert [texts(part)["predicted"] for part in view.variants] == [interval(FAST), interval(SLOW)]
    assert "measured" not in texts(view.variants[0])
    assert "times as fast as 1 naive: instructions" in view.sentences.text()
    window.context.xray.compare_with("")
    qtbot.waitUntil(lambda: not view.variants[1].title.isVisible())
    assert len(asked(engine)) == 2 and texts(view.variants[0])["predicted"] == interval(FAST), "it is known"


def test_other_numbers_of_the_gpu_change_the_times_without_new_counts(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((SLOW,), recorded=12.3e-6))
    own = texts(view.variants[0])
    assert not view.reset.isEnabled() and view.numbers.spins["multiprocessors"].value() == 132
    view.numbers.spins["clock"].setFocus()
    QTest.keyClick(view.numbers.spins["clock"], Qt.Key.Key_Up)
    clock = what_if(H100, clock=1.05)
    assert texts(view.variants[0])["predicted"] == interval(SLOW, clock) != own["predicted"]
    assert "measured" not in texts(view.variants[0]), "that was another GPU"
    assert "2.08 GHz" in view.what.text() and view.what.text().endswith("changed as set above.")
    for name, factors in (("bandwidth", {"bandwidth": 2.0}), ("l2", {"l2": 3.0})):
        view.numbers.spins[name].setValue(next(iter(factors.values())))
    view.numbers.spins["multiprocessors"].setValue(66)
    changed = what_if(H100, 2.0, 3.0, 66, 1.05)
    assert view.controller.gpu == changed
    assert texts(view.variants[0])["predicted"] == interval(SLOW, changed)
    QTest.mouseClick(view.reset, Qt.MouseButton.LeftButton)
    assert texts(view.variants[0]) == own and view.controller.gpu == H100
    assert {view.numbers.values[name] for name in ("bandwidth", "l2", "clock")} == {1.0} and view.numbers.spins[
        "multiprocessors"
    ].value() == 132
    qtbot.wait(20)
    assert len(asked(engine)) == 1


def test_sliders_move_the_times_and_stop_at_the_gpu_as_it_is(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    held = replace(SLOW, fitting=8, shared=32 << 10, counts={**SLOW.counts, "path_loads": 1 << 20})
    answer(engine, Counted((held,)))
    own = texts(view.variants[0])
    for name, number in view.numbers.numbers.items():
        before = number.spin.value()
        number.slider.setFocus()
        QTest.keyClick(number.slider, Qt.Key.Key_End)
        assert number.spin.value() == number.spin.maximum(), name
        QTest.keyClick(number.slider, Qt.Key.Key_Home)
        assert number.spin.value() == number.spin.minimum(), name
        number.spin.setValue(before)
        assert view.controller.gpu == H100, name
        QTest.keyClick(number.slider, Qt.Key.Key_Left)
        assert number.spin.value() < before and view.controller.gpu != H100, name
        QTest.keyClick(number.slider, Qt.Key.Key_Right)
        assert number.spin.value() == before and texts(view.variants[0]) == own, name
    view.numbers.spins["kib_of_shared"].setValue(64)
    less = what_if(H100, shared=64 << 10)
    assert view.controller.gpu == less and "132 multiprocessors with 64 KiB of shared memory each" in view.what.text()
    assert texts(view.variants[0])["predicted"] == interval(held, less) != own["predicted"]
    assert predict([held], less) == predict([replace(held, resident=2)], less)
    view.numbers.spins["kib_of_shared"].setValue(16)
    assert texts(view.variants[0])["predicted"] == "unknown"
    assert "a block of k takes 32,768 bytes of shared memory, more than there are" in view.sentences.text()
    assert len(asked(engine)) == 1


def test_the_wheel_scrolls_the_page_and_changes_what_has_the_focus(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((SLOW,)))
    window.resize(1100, 900)
    qtbot.waitUntil(lambda: view.verticalScrollBar().maximum() > 0)
    controls = (view.gpus, *(part for n in view.numbers.numbers.values() for part in (n.slider, n.spin)))
    view.again.setFocus()
    for control in controls:
        before = view.verticalScrollBar().value()
        turn(control)
        assert view.verticalScrollBar().value() > before, control.objectName()
        view.verticalScrollBar().setValue(0)
    assert view.controller.gpu == H100
    view.numbers.spins["clock"].setFocus()
    turn(view.numbers.spins["clock"])
    assert view.controller.gpu == what_if(H100, clock=0.95) and view.verticalScrollBar().value() == 0


def turn(control: QWidget) -> None:
    """Turn the wheel down over a control."""
    at = control.mapTo(control.window(), control.rect().center())
    QTest.wheelEvent(control.window().windowHandle(), QPointF(at), QPoint(0, -120))
    QApplication.processEvents()


def test_another_gpu_or_variant_is_counted_anew(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((SLOW,)))
    places = [view.variants[0].title.mapTo(view, QPoint())]
    while len(places) < 4 or len(set(places[-4:])) > 1:  # until everything has its place, also on a loaded machine
        pause(50)
        places.append(view.variants[0].title.mapTo(view, QPoint()))
    place = places[-1]
    view.numbers.spins["clock"].setValue(2.0)
    view.gpus.setFocus()
    QTest.keyClick(view.gpus, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    assert asked(engine)[-1].gpu == "h200" and view.gpus.currentText() == "NVIDIA H200 (roofs measured)"
    pause(200)
    qtbot.waitUntil(lambda: view.variants[0].title.mapTo(view, QPoint()) == place)  # the bars stay where they are
    assert view.numbers.spins["clock"].value() == 1.0 and "belong to an earlier setting" in view.state.text()
    assert view.state.isVisible() and not view.what.isVisible()
    assert texts(view.variants[0])["predicted"] == interval(SLOW), "of the GPU that they were counted for"
    answer(engine, Counted((FAST,)))
    assert texts(view.variants[0])["predicted"] == interval(FAST, GPUS["h200"])
    window.context.xray.choose("naive")
    answer_xray(engine, content("naive"))
    qtbot.waitUntil(lambda: len(asked(engine)) == 3)
    assert [p.variant for p in asked(engine)[-1].picks] == ["naive"]


def test_the_latest_choice_wins(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    cancelled: list[int] = []
    engine.cancel = lambda job, kill=True: cancelled.append(job)  # the engine's answer comes later
    view.controller.choose_gpu("l4")
    first = asked(engine)[0]
    assert set(cancelled) == {first.job} and len(asked(engine)) == 1
    engine.answered.emit(PredictionAnswer(first.job, first.gpu, (Counted((SLOW,)),)))
    assert not view.times.isVisible(), "it is no longer wanted"
    engine.answered.emit(Finished(first.job, cancelled=True))
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    assert asked(engine)[-1].gpu == "l4"
    answer(engine, Counted((SLOW,)))
    assert texts(view.variants[0])["predicted"] == interval(SLOW, GPUS["l4"])
    assert view.what.text().endswith("roofs by its data sheet.")


def test_counts_come_before_what_a_simulated_gpu_runs_and_after_other_runs(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((SLOW,)))
    window.controller.session.set_params({"window": 5, "border": "reflect"})
    qtbot.wait(20)
    fast = engine.asked[-1]
    assert isinstance(fast, RunRequest) and len(asked(engine)) == 1
    assert "Waiting for other work" in view.state.text()
    engine.answered.emit(Finished(fast.job))
    qtbot.waitUntil(lambda: asked_xrays(engine)[-1].params["window"] == 5)
    first = asked_xrays(engine)[-1]
    assert engine.asked[-1] is first and len(asked(engine)) == 1, "the X-ray before the counts, both before the run"
    engine.answered.emit(XRayAnswer(first.job, content()))
    engine.answered.emit(Finished(first.job))
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    last = asked(engine)[-1]
    assert last.params["window"] == 5
    engine.answered.emit(PredictionAnswer(last.job, last.gpu, (Counted((FAST,)),)))
    engine.answered.emit(Finished(last.job))
    qtbot.wait(20)
    simulated = engine.asked[-1]
    assert isinstance(simulated, RunRequest) and simulated.picks[0].device == "sim", "the simulated run continues"
    assert texts(view.variants[0])["predicted"] == interval(FAST) and not view.state.isVisible()


def test_what_is_unknown_or_refused_has_its_reason(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((SLOW,)))
    window.context.xray.compare_with("naive")
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    spilled = replace(SLOW, spilled=24)
    answer(engine, Counted((spilled,)), Counted(reason="naive cannot do this: it is too small."))
    assert texts(view.variants[0])["predicted"] == "unknown"
    assert list(texts(view.variants[0]))[:-1] == list(LIMITS.values()), "and none is marked as the longest"
    assert "unknown, because k spills 24 bytes of registers" in view.sentences.text()
    assert view.variants[1].reason.isVisible() and texts(view.variants[1]) == {}
    assert view.variants[1].reason.text() == "naive cannot do this: it is too small."


def test_a_failure_is_a_sentence_and_can_be_tried_again(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    engine.answered.emit(Failed(asked(engine)[-1].job, "The engine ended."))
    engine.end()
    assert view.state.text() == "There are no predicted times: The engine ended." and view.again.isVisible()
    qtbot.wait(20)
    assert len(asked(engine)) == 1, "not by itself"
    QTest.mouseClick(view.again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    answer(engine, Counted((SLOW,)))
    assert not view.again.isVisible() and not view.state.isVisible()


def test_an_edited_kernel_is_predicted_beside_the_shipped_one(qtbot, window, engine) -> None:
    view, xray = open_tab(qtbot, window, engine), window.context.xray
    answer(engine, Counted((SLOW,)))
    xray.set_editing(True)
    draft = xray.draft
    xray.drafts.put(draft.with_text(draft.file, read_source(draft.file) + "// faster\n"))
    qtbot.waitUntil(lambda: len(asked_xrays(engine)) == 2)
    assert len(asked(engine)) == 1, "the X-ray goes first"
    answer_xray(engine, content())
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    edited, shipped = asked(engine)[-1].picks
    assert (edited.variant, shipped.variant, dict(shipped.edits)) == ("shared", "shared", {})
    answer(engine, Counted(reason=f"{draft.file}:3: it does not compile"), Counted((SLOW,)))
    assert [part.title.text() for part in view.variants] == ["3 constant + shared, edited", "3 constant + shared"]
    assert view.variants[0].reason.text() == f"{draft.name_of(draft.file)}:3: it does not compile"


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
def test_an_interval_is_hatched_and_every_bar_can_be_seen(qtbot, qapp, window, engine, scheme) -> None:
    view = open_tab(qtbot, window, engine)
    theme.apply(qapp, scheme)
    answer(engine, Counted((SLOW,), recorded=12.3e-6))
    qtbot.wait(20)
    for row in (row for row in view.variants[0].rows if row.bar.isVisible()):
        image, box = row.bar.grab().toImage(), row.bar.box()
        ground, y = view.palette().window().color(), round(box.center().y())
        inks = [image.pixelColor(x, y) for x in range(round(box.left()) + 1, max(round(box.right()), 1))]
        seen = [theme.contrast(ink, ground) >= theme.SHAPE_CONTRAST for ink in inks]
        if row.bar.bar.kind == "measured":
            assert all(seen), row.name.text()
        elif box.width() > 12:
            assert any(seen) and not all(seen), "lines with gaps"
        if row.bar.bar.kind == "predicted":
            before = image.pixelColor(round(box.left()) // 2, y - 2)
            assert theme.contrast(before, ground) < 1.1, "nothing is drawn before it begins"


@pytest.mark.parametrize("width", [220, 320, 700])
def test_everything_fits_a_narrow_panel(qtbot, window, engine, width) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((SLOW,), recorded=12.3e-6))
    view.setParent(None)
    qtbot.addWidget(view)
    view.resize(width, 700)
    view.show()
    qtbot.waitExposed(view)
    assert view.horizontalScrollBar().maximum() == 0
    for row in (row for row in view.variants[0].rows if row.bar.isVisible()):
        assert row.text.width() >= row.text.sizeHint().width(), row.name.text()
        assert row.name.height() >= row.name.heightForWidth(row.name.width()), row.name.text()


def test_the_step_between_two_variants_has_a_bar_for_what_each_limit_saves(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((FAST,)))
    assert not view.step.title.isVisible(), "one variant has no step"
    window.context.xray.compare_with("naive")
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    answer(engine, Counted((FAST,), recorded=9e-6), Counted((SLOW,), recorded=12.3e-6))
    found = waterfall([SLOW], [FAST], H100)
    assert view.step.title.text() == "From 1 naive to 3 constant + shared"
    shown = [row for row in view.step.rows if row.bar.isVisible()]
    part = next(part for part in found.parts if part.limit == "instructions")
    names = [row.name.text() for row in shown]
    assert names[:2] == ["1 naive: predicted", "1 naive: measured"]
    assert names[-2:] == ["3 constant + shared: predicted", "3 constant + shared: measured"]
    (saved,) = [row for row in shown if row.name.text().startswith("instructions (counted: ")]
    assert saved.text.text() == f"−{seconds(-part.change, DIGITS)}" and saved.bar.bar.kind == "saved"
    assert saved.bar.accessibleName().endswith(f"{saved.text.text()}, predicted")
    before = found.before.seconds + sum(p.change for p in found.parts[: found.parts.index(part)])
    assert (saved.bar.bar.low, saved.bar.bar.high) == pytest.approx((before + part.change, before))
    view.numbers.spins["clock"].setValue(2.0)
    quick = waterfall([SLOW], [FAST], what_if(H100, clock=2.0))
    change = next(part.change for part in quick.parts if part.limit == "instructions")
    (moved,) = [row for row in view.step.rows if row.name.text().startswith("instructions (counted: ")]
    assert moved.text.text() == f"−{seconds(-change, DIGITS)}" != f"−{seconds(-part.change, DIGITS)}"
    assert "measured" not in " ".join(row.name.text() for row in view.step.rows if row.bar.isVisible())


def test_no_step_is_drawn_to_or_from_an_unknown_time(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((FAST,)))
    window.context.xray.compare_with("naive")
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    answer(engine, Counted((replace(FAST, spilled=24),)), Counted((SLOW,)))
    assert view.step.reason.text().startswith("unknown, because k spills 24 bytes of registers")
    assert not [row for row in view.step.rows if row.bar.isVisible()]


def test_the_whole_ladder_moves_with_the_numbers_of_the_gpu(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((SLOW,)))
    QTest.mouseClick(view.all, Qt.MouseButton.LeftButton, pos=QPoint(5, view.all.height() // 2))
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    picks = [pick.variant for pick in asked(engine)[-1].picks]
    variants = [variant.id for variant in window.context.xray.variants]
    assert picks == ["shared", *(id for id in variants if id != "shared")], "each is counted once"
    counts = {id: replace(SLOW, resident=1 + place) for place, id in enumerate(variants)}
    reason = Counted(reason="packed cannot do this: it is too wide.")
    answer(engine, *(reason if id == picks[-1] else Counted((counts[id],)) for id in picks))
    shown = {row.name.text(): row.text.text() for row in view.ladder.rows if row.bar.isVisible()}
    titles = [variant.title for variant in window.context.xray.variants]
    assert [name.rsplit(":", 1)[0] for name in shown] == titles
    first = f"{titles[0]}: predicted"
    assert shown[first] == interval(counts[variants[0]]) and shown[f"{titles[-1]}: none"] == "not for this input"
    view.numbers.spins["clock"].setValue(2.0)
    moved = {row.name.text(): row.text.text() for row in view.ladder.rows if row.bar.isVisible()}
    assert moved[first] == interval(counts[variants[0]], what_if(H100, clock=2.0)) != shown[first]
    QTest.mouseClick(view.all, Qt.MouseButton.LeftButton, pos=QPoint(5, view.all.height() // 2))
    assert not view.ladder.title.isVisible() and len(asked(engine)) == 2


def test_undo_and_redo_restore_the_gpu_and_its_numbers(qtbot, window, engine) -> None:
    view, session = open_tab(qtbot, window, engine), window.controller.session
    answer(engine, Counted((SLOW,)))
    view.numbers.spins["clock"].setValue(1.5)
    view.numbers.spins["clock"].setValue(2.0)
    view.numbers.spins["multiprocessors"].setValue(66)
    view.numbers.spins["kib_of_shared"].setValue(100)
    assert view.controller.gpu == what_if(H100, clock=2.0, multiprocessors=66, shared=100 << 10)
    session.undo()
    assert view.controller.gpu == what_if(H100, clock=2.0, multiprocessors=66)
    session.undo()
    assert view.controller.gpu == what_if(H100, clock=2.0) and view.numbers.spins["multiprocessors"].value() == 132
    session.undo()
    assert view.controller.gpu == H100 and view.numbers.spins["clock"].value() == 1.0, "the whole way of a number"
    session.redo()
    assert texts(view.variants[0])["predicted"] == interval(SLOW, what_if(H100, clock=2.0))
    session.set_param("window", 9)
    view.numbers.spins["clock"].setValue(3.0)
    session.undo()
    assert view.controller.gpu == what_if(H100, clock=2.0) and session.params["window"] == 9


def test_the_break_even_with_the_cpu_moves_with_the_numbers_of_the_gpu(qtbot, window, engine, monkeypatch) -> None:
    view, results = open_tab(qtbot, window, engine), window.controller.results
    answer(engine, Counted((SLOW,)))
    assert not view.even.title.isVisible(), "nothing was timed on the CPU"
    rows = (row for report in recorded_reports().values() for row in report.rows)
    row = next(row for row in rows if row.device == "cpu" and row.filter == "mean2d" and row.seconds("kernel"))
    entries = [Entry(RowSlot(id, "cpu"), id, row, current=id != "older") for id in ("opencv", "older")]
    monkeypatch.setattr(results, "entries", lambda: tuple(entries))
    results.rows_reset.emit()
    bars, said = texts(view.even), view.even.reason.text()
    own, cpu = bars
    assert own.endswith("with copies to the GPU and back") and cpu == "opencv, measured here"
    assert bars[cpu] == seconds(row.seconds("kernel"), DIGITS) and said.startswith("Predicted: ")
    view.numbers.spins["clock"].setValue(0.05)
    assert texts(view.even)[own] != bars[own] and texts(view.even)[cpu] == bars[cpu]
    assert view.even.reason.text() != said


def test_what_values_decide_is_said_beside_the_interval(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    answer(engine, Counted((replace(SLOW, values="loaded"),)))
    assert "what k does may depend on the values of its arrays" in view.sentences.text()
    assert view.content["variants"][0]["notes"][0].startswith("what k does")
    view.controller.again()
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    answer(engine, Counted((replace(SLOW, values="computed"),)))
    assert "unknown, because what k does may depend on values that an earlier launch computes" in view.sentences.text()


def test_for_another_machines_gpu_they_are_counted_there(qtbot, engine) -> None:
    view = open_tab(qtbot, window_with(qtbot, engine, (THERE,)), engine)
    assert {pick.device for pick in asked(engine)[-1].picks} == {"gpu-host/sim"}
    answer(engine, Counted((SLOW,)))
    assert view.what.text().endswith("roofs measured, computed on gpu-host.")
