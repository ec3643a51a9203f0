"""Reduction, cutting and mapping to bytes: arrays only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from app.models.pictures import pyramid as pyramid_module
from app.models.pictures.display import colors
from app.models.pictures.nonfinite import INFINITE_COLOR, NAN_COLOR
from app.models.pictures.pyramid import Pyramid, quick_range, to_uint8

PLAIN = (-1e9, 0.0, 1e9)  # nothing is an outlier
SHAPES = [(1, 1), (1, 7), (17, 33), (20000, 3), (64, 64), (129, 255, 3), (40, 50, 4)]


def built(array: np.ndarray[Any, Any], percentiles: tuple[float, float, float] | None = None) -> Pyramid:
    pyramid = Pyramid(array, percentiles)
    assert pyramid.build()
    return pyramid


def filled(shape: tuple[int, ...], dtype: str, seed: int = 1) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, shape).astype(dtype) if dtype[0] == "u" else rng.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_levels_halve_and_stay_small(shape: tuple[int, ...], dtype: str) -> None:
    array = filled(shape, dtype)
    pyramid = built(array)
    assert pyramid.array is array and pyramid.complete
    for finer, coarser in zip(pyramid.levels, pyramid.levels[1:], strict=False):
        assert coarser.shape == (-(-finer.shape[0] // 2), -(-finer.shape[1] // 2), *finer.shape[2:])
        assert coarser.dtype == array.dtype
    assert max(pyramid.levels[-1].shape[:2]) <= 32
    if min(shape[:2]) > 30:
        assert pyramid.nbytes <= 0.45 * array.nbytes


def test_the_array_may_be_read_only_and_strided() -> None:
    array = filled((200, 300), "float32")[::2, ::3]
    array.setflags(write=False)
    assert np.array_equal(built(array).levels[1], built(array.copy()).levels[1])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_cells_are_means(dtype: str) -> None:
    array = filled((64, 96), dtype)
    mean = array.astype(np.float64).reshape(32, 2, 48, 2).mean(axis=(1, 3))
    level = built(array, PLAIN).levels[1]
    assert np.abs(level - mean).max() <= (0.75 if dtype[0] == "u" else 1e-6)


@pytest.mark.parametrize("value", [0, 7, 255])
def test_a_constant_stays_itself(value: int) -> None:
    for level in built(np.full((300, 200), value, np.uint8)).levels:
        assert (level == value).all()


def test_integers_do_not_brighten() -> None:
    array = filled((1024, 1024), "uint8")
    assert abs(built(array, PLAIN).levels[5].mean() - array.mean()) < 0.2


@pytest.mark.parametrize("large", [1, 1 << 22])
@pytest.mark.parametrize("hot", [1000, 0])
def test_hot_and_dead_pixels_survive_every_level_and_zoom(
    hot: int, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyramid_module, "LARGE", large)
    array = filled((1000, 800), "uint16") + np.uint16(400)
    array[333, 222] = hot
    pyramid = built(array)
    extreme = np.max if hot else np.min
    for level in pyramid.levels:
        assert level is None or extreme(level) == hot
    for scale in np.geomspace(1, 30, 23):
        assert extreme(pyramid.sample(-4, -3, scale, 900, 1100).array) == hot


def test_plain_noise_fades() -> None:
    level = built(filled((2048, 2048), "float32")).levels[4]
    assert 0.03 < np.median(np.abs(level)) < 0.1 and (np.abs(level) > 1).mean() < 0.02


def test_nan_and_infinity_survive() -> None:
    array = filled((256, 256), "float32")
    array[100, 100], array[200, 200], array[10, 10], array[10, 11] = np.nan, np.inf, np.inf, -np.inf
    for level in built(array).levels[1:]:
        assert np.isnan(level).sum() == 2 and np.isposinf(level).sum() == 1


def test_all_nan() -> None:
    array = np.full((100, 90), np.nan, np.float32)
    assert quick_range(array) == (0, 0)
    painted = to_uint8(built(array).sample(0, 0, 2, 45, 50).array, 0, 1)
    assert (painted == (*NAN_COLOR, 255)).all()


def test_sample_magnifies_to_the_nearest() -> None:
    array = np.arange(6, dtype=np.uint8).reshape(2, 3)
    found = built(array).sample(-4, -4, 0.25, 24, 20)
    assert (found.x, found.y) == (0, 0)
    assert np.array_equal(found.array, array.repeat(4, axis=0).repeat(4, axis=1))


def test_before_it_is_built_single_pixels_show() -> None:
    array = filled((1000, 1000), "float32")
    found = Pyramid(array).sample(0, 0, 10, 100, 100).array
    assert np.array_equal(found, array[::10, ::10])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(401, 517), (256, 300, 3), (1, 3000)])
def test_a_level_that_is_not_stored_has_the_same_cells(
    shape: tuple[int, ...], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = filled(shape, dtype)
    array[:, 77] = 0
    if dtype[0] == "f":
        array[0, 99] = np.nan
    stored = built(array)
    monkeypatch.setattr(pyramid_module, "LARGE", 1)
    monkeypatch.setattr(pyramid_module, "STRIP", 4000)  # several strips, whatever the width
    lean = built(array)
    assert lean.levels[1] is None and lean.nbytes <= stored.nbytes / (3 if shape[0] > 1 else 2)
    for one, other in zip(stored.levels[2:], lean.levels[2:], strict=True):
        assert one is not None and other is not None and np.array_equal(one, other, equal_nan=dtype[0] == "f")
    for scale in (0.4, 1.0, 1.9, 2.0, 2.5, 3.3, 3.999, 4.0, 6.1):
        one, other = (p.sample(-20, -10, scale, 700, 450) for p in (stored, lean))
        assert (one.x, one.y) == (other.x, other.y)
        assert np.array_equal(one.array, other.array, equal_nan=dtype[0] == "f")


def test_every_part_of_a_viewport_is_as_in_the_whole() -> None:
    pyramid = built(filled((300, 400), "float32"))
    for scale in np.geomspace(0.2, 20, 29):
        whole = pyramid.sample(0, 0, scale, 60, 50).array
        part = pyramid.sample(11, 7, scale, 9, 10)
        if part.array.size:
            assert (part.x, part.y) == (11, 7)
            assert np.array_equal(part.array, whole[7:17, 11:20])


def test_building_stops() -> None:
    pyramid = Pyramid(filled((512, 512), "uint8"))
    assert not pyramid.build(lambda: True) and not pyramid.complete and len(pyramid.levels) == 1


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((3, 3, 2)), np.zeros((0, 3)), np.zeros((3, 3), np.complex64)])
def test_what_is_no_image_is_refused(bad: np.ndarray[Any, Any]) -> None:
    with pytest.raises(ValueError, match="an image"):
        Pyramid(bad)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_levels_map_to_bytes(dtype: str) -> None:
    part = np.array([[0, 50, 100, 150, 200]], dtype)
    assert np.abs(to_uint8(part, 50, 150)[0] - np.array([0, 0, 127.5, 255, 255])).max() <= 0.5
    assert to_uint8(part, 100, 100).tolist() == [[0, 0, 128, 255, 255]]


def test_colour_maps_and_nan() -> None:
    lut = colors("viridis")
    part = np.array([[0, 1, np.nan, np.inf, -np.inf]], np.float32)
    painted = to_uint8(part, 0, 1, lut)[0]
    assert painted[:, 3].tolist() == [255] * 5
    assert [tuple(p[:3]) for p in painted] == [tuple(lut[i]) for i in (0, 255)] + [
        NAN_COLOR,
        INFINITE_COLOR,
        INFINITE_COLOR,
    ]
    assert to_uint8(np.array([[255, 0]], np.uint8), 0, 255, lut)[0, 0].tolist() == [*lut[255], 255]


@pytest.mark.parametrize("dtype,full", [("uint8", 255), ("uint16", 65535), ("float32", 1), ("float64", 1)])
def test_alpha_is_not_levelled(dtype: str, full: float) -> None:
    part = np.array([[[full, full / 5, 0, full / 5]]]).astype(dtype)
    assert to_uint8(part, 0, full / 5).tolist() == [[[255, 255, 0, 51]]]
    assert to_uint8(part[..., :3], 0, full).tolist() == [[[255, 51, 0, 255]]]


@pytest.mark.parametrize("dtype,full", [("uint16", 65535), ("float32", 1.0)])
def test_colours_share_their_levels_and_alpha_has_no_part_in_them(dtype: str, full: float) -> None:
    array = np.zeros((40, 50, 4), dtype)
    array[..., 0], array[..., 1], array[..., 2], array[..., 3] = full / 50, full / 20, full / 10, full
    low, high = quick_range(array)
    assert (low, high) == pytest.approx((full / 50, full / 10), rel=1e-3)
    assert quick_range(array[..., :3]) == (low, high)
    pixel = to_uint8(array, 0.0, high)[0, 0].tolist()
    assert pixel == pytest.approx([51, 127.5, 255, 255], abs=0.6)


def test_nan_in_colour() -> None:
    part = np.array([[[0.5, np.nan, 0.5]]], np.float32)
    assert to_uint8(part, 0, 1).tolist() == [[[*NAN_COLOR, 255]]]
