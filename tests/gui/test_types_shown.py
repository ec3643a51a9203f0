"""Inputs of types that filters do not take: shown as they are, and converted by a step that the message offers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import tifffile
from fake_engine import FakeEngine
from PySide6.QtCore import Qt

from app.models.pictures.pyramid import DRAWN, Pyramid, to_uint8
from app.models.results.view_data import INPUT
from gpu_ops import apply_steps, from_array
from gpu_ops.engine.messages import Finished, RunRequest, Stepped, StepsRequest
from gpu_ops.engine.shared import SharedArray

OTHERS = ("int8", "int16", "int32", "uint32", "int64", "uint64", "float16")
"""The types that no filter takes."""


def ramp(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Values over the range of an integer type, -2 to 2 of floats, both of bool."""
    if dtype == "bool":
        return (2 * np.arange(int(np.prod(shape))) >= np.prod(shape)).reshape(shape)
    if dtype.startswith("float"):
        return np.linspace(-2, 2, int(np.prod(shape))).reshape(shape).astype(dtype)
    info = np.iinfo(dtype)
    values = np.linspace(float(info.min), float(info.max) * (1 - 2**-24), int(np.prod(shape)))
    return values.reshape(shape).astype(dtype)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.mark.parametrize("dtype", DRAWN)
def test_every_type_is_drawn_between_its_levels(dtype: str) -> None:
    image = ramp(dtype, (64, 96))
    low, high = float(image.min()), float(image.max())
    expected = (image.astype(np.float64) - low) * (255 / (high - low))
    pyramid = Pyramid(image, (low, 0.0, high))
    assert pyramid.build() and len(pyramid.levels) > 1
    whole = to_uint8(pyramid.sample(0, 0, 1.0, 96, 64).array, low, high)
    assert np.abs(whole - expected).max() <= 0.51
    halved = to_uint8(pyramid.sample(0, 0, 2.0, 48, 32).array, low, high)
    assert np.abs(halved - expected.reshape(32, 2, 48, 2).mean(axis=(1, 3))).max() <= 1.51
    assert np.array_equal(to_uint8(image, low, high), whole)  # as the clipboard takes it


def test_alpha_of_any_integers_is_their_share_of_the_largest() -> None:
    for dtype in ("uint8", "int8", "int16", "uint32", "bool"):
        image = np.zeros((2, 2, 4), dtype)
        image[0, :, 3] = True if dtype == "bool" else np.iinfo(dtype).max
        alpha = to_uint8(Pyramid(image).sample(0, 0, 1.0, 2, 2).array, 0, 1)[..., 3]
        assert alpha.tolist() == [[255, 255], [0, 0]]


SHAPES = ((12, 17), (9, 8, 3), (300,), (9, 8, 4), (300, 2))
ALL_SHAPES = pytest.param(SHAPES, marks=pytest.mark.thorough)


@pytest.mark.parametrize("shapes", [SHAPES[:1], SHAPES[2:3], ALL_SHAPES])
def test_the_window_shows_it_and_offers_a_step(shapes: tuple[tuple[int, ...], ...], window, engine) -> None:
    for dtype in OTHERS:
        for shape in shapes:
            kind = "signal" if shape[0] == 300 else "image"
            engine.show(from_array(ramp(dtype, shape), kind))
            if kind == "image":
                layer = window.stack.view.grid.pane(INPUT).layer
                assert layer.pyramid is not None and layer.pyramid.array.dtype == dtype
                assert not window.stack.view.grid.pane(INPUT).grab().isNull()
            (message,) = window.messages.messages()
            assert message.text.startswith(f"array is {dtype}, and Mean") and "convert it first" in message.text
            assert not [r for r in engine.asked if isinstance(r, RunRequest)] and not window.controller.busy
            target = "float32" if dtype in ("int8", "int16", "float16") else "float64"
            assert list(message.choices) == [
                f"Convert to {target}{', rounded' if dtype in ('int64', 'uint64') else ''}"
            ]


def test_the_offered_step_converts_and_the_filter_runs(qtbot, window, engine) -> None:
    image = np.arange(-60, 60, dtype=np.int16).reshape(10, 12)
    engine.show(from_array(image))
    (button,) = [b for row in window.messages.rows for b in row.choice_buttons]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    request = engine.asked[-1]
    assert isinstance(request, StepsRequest) and [s["dtype"] for s in request.steps] == ["float32"]
    done = apply_steps(from_array(image), request.steps)
    assert np.array_equal(done.array, image) and done.array.dtype == np.float32
    engine.arrays["converted"] = done.array
    shared = replace(request.input, array=SharedArray("converted", (10, 12), "float32"), origin=done.origin)
    engine.answered.emit(Stepped(request.job, shared, ("converted",)))
    engine.answered.emit(Finished(request.job))
    assert not window.messages.messages() and isinstance(engine.asked[-1], RunRequest)
    assert {slot.variant for slot in window.controller.results.slots()} == set(window.controller.session.choice.picks)
    window.controller.session.undo()
    assert len(window.messages.messages()) == 1


def test_whole_numbers_that_fit_may_stay_whole(window, engine) -> None:
    engine.show(from_array(np.arange(120, dtype=np.int32).reshape(10, 12)))
    (message,) = window.messages.messages()
    assert list(message.choices) == ["Convert to float32", "Convert to uint8"]


def test_a_filter_says_which_of_the_usual_types_it_lacks(window, engine) -> None:
    engine.show(from_array(np.zeros((9, 9))))
    window.controller.session.set_filter("box")
    (message,) = window.messages.messages()
    assert message.text.startswith("array is float64, and ") and list(message.choices) == [
        "Convert to float32, rounded"
    ]
    window.controller.session.set_filter("mean2d")
    assert not window.messages.messages()


def test_a_note_of_the_reader_stays_until_another_input_comes(window, engine, tmp_path) -> None:
    pages = np.zeros((2, 4, 5), np.uint8)
    tifffile.imwrite(tmp_path / "a.tif", pages, metadata=None, description="ImageJ=1.52a\nimages=7\nframes=7\n")
    window.controller.open_file(str(tmp_path / "a.tif"))
    engine.end()
    (message,) = window.messages.messages()
    assert (message.kind, message.passing) == ("info", False)
    assert message.text == "a.tif: Its description says 7 frames, and it has 2."
    engine.show(from_array(np.zeros((4, 4), np.uint8)))
    assert not window.messages.messages()
