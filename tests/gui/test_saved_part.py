"""Which result is saved: the one that somebody looks at; a part of one only after a question, with its true place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act
from live import PATIENCE, live_window, real_engine, settle
from PySide6.QtCore import Qt
from result_rows import row
from simulated_rows import SIM, bring, ready, simulated
from test_saving_window import press, requests

from gpu_ops import find_filter, from_array, load, save
from gpu_ops.running.affordable import affordable, exact_crop
from gpu_ops.task import Task

SIDE = 300
WHOLE = np.random.default_rng(0).integers(0, 255, (SIDE, SIDE + 40), np.uint8)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def mixed(window, engine):
    """A picture, its mean by two variants of the CPU, and the part of it that a simulated GPU has made."""
    ready(engine, SIM)
    engine.show(from_array(WHOLE))
    part, place = affordable(from_array(WHOLE))
    region = exact_crop(find_filter("mean2d"), Task.of(part.meta, {"window": 3}), WHOLE.shape, place)
    for variant in ("serial", "parallel"):
        bring(window, engine, row(variant, "cpu", None), WHOLE)
    for variant in ("naive", "shared"):
        made = simulated(variant, input={**part.origin})
        bring(window, engine, made, part.array[region.cut], region.place)
    return window


def saved_as(window, tmp_path: Path) -> Callable[..., str]:
    """What the user is asked to name, which is saved as NPY."""
    asked: list[tuple[str, str]] = []
    window.files.target = lambda _parent, title, proposed, _kinds: (
        asked.append((title, Path(proposed).name)) or str(tmp_path / "out.npy")
    )
    return lambda: asked[-1][1] if asked else ""


def click(qtbot, window, variant: str) -> None:
    qtbot.mouseClick(window.panes.pane(variant).canvas, Qt.MouseButton.LeftButton)


def test_the_last_whole_result_is_saved_where_none_was_clicked(mixed, engine, tmp_path: Path) -> None:
    name = saved_as(mixed, tmp_path)
    act(mixed, "save")
    assert name() == "array-mean-window3-parallel.png" and not mixed.messages.messages()
    assert requests(engine)[-1].result.form.shape == WHOLE.shape


def test_the_result_that_was_clicked_is_saved(qtbot, mixed, engine, tmp_path: Path) -> None:
    name = saved_as(mixed, tmp_path)
    click(qtbot, mixed, "serial")
    mixed.panel.setFocus()
    act(mixed, "save")
    assert name() == "array-mean-window3-serial.png" and requests(engine)[-1].saving.about["variant"] == "serial"
    act(mixed, "copy_image")
    mixed.controller.session.set_filter("conv3x3")
    mixed.controller.session.set_filter("mean2d")
    assert mixed.stack.looked_at.variant == "", "these are other results"


def test_a_part_is_saved_only_after_a_question(qtbot, mixed, engine, tmp_path: Path) -> None:
    name = saved_as(mixed, tmp_path)
    click(qtbot, mixed, "naive")
    act(mixed, "save")
    assert name() == "" and not requests(engine)
    message = mixed.messages.current()
    assert "1 naive on a part of the input only: its result has 254 × 254 of 340 × 300" in message.text
    assert list(message.choices) == ["Save the part", "Save CPU, all cores instead"]
    press(qtbot, mixed, "Save CPU, all cores instead")
    assert name() == "array-mean-window3-parallel.png"
    act(mixed, "save")
    press(qtbot, mixed, "Save the part")
    assert name() == "array-mean-window3-naive-part.png"
    first, second = requests(engine)
    assert (first.result.form.shape, second.result.form.shape) == (WHOLE.shape, (254, 254))
    about = second.saving.about
    assert about["part"] == "254 x 254 from x 43 y 23 on, of 340 x 300" and "steps" not in about


def test_only_parts_ask_as_well(qtbot, mixed, engine, tmp_path: Path) -> None:
    name = saved_as(mixed, tmp_path)
    mixed.controller.session.set_picks(("naive", "shared"))
    act(mixed, "save")
    assert name() == "" and list(mixed.messages.current().choices) == ["Save the part"]


def test_in_a_comparison_the_visible_result_is_saved(mixed, engine, tmp_path: Path) -> None:
    name, grid = saved_as(mixed, tmp_path), mixed.panes
    grid.set_mode("flicker")
    grid.set_pair("serial", "parallel")
    act(mixed, "save")
    assert "-serial" in name()
    grid.compare.flickered = True
    act(mixed, "save")
    assert "-parallel" in name()
    grid.set_mode("swipe")
    grid.set_pair("input", "parallel")
    act(mixed, "save")
    assert "-parallel" in name()


def test_what_has_no_result_yet_is_not_replaced_by_another_one(qtbot, window, engine, tmp_path: Path) -> None:
    engine.show(from_array(WHOLE))
    name = saved_as(window, tmp_path)
    bring(window, engine, row("parallel", "cpu", None), WHOLE)
    click(qtbot, window, "serial")
    act(window, "save")
    assert name() == "" and "There is no result to save yet" in window.messages.current().text


@pytest.mark.thorough  # an engine of its own
def test_a_simulated_result_is_saved_whole_once_it_is(qtbot, tmp_path: Path) -> None:
    save(tmp_path / "in.npy", WHOLE)
    with real_engine() as engine, live_window(qtbot, engine, "sim", picks=("serial", "naive")) as window:
        settle(qtbot, window.controller, lambda: window.controller.open_file(str(tmp_path / "in.npy")))
        found: dict[str, Any] = {}
        for variant, target in (("serial", "cpu.npy"), ("naive", "sim.npy")):
            window.files.target = lambda *_, name=target: str(tmp_path / name)
            click(qtbot, window, variant)
            what = window.controller.result_to_save(variant)
            found[target] = window.files.saver._facts(what)
            act(window, "save")
            events = f"Saved {target}"
            qtbot.waitUntil(
                lambda events=events: any(m.text.startswith(events) for m in window.messages.messages()),
                timeout=PATIENCE,
            )
    np.testing.assert_array_equal(load(tmp_path / "sim.npy").array, load(tmp_path / "cpu.npy").array)
    assert all("part" not in facts for facts in found.values())
