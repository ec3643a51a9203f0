"""Expected loads against counting them one by one, and against the source's formulas."""

from __future__ import annotations

import pytest

from gpu_ops.filters import find_filter
from gpu_ops.filters.kit.planning import block_shape
from gpu_ops.task import Meta, Task
from gpu_ops.types import BORDERS


def _inside(place: int, n: int, border: str) -> bool:
    return border != "zero" or 0 <= place < n


def _direct(elements: range, n: int, channels: int, window: int, border: str) -> int:
    r = window // 2
    return sum(_inside(e // channels + k, n, border) for e in elements for k in range(-r, r + 1))


def _tile(elements: range, n: int, channels: int, window: int, border: str) -> int:
    halo = window // 2 * channels
    return sum(_inside(e // channels, n, border) for e in range(elements.start - halo, elements.stop + halo))


def _blocks(elements: int, per_block: int) -> list[range]:
    return [range(s, min(s + per_block, elements)) for s in range(0, elements, per_block)]


COUNT_1D = {"naive": (2, _direct), "constant": (1, _direct), "shared": (1, _tile)}


@pytest.mark.parametrize("variant", COUNT_1D)
@pytest.mark.parametrize("n, channels, window", [(97, 1, 5), (64, 1, 31), (33, 2, 7), (5, 3, 5), (128, 1, 127)])
@pytest.mark.parametrize("block, outputs", [(16, 1), (32, 2), (1024, 8)])
def test_signals(variant: str, n: int, channels: int, window: int, block: int, outputs: int) -> None:
    factor, count = COUNT_1D[variant]
    shape = (n,) if channels == 1 else (n, channels)
    declared = find_filter("mean1d").variant(variant).counts.accesses
    assert declared is not None
    for border in BORDERS:
        expected = [factor * count(b, n, channels, window, border) for b in _blocks(n * channels, block * outputs)]
        params, knobs = {"window": window, "border": border}, {"block": block, "outputs": outputs}
        found = declared(Task.of(Meta("signal", shape, "float64"), params, knobs))
        assert found.total == sum(expected), border
        parts = (expected[0], expected[len(expected) // 2], expected[-1])
        assert (found.first, found.inner, found.last) == parts, border


@pytest.mark.parametrize("variant", COUNT_1D)
@pytest.mark.parametrize(
    "height, width, channels, window", [(17, 33, 1, 3), (7, 5, 3, 9), (40, 70, 1, 7), (1, 1, 1, 63)]
)
@pytest.mark.parametrize("block, outputs", [(16, 1), (64, 2), (256, 4)])
def test_images(variant: str, height: int, width: int, channels: int, window: int, block: int, outputs: int) -> None:
    factor, count = COUNT_1D[variant]
    x, y = block_shape(block)
    declared = find_filter("mean2d").variant(variant).counts.accesses
    assert declared is not None
    shape = (height, width) if channels == 1 else (height, width, channels)
    for border in BORDERS:
        expected = [
            factor * count(rows, height, 1, window, border) * count(columns, width, channels, window, border)
            for rows in _blocks(height, y * outputs)
            for columns in _blocks(width * channels, x)
        ]
        params, knobs = {"window": window, "border": border}, {"block": block, "outputs": outputs}
        found = declared(Task.of(Meta("image", shape, "float32"), params, knobs))
        assert (found.total, found.first, found.last) == (sum(expected), expected[0], expected[-1]), border


def test_the_figures_of_the_source() -> None:
    meta, params, knobs = (
        Meta("signal", (10_000_000,), "float64"),
        {"window": 5, "border": "zero"},
        {"block": 512, "outputs": 1},
    )
    expected = {"naive": (5120, 5114, 1274), "constant": (2560, 2557, 637), "shared": (516, 514, 130)}
    for id, figures in expected.items():
        declared = find_filter("mean1d").variant(id).counts.accesses
        assert declared is not None
        found = declared(Task.of(meta, params, knobs))
        assert (found.inner, found.first, found.last) == figures


@pytest.mark.parametrize("threads", range(16, 1025, 16))
def test_2d_blocks_have_the_threads_asked_for(threads: int) -> None:
    x, y = block_shape(threads)
    assert x * y == threads
    assert x in (16, 32)
