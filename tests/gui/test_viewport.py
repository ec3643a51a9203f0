"""A picture that moves with the view is the picture made anew, byte for byte."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from lanes import each_once
from PySide6.QtCore import QThreadPool
from pytestqt.qtbot import QtBot

from app.models.background import urgent_pool
from app.models.pictures import pyramid as pyramid_module
from app.models.pictures import viewport as viewport_module
from app.models.pictures.display import colors
from app.models.pictures.pyramid import Pyramid, Samples
from app.models.pictures.viewport import Frame, Rect, Tone, Viewport

Array = np.ndarray[Any, Any]
SIZE = 97, 61
TONE = Tone(-1.0, 1.5, None)


@pytest.fixture(autouse=True)
def no_work_is_left() -> Iterator[None]:
    yield
    QThreadPool.globalInstance().waitForDone()
    urgent_pool.waitForDone()


def image(kind: str) -> Array:
    """An odd-sized image: dtype, then its channels, then whether it has NaN."""
    dtype, channels, *nan = kind.split()
    rng = np.random.default_rng(5)
    shape = (211, 333) if channels == "1" else (211, 333, int(channels))
    if dtype[0] == "u":
        return rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    array = rng.standard_normal(shape).astype(dtype)
    array[rng.random(shape) > 0.999] *= 30
    if nan:
        array[150:154, 200:300:7] = np.nan
    return array


def anew(pyramid: Pyramid, frame: Frame, tone: Tone) -> Samples | None:
    return Viewport().picture(pyramid, frame, tone)


def assert_same(one: Samples | None, other: Samples | None) -> None:
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert (one.x, one.y, one.array.shape, one.array.dtype) == (
            other.x,
            other.y,
            other.array.shape,
            other.array.dtype,
        )
        assert np.array_equal(one.array, other.array)
        assert one.array.flags.c_contiguous  # as a QImage needs it


@pytest.mark.parametrize(
    "kind, scale, stored",
    each_once(
        ("uint8 1", "uint16 1", "float32 1", "float32 1 nan", "float64 1 nan", "uint8 3", "float32 4 nan"),
        (0.07, 0.5, 1.0, 1.37, 2.0, 2.61, 3.999, 7.3),
        (True, False),
    ),
)
def test_a_walk(kind: str, scale: float, stored: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyramid_module, "LARGE", 1 << 30 if stored else 1)
    pyramid = Pyramid(image(kind))
    assert pyramid.build() and (pyramid.levels[1] is not None) == stored
    tone = Tone(-1.0, 1.5, None) if kind[0] == "f" else Tone(20.0, 200.0, colors("viridis"))
    rng, viewport, centre = np.random.default_rng(3), Viewport(), np.array([166.0, 105.0])
    seen = 0
    for step in range(60):
        reach = 400 if step % 20 == 19 else 12
        centre += rng.integers(-reach, reach, 2, endpoint=True) * scale * rng.choice([1, 0.77])
        if step % 15 == 14:
            centre = np.array([280.0, 150.0])
        frame = Frame.around((centre[0], centre[1]), scale, *SIZE)
        found = viewport.picture(pyramid, frame, tone)
        assert_same(found, anew(pyramid, frame, tone))
        seen += found is not None
    assert 20 < seen <= 60


def test_only_what_comes_into_sight_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    pyramid, asked = Pyramid(image("float32 1")), []
    pyramid.build()
    sample = Pyramid.sample

    def events(self: Pyramid, *args: Any, **more: Any) -> Samples:
        asked.append(args[3] * args[4])
        return sample(self, *args, **more)

    monkeypatch.setattr(Pyramid, "sample", events)
    viewport, (rect, scale) = Viewport(), Frame.around((166.0, 105.0), 1.5, *SIZE)
    viewport.picture(pyramid, Frame(rect, scale), TONE)
    assert asked == [97 * 61]
    asked.clear()
    moved = Rect(rect.left + 3, rect.top - 2, rect.right + 3, rect.bottom - 2)
    viewport.picture(pyramid, Frame(moved, scale), TONE)
    assert sum(asked) == 2 * 97 + 3 * 59
    asked.clear()
    viewport.picture(pyramid, Frame(moved, scale), Tone(0.0, 1.0, colors("magma")))
    assert not asked  # levels and colours need no values anew


def test_whatever_else_changes_is_seen() -> None:
    one, other = Pyramid(image("float32 1")), Pyramid(image("float32 1 nan"))
    one.build()
    viewport, (rect, _) = Viewport(), Frame.around((166.0, 105.0), 2.5, *SIZE)
    wider = Rect(*rect[:3], rect.bottom + 5)
    lut = colors("viridis")
    turns = [
        (one, rect, 2.5, TONE),
        (other, rect, 2.5, TONE),  # not built: single pixels
        (other, rect, 2.51, TONE),
        (other, rect, 2.51, Tone(-1.0, 1.6, None)),
        (other, rect, 2.51, Tone(-1.0, 1.6, lut)),
        (other, wider, 2.51, Tone(-1.0, 1.6, lut)),
    ]
    pictures = []
    for pyramid, area, scale, tone in turns:
        found = viewport.picture(pyramid, Frame(area, scale), tone)
        assert_same(found, anew(pyramid, Frame(area, scale), tone))
        assert found is not None
        pictures.append(found.array)
    assert not any(np.array_equal(a, b) for a, b in zip(pictures, pictures[1:], strict=False))
    other.build()
    found = viewport.picture(other, Frame(wider, 2.51), turns[-1][3])
    assert_same(found, anew(other, Frame(wider, 2.51), turns[-1][3]))
    assert found is not None and not np.array_equal(found.array, pictures[-1])


def test_a_frame_is_at_most_half_a_pixel_off_and_moves_steadily() -> None:
    rng = np.random.default_rng(8)
    for _ in range(500):
        x, y = rng.uniform(-100, 9000, 2)
        scale, width, height = float(rng.uniform(0.01, 30)), *map(int, rng.integers(1, 3000, 2))
        rect, _ = Frame.around((x, y), scale, width, height)
        assert (rect.right - rect.left, rect.bottom - rect.top) == (width, height)
        assert abs((rect.left + rect.right) / 2 - x / scale) <= 0.5001
        assert abs((rect.top + rect.bottom) / 2 - y / scale) <= 0.5001
    for scale in (1.0, 0.3, 4.7):
        centre, lefts = 51 * scale, []  # with an odd width each middle is halfway between two pixels
        for _ in range(200):
            lefts.append(Frame.around((centre, 0.0), scale, 101, 10).rect.left)
            centre += 7 * scale
        assert set(np.diff(lefts)) == {7}


def test_parts_of_a_rectangle_tile_it() -> None:
    rng = np.random.default_rng(4)
    for _ in range(300):
        one, other = (Rect(*map(int, (*a, *(a + rng.integers(1, 12, 2))))) for a in rng.integers(0, 12, (2, 2)))
        counts = np.zeros((30, 30), int)
        for part in one.without(other):
            counts[part.top : part.bottom, part.left : part.right] += 1
        expected = np.zeros((30, 30), int)
        expected[one.top : one.bottom, one.left : one.right] = 1
        expected[other.top : other.bottom, other.left : other.right] = 0
        assert np.array_equal(counts, expected)


@pytest.mark.parametrize("scale", [1.2, 2.5, 5.5])
def test_too_much_for_a_frame_is_rough_first(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, scale: float) -> None:
    monkeypatch.setattr(pyramid_module, "LARGE", 1)
    pyramid = Pyramid(image("float32 1 nan"))
    pyramid.build()
    (rect, _) = Frame.around((166.0, 105.0), scale, *SIZE)
    moved = Rect(rect.left + 4, rect.top + 1, rect.right + 4, rect.bottom + 1)
    wanted = anew(pyramid, Frame(moved, scale), TONE)
    monkeypatch.setattr(viewport_module, "EFFORT", 10_000)
    gate, started = threading.Event(), []
    in_bands = viewport_module._in_bands

    def held(*args: Any) -> Any:
        started.append(threading.current_thread())
        gate.wait(60)
        return in_bands(*args)

    monkeypatch.setattr(viewport_module, "_in_bands", held)
    monkeypatch.setattr(viewport_module, "BAND", 97 * 10)
    viewport = Viewport()
    for place in (rect, moved):  # a pan does not start it anew
        found = viewport.picture(pyramid, Frame(place, scale), TONE)
        assert viewport.rough
    assert found is not None and wanted is not None and not np.array_equal(found.array, wanted.array)
    with qtbot.waitSignal(viewport.sharpened):
        gate.set()
    assert_same(viewport.picture(pyramid, Frame(moved, scale), TONE), wanted)
    assert not viewport.rough and len(started) == 1 and started[0] is not threading.main_thread()


def test_work_for_another_zoom_is_dropped(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    pyramid = Pyramid(image("float32 1"))
    pyramid.build()
    monkeypatch.setattr(viewport_module, "EFFORT", 1)
    viewport, frames = Viewport(), [Frame.around((166.0, 105.0), scale, *SIZE) for scale in (1.2, 1.7)]
    for frame in frames:
        viewport.picture(pyramid, frame, TONE)
    with qtbot.waitSignal(viewport.sharpened):
        pass
    found = viewport.picture(pyramid, frames[1], TONE)
    assert not viewport.rough
    monkeypatch.undo()
    assert_same(found, anew(pyramid, frames[1], TONE))
    monkeypatch.setattr(viewport_module, "EFFORT", 1)
    viewport.picture(pyramid, frames[0], TONE)
    viewport.forget()
    with qtbot.assertNotEmitted(viewport.sharpened, wait=100):
        pass


@pytest.mark.parametrize("other", ["same", "another size", "another zoom"])
def test_a_large_image_shows_the_one_before_until_its_own_pixels_are_there(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    monkeypatch.setattr(viewport_module, "PICKS", 100)
    frame = Frame.around((166.0, 105.0), 3.0, *SIZE)
    before, after = Pyramid(image("float32 1")), Pyramid(image("float32 1")[::-1].copy())
    viewport, sampled = Viewport(), list[object]()
    original = viewport.picture(before, frame, TONE)
    sample = Pyramid.sample

    def noted(*args: Any, **options: Any) -> Samples:
        sampled.append(threading.current_thread())
        return sample(*args, **options)

    monkeypatch.setattr(Pyramid, "sample", noted)
    viewport.renew()
    if other != "same":  # nothing of the image before can stand for it
        if other == "another size":
            after = Pyramid(image("float32 1")[:-1].copy())
        else:
            frame = Frame.around((166.0, 105.0), 3.5, *SIZE)
        assert_same(viewport.picture(after, frame, TONE), anew(after, frame, TONE))
        assert not viewport.behind
        return
    assert_same(viewport.picture(after, frame, TONE), original)
    with qtbot.waitSignal(viewport.sharpened):
        assert viewport.behind and threading.main_thread() not in sampled
    found = viewport.picture(after, frame, TONE)
    assert not viewport.behind and threading.main_thread() not in sampled
    assert_same(found, anew(after, frame, TONE))
    viewport.forget()  # another input: nothing of the image before is shown as its own
    viewport.picture(before, frame, TONE)
    assert not viewport.behind
