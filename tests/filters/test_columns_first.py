"""The box kernel that sums columns first: the choice of its tiles, and exact results for both widths of samples, at
every border, in rows that are no whole words, in several strips, tiles and segments, and at the limits of its words."""

from __future__ import annotations

import numpy as np
import pytest
from test_box import oracle
from test_box_marching import run

from gpu_ops.devices.limits import SHARED_KIB, limits_of
from gpu_ops.filters.kit.columns_first import PART, ROWS, Tile, tile_of
from gpu_ops.types import BORDERS

SIZES = {"uint8": 1, "uint16": 2}
FEW = (
    ((33, 61, 3), "uint8", 7, "nearest"),
    ((37, 1201), "uint8", 5, "zero"),
    ((40, 64, 3), "uint16", 4, "reflect"),
    ((30, 130, 4), "uint8", 12, "wrap"),
    ((7, 5, 3), "uint16", 31, "reflect"),
)


def noise(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
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
@pytest.mark.parametrize("seed", range(24))
def test_results_are_exact_for_any_radius_and_size(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype, channels = ("uint8", "uint16")[seed % 2], int(rng.choice((1, 3, 4)))
    most = 128 if dtype == "uint8" else 256
    radius = int(min(most, np.exp(rng.uniform(0, np.log(most + 1)))))
    while Tile(2, radius, channels, SIZES[dtype]).shared_bytes > limits_of("sm_75").shared_bytes:
        radius //= 2
    shape = (int(rng.integers(1, 60)), int(rng.integers(1, 300)), channels)
    check(shape if channels > 1 else shape[:2], dtype, radius, BORDERS[seed // 2 % 4], int(rng.integers(1, 9)))


@pytest.mark.parametrize("dtype, radius", [("uint8", 128), ("uint16", 127), ("uint16", 128)])
def test_the_largest_sums_fit(dtype: str, radius: int) -> None:
    """257 bytes fit 16 bits, 255² 16-bit values a word; more of those need two."""
    x = np.full((2, 40), np.iinfo(dtype).max, dtype)
    np.testing.assert_array_equal(run("columns", x, radius, "reflect"), x)


def test_a_segment_of_several_tiles_and_several_segments_give_the_same() -> None:
    x = noise((3 * ROWS + 5, 50, 3), "uint8")
    wanted = oracle(x, 3, "reflect")
    for multiprocessors in (1, 40):
        np.testing.assert_array_equal(run("columns", x, 3, "reflect", multiprocessors), wanted)


def test_tiles_fit_on_every_architecture_and_cover_the_row_evenly() -> None:
    for number in SHARED_KIB:
        limits = limits_of(f"sm_{number}")
        for dtype, size in SIZES.items():
            for radius in (1, 16, 64, 128):
                for channels in (1, 3, 4):
                    if Tile(2, radius, channels, size).shared_bytes > limits.shared_bytes:
                        continue
                    for columns in (1, 100, 12_289):
                        tile = tile_of(columns, radius, channels, size, limits)
                        assert tile.shared_bytes <= limits.shared_bytes, (number, dtype, radius, channels)
                        assert tile.threads % 32 == 0 and 32 <= tile.threads <= limits.threads_per_block
                        strips = -(-columns // tile.columns)
                        assert (strips - 1) * tile.columns < columns
                        assert strips == 1 or strips * tile.columns < columns + 2 * strips * tile.columns // tile.runs


def test_a_tile_has_a_part_for_each_eight_bytes_of_its_samples() -> None:
    """By hand: 2 runs of 96 bytes, radius 4, 3 channels: 192 + 4 before + 27 of a window end in part 27, of 28; 33 parts
    from row to row, and means of 192 + 8 bytes."""
    assert Tile(2, 4, 3).shared_bytes == ROWS * (33 * 2 * PART + 200)
