"""Several levels a launch, and lifting, on the simulated GPU: coefficients against PyWavelets where every level has its
own border and odd extents, the sectors that were predicted, and what one level at a time moves besides."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from lanes import daily_subset, few

from gpu_ops.devices import open_device
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import find_filter
from gpu_ops.filters.wavelet.forms import bands_of
from gpu_ops.types import Filter
from tests.tasks import on

Array = np.ndarray[Any, Any]
BORDERS = ("periodization", "symmetric")
SIGNALS = [
    ("levels", "db4", "symmetric", 5),
    ("levels", "bior4.4", "periodization", 5),
    ("lifting", "bior4.4", "symmetric", 3),
    ("lifting", "db2", "periodization", 3),
    ("lifting", "bior2.2", "symmetric", 3),
]
IMAGES = [("levels", "db4", "periodization"), ("levels", "bior2.2", "symmetric"), ("lifting", "db4", "symmetric")]
OTHERS = ("haar", "db2", "rbio3.1")
LENGTHS = (1, 2, 37, 130, 261)
SHAPES = ((1, 7), (67, 30), (19, 41, 3))
KNOBS: dict[str, dict[str, int]] = {"levels": {"block": 16, "together": 3}, "lifting": {"block": 32}}
SECTOR = 8
"""Floats of 32 bytes."""


def _with_others(usual: list[Any], *axes: tuple[Any, ...]) -> list[Any]:
    """The usual cases, of which the default lane tries one a day, and in the thorough lane all combinations of some
    choices as well."""
    others = [values for values in product(*axes) if values not in usual]
    marked = [pytest.param(*values, marks=pytest.mark.thorough) for values in others]
    return [*daily_subset(usual, 1, lambda values: "-".join(map(str, values))), *marked]


def _task(filter: Filter, x: Array, knobs: dict[str, int], device: Any, **changed: Any) -> Any:
    params = {p.name: p.default for p in filter.params} | {"wavelet": "haar", "rule": "manual", "value": 0.0} | changed
    rank = 1 if filter.accepts == "signal" else 2
    return on(filter, x, params, knobs if rank == 1 else {"side": 16, **knobs}, device.limits)


def _compare(filter: Filter, variant: str, x: Array, expected: list[Array], knobs: dict[str, int], **how: Any) -> None:
    """All bands and the inverse; PyWavelets' own taps of bior4.4 belong together to 12 digits."""
    device = open_device("sim").session({})
    task = _task(filter, device.upload(x), knobs, device, result="parts", **how)
    plan = filter.variant(variant).plan(device, task)
    assert device.execute(plan).findings == ()
    found = {name: device.download(array) for name, array in plan.outputs.items()}
    largest = max(float(np.abs(band).max()) for band in (*expected, x))
    for band, right in zip(bands_of(task), expected, strict=True):
        given = found["coefficients"][band.part]
        assert given.shape == right.shape and np.abs(given - right).max() <= 2e-11 * largest, (x.shape, band, how)
    assert np.abs(found[filter.accepts] - x).max() <= 2e-11 * largest, (x.shape, how)


@pytest.mark.parametrize("variant, wavelet, border, levels", _with_others(SIGNALS, tuple(KNOBS), OTHERS, BORDERS, (3,)))
def test_every_level_of_a_signal_has_its_own_border(variant: str, wavelet: str, border: str, levels: int) -> None:
    import pywt

    for n in LENGTHS:
        x = np.random.default_rng(n).normal(size=n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # short signals have more levels than it advises
            expected = pywt.wavedec(x, wavelet, border, levels)
        how = {"wavelet": wavelet, "border": border, "levels": levels}
        _compare(find_filter("wavelet1d"), variant, x, expected, KNOBS[variant], **how)


@pytest.mark.parametrize("variant, wavelet, border", _with_others(IMAGES, tuple(KNOBS), OTHERS, BORDERS))
def test_every_level_of_an_image_has_its_own_border(variant: str, wavelet: str, border: str) -> None:
    import pywt

    for shape in SHAPES:
        x = np.random.default_rng(1).normal(size=shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first, *levels = pywt.wavedec2(x, wavelet, border, 3, axes=(0, 1))
        expected = [first, *(band for level in levels for band in level)]
        how = {"wavelet": wavelet, "border": border, "levels": 3}
        _compare(find_filter("wavelet2d"), variant, x, expected, {**KNOBS[variant], "block": 64}, **how)


def _counted(
    filter: Filter, variant: str, x: Array, knobs: dict[str, int], kernel: str = "", **how: Any
) -> tuple[Any, dict[str, int]]:
    """The task and all counters of its plan, or those of one kernel."""
    device = SimDevice(options=Options(counters="full")).session({})
    task = _task(filter, device.upload(x), knobs, device, **how)
    assert filter.variant(variant).refusal(task) is None
    executed = device.execute(filter.variant(variant).plan(device, task))
    counts: dict[str, int] = {}
    for line in (line for line in executed.lines if line.kernel.endswith(kernel)):
        for id, count in line.counts.items():
            counts[id] = counts.get(id, 0) + count
    return task, counts


def _sectors(counts: dict[str, int]) -> int:
    return counts["global_load_sectors"] + counts["global_store_sectors"]


COUNTED = (
    ("wavelet1d", "levels", (1001,), {"block": 48, "together": 3}, "bior4.4", "symmetric"),
    ("wavelet2d", "levels", (61, 97), {"block": 128, "together": 2}, "db2", "periodization"),
    ("wavelet1d", "lifting", (601, 2), {"block": 64}, "db4", "periodization"),
    ("wavelet2d", "lifting", (45, 97), {"block": 1024}, "db2", "symmetric"),
    ("wavelet2d", "levels", (33, 47, 3), {"block": 64, "together": 3}, "haar", "symmetric"),
    ("wavelet2d", "lifting", (33, 47, 3), {"block": 64}, "bior2.2", "periodization"),
)


@pytest.mark.parametrize("id, variant, shape, knobs, wavelet, border", few(COUNTED, *COUNTED[:4]))
def test_sectors_are_those_that_were_predicted(
    id: str, variant: str, shape: tuple[int, ...], knobs: dict[str, int], wavelet: str, border: str
) -> None:
    filter, x = find_filter(id), np.random.default_rng(2).random(shape, np.float32)
    task, counts = _counted(filter, variant, x, knobs, wavelet=wavelet, border=border, levels=3)
    predicts = filter.variant(variant).counts.predicts
    assert predicts is not None
    predicted = predicts(task)
    assert len(predicted) == 2 and {id: counts[id] for id in predicted} == predicted
    assert predicts(on(filter, x, {**task.params, "rule": "SURE"}, task.knobs)) == {}, "other kernels move sectors too"


@pytest.mark.parametrize("id, shape", [("wavelet1d", (4096,)), ("wavelet2d", (32, 256))])
def test_no_approximation_travels_between_the_levels_of_a_launch(id: str, shape: tuple[int, ...]) -> None:
    """Haar needs nothing around a tile: there, all samples are read and all coefficients written once, while one level
    after the other moves each approximation besides."""
    filter, x, axes = find_filter(id), np.random.default_rng(3).random(shape, np.float32), len(shape)
    knobs = {"block": 128, "together": 3, **({"side": 64} if axes == 2 else {})}
    way = "line" if axes == 1 else "level"
    there = _counted(filter, "levels", x, knobs, f"levels_forward_{'line' if axes == 1 else 'tile'}", levels=3)[1]
    alone = _counted(filter, "fused", x, {"block": 128}, f"shared_forward_{way}", levels=3)[1]
    assert _sectors(there) == 2 * x.size // SECTOR
    assert _sectors(alone) == sum(2 * (x.size >> axes * level) // SECTOR for level in range(3))
    assert _sectors(_counted(filter, "levels", x, knobs, levels=3)[1]) < 0.7 * _sectors(
        _counted(filter, "fused", x, {"block": 128}, levels=3)[1]
    )


def test_lifting_reads_what_its_steps_weigh() -> None:
    """A pair of samples is read once per weight and once per step, forward and inverse, and at the ends; filters read
    one sample per tap, low and high alike. Only the halo of tiles is read in addition."""
    from gpu_ops.filters.wavelet.cuda.lifting import lifting_of

    filter, x = find_filter("wavelet1d"), np.random.default_rng(4).random(4096, np.float32)
    lifting = lifting_of("bior4.4")
    knobs, how = {"block": 512}, {"wavelet": "bior4.4", "levels": 1}
    by_steps, by_taps = (
        _counted(filter, variant, x, knobs, **how)[1]["shared_load_threads"] for variant in ("lifting", "fused")
    )
    least = x.size * (lifting.multiplications - 2 + len(lifting.steps) + 2)
    assert least <= by_steps <= 1.02 * least
    assert by_taps == x.size // 2 * 2 * 10 + x.size * 10, "low and high there, and a sample back"
    operations = [filter.variant(v).counts.operations for v in ("lifting", "fused")]
    task = _task(filter, x, knobs, open_device("sim"), **how)
    steps, taps = (count(task) for count in operations if count is not None)
    assert steps < 0.55 * taps


def test_what_does_not_fit_is_said_with_what_does() -> None:
    filter = find_filter("wavelet2d")
    device = open_device("sim").session({})
    x = np.empty((512, 512), np.float64)
    levels, lifting = (filter.variant(id).refusal for id in ("levels", "lifting"))
    knobs = {"block": 128, "together": 3, "side": 128}
    why = str(levels(_task(filter, x, knobs, device, wavelet="db4", levels=3)))
    assert why.startswith("its tiles take ") and why.endswith("take together 3 and side 16")
    advised = _task(filter, x, {**knobs, "side": 16}, device, wavelet="db4", levels=3)
    assert levels(advised) is None
    many = _task(filter, np.empty((64, 64, 90)), knobs, device, wavelet="db20", levels=1)
    assert str(levels(many)).endswith("take the variant constant, a shorter wavelet or fewer channels")
    why = str(lifting(_task(filter, x, {"block": 128, "side": 32}, device, wavelet="sym8")))
    assert why.startswith("sym8 has no lifting steps here; choose from haar, db2, db3, db4, sym4, coif1, bior1.1")
    why = str(lifting(_task(filter, x, {"block": 128, "side": 128}, device, wavelet="db4")))
    assert why.endswith("choose a smaller side")
