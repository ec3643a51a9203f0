"""Reduction, cutting and mapping to bytes: arrays only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from app.models.display import colors
from app.models.pyramid import NAN_COLOR, Pyramid, difference, quick_range, to_uint8

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


@pytest.mark.parametrize("hot", [1000, 0])
def test_hot_and_dead_pixels_survive_every_level_and_zoom(hot: int) -> None:
    array = filled((1000, 800), "uint16") + np.uint16(400)
    array[333, 222] = hot
    pyramid = built(array)
    extreme = np.max if hot else np.min
    for level in pyramid.levels:
        assert extreme(level) == hot
    for scale in np.geomspace(1, 30, 23):
        assert extreme(pyramid.sample(-3.3, -2.2, scale, 900, 1100).array) == hot


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


def test_view_is_the_smallest_sufficient_level() -> None:
    pyramid = built(filled((512, 512), "uint8"))
    part = pyramid.view((100, 50, 256, 128), 64, 32)
    assert part.factor == 4 and part.array.shape == (33, 64) and (part.x, part.y) == (25, 12)
    assert pyramid.view((0, 0, 10, 10), 100, 100).factor == 1
    assert pyramid.view((-500, -500, 100, 100), 10, 10).array.size == 0
    assert pyramid.view((0, 0, 512, 512), 65, 65).factor == 4


def test_sample_magnifies_to_the_nearest() -> None:
    array = np.arange(6, dtype=np.uint8).reshape(2, 3)
    found = built(array).sample(-1, -1, 0.25, 24, 20)
    assert (found.x, found.y) == (4, 4)
    assert np.array_equal(found.array, array.repeat(4, axis=0).repeat(4, axis=1))


def test_before_it_is_built_single_pixels_show() -> None:
    array = filled((1000, 1000), "float32")
    found = Pyramid(array).sample(0, 0, 10, 100, 100).array
    assert np.array_equal(found, array[::10, ::10])


def test_building_stops() -> None:
    pyramid = Pyramid(filled((512, 512), "uint8"))
    assert not pyramid.build(lambda: True) and not pyramid.complete and len(pyramid.levels) == 1


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((3, 3, 2)), np.zeros((0, 3)), np.zeros((3, 3), np.int64)])
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
    assert [tuple(p[:3]) for p in painted] == [tuple(lut[i]) for i in (0, 255)] + [NAN_COLOR] + [
        tuple(lut[i]) for i in (255, 0)
    ]
    assert to_uint8(np.array([[255, 0]], np.uint8), 0, 255, lut)[0, 0].tolist() == [*lut[255], 255]


@pytest.mark.parametrize("dtype,full", [("uint8", 255), ("uint16", 65535), ("float32", 1), ("float64", 1)])
def test_alpha_is_not_levelled(dtype: str, full: float) -> None:
    part = np.array([[[full, full / 5, 0, full / 5]]]).astype(dtype)
    assert to_uint8(part, 0, full / 5).tolist() == [[[255, 255, 0, 51]]]
    assert to_uint8(part[..., :3], 0, full).tolist() == [[[255, 51, 0, 255]]]


def test_nan_in_colour() -> None:
    part = np.array([[[0.5, np.nan, 0.5]]], np.float32)
    assert to_uint8(part, 0, 1).tolist() == [[[*NAN_COLOR, 255]]]


def test_difference_is_signed_and_exact() -> None:
    a, b = filled((700, 900), "uint8", 1), filled((700, 900), "uint8", 2)
    assert np.array_equal(difference(a, b), a.astype(np.float32) - b)
    big = np.full((2, 2), 1e9)
    assert (difference(big + 0.25, big) == 0.25).all()
    with pytest.raises(ValueError, match="shapes differ"):
        difference(a, b[1:])
