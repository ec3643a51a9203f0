"""Sweeps in the window: what may vary, runs separate from the session's own, the plot and its findings, files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from live import PATIENCE, live_window, real_engine, settle
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QPalette

from app.models.ticks import log_ticks, with_room
from app.models.timing.ghosts import ghost_rows, nearest_setting
from app.models.timing.sweep import CSV_COLUMNS, Option, Sweep, options, parse_values, plan_runs, recorded_sweeps
from app.views.scrolled import Scrolled
from app.views.sweep.plot import SYMBOLS, look
from app.views.sweep.text import findings, group_title, heading, value_text
from app.views.window.html_report import page_of
from app.views.window.main_window import MainWindow
from app.views.window.panels import SWEEP
from gpu_ops import FILTERS, find_filter, from_array, recorded_reports
from gpu_ops.devices.kernel_source import source_hash
from gpu_ops.devices.occupancy import LaunchOccupancy, Occupancy
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.messages import Failed, Finished, OccupancyAnswer, Progress, Ready, RunRequest, RunUpdate
from gpu_ops.errors import ParamError
from gpu_ops.report.files import read_report
from gpu_ops.report.rows import Report, Row
from gpu_ops.report.sweeps import DISTINCT, SIZE, Varied
from gpu_ops.task import Meta
from gpu_ops.types import Pick, Timing

IMAGE = Meta("image", (300, 200), "float32")
MEAN2D = find_filter("mean2d")
BLOCK, WINDOW = Varied("knob", "block"), Varied("param", "window")
PARAMS = {"window": 3, "border": "reflect"}
CPU, GPU = Pick("serial", "cpu"), Pick("naive", "cuda:0", {"outputs": 1})


def row(variant: str, device: str, side: int, seconds: float | None, **more: Any) -> Row:
    """A row as the engine sends it."""
    clock = "wall" if device == "cpu" else "cuda-event"
    stages = {}
    if seconds:
        stages["kernel"] = Timing("kernel", clock, seconds, 0.9 * seconds, 1.1 * seconds, seconds, 20, "", "stream")
    events: dict[str, Any] = {"filter": "mean2d", "params": PARAMS, "knobs": {}, "shape": (side, side), "ok": True}
    events |= {"dtype": "float32", "mode": "stream", "protocol": "quick", "clock": clock if seconds else ""}
    events |= {"error_max": 1e-8, "tolerance": 1e-6, "stages": stages}
    return Row(variant=variant, device=device, **events | more)


def crossing_sweep() -> Sweep:
    """A GPU with a fixed cost against a CPU that grows with the pixels: they meet at 100 × 100."""
    sweep = Sweep(MEAN2D, SIZE, "middle")
    for side in (16, 64, 256, 1024):
        sweep.put(row("serial", "cpu", side, side * side * 1e-9))
        sweep.put(row("naive", "cuda:0", side, 1e-5))
    return sweep


def held(threads: int, blocks: int) -> LaunchOccupancy:
    """So many blocks on a multiprocessor of 32 warps."""
    return LaunchOccupancy("mean_naive", threads, 16, Occupancy(blocks, blocks * -(-threads // 32), 32, "warps"))


# The model


@pytest.mark.parametrize("filter", FILTERS, ids=lambda f: f.id)
def test_all_that_is_offered_can_be_run_as_it_is_proposed(filter) -> None:
    meta = Meta("image", (600, 512), "float32") if filter.accepts == "image" else Meta("signal", (4096,), "float64")
    picks = [Pick(v.id, "cpu" if v.device == "cpu" else "cuda:0") for v in filter.variants]
    params = {p.name: p.default for p in filter.params}
    offered = options(filter, meta, params)
    assert [o.where for o in offered[:2]] == ["middle", "noise"] and len(offered) > 2
    for option in offered:
        text = ", ".join(str(v) for v in option.proposed)
        points = plan_runs(filter, option, parse_values(text), params, picks, meta)
        assert [p.value for p in points] == list(option.proposed)


def test_a_list_of_values_is_read_and_put_in_order() -> None:
    assert parse_values("16, 4;8 4") == (4, 8, 16)
    for text in ("", "4", "4, x", "4, -8", "0, 4", "1.5, 2", ", ".join(str(n) for n in range(1, 40))):
        with pytest.raises(ParamError, match="2 to 32 different whole numbers above 0"):
            parse_values(text)


def test_a_parameter_varies_in_every_run_and_a_bad_value_is_told() -> None:
    option = Option(WINDOW, ())
    points = plan_runs(MEAN2D, option, (3, 9), PARAMS, [CPU, GPU], IMAGE)
    assert [(p.params["window"], p.picks) for p in points] == [(3, (CPU, GPU)), (9, (CPU, GPU))]
    with pytest.raises(ParamError, match="window must be an integer from 3 to 63 in steps of 2, not 4"):
        plan_runs(MEAN2D, option, (3, 4), PARAMS, [CPU], IMAGE)


def test_samples_that_are_alike_vary_where_they_matter() -> None:
    counted = find_filter("histogram2d")
    params = {p.name: p.default for p in counted.params}
    bytes_ = Meta("image", (300, 200), "uint8")
    (option,) = [o for o in options(counted, bytes_, params) if o.varied == DISTINCT]
    assert option.proposed == (1, 2, 4, 16, 64, 256)
    assert [r.distinct for r in plan_runs(counted, option, (1, 64), params, (CPU,), bytes_)] == [1, 64]
    with pytest.raises(ParamError, match="uint8 noise has 1 to 256 distinct values, not 512"):
        plan_runs(counted, option, (1, 512), params, (CPU,), bytes_)
    assert not [o for o in options(MEAN2D, bytes_, PARAMS) if o.varied == DISTINCT]


def test_a_knob_varies_where_it_is_and_others_run_once() -> None:
    points = plan_runs(MEAN2D, Option(BLOCK, ()), (64, 128), PARAMS, [CPU, GPU], IMAGE)
    assert points[0].picks == (CPU, replace(GPU, knobs={"outputs": 1, "block": 64}))
    assert points[1].picks == (replace(GPU, knobs={"outputs": 1, "block": 128}),)
    with pytest.raises(ParamError, match="No ticked variant .* knob block; .* 1 naive"):
        plan_runs(MEAN2D, Option(BLOCK, ()), (64, 128), PARAMS, [CPU], IMAGE)
    with pytest.raises(ParamError, match="block must be"):
        plan_runs(MEAN2D, Option(BLOCK, ()), (64, 100), PARAMS, [CPU, GPU], IMAGE)


def test_a_size_beyond_the_input_is_told_and_noise_may_be_larger() -> None:
    with pytest.raises(ParamError, match="from 1 to 200 for this input, not 256; noise"):
        plan_runs(MEAN2D, Option(SIZE, (), "middle"), (64, 256), PARAMS, [CPU], IMAGE)
    points = plan_runs(MEAN2D, Option(SIZE, (), "noise"), (64, 256), PARAMS, [CPU], IMAGE)
    assert [p.size for p in points] == [64, 256]
    with pytest.raises(ParamError, match="No ticked variant can be timed"):
        plan_runs(MEAN2D, Option(SIZE, (), "noise"), (64, 256), PARAMS, [], IMAGE)


def test_a_window_that_is_longer_than_a_short_signal_is_told_before_anything_runs() -> None:
    mean1d, signal = find_filter("mean1d"), Meta("signal", (100,), "float64")
    with pytest.raises(ParamError, match="longer than the signal of 4 samples"):
        plan_runs(mean1d, Option(SIZE, (), "middle"), (4, 64), {"window": 5, "border": "zero"}, [CPU], signal)


def test_the_recorded_reports_have_sweeps_of_both_means() -> None:
    reports = recorded_reports()
    blocks = recorded_sweeps(find_filter("mean1d"), reports["h200-mean1d-blocks.json"].rows, "H200")
    assert {s.varied.name for s in blocks} == {"block", "outputs"}
    assert recorded_sweeps(MEAN2D, reports["h200-mean1d-blocks.json"].rows, "H200") == ()
    sizes = recorded_sweeps(MEAN2D, reports["h200-mean2d.json"].rows, "H200")
    assert [s.varied for s in sizes] == [SIZE] and len(sizes[0].lines()) == 8


def test_few_levels_are_an_axis_without_a_factor(window: MainWindow) -> None:
    """Their logarithms are below 1, for which an axis would like to say thousandths."""
    (levels,) = recorded_sweeps(
        find_filter("wavelet2d"), recorded_reports()["h200-wavelet-levels.json"].rows, "NVIDIA H200"
    )
    plot = window.sweep.sheet.plot
    window.sweep.sheet.show_sweep(levels)
    bottom, left = (plot.item.getAxis(side).labelString() for side in ("bottom", "left"))
    assert ">levels <" in bottom and ">kernel time <" in left


def test_a_recorded_sweep_names_the_variants_whose_kernels_changed_since() -> None:
    wavelet, rows = find_filter("wavelet2d"), recorded_reports()["h200-wavelet-levels.json"].rows
    changed = [replace(row, source_hash="0" * 16) if row.variant == "warp_recomputed" else row for row in rows]
    (older,) = recorded_sweeps(wavelet, changed, "H200")
    rows = recorded_reports()["h100-wavelet-levels.json"].rows
    with_kernels = (wavelet.variant(row.variant).kernels for row in rows)
    hashes = [source_hash(kernels[0]) if kernels else "" for kernels in with_kernels]
    current = [replace(row, source_hash=hash) for row, hash in zip(rows, hashes, strict=True)]
    (todays,) = recorded_sweeps(wavelet, current, "H100")
    assert (older.older(), todays.older()) == (("warp_recomputed",), ())
    job = "Wavelet denoising (image) · kernel alone · 4096 × 4096 · float32"
    assert heading(older) == f"{job} · ◉ recorded on H200 · with an older kernel: 12 recomputed per warp"
    assert heading(todays) == f"{job} · ◉ recorded on H100"
    assert replace(older, machine="").older() == ()
    read = list(csv.DictReader(io.StringIO(older.to_csv())))
    events = json.loads(older.to_json())["runs"]
    for written in (read, events):
        assert {(r["variant"], r.get("age", "")) for r in written} == {
            ("warp_recomputed", "older kernel"),
            ("fused", ""),
        }
    assert "age" not in todays.to_csv().split("\n")[0]


def test_rows_as_csv_begin_with_what_varies() -> None:
    read = list(csv.reader(io.StringIO(crossing_sweep().to_csv())))
    assert read[0] == ["size", *CSV_COLUMNS]
    assert len(read) == 9 and read[1][:3] == ["16", "mean2d", "serial"]
    assert float(read[2][5]) == 1e-5 and read[2][4] == "cuda-event"
    here = csv.DictReader(io.StringIO(crossing_sweep().to_csv({"devices": {"cuda:0": {"model": "H200"}}})))
    assert {row["device"]: row["machine"] for row in here} == {"cpu": "", "cuda:0": "H200"}


# Words


def test_the_break_even_point_is_a_sentence() -> None:
    assert (
        findings(crossing_sweep())[0]
        == "A: 1 naive overtakes CPU, one core from about 100 × 100 pixels (kernel alone)."
    )


def test_variants_that_cross_at_one_place_share_a_sentence() -> None:
    sweep = crossing_sweep()
    for side in (16, 64, 256, 1024):
        sweep.put(row("shared", "cuda:0", side, 1.01e-5))
        sweep.put(row("cupyx", "cuda:0", side, 4e-5 if side < 1024 else 1e-2))
    assert findings(sweep) == [
        "A: 1 naive, 3 constant + shared overtake CPU, one core from about 100 × 100 pixels (kernel alone).",
        "B: cupyx overtakes CPU, one core from about 200 × 200 pixels (kernel alone).",
        "C: CPU, one core overtakes cupyx from about 330 × 330 pixels (kernel alone).",
    ]


def test_who_is_faster_throughout_is_told() -> None:
    sweep = Sweep(MEAN2D, WINDOW)
    for window in (3, 9):
        params = {**PARAMS, "window": window}
        sweep.put(row("serial", "cpu", 64, 1e-3, params=params))
        sweep.put(row("naive", "cuda:0", 64, 1e-6, params=params))
        sweep.put(row("cupyx", "cuda:0", 64, 1e-2, params=params))
    assert findings(sweep) == [
        "Faster than the best CPU variant throughout (kernel alone): 1 naive.",
        "Slower than the best CPU variant throughout (kernel alone): cupyx.",
    ]
    assert value_text(sweep, 12.34) == "window 12"


def test_simulated_and_failed_rows_are_told_of_and_never_drawn() -> None:
    sweep = crossing_sweep()
    sweep.put(row("shared", "sim", 64, None, clock="simulated"))
    sweep.put(row("cupyx", "cuda:0", 64, None, failure="it is not installed", failure_kind="unsupported"))
    sweep.put(row("constant", "cuda:0", 64, None, ok=False))
    assert {line.variant for line in sweep.lines()} == {"serial", "naive"}
    said = "\n".join(findings(sweep))
    assert "has no times, so these are not drawn: 3 constant + shared." in said
    assert "cupyx at 64 × 64 pixels: it is not installed" in said
    assert "2 constant taps at 64 × 64 pixels: the result is wrong" in said


def elapsed_row(variant: str, side: int, seconds: float, **more: Any) -> Row:
    """A GPU row with a kernel of 1 µs, and end-to-end times."""
    one = row(variant, "cuda:0", side, 1e-6, **more)
    stages = {name: Timing(name, "wall", t, t, t, t, 9, "") for name, t in (("elapsed", seconds), ("upload", 1e-6))}
    return replace(one, stages={**one.stages, **stages})


def test_end_to_end_times_meet_the_cpus_own_times() -> None:
    sweep = Sweep(MEAN2D, SIZE, "middle")
    for side in (16, 64, 256, 1024):
        sweep.put(row("serial", "cpu", side, 1e-8 * side**2))
        sweep.put(elapsed_row("naive", side, 1e-4))
    assert sweep.figures() == ("kernel", "elapsed")
    assert "Faster than the best CPU variant throughout (kernel alone): 1 naive." in findings(sweep)[-1]
    sweep.shown = "elapsed"
    assert "overtakes CPU, one core from about 100 × 100 pixels (end to end, pageable)." in findings(sweep)[0]
    assert [line.points[0].seconds for line in sweep.lines()] == [1e-8 * 16**2, 1e-4]
    assert heading(sweep).endswith("end to end, pageable")


def test_recorded_gpu_rows_cross_this_machines_cpu_lines() -> None:
    image = {"shape": (300, 300), "dtype": "float32"}
    recorded = [elapsed_row("naive", side, 1e-4, knobs={"block": side}) for side in (32, 128, 512)]
    older = elapsed_row("naive", 128, 5e-5, source_hash="0" * 16)
    faster = {**older.stages, "kernel": replace(older.stages["kernel"], median=1e-9)}
    recorded += [replace(older, stages=faster), elapsed_row("shared", 128, 1e-4)]
    others = [elapsed_row("constant", side, 1.0, params={**PARAMS, "window": 5}) for side in (32, 64)]
    others += [elapsed_row("rows", side, 1.0, dtype="uint8") for side in (32, 64)]
    report = Report({"devices": {"cuda:0": {"model": "NVIDIA H200"}}}, (*recorded, *others, row("serial", "cpu", 8, 1)))
    found = ghost_rows(MEAN2D, PARAMS, image["shape"], image["dtype"], [report])
    assert {name: [r.shape[0] for r in rows] for name, rows in found.items()} == {"NVIDIA H200": [32, 128, 512]}
    assert found["NVIDIA H200"][1].source_hash == "", "today's kernel, not the faster one of an older version"
    sweep = Sweep(MEAN2D, SIZE, "noise", ghosts=found, shown="elapsed")
    for side in (16, 64, 256, 1024):
        sweep.put(row("serial", "cpu", side, 1e-8 * side**2))
    assert [line.machine for line in sweep.lines()] == [""]
    sweep.ghost = "NVIDIA H200"
    own, ghost = sweep.lines()
    assert ghost.machine == "NVIDIA H200" and len(ghost.points) == 3
    assert group_title(ghost) == "◉ recorded on NVIDIA H200, wall clock"
    first = findings(sweep)[0]
    assert first.startswith("A: 1 naive (◉ NVIDIA H200) overtakes CPU, one core from about 100 × 100 pixels")
    light = QPalette()
    assert (
        look(sweep, ghost, light).ghost
        and look(sweep, ghost, light).pen().color() != look(sweep, own, light).pen().color()
    )


def test_a_sweep_with_no_recorded_lines_says_with_what_there_are_some() -> None:
    rows = tuple(row("naive", "cuda:0", side, 1e-4) for side in (32, 64))
    recorded = Report({"devices": {"cuda:0": {"model": "NVIDIA H200"}}}, rows)
    sweep = Sweep(MEAN2D, SIZE, "middle", rows=[row("serial", "cpu", 16, 1e-4, dtype="uint8")])
    none = "No GPU variant was timed here, so there is no break-even point."
    assert findings(sweep) == [none]
    sweep.for_ghosts = nearest_setting(MEAN2D, PARAMS | {"window": 5}, (300, 300), "uint8", [recorded])
    said = "A recorded GPU can be drawn beside a sweep with window 3, type float32. Add step, Convert the type"
    assert findings(sweep)[0] == none and findings(sweep)[1].startswith(said)
    assert nearest_setting(MEAN2D, PARAMS, (300, 300, 3), "uint8", [recorded]) == {}, "none of colours"
    sweep.ghosts = ghost_rows(MEAN2D, PARAMS, (300, 300), "float32", [recorded])
    assert findings(sweep)[1] == "Choose a recorded GPU to see one."


def test_two_settings_of_a_knob_are_two_lines_that_say_so() -> None:
    sweep = crossing_sweep()
    for block in (128, 256):
        for side in (16, 64):
            sweep.put(row("constant", "cuda:0", side, 1e-5 * block, knobs={"block": block}))
    sweep.put(row("constant", "cuda:0", 16, 1e-5, knobs={"block": 256}, edits="0a1b"))
    names = [sweep.name(line) for line in sweep.lines()]
    title = "2 constant taps · block"
    assert names == ["CPU, one core", "1 naive", f"{title} 128", f"{title} 256", f"{title} 256 · edited"]
    assert sweep.names()[-1] == names[-1] and sweep.names()[0] == "CPU, one core"


# The plot


@pytest.mark.parametrize(("low", "high"), [(5.1e-5, 6.7e-5), (1e-6, 9e-6), (2e-5, 3.0), (1e-9, 1e3), (0.99, 1.01)])
@pytest.mark.parametrize("most", [2, 4, 9])
def test_round_numbers_fit_the_room_and_lie_in_the_range(low: float, high: float, most: int) -> None:
    times = log_ticks(low, high, most)
    assert 1 <= len(times) <= most + 1
    assert all(low * 0.999999 <= t <= high * 1.000001 for t in times) and times == sorted(times)


def test_texts_of_an_axis_never_overlap() -> None:
    marks = [(k / 10, "12345") for k in range(11)]
    kept = with_room(marks, (0.0, 1.0), 100.0, len)  # a letter is a pixel wide, and two lie between texts
    assert kept == marks
    for wide in (2, 3, 5):
        places = [
            100 * place for place, _ in with_room(marks, (0.0, 1.0), 100.0, lambda text, wide=wide: wide * len(text))
        ]
        assert places[0] == 0 and min(b - a for a, b in zip(places, places[1:], strict=False)) >= 7 * wide


@pytest.mark.parametrize("filter", FILTERS, ids=lambda f: f.id)
def test_no_two_variants_look_alike(qtbot, filter) -> None:
    from PySide6.QtWidgets import QApplication

    sweep = Sweep(filter, SIZE)
    for variant in filter.variants:
        for side in (16, 32):
            shape = (side, side) if filter.accepts == "image" else (side,)
            device = "cpu" if variant.device == "cpu" else "cuda:0"
            sweep.put(row(variant.id, device, side, 1e-3, filter=filter.id, shape=shape))
    lines = sweep.lines()
    looks = [look(sweep, line, QApplication.palette()) for line in lines]
    assert len(lines) == len(filter.variants)
    assert len({one.stroke for one in looks}) == len({one.symbol + str(one.stroke) for one in looks}) == len(looks)
    ground = QApplication.palette().color(QPalette.ColorRole.Base)
    for line, one in zip(lines, looks, strict=True):
        assert (one.filling == ground) == line.cpu and one.symbol in SYMBOLS


@pytest.fixture
def engine(qtbot) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> MainWindow:
    """A window with an image, on the CPU and a GPU, its sweep tab shown."""
    window = make(qtbot, engine)
    cpu, gpu = DeviceStatus("cpu", "Xeon", True), DeviceStatus("cuda:0", "H200", True)
    engine.answered.emit(Ready(1, (cpu, gpu)))
    engine.show(from_array(np.zeros((300, 200), np.float32)))
    engine.end()
    window.docks.turn_to(SWEEP)
    return window


def sweeps_asked(engine: FakeEngine) -> list[RunRequest]:
    return [r for r in engine.asked if isinstance(r, RunRequest) and not r.outputs]


def choose(window: MainWindow, place: int, values: str) -> None:
    """Choose what varies and write the values."""
    panel = window.sweep
    panel.varies.setCurrentIndex(place)
    panel.varies.activated.emit(place)
    panel.values.setText(values)


def test_values_are_proposed_for_what_varies_and_stay_when_a_parameter_moves(window: MainWindow) -> None:
    panel = window.sweep
    assert panel.values.text() == "16, 32, 64, 128"
    choose(window, 2, "3, 7")
    window.controller.session.set_params({"window": 9, "border": "reflect"})
    assert panel.varies.currentText() == "window" and panel.values.text() == "3, 7"
    window.controller.session.set_filter("box")
    assert panel.varies.currentText() == "size: the centre N × N" and panel.values.text() == "16, 32, 64, 128"


def test_one_run_a_value_beside_the_sessions_results(window: MainWindow, engine: FakeEngine, qtbot) -> None:
    session = window.controller.session
    session.set_picks(("serial", "naive"))
    engine.end()
    before = window.controller.results.entries()
    choose(window, 0, "16, 64")
    qtbot.mouseClick(window.sweep.button, Qt.MouseButton.LeftButton)
    first, second = sweeps_asked(engine)
    assert (first.size, second.size, first.checks, first.protocol) == (16, 64, "full", "quick")
    assert [p.variant for p in first.picks] == ["serial", "naive"]
    assert not window.sweep.button.isEnabled() and window.actions_by_id["cancel"].isEnabled()
    engine.answered.emit(Progress(first.job, "timing", 1, 2))
    assert window.status.busy.text() == "sweep, run 1 of 2: timing"
    assert (window.status.progress.value(), window.status.progress.maximum()) == (500, 2000)
    engine.answered.emit(RunUpdate(first.job, -1, "timed", row("serial", "cpu", 16, 1e-5)))
    assert len(window.sweep.sheet.plot.lines) == 1 and window.sweep.table.rowCount() == 1
    assert window.sweep.state.text() == "Running: 0 of 2 values done."
    engine.answered.emit(Finished(first.job))
    engine.answered.emit(RunUpdate(second.job, -1, "timed", row("serial", "cpu", 64, 9e-5)))
    engine.answered.emit(Finished(second.job))
    assert window.sweep.state.text() == "" and window.sweep.button.isEnabled()
    assert [p.value for p in window.sweep.sheet.plot.lines[0].points] == [16, 64]
    assert window.controller.results.entries() == before
    assert len(page_of(window.parts).charts) == 1
    session.set_params({"window": 9})
    assert window.sweep.state.text().startswith("Of an earlier input, filter or parameter")
    assert page_of(window.parts).charts == [], "a report is of one experiment"
    session.set_params({"window": 3})
    assert window.sweep.state.text() == "" and window.sweep.controller.current
    session.set_filter("box")
    assert page_of(window.parts).charts == []


def test_live_runs_wait_for_the_end_of_a_sweep(window: MainWindow, engine: FakeEngine) -> None:
    window.controller.queue.timed_after_pause = False
    choose(window, 0, "16, 64")
    act(window, "sweep")
    first, second = sweeps_asked(engine)
    asked = len(engine.asked)
    window.controller.session.set_params({"window": 9, "border": "reflect"})
    engine.answered.emit(Finished(first.job))
    assert len(engine.asked) == asked
    engine.answered.emit(Finished(second.job))
    assert len(engine.asked) == asked + 1 and engine.asked[-1].outputs
    assert engine.asked[-1].params["window"] == 9 and second.params["window"] == 3


def test_cancelling_leaves_the_rows_there_are(window: MainWindow, engine: FakeEngine) -> None:
    choose(window, 0, "16, 64")
    act(window, "sweep")
    first, _ = sweeps_asked(engine)
    engine.answered.emit(RunUpdate(first.job, -1, "timed", row("serial", "cpu", 16, 1e-5)))
    engine.answered.emit(Finished(first.job))
    engine.cancel = lambda job, kill=True: engine.answered.emit(Finished(job, cancelled=True))
    act(window, "cancel")
    assert window.sweep.state.text() == "Stopped: 1 of 2 values done."
    assert window.sweep.table.rowCount() == 1 and window.sweep.button.isEnabled()
    assert not window.controller.busy


def test_a_run_that_fails_is_told_and_the_others_go_on(window: MainWindow, engine: FakeEngine) -> None:
    choose(window, 0, "16, 64")
    act(window, "sweep")
    first, second = sweeps_asked(engine)
    engine.answered.emit(Failed(first.job, "The engine was killed.", kind="engine"))
    engine.answered.emit(RunUpdate(second.job, -1, "timed", row("serial", "cpu", 64, 1e-5)))
    engine.answered.emit(Finished(second.job))
    assert "16 × 16 pixels: The engine was killed." in window.sweep.sheet.findings.text()
    assert [p.value for p in window.sweep.sheet.plot.lines[0].points] == [64]


def test_bad_values_are_told_beside_them_and_nothing_runs(window: MainWindow, engine: FakeEngine, qtbot) -> None:
    choose(window, 2, "3, 4")
    qtbot.keyClick(window.sweep.values, Qt.Key.Key_Return)
    assert "steps of 2, not 4" in window.sweep.reason.text() and window.sweep.reason.isVisible()
    assert sweeps_asked(engine) == []
    window.sweep.values.setText("3, 5")
    qtbot.keyClick(window.sweep.values, Qt.Key.Key_Return)
    assert not window.sweep.reason.isVisible() and len(sweeps_asked(engine)) == 2


def test_a_simulated_gpu_is_left_out_and_this_is_said(window: MainWindow, engine: FakeEngine) -> None:
    session = window.controller.session
    session.set_devices(("sim",))
    session.set_picks(("serial", "naive"))
    engine.end()
    choose(window, 0, "16, 64")
    act(window, "sweep")
    assert all([p.variant for p in r.picks] == ["serial"] for r in sweeps_asked(engine))
    assert "not drawn: 1 naive." in window.sweep.sheet.findings.text()
    engine.end()
    session.set_picks(("naive",))
    engine.end()
    window.sweep.start()
    assert "No ticked variant can be timed" in window.sweep.reason.text()


def test_counters_of_a_simulated_gpu_are_swept_on_their_own(window: MainWindow, engine: FakeEngine) -> None:
    session, panel, controller = window.controller.session, window.sweep, window.sweep.controller
    session.set_devices(("sim",))
    session.set_picks(("serial", "naive"))
    engine.end()
    panel.figure.setCurrentIndex(panel.figure.findText("bytes requested from L2"))
    panel.figure.activated.emit(panel.figure.currentIndex())
    choose(window, 1, "16, 512")
    panel.start()
    assert "A simulated GPU counts up to size 256; 512 is more, so leave it out." in panel.reason.text()
    panel.values.setText("16, 64")
    panel.start()
    asked = sweeps_asked(engine)
    assert [[p.device for p in r.picks] for r in asked] == [["sim"], ["sim"]] and asked[0].checks == "sample"
    for request in asked:
        counts = {"thread_instructions": 32, "global_load_sectors": request.size}
        counted = row("naive", "sim", request.size, None, counters=counts, clock="simulated")
        engine.answered.emit(RunUpdate(request.job, request.generation, "timed", counted))
        engine.answered.emit(Finished(request.job))
    (line,) = controller.made.lines()
    assert [(p.value, p.seconds) for p in line.points] == [(16, 16 * 32), (64, 64 * 32)]
    names = [panel.figure.itemText(k) for k in range(panel.figure.count())]
    assert {"sectors per load request", "bank conflict factor", "bytes requested from L2 per sample"} <= set(names)
    controller.show_figure("bytes_per_sample")
    (line,) = controller.made.lines()
    assert [(p.value, p.seconds) for p in line.points] == [(16, 16 * 32 / 16**2), (64, 64 * 32 / 64**2)]
    controller.show_figure("l2_bytes")
    plot = panel.sheet.plot
    assert [text for _, text in plot.left(plot.frame()).marks][0].strip() and "bytes" in plot.left(plot.frame()).title
    assert findings(controller.made) == [
        "Counts of a simulated GPU say nothing about time.",
        "These run no kernel on a simulated GPU, so nothing is counted of them: CPU, one core.",
    ]
    controller.show_figure("kernel")
    assert controller.made.lines() == ()


def test_occupancy_stands_beside_the_times_and_needs_none(window: MainWindow, engine: FakeEngine) -> None:
    """A knob varies: the kernels' occupancy is asked for, be they timed or simulated."""
    session, sheet = window.controller.session, window.sweep.sheet
    session.set_devices(("sim",))
    session.set_picks(("serial", "naive"))
    engine.end()
    choose(window, [o.varied for o in window.sweep.controller.options].index(BLOCK), "16, 128")
    act(window, "sweep")
    first, second = sweeps_asked(engine)
    assert ([p.variant for p in first.picks], second.picks) == (["serial"], ()), "a variant without the knob runs once"
    assert [p.knobs["block"] for r in (first, second) for p in r.occupancy_for] == [
        16,
        128,
    ] and first.architecture == "sm_75"
    engine.answered.emit(OccupancyAnswer(first.job, {"naive": held(16, 16)}))
    engine.answered.emit(RunUpdate(first.job, -1, "timed", row("serial", "cpu", 16, 1e-5)))
    engine.answered.emit(Finished(first.job))
    engine.answered.emit(OccupancyAnswer(second.job, {"naive": held(128, 8)}))
    engine.answered.emit(Finished(second.job))
    shown = sheet.occupancy
    assert shown.isVisible() and [(value, h.share) for _, value, h in shown.points()] == [(16, 0.25), (128, 1.0)]
    assert [p.value for p in sheet.plot.lines[0].points] == [16, 128], "the CPU's time stands at every value"
    assert [t for _, t in shown.bottom(shown.frame()).marks] == ["16", "128"]
    assert "block is not full (16)." in sheet.findings.text()
    assert "occupancy on sm_75, no times" in sheet.legend.texts()
    place = shown.item.getViewBox().mapViewToScene(QPointF(np.log10(16), 0.5))
    assert "16 of 32 warps, 256 of 1024 threads, limited by warps" in shown.words_at(shown.mapFromScene(place))
    table = window.sweep.table
    heads = [table.horizontalHeaderItem(k).text() for k in range(table.columnCount())]
    events = ("block", "error", "occupancy", "resident threads")
    cells = [[table.item(r, heads.index(h)).text() for h in events] for r in range(3)]
    assert cells == [
        ["–", "1e−08", "–", "–"],
        ["16", "–", "50 %", "256 of 1024"],
        ["128", "–", "100 %", "1024 of 1024"],
    ]
    lines = list(csv.DictReader(io.StringIO(window.sweep.controller.made.to_csv())))
    assert [(one["block"], one["resident_threads"]) for one in lines] == [("", ""), ("16", "256"), ("128", "1024")]
    events = json.loads(window.sweep.controller.made.to_json())["occupancy"]
    assert [(one["block"], one["variant"], one["warps"], one["registers_used"]) for one in events] == [
        (16, "naive", 16, 16),
        (128, "naive", 32, 16),
    ]
    choose(window, 0, "16, 64")  # a sweep over sizes has no occupancy
    act(window, "sweep")
    assert not any(r.occupancy_for for r in sweeps_asked(engine)[2:]) and not shown.isVisible()


def test_a_knob_that_no_launch_can_take_is_told(window: MainWindow, engine: FakeEngine) -> None:
    window.controller.session.set_devices(("sim",))
    window.controller.session.set_picks(("naive",))
    engine.end()
    choose(window, [o.varied for o in window.sweep.controller.options].index(BLOCK), "64, 128")
    act(window, "sweep")
    for request in sweeps_asked(engine):
        engine.answered.emit(OccupancyAnswer(request.job, {}, ("naive cannot do this: it is too large.",)))
        engine.answered.emit(Finished(request.job))
    assert "naive cannot do this: it is too large." in window.sweep.sheet.findings.text()


def test_recorded_sweeps_are_chosen_from_a_list(window: MainWindow, engine: FakeEngine) -> None:
    panel, source = window.sweep, window.sweep.source
    texts = [source.itemText(i) for i in range(source.count())]
    assert texts[0] == "measured here" and len(set(texts)) == len(texts)
    place = texts.index("NVIDIA H200: size 1440 to 8192, float32")
    source.setCurrentIndex(place)
    source.activated.emit(place)
    assert len(panel.sheet.plot.lines) == 8 and "recorded on NVIDIA H200" in panel.sheet.heading.text()
    assert panel.sheet.findings.text().startswith("Faster than the best CPU variant throughout")
    headings = [t for t in panel.sheet.legend.texts() if "clock" in t]
    assert headings == ["CPU, wall clock, hollow marks", "GPU 0, event clock, filled marks"]
    window.controller.session.set_filter("conv3x3")  # the sweep shown is of another filter
    assert panel.controller.shown is None and not panel.sheet.plot.isVisible()
    texts = [source.itemText(i) for i in range(source.count())]
    assert "NVIDIA H200: width 4064 to 4224, 4096 rows, uint8" in texts
    assert "NVIDIA H200: block y 1 to 32, 4096 × 4096 × 3, uint8" in texts


def test_a_mark_stands_where_lines_cross_and_tells_of_it(window: MainWindow, qtbot) -> None:
    window.sweep.controller.show(crossing_sweep())
    qtbot.wait(20)
    plot = window.sweep.sheet.plot
    (mark,) = plot.marks
    (crossing,) = mark.crossings
    place = plot.item.getViewBox().mapViewToScene(QPointF(np.log10(crossing.value), np.log10(crossing.seconds)))
    assert plot.words_at(plot.mapFromScene(place)).endswith("from about 100 × 100 pixels (kernel alone).")
    assert plot.words_at(QPoint(1, 1)) == ""
    ring = plot._rings.getData()
    assert (ring[0][0], ring[1][0]) == pytest.approx((2.0, -5.0), abs=1e-6)


def test_the_letter_of_a_mark_stands_beside_all_lines(window: MainWindow, qtbot) -> None:
    """Two lines are where it would stand above and below its ring."""
    sweep, plot = crossing_sweep(), window.sweep.sheet.plot
    window.sweep.controller.show(sweep)
    qtbot.wait(20)
    half, (crossing,) = plot.fontMetrics().height() / 2, plot.marks[0].crossings
    ring = plot.frame().point(np.log10(crossing.value), np.log10(crossing.seconds))
    for variant, away in (("constant", 3.2 * half), ("shared", -3.2 * half)):
        time = 10 ** plot.frame().place(ring + QPointF(0, away))[1]
        for side in (16, 64, 256, 1024):
            sweep.put(row(variant, "cuda:0", side, time))
    window.sweep.controller.show(sweep)
    qtbot.wait(20)
    frame = plot.frame()
    for mark, at in zip(plot.marks, plot.letters(frame), strict=True):
        ring = frame.point(np.log10(mark.crossings[0].value), np.log10(mark.crossings[0].seconds))
        assert np.hypot(*(at - ring).toTuple()) < 4 * half, "next to its ring"
        apart = [np.hypot(at.x() - x, at.y() - y) for x, y in plot._covered(frame)]
        assert min(apart) > 0.9 * half and frame.box.contains(at)


def test_all_points_and_quartiles_are_in_sight(window: MainWindow) -> None:
    window.sweep.controller.show(crossing_sweep())
    plot = window.sweep.sheet.plot
    (left, right), (low, high) = plot.item.getViewBox().viewRange()
    for line in plot.lines:
        for p in line.points:
            assert left < np.log10(p.value) < right and low < np.log10(p.q1) < np.log10(p.q3) < high


@pytest.mark.parametrize("width", [420, 1100])
def test_nothing_is_wider_than_the_panel(qtbot, window: MainWindow, width: int) -> None:
    panel = window.sweep
    panel.controller.show(crossing_sweep())
    around = next(s for s in window.tabs.findChildren(Scrolled) if s.widget() is panel)
    around.takeWidget()
    panel.resize(width, 400)
    panel.show()
    qtbot.waitExposed(panel)
    qtbot.wait(20)
    assert panel.width() == width
    legend, plot = panel.sheet.legend.geometry(), panel.sheet.plot.geometry()
    assert (legend.top() >= plot.bottom()) == (width == 420) and panel.sheet.rect().contains(legend)
    window.tabs.addTab(panel, "Sweep")


def test_files(window: MainWindow, tmp_path: Path) -> None:
    act(window, "export_sweep_csv")
    assert "no sweep to save" in window.messages.current().text
    sweep = crossing_sweep()
    window.sweep.controller.show(sweep)
    for name, id in (
        ("a.csv", "export_sweep_csv"),
        ("a.json", "export_sweep_json"),
        ("a.png", "export_sweep_picture"),
        ("a.svg", "export_sweep_picture"),
    ):
        window.files.target = lambda *_, name=name: str(tmp_path / name)
        act(window, id)
    text = (tmp_path / "a.csv").read_text()
    assert text.endswith(sweep.to_csv()) and "# filter: mean2d" in text and "# varied: " in text
    assert [r.variant for r in read_report(tmp_path / "a.json").rows] == [r.variant for r in sweep.rows]
    picture = QImage(str(tmp_path / "a.png"))
    assert picture.width() == 2 * window.sweep.sheet.width()
    drawing = (tmp_path / "a.svg").read_text()
    assert "<text" in drawing and "1 naive" in drawing and "<image" not in drawing
    window.files.target = lambda *_: str(tmp_path / "no" / "a.csv")
    act(window, "export_sweep_csv")
    assert "cannot be written" in window.messages.current().text


# With an engine


@pytest.fixture(scope="module")
def live() -> Iterator[Any]:
    with real_engine() as engine:
        yield engine


def test_sweeps_as_a_person_makes_them(qtbot, live) -> None:
    with live_window(qtbot, live, picks=("serial", "parallel")) as window:
        controller = window.controller
        settle(qtbot, controller, lambda: controller.open_sample("camera"))
        before = controller.results.entries()
        window.docks.turn_to(SWEEP)
        answers: list[Any] = []
        controller.point_answered.connect(answers.append)
        for place, values in ((0, "16, 48"), (1, "24, 600"), (2, "3, 7")):
            choose(window, place, values)
            settle(qtbot, controller, lambda: qtbot.mouseClick(window.sweep.button, Qt.MouseButton.LeftButton))
            sweep = window.sweep.controller.made
            assert sweep is not None
            wanted = list(parse_values(values))
            assert [[p.value for p in line.points] for line in sweep.lines()] == [wanted, wanted]
            assert all(row.ok and row.protocol == "quick" and row.dtype == "uint8" for row in sweep.rows)
            assert {row.input["generator"] for row in sweep.rows} == {"noise" if place == 1 else "camera"}
            assert controller.results.entries() == before
        updates = [answer for answer in answers if isinstance(answer, RunUpdate)]
        assert updates and not any(update.outputs for update in updates)


@pytest.mark.gpu
def test_a_sweep_on_a_gpu_stands_beside_the_cpu(qtbot, live, cuda: str) -> None:
    with live_window(qtbot, live, cuda) as window:
        controller, panel = window.controller, window.sweep
        settle(qtbot, controller, lambda: controller.open_sample("camera"))
        settle(qtbot, controller, lambda: controller.session.set_picks(("serial", "naive", "shared")))
        window.docks.turn_to(SWEEP)
        for title, values in (("size: noise of N × N", "16, 64, 512"), ("block (knob)", "64, 256")):
            choose(window, panel.varies.findText(title), values)
            settle(qtbot, controller, lambda: qtbot.mouseClick(panel.button, Qt.MouseButton.LeftButton))
            serial, *kernels = panel.sheet.plot.lines
            assert (serial.variant, serial.clock, serial.level) == ("serial", "wall", "block" in title)
            assert [(k.variant, k.device, k.clock) for k in kernels] == [
                ("naive", cuda, "cuda-event"),
                ("shared", cuda, "cuda-event"),
            ]
            assert all([p.value for p in k.points] == list(parse_values(values)) for k in kernels)
            assert "kernel alone" in panel.sheet.findings.text()


def test_a_sweep_that_runs_is_cancelled(qtbot, live) -> None:
    with live_window(qtbot, live, picks=("serial",)) as window:
        controller = window.controller
        settle(qtbot, controller, lambda: controller.open_sample("camera"))
        window.docks.turn_to(SWEEP)
        choose(window, 1, "64, 128, 2048, 4096")
        window.sweep.start()
        sweep = window.sweep.controller.made
        assert sweep is not None
        qtbot.waitUntil(lambda: bool(sweep.rows), timeout=PATIENCE)
        settle(qtbot, controller, window.actions_by_id["cancel"].trigger)
        assert window.sweep.state.text().startswith("Stopped: ") and len(sweep.rows) < 4
        settle(qtbot, controller, controller.run_live)
        assert controller.results.entries()[0].ok
