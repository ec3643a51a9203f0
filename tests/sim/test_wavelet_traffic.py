"""What each of the fast wavelet variants moves, in sectors, against the one before: formulas for aligned sizes, where
every row of a band fills whole sectors. And blocks of more levels than the contract has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import find_filter
from gpu_ops.filters.wavelet.reference import reference
from gpu_ops.types import Filter
from tests.tasks import on

Array = np.ndarray[Any, Any]
SECTOR = 8
"""Floats of 32 bytes."""


def _made(filter: Filter, variant: str, x: Array, block: int, **changed: Any) -> tuple[Array, Array, dict[str, int]]:
    """The result, the reference, and the global sectors of each kernel."""
    params = {p.name: p.default for p in filter.params} | {"wavelet": "haar", "rule": "manual"} | changed
    device = SimDevice(options=Options(counters="full")).session({})
    task = on(filter, device.upload(x), params, {"block": block}, device.limits)
    assert filter.variant(variant).refusal(task) is None
    plan = filter.variant(variant).plan(device, task)
    executed = device.execute(plan)
    assert executed.findings == ()
    sectors: dict[str, int] = {}
    for line in executed.lines:
        moved = sum(line.counts.get(f"global_{verb}_sectors", 0) for verb in ("load", "store"))
        sectors[line.kernel] = sectors.get(line.kernel, 0) + moved
    return device.download(plan.outputs[filter.accepts]), reference(on(filter, x, params))[filter.accepts], sectors


def _image(*shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(7).random(shape).astype(dtype)


@pytest.mark.parametrize("id, shape, bands", [("wavelet1d", (4096,), 1), ("wavelet2d", (64, 64), 3)])
def test_fused_thresholds_save_a_read_and_a_write_of_every_detail(id: str, shape: tuple[int, ...], bands: int) -> None:
    filter, x, levels = find_filter(id), _image(*shape), 2
    plain, fused = (
        _made(filter, v, x, 64, wavelet="bior2.2", levels=levels, value=0.3)[2] for v in ("shared", "fused")
    )
    details = sum(bands * x.size // (bands + 1) ** level for level in range(1, levels + 1))
    sides = [(x.shape[0] >> level) if bands == 3 else 1 for level in (1, 2)]
    warps_shrinking = sum(bands * rows * -(-(x.shape[-1] >> level) // 32) for level, rows in enumerate(sides, start=1))
    assert plain["wavelet_shrink"] == 2 * details // SECTOR + warps_shrinking  # each warp reads its threshold
    assert "wavelet_shrink" not in fused
    way = "line" if bands == 1 else "level"
    forward, back = f"wavelet_shared_forward_{way}", f"wavelet_{{}}_inverse_{way}"
    assert fused[forward] == plain[forward]
    samples = sum(x.size // (bands + 1) ** level for level in range(levels))
    more = fused[back.format("fused")] - plain[back.format("shared")]
    assert 0 < more <= 3 * samples // 32 * 2, "a warp reads a threshold a band and turn"
    assert sum(fused.values()) < sum(plain.values())


@pytest.mark.parametrize("levels", (1, 2, 3, 5))
@pytest.mark.parametrize("id, shape", [("wavelet1d", (8192,)), ("wavelet2d", (64, 128))])
def test_blocks_move_each_sample_once_each_way(id: str, shape: tuple[int, ...], levels: int) -> None:
    """8 bytes a float, whatever the levels are; the fused tiles move 8 bytes per value and level at least."""
    filter, x = find_filter(id), _image(*shape)
    found, expected, sectors = _made(filter, "blocks", x, 256, levels=levels, value=0.2)
    assert np.abs(found - expected).max() < 1e-6
    assert sum(sectors.values()) == 2 * x.size // SECTOR


def test_blocks_move_bytes_of_a_gray_picture_as_bytes() -> None:
    filter, x = find_filter("wavelet2d"), (255 * _image(64, 128)).astype(np.uint8)
    found, expected, sectors = _made(filter, "blocks", x, 256, levels=3, value=20.0)
    assert np.abs(found.astype(int) - expected).max() <= 1  # a half is rounded either way
    assert sum(sectors.values()) == 2 * x.nbytes // 32


CASES = (
    ("wavelet1d", (1001,), 128, 5, "float32"),
    ("wavelet1d", (4097, 2), 128, 9, "float64"),
    ("wavelet2d", (33, 70), 128, 4, "float32"),
    ("wavelet2d", (67, 131, 3), 512, 6, "float64"),
)


@pytest.mark.parametrize("id, shape, block, levels, dtype", CASES)
def test_blocks_of_many_levels_and_odd_axes(
    id: str, shape: tuple[int, ...], block: int, levels: int, dtype: str
) -> None:
    """Levels that threads do together, whose extents are odd at several of them."""
    filter, x = find_filter(id), _image(*shape, dtype=dtype)
    for how, border, shifts in (("soft", "periodization", 1), ("hard", "symmetric", 3)):
        params = {"levels": levels, "value": 0.2, "threshold": how, "border": border, "shifts": shifts}
        found, expected, _ = _made(filter, "blocks", x, block, **params)
        assert np.abs(found - expected).max() < 1e-6


def test_blocks_say_what_they_cannot_do() -> None:
    filter = find_filter("wavelet2d")
    params = {p.name: p.default for p in filter.params} | {"wavelet": "haar", "rule": "manual"}
    why = filter.variant("blocks").refusal
    many = on(filter, np.empty((4096, 4096), np.float32), {**params, "levels": 6}, {"block": 256})
    assert why(many) == "256 threads have blocks of 5 levels, not 6; take block 512"
    most = on(filter, np.empty((4096, 4096), np.float32), {**params, "levels": 9}, {"block": 256})
    assert str(why(most)).endswith("choose at most 7 levels")
    other = on(filter, np.empty((64, 64), np.float32), {**params, "wavelet": "db2", "rule": "SURE"}, {"block": 256})
    assert "only haar has blocks" in str(why(other)) and "depends on all blocks" in str(why(other))
