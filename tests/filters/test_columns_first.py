"""The kernel that sums columns first: exact results at every border, position of a window's edges in the chunks, strip
and segment, and at the limits of its words; the choice of its blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_box import oracle
from test_box_marching import run

from gpu_ops.devices.limits import SHARED_KIB, limits_of
from gpu_ops.filters.box import BOX
from gpu_ops.filters.kit.columns_first import Shape, best, segment_rows, strip_of
from gpu_ops.task import Meta, Task
from gpu_ops.types import BORDERS

FEW = (
    ((33, 64, 3), "uint8", 7, "nearest"),
    ((37, 1216), "uint8", 5, "zero"),
    ((40, 64, 3), "uint8", 12, "reflect"),
    ((30, 128, 4), "uint8", 12, "wrap"),
    ((7, 16), "uint16", 31, "reflect"),
    ((12, 48), "uint16", 9, "nearest"),
    ((9, 32, 2), "uint8", 3, "reflect"),
)


def noise(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray[Any, Any]:
    """Random samples, half of them the largest value: sums come close to the limits of a word."""
    rng = np.random.default_rng(seed)
    top = np.iinfo(dtype).max
    return np.where(rng.random(shape) < 0.5, top, rng.integers(0, top, shape, endpoint=True)).astype(dtype)


def check(shape: tuple[int, ...], dtype: str, radius: int, border: str, multiprocessors: int = 1) -> None:
    x = noise(shape, dtype)
    np.testing.assert_array_equal(run("columns", x, radius, border, multiprocessors), oracle(x, radius, border))


@pytest.mark.parametrize("shape, dtype, radius, border", FEW)
def test_results_are_exact(shape: tuple[int, ...], dtype: str, radius: int, border: str) -> None:
    check(shape, dtype, radius, border)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "shape, dtype, radius, block, values",
    [
        ((90, 608), "uint16", 64, Shape(6, 3, values=8), 8),
        ((90, 608), "uint16", 128, Shape(4, 4, values=8), 8),
        ((90, 208, 3), "uint8", 64, Shape(6, 2), 24),
    ],
)
def test_measured_blocks_are_taken_and_exact(
    shape: tuple[int, ...], dtype: str, radius: int, block: Shape, values: int
) -> None:
    taken = best(Meta("image", shape, dtype), radius, limits_of("sm_90"))
    assert taken is not None and (taken.shape, taken.values) == (block, values)
    check(shape, dtype, radius, "reflect")


@pytest.mark.parametrize("border", ["reflect", "zero"])
def test_strips_and_segments_meet(border: str) -> None:
    """Three strips, whose windows reach over two warps, and segments shorter than a window."""
    x = noise((50, 2080, 3), "uint8")
    one = run("columns", x, 33, border, 1)
    np.testing.assert_array_equal(one, oracle(x, 33, border))
    np.testing.assert_array_equal(run("columns", x, 33, border, 40), one)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(24))
def test_results_are_exact_for_any_radius_and_size(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype, channels = ("uint8", "uint16")[seed % 2], int(rng.choice((1, 3, 4)))
    radius = int(min(128, np.exp(rng.uniform(0, np.log(129)))))
    unit = {1: 32, 3: 16, 4: 8}[channels]
    shape = (int(rng.integers(1, 60)), unit * int(rng.integers(1, 12)), channels)
    check(shape if channels > 1 else shape[:2], dtype, radius, BORDERS[seed // 2 % 4], int(rng.integers(1, 9)))


@pytest.mark.parametrize("shape, dtype, radius", [((2, 1056), "uint8", 128), ((2, 64), "uint16", 127)])
def test_the_largest_sums_fit(shape: tuple[int, ...], dtype: str, radius: int) -> None:
    """257 bytes fit 16 bits, 255² 16-bit values a word."""
    x = np.full(shape, np.iinfo(dtype).max, dtype)
    np.testing.assert_array_equal(run("columns", x, radius, "reflect"), x)


@pytest.mark.parametrize("level", [65535, 65100, 65026, 65000, 508, 400, 0])
def test_sums_beyond_a_word_are_exact(level: int) -> None:
    """Around 2^32: squares of nearly the largest values, and those that a sum beyond it could be mistaken for."""
    rng = np.random.default_rng(level)
    x = np.clip(rng.integers(-700, 701, (2, 96)) + level, 0, 65535).astype(np.uint16)
    np.testing.assert_array_equal(run("columns", x, 128, "reflect"), oracle(x, 128, "reflect"))


def test_every_supported_task_has_a_block_that_fits() -> None:
    for number in SHARED_KIB:
        limits = limits_of(f"sm_{number}")
        for dtype in ("uint8", "uint16"):
            for channels in (1, 2, 3, 4):
                for radius in (1, 16, 64, 127):
                    meta = Meta("image", (64, 96, channels) if channels > 1 else (64, 96), dtype)
                    task = Task.of(meta, {"radius": radius, "border": "zero"}, {}, limits)
                    strip = best(meta, radius, limits)
                    refused = BOX.variant("columns").refusal(task)
                    assert (strip is None) == (refused is not None), (number, dtype, channels, radius, refused)
                    if strip is not None:
                        assert strip.shared_bytes <= limits.shared_bytes and strip.outputs % strip.together == 0


def test_the_chunks_of_a_block_by_hand() -> None:
    """Radius 4, 3 channels, 24 values per thread: a window of 27 values reaches over 2 chunks before its last, outputs
    end 12 values before a chunk does; 128 - 2 - 1 chunks are 62 pairs of 48 bytes."""
    strip = strip_of(Meta("image", (64, 64, 3), "uint8"), 4, Shape(4, 3))
    assert (strip.values, strip.chunk, strip.together, strip.outputs) == (24, 24, 2, 124)


def test_it_is_the_default_where_it_was_faster() -> None:
    columns = BOX.variant("columns")

    def suits(shape: tuple[int, ...], dtype: str, radius: int) -> bool:
        return columns.suits(Task.of(Meta("image", shape, dtype), {"radius": radius, "border": "zero"}, {}))

    assert suits((8192, 8192, 3), "uint8", 32) and not suits((8192, 8192, 3), "uint8", 31)
    assert suits((8192, 8192, 4), "uint8", 96) and not suits((8192, 8192, 4), "uint8", 64)
    assert suits((8192, 8192), "uint16", 64) and not suits((8192, 8192, 3), "uint16", 64)
    assert not suits((4096, 4096, 3), "uint8", 64), "not measured there"


def test_segments_fill_the_multiprocessors_once() -> None:
    assert segment_rows(8192, 10, 528) == -(-8192 // 52)
    assert segment_rows(8192, 600, 528) == 8192
    assert segment_rows(20, 1, 528) == 10
    assert segment_rows(3, 1, 528) == 3


def test_what_it_refuses() -> None:
    columns = BOX.variant("columns")

    def refusal(meta: Meta, radius: int) -> str:
        given = {"radius": radius, "border": "zero"}
        return columns.refusal(Task.of(meta, given, {}, limits_of("sm_90"))) or ""

    assert "integers, not float32" in refusal(Meta("image", (64, 64), "float32"), 4)
    assert "up to 4 channels" in refusal(Meta("image", (64, 64, 5), "uint8"), 4)
    assert "radius 129" in refusal(Meta("image", (64, 64), "uint8"), 129)
    assert "radius 129" in refusal(Meta("image", (64, 64), "uint16"), 129)
    assert "6 bytes are left" in refusal(Meta("image", (64, 66, 3), "uint8"), 4)
    assert refusal(Meta("image", (64, 64, 3), "uint8"), 4) == ""
