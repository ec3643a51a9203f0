"""What the compare board costs, for `kernelscope window-bench`: frames, memory, and what remains of closed panes."""

from __future__ import annotations

import gc
import statistics
from functools import partial
from typing import Any

Figures = dict[str, Any]
RESULTS = ("serial", "parallel", "opencv")
"""Variants of a box whose results are next to the input in four panes."""


def radius(quick: bool) -> Figures:
    """Sweep the slider of a radius while four panes show 8192²; the event loop must not be blocked."""
    from PySide6.QtWidgets import QSlider

    from app.shell.bench_stage import BenchWindow, Heartbeat

    with BenchWindow() as stage:
        stage.choose("box", RESULTS)
        stage.open_noise(size="8192x8192", dtype="uint8")
        form, shown = stage.window.panel.form, stage.count_outputs()
        slider = form.editor("radius").findChild(QSlider) if form is not None else None
        assert slider is not None and len(stage.window.panes.keys) == 4
        values, turns = [*range(1, 40), *range(38, 1, -1)], 70 if quick else 200
        with Heartbeat() as beat:
            for turn in range(turns):
                slider.setValue(values[turn % len(values)])
                stage.run_for(0.03)
            during = len(shown)
            stage.run_until(lambda: len(shown) > during)
        return {**beat.figures(), "results_while_moving": during}


def compared(quick: bool) -> Figures:
    """Two pictures of 8192² in one place: a frame of a divider that is dragged, and of a flicker."""
    from app.shell.bench_stage import BenchWindow

    with BenchWindow() as stage:
        stage.choose("box", ("parallel",))
        stage.open_noise(size="8192x8192", dtype="float32")
        grid, turns, found = stage.window.panes, 20 if quick else 60, Figures()
        for mode in ("swipe", "flicker"):
            grid.set_mode(mode)
            stage.run_for(0.3)
            times = []
            for turn in range(turns):
                swipe = partial(grid.compare.set_divider, 0.2 + 0.6 * turn / turns)
                do = swipe if mode == "swipe" else partial(grid.flicker, turn % 2 == 0)
                times.append(stage.frame(grid.compare, do))
            found |= {mode: statistics.median(times), f"{mode}_slowest": max(times)}
        return found


def values(quick: bool) -> Figures:
    """Pixels so large that their values are painted into them: a frame of a moving cursor, and of a pan."""
    from app.shell.bench_stage import BenchWindow
    from app.views.results.pictures import INPUT

    with BenchWindow() as stage:
        stage.choose("box", ())
        stage.open_noise(size="1024x1024", dtype="uint8")
        pane, display, found = stage.window.panes.pane(INPUT), stage.window.display, Figures()
        display.zoom_at(display.scale * 32, *display.centre)
        stage.run_for(0.3)
        for name in ("cursor", "pan"):
            times = []
            for turn in range(20 if quick else 60):
                x, y = display.centre
                cursor = partial(display.set_cursor, x + turn % 7, y)
                pan = partial(display.pan, (5 if turn // 10 % 2 else -5) * display.scale, 2 * display.scale)
                times.append(stage.frame(pane.canvas, cursor if name == "cursor" else pan))
            found |= {name: statistics.median(times), f"{name}_slowest": max(times)}
        laid = pane.canvas.laid
        return {**found, "letters": sum(len(run.glyphIndexes()) for run in laid[0].runs.values()) if laid else 0}


def large(quick: bool) -> Figures:
    """An input of 16384² and three results: the private memory of the window's process."""
    from app.shell.bench_stage import BenchWindow, private_mb

    with BenchWindow() as stage:
        before = private_mb()
        stage.choose("box", RESULTS)
        shown = stage.count_outputs()
        stage.open_noise(wait=False, size="16384x16384", dtype="uint8" if quick else "float32")
        stage.run_until(lambda: set(RESULTS) <= set(shown))
        panes = stage.window.panes
        stage.run_until(lambda: all(panes.pane(key).layer.sharp for key in panes.keys))
        stage.run_for(0.5)
        return {"private": private_mb(), "before_the_input": before, "panes": len(panes.keys)}


def closed(quick: bool) -> Figures:
    """Open and close fifty panes, then resize the window forty times: the growth of private memory, the objects left,
    and how far what linked panes show has moved, in pixels of the screen."""
    from PySide6.QtCore import QObject

    from app.shell.bench_stage import BenchWindow, private_mb

    with BenchWindow() as stage:
        stage.choose("box", ())
        stage.open_noise(size="1024x1024", dtype="float32")
        session, window, display = stage.controller.session, stage.window, stage.window.display

        def turn(times: int) -> tuple[float, int]:
            for _ in range(times):
                session.set_picks(RESULTS)
                stage.settle()
                session.set_picks(())
                stage.settle()
            gc.collect()
            return private_mb(), len(window.findChildren(QObject))

        before, after = turn(3), turn(5 if quick else 17)
        session.set_picks(RESULTS)
        stage.settle()
        display.zoom_at(8.0, 300.0, 400.0)
        stage.run_for(0.1)
        place, scale, moved = display.centre, display.scale, 0.0
        for number in range(40):
            window.resize(1000 + 37 * number % 500, 640 + 53 * number % 300)
            stage.run_for(0.02)
            away = max(abs(now - then) / scale for now, then in zip(display.centre, place, strict=True))
            moved = max(moved, away + abs(display.scale / scale - 1) * 1000)
        growth = 100 * (after[0] / before[0] - 1)
        return {"growth": growth, "objects": after[1] - before[1], "moved": moved, "private_mb": [before[0], after[0]]}
