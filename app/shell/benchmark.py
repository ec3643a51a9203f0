"""`kernelscope window-bench`: how fast the window starts, responds and paints, against required limits.

Every value is measured in the window itself, in a separate process, through the same controller calls as clicks make.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.shell.bench_live import ABSENT, GPU_KEYS, LIVE_KEYS, spectrogram
from app.shell.bench_panes import closed, compared, large, radius, values
from app.shell.bench_start import STARTED, VERIFIED, Command, first_paint, start_window, starts
from gpu_ops import processes

Figures = dict[str, Any]
PATIENCE = 300.0
"""Seconds that a benchmark may take; the first compilation is included."""


@dataclass(frozen=True)
class Bench:
    """A benchmark in its own process. `run(quick)` returns a value for each name in `limits`, and further details."""

    name: str
    what: str
    unit: str
    limits: Mapping[str, float]
    run: Callable[[bool], Figures]


def _slider(dtype: str, quick: bool) -> Figures:
    """Move a parameter without a pause over a large image; the event loop must not be blocked."""
    from app.shell.bench_stage import BenchWindow, Heartbeat

    with BenchWindow() as stage:
        stage.choose("mean2d", ("parallel",))
        stage.open_noise(size="8192x8192", dtype=dtype)
        session, shown = stage.controller.session, stage.count_outputs()
        widths = [*range(3, 22, 2), *range(19, 4, -2)]
        turns = 70 if quick else 200
        with Heartbeat() as beat:
            for turn in range(turns):
                session.set_params({**session.choice.params, "window": widths[turn % len(widths)]})
                stage.run_for(0.03)
            during = len(shown)
            stage.run_until(lambda: len(shown) > during)
        return {**beat.figures(), "results_while_moving": during}


def _long_run(quick: bool) -> Figures:
    """A computation of seconds, until its picture has been on the screen for a while: the event loop must not be
    blocked."""
    from app.shell.bench_stage import BenchWindow, Heartbeat

    with BenchWindow() as stage:
        stage.choose("mean2d", ("serial",))
        stage.open_noise(size="1536x1536" if quick else "2048x2048", dtype="float32")
        session, shown = stage.controller.session, stage.count_outputs()
        with Heartbeat() as beat:
            begin = time.perf_counter()
            session.set_params({**session.choice.params, "window": 63})
            stage.run_until(lambda: bool(shown))
            seconds = time.perf_counter() - begin
            stage.run_for(0.3)
        return {**beat.figures(), "computation_s": seconds}


def _signal(quick: bool) -> Figures:
    """Ten million samples: the time from their arrival to the sharp plot, then of a pan."""
    from app.shell.bench_stage import BenchWindow, PaintWatch

    with BenchWindow() as stage:
        stage.choose("mean1d", ())
        pane = stage.window.signal_pane
        stage.turn_to(pane)
        sharp = PaintWatch(pane.plot.viewport(), lambda: _settled(pane) and all(c.sharp for c in pane.curves))
        stage.open_noise(length=10_000_000, dtype="float32")
        stage.run_until(lambda: sharp.at is not None)
        show = stage.ms_since_arrival(sharp)
        pane.plane.zoom(4.0)
        stage.run_for(0.3)
        width = pane.view_range()[1] - pane.view_range()[0]
        frames = []
        for turn in range(20 if quick else 60):
            way = 1 if turn // 10 % 2 else -1
            pan = partial(pane.plane.pan, way * width / 50, 0.0)
            frames.append(stage.frame(pane.plot.viewport(), pan, lambda: _settled(pane)))
        return {"show": show, "pan": statistics.median(frames), "pan_max": max(frames)}


def _settled(pane: Any) -> bool:
    """Whether the plot has loaded the points of its visible range."""
    return bool(pane.curves) and pane.curves[0].pyramid is not None and pane.plot.settled


def _image(quick: bool) -> Figures:
    """A large image: the time from its arrival to the first paint, then of pans at several zooms."""
    from app.shell.bench_stage import BenchWindow, PaintWatch
    from app.views.window.main_window import INPUT

    with BenchWindow() as stage:
        stage.choose("mean2d", ())
        pane = stage.window.panes.pane(INPUT)
        first = PaintWatch(pane.canvas, lambda: pane.layer.pyramid is not None)
        sharp = PaintWatch(pane.canvas, lambda: pane.layer.sharp)
        stage.open_noise(size="8192x8192", dtype="float32")
        stage.run_until(lambda: sharp.at is not None)
        display, frames = stage.window.display, {}
        for zoom in (1.5, 4.0, 16.0):
            stage.window.actions_by_id["fit"].trigger()
            display.zoom_at(zoom, *display.centre)
            stage.run_for(0.2)
            times = []
            for turn in range(20 if quick else 60):
                step = (9 if turn // 10 % 2 else -9) * display.scale
                times.append(stage.frame(pane.canvas, partial(display.pan, step, step)))
            frames[zoom] = statistics.median(times)
        sizes = {"viewport": [pane.canvas.width(), pane.canvas.height()], "pan_by_zoom": frames}
        return {
            "show": stage.ms_since_arrival(first),
            "pan": max(frames.values()),
            **sizes,
            "sharp": stage.ms_since_arrival(sharp),
        }


def _another(quick: bool) -> Figures:
    """Replace a magnified input by another one of the same size: the time until it is sharp and has its own levels."""
    from app.shell.bench_stage import BenchWindow, PaintWatch
    from app.views.results.pictures import INPUT

    with BenchWindow() as stage:
        stage.choose("mean2d", ("parallel",))
        stage.open_noise(size="4096x4096", dtype="uint8")
        display, pane = stage.window.display, stage.window.panes.pane(INPUT)
        display.set_levels(10, 20)
        display.zoom_at(8.0, 100, 100)
        before = stage.controller.session.input

        def shows_new_input() -> bool:
            now = stage.controller.session.input
            if now is None or now is before or not pane.layer.sharp or not display.following:
                return False
            return (display.low, display.high) == (now.statistics.minimum, now.statistics.maximum)

        painted = PaintWatch(pane.canvas, shows_new_input)
        stage.open_noise(wait=False, size="4096x4096", dtype="float32")
        stage.run_until(lambda: painted.at is not None)
        return {"show": stage.ms_since_arrival(painted)}


def _open_meanwhile(quick: bool) -> Figures:
    """Another input is opened during a run of a minute."""
    from app.shell.bench_stage import BenchWindow, PaintWatch
    from app.views.results.pictures import INPUT

    with BenchWindow() as stage:
        stage.choose("mean2d", ("serial",))
        stage.open_noise(size="8192x8192", dtype="float32")
        stage.controller.session.set_params({**stage.controller.session.choice.params, "window": 63})
        stage.run_for(1.0)
        busy, pid = stage.controller.busy, stage.engine.client.pid
        pane = stage.window.panes.pane(INPUT)
        painted = PaintWatch(pane.canvas, lambda: pane.layer.shape == (512, 512))
        begin = time.perf_counter()
        stage.controller.open_sample("camera")
        stage.run_until(lambda: painted.at is not None)
        assert painted.at is not None
        figures = {"show": (painted.at - begin) * 1000, "something_ran": busy}
        return {**figures, "engine_ended_for_it": stage.engine.client.pid != pid}


def _memory(quick: bool) -> Figures:
    """An image of 8192² and three results: the private memory of the window's process."""
    from app.shell.bench_stage import BenchWindow, private_mb

    with BenchWindow() as stage:
        before = private_mb()
        stage.choose("mean2d", ("serial", "parallel", "scipy"))
        shown = stage.count_outputs()
        stage.open_noise(wait=False, size="8192x8192", dtype="float32")
        stage.run_until(lambda: {"serial", "parallel", "scipy"} <= set(shown))
        panes = stage.window.panes
        stage.run_until(lambda: all(panes.pane(key).layer.sharp for key in panes.keys))
        stage.run_for(0.5)
        return {"private": private_mb(), "before_the_input": before}


def _key(quick: bool) -> Figures:
    """A key press in the field of the filter's window: the time until the result's new pixels are painted."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QSpinBox

    from app.shell.bench_stage import BenchWindow

    with BenchWindow() as stage:
        stage.choose("mean2d", ("parallel",))
        stage.open_noise(size="1024x1024", dtype="float32")
        form = stage.window.panel.form
        spin = form.findChild(QSpinBox) if form is not None else None
        assert spin is not None, "the form of mean2d has a field for the width of its window"
        spin.setFocus()
        pane, times = stage.window.panes.pane("parallel"), []
        for _ in range(5 if quick else 15):
            press = partial(QTest.keyClick, spin, Qt.Key.Key_Up)
            times.append(stage.frame(pane.canvas, press, partial(_has_other_pixels, pane, pane.layer.pyramid)))
            stage.settle()
        return {"median": statistics.median(times), "slowest": max(times), "runs": times}


def _has_other_pixels(pane: Any, old: Any) -> bool:
    return pane.layer.pyramid is not old


GAPS = {"p99": 16.0, "max": 50.0}
FRAMES = {"swipe": 8.0, "flicker": 8.0}
LEFT = {"growth": 5.0, "objects": 0.0, "moved": 0.0}
STARTS = {"verified": 2.2, "first": 8.0}
BENCHES = (
    Bench("first_paint", "process start to first paint", "ms", {"median": 1000.0}, first_paint),
    Bench("start", "process start to the first verified picture, by a bare window", "×", STARTS, starts),
    Bench("slider_uint8", "event-loop gaps, slider over 8192² uint8", "ms", GAPS, partial(_slider, "uint8")),
    Bench("slider_float32", "event-loop gaps, slider over 8192² float32", "ms", GAPS, partial(_slider, "float32")),
    Bench("long_run", "event-loop gaps, long computation and its result", "ms", GAPS, _long_run),
    Bench(
        "signal",
        "10⁷ samples: arrival to full-resolution paint, pan frame",
        "ms",
        {"show": 100.0, "pan": 10.0},
        _signal,
    ),
    Bench("image", "8192² float32: arrival to first paint, pan frame", "ms", {"show": 100.0, "pan": 10.0}, _image),
    Bench(
        "another", "4096² float32 over another: arrival to full resolution, own levels", "ms", {"show": 150.0}, _another
    ),
    Bench("radius", "event-loop gaps, slider of a radius, four panes of 8192²", "ms", GAPS, radius),
    Bench("compared", "swipe and flicker between 8192² float32, a frame", "ms", FRAMES, compared),
    Bench("values", "values painted into pixels, a frame", "ms", {"cursor": 8.0, "pan": 8.0}, values),
    Bench("large", "private memory, four panes of 16384² float32", "MB", {"private": 600.0}, large),
    Bench("closed", "50 panes opened and closed, 40 resizes: %, objects, pixels", "", LEFT, closed),
    Bench("open_meanwhile", "a file opened during a long run, to its picture", "ms", {"show": 1000.0}, _open_meanwhile),
    Bench("memory", "private memory, 8192² float32 and 3 results", "MB", {"private": 400.0}, _memory),
    Bench("key_latency", "key press to new pixels, 1024² float32", "ms", {"median": 100.0}, _key),
    *(Bench(f"key_{name}", f"the same, {key.what}", "ms", {"median": 100.0}, key) for name, key in LIVE_KEYS.items()),
    *(Bench(f"key_{name}", f"the same, {key.what}", "ms", {"median": 60.0}, key) for name, key in GPU_KEYS.items()),
    Bench("spectrogram", "10⁷ samples: their choice to the spectrogram", "ms", {"show": 1000.0}, spectrogram),
)


def _process(name: str, *more: str) -> Figures:
    """Measure in a separate process. Raises RuntimeError with its last line of output when it fails."""
    command = [sys.executable, "-m", "app", "window-bench", "--one", name, *more]
    environment = {"QT_QPA_PLATFORM": "offscreen", **processes.environment()}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, cwd=processes.FOLDER, env=environment
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"nothing within {PATIENCE:g} s") from None
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def _rows(bench: Bench, quick: bool) -> list[Figures]:
    """One row for each limit. The row of a failed benchmark has the reason in place of a value."""
    try:
        figures, failure = _process(bench.name, *(["--quick"] if quick else [])), ""
    except RuntimeError as error:
        figures, failure = {}, str(error)
    details = {key: value for key, value in figures.items() if key not in bench.limits}
    rows = []
    for figure, limit in bench.limits.items():
        value = figures.get(figure)
        row = {"name": f"{bench.name}.{figure}", "what": bench.what, "unit": bench.unit, "measured": value}
        rows.append({**row, "limit": limit, "holds": None if value is None else value <= limit, "details": details})
        rows[-1]["failure"] = failure or figures.get(ABSENT, "")
        rows[-1][ABSENT] = ABSENT in figures
    return rows


def _line(row: Mapping[str, Any]) -> str:
    unit = row["unit"]
    if row["measured"] is None:
        return f"{row['name']:<22} {'–':>10}    ≤ {row['limit']:g} {unit:<4}  not measured: {row['failure']}"
    verdict = "yes" if row["holds"] else "NO"
    return (
        f"{row['name']:<22} {row['measured']:>10.4g} {unit}  ≤ {row['limit']:g} {unit:<4}  {verdict:<4} {row['what']}"
    )


def provenance() -> Figures:
    """Machine and versions of the measurement; no names of persons or paths."""
    from importlib.metadata import version

    from gpu_ops import machine

    content = machine([], with_roofs=False)
    content["libraries"] |= {"PySide6": version("PySide6-Essentials"), "pyqtgraph": version("pyqtgraph")}
    return {**content, "qt_platform": os.environ.get("QT_QPA_PLATFORM", "offscreen")}


def _parse(args: Sequence[str]) -> argparse.Namespace:
    names = [bench.name for bench in BENCHES]
    parser = argparse.ArgumentParser(prog="kernelscope window-bench", description="Benchmarks: " + ", ".join(names))
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--json", metavar="FILE", help="write the values and their provenance; - is standard output")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--one", choices=[*names, STARTED, VERIFIED], help=argparse.SUPPRESS)
    parser.add_argument("--since", type=int, default=0, help=argparse.SUPPRESS)
    parsed = parser.parse_args(args)
    for name in parsed.names:
        if name not in names:
            parser.error(f"there is no benchmark {name}; there are {', '.join(names)}")
    return parsed


def main(args: Sequence[str], command: Command) -> int:
    """Run benchmarks one after the other. A missed limit is reported; only a failed measurement is an error."""
    parsed = _parse(args)
    if parsed.one:
        one = {bench.name: bench.run for bench in BENCHES}
        start = parsed.one in (STARTED, VERIFIED)
        figures = start_window(parsed.since, command, parsed.one) if start else one[parsed.one](parsed.quick)
        print(json.dumps(figures))
        return 0
    rows: list[Figures] = []
    table = sys.stderr if parsed.json == "-" else sys.stdout
    print(f"{'name':<22} {'measured':>13}  {'required':<10} holds?", file=table)
    for bench in BENCHES:
        if not parsed.names or bench.name in parsed.names:
            new = _rows(bench, parsed.quick)
            print(*map(_line, new), sep="\n", file=table, flush=True)
            rows += new
    if parsed.json and not _write(parsed.json, {"provenance": provenance(), "quick": parsed.quick, "rows": rows}):
        return 2
    return 1 if any(row["measured"] is None and not row[ABSENT] for row in rows) else 0


def _write(path: str, content: Figures) -> bool:
    """Write the results. Returns whether that worked; if not, it prints why."""
    from gpu_ops import KernelscopeError, write_report

    if path == "-":
        print(json.dumps(content, indent=1))
        return True
    try:
        write_report(path, content)
    except KernelscopeError as error:
        print(f"kernelscope: {error}", file=sys.stderr)
        return False
    return True
