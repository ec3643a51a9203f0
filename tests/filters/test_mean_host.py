"""The mean filter's reference, host functions and CPU peers against sums of shifted copies."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import cv2
import numba
import numpy as np
import pytest
from lanes import daily_subset
from scipy import ndimage
from tasks import on

from gpu_ops import progress
from gpu_ops.devices.limits import limits_of
from gpu_ops.filters.kit import sums
from gpu_ops.filters.mean import MEAN1D, MEAN2D, host, peers, reference
from gpu_ops.filters.mean.fast import scan_steps
from gpu_ops.plan import Limits
from gpu_ops.task import Meta, Task, Trial
from gpu_ops.types import BORDERS, DTYPES

Array = np.ndarray[Any, Any]
PAD_MODES: dict[str, Any] = {"zero": "constant", "reflect": "symmetric", "nearest": "edge", "wrap": "wrap"}
SIGNALS = [(1,), (7,), (31, 1), (33,), (63, 3), (257, 2), (1031,), (40, 4)]
IMAGES = [(1, 1), (1, 7), (7, 1), (2, 3, 1), (17, 33), (17, 33, 3), (19, 37, 2), (40, 67), (5, 23, 4)]
WINDOWS = {1: (3, 5, 7, 9, 15, 29, 31, 63, 125, 127, 255, 4095), 2: (3, 5, 7, 9, 11, 17, 31, 63)}


def oracle(x: Array, window: int, border: str, axes: int) -> Array:
    """The contract by padding and adding shifted copies, in float64 or int64."""
    sums: Array = x.astype(np.int64 if x.dtype.kind == "u" else np.float64)
    for axis in range(axes):
        around = np.zeros((sums.ndim, 2), int)
        around[axis] = window // 2
        source = np.moveaxis(np.pad(sums, around, mode=PAD_MODES[border]), axis, 0)
        total = np.zeros_like(np.moveaxis(sums, axis, 0))
        for k in range(window):
            total += source[k : k + len(total)]
        sums = np.moveaxis(total, 0, axis)
    count = window**axes
    means: Array = (sums + count // 2) // count if x.dtype.kind == "u" else sums / count
    return means.astype(x.dtype) if x.dtype.kind == "u" else means


def samples(shape: tuple[int, ...], dtype: str, constant: bool = False) -> Array:
    """Random values over the whole range, both signs for floats; or the largest value everywhere."""
    rng = np.random.default_rng(7)
    if dtype.startswith("uint"):
        top = np.iinfo(dtype).max
        return np.full(shape, top, dtype) if constant else rng.integers(0, top, shape, dtype, endpoint=True)
    return np.ones(shape, dtype) if constant else rng.uniform(-1, 1, shape).astype(dtype)


@cache
def expected(shape: tuple[int, ...], dtype: str, constant: bool, window: int, border: str, axes: int) -> Array:
    return oracle(samples(shape, dtype, constant), window, border, axes)


def cases(axes: int, dtype: str) -> Iterator[tuple[Array, int, str, Array]]:
    """Inputs, windows and borders with what must come out."""
    for shape in SIGNALS if axes == 1 else IMAGES:
        for number, window in enumerate(WINDOWS[axes]):
            # Every border with every window, spread over the shapes; every border of the windows beyond the input.
            for border in BORDERS if window > shape[0] else BORDERS[number % 2 :: 2]:
                constant = len(shape) == 1 and window == 31
                yield (
                    samples(shape, dtype, constant),
                    window,
                    border,
                    expected(shape, dtype, constant, window, border, axes),
                )


def poisoned(x: Array) -> Array:
    return np.full_like(x, 0x5A if x.dtype.kind == "u" else np.nan)


def bound(form: str, axes: int, window: int, dtype: str) -> float:
    """Largest error for inputs of at most 1: half an ulp for each addition on a value's way, and for scaling."""
    if dtype.startswith("uint"):
        return 0.0
    half = 2.0**-24 if dtype == "float32" else 2.0**-53
    oracle_error = (axes * window + 1) * 2.0**-53
    if form == "serial":
        return float(half + (window**axes + 2) * 2.0**-53 + oracle_error)
    if axes == 1 and window >= host.RUNNING_FROM["f"]:
        return float(half + (2 * host.RESTART + window + 2) * 2.0**-53 + oracle_error)
    doubling = window.bit_length() + window.bit_count() - 2
    down = 0 if axes == 1 else (window + host.GROUP) // 2 + 1
    return float(half * (doubling + down + 2) + oracle_error)


@pytest.mark.parametrize("dtype", daily_subset(DTYPES, 1, str))
@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize("form", ["serial", "parallel"])
def test_host_keeps_the_contract(form: str, axes: int, dtype: str) -> None:
    function = getattr(host, f"mean{axes}d_{form}")
    for x, window, border, wanted in cases(axes, dtype):
        out = poisoned(x)
        function(x, out, window, border)
        error = np.abs(out.astype(np.float64) - wanted).max()
        assert error <= bound(form, axes, window, dtype), (x.shape, window, border)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axes", [1, 2])
def test_reference_keeps_the_contract(axes: int, dtype: str) -> None:
    function = (reference.reference1d, reference.reference2d)[axes - 1]
    for x, window, border, wanted in cases(axes, dtype):
        filter = (MEAN1D, MEAN2D)[axes - 1]
        out = function(on(filter, x, {"window": window, "border": border}))["signal" if axes == 1 else "image"]
        assert out.dtype == (x.dtype if x.dtype.kind == "u" else np.float64)
        error = np.abs(out.astype(np.float64) - wanted).max()
        assert error <= (0 if x.dtype.kind == "u" else axes * window * 2.0**-53), (x.shape, window, border)


@pytest.mark.parametrize("shape", [(1031,), (257, 3), (37, 41), (1, 301), (23, 29, 2)])
@pytest.mark.parametrize("border", BORDERS)
def test_reference_in_pieces_is_the_same(shape: tuple[int, ...], border: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = samples(shape, "float64")
    axes = 1 if shape in [(1031,), (257, 3)] else 2
    function = (reference.reference1d, reference.reference2d)[axes - 1]
    task = on((MEAN1D, MEAN2D)[axes - 1], x, {"window": 31, "border": border})
    (whole,) = function(task).values()
    monkeypatch.setattr(sums, "TAPS", 1500)
    monkeypatch.setattr(sums, "FEWEST_WINDOWS", 1)
    events: list[float] = []
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with progress.listening(None, events.append):
        (pieces,) = function(task).values()
    assert len(events) > 5 and events == sorted(events) and events[-1] <= 1
    assert pieces.tobytes() == whole.tobytes()


def test_reference_loads_scipy_late() -> None:
    code = "import sys, gpu_ops.filters.mean.reference; print({'scipy', 'numba', 'cv2'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


@pytest.mark.parametrize("window", [5, 31, 4095])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint16"])
def test_long_signals_restart_without_drift(window: int, dtype: str) -> None:
    x = samples((60_013,), dtype)
    out = poisoned(x)
    host.mean1d_parallel(x, out, window, "reflect")
    wanted = reference.reference1d(on(MEAN1D, x, {"window": window, "border": "reflect"}))["signal"]
    assert np.abs(out.astype(np.float64) - wanted).max() <= bound("parallel", 1, window, dtype)


@pytest.mark.parametrize(("axes", "shape", "windows"), [(1, (40_009, 2), (5, 31, 255)), (2, (150, 2100), (3, 17))])
def test_nan_and_infinity_reach_their_windows_only(axes: int, shape: tuple[int, ...], windows: tuple[int, ...]) -> None:
    x = samples(shape, "float64")
    x.flat[[3, 20_000, 20_001, x.size // 2]] = [np.inf, np.nan, -np.inf, np.inf]
    for window in windows:
        for form in ("serial", "parallel"):
            out = poisoned(x)
            getattr(host, f"mean{axes}d_{form}")(x, out, window, "nearest")
            with np.errstate(invalid="ignore"):
                wanted = oracle(x, window, "nearest", axes)
            np.testing.assert_allclose(out, wanted, rtol=0, atol=1e-12)


def test_results_do_not_depend_on_the_threads() -> None:
    signal, image = samples((50_021,), "float64"), samples((301, 90), "float32")
    threads = numba.get_num_threads()
    results = []
    try:
        for count in {1, threads}:
            numba.set_num_threads(count)
            for window in (9, 63):
                outs = poisoned(signal), poisoned(image)
                host.mean1d_parallel(signal, outs[0], window, "wrap")
                host.mean2d_parallel(image, outs[1], window, "wrap")
                results.append((window, outs[0].tobytes(), outs[1].tobytes()))
    finally:
        numba.set_num_threads(threads)
    assert len(set(results)) == 2


def test_input_may_be_read_only() -> None:
    x = samples((700,), "float32")
    x.flags.writeable = False
    out = poisoned(x)
    host.mean1d_parallel(x, out, 9, "reflect")
    host.mean1d_serial(x, x.copy(), 9, "reflect")
    assert np.abs(out - oracle(x, 9, "reflect", 1)).max() <= bound("parallel", 1, 9, "float32")


def test_copies_are_refused_where_results_would_be_lost() -> None:
    x = samples((40, 30), "float32")
    for function in (host.mean2d_serial, host.mean2d_parallel):
        with pytest.raises(ValueError, match="copy"):
            function(x, np.empty((30, 40), np.float32).T, 3, "zero")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize("name", ["scipy", "opencv"])
def test_peers_keep_the_contract(name: str, axes: int, dtype: str) -> None:
    function = getattr(peers, f"{name}_mean{axes}d")
    module = ndimage if name == "scipy" else cv2
    for x, window, border, wanted in cases(axes, dtype):
        meta = Meta("signal" if axes == 1 else "image", x.shape, dtype)
        filter = MEAN1D if axes == 1 else MEAN2D
        if filter.variant(name).refusal(Task.of(meta, {"window": window, "border": border})) is None:
            out = poisoned(x)
            function(module, x, out, window, border)
            error = np.abs(out.astype(np.float64) - wanted).max()
            allowed = {"float32": 3e-6, "float64": 3e-13}.get(dtype, 0)
            assert error <= allowed, (x.shape, window, border)


def test_what_peers_cannot_do_is_said() -> None:
    def opencv(kind: Any, shape: tuple[int, ...], dtype: str, window: int, border: str, finite: bool = True) -> str:
        filter, meta = MEAN1D if kind == "signal" else MEAN2D, Meta(kind, shape, dtype, finite)
        return filter.variant("opencv").refusal(Task.of(meta, {"window": window, "border": border})) or ""

    assert "wrap" in opencv("image", (9, 9), "uint8", 3, "wrap")
    assert "128 channels" in opencv("signal", (9, 129), "uint8", 3, "zero")
    assert "107" in opencv("image", (99, 99), "uint16", 11, "zero")
    assert not opencv("image", (99, 99), "uint16", 9, "zero") and not opencv("signal", (999,), "uint16", 107, "zero")
    assert "NaN" in opencv("image", (99, 99), "float32", 31, "zero", finite=False)
    assert not opencv("image", (99, 99), "float32", 29, "zero", finite=False)
    whole, broken = (Task.of(Meta("signal", (9,), "float32", finite), {}) for finite in (True, False))
    scipy = MEAN1D.variant("scipy")
    assert scipy.refusal(whole) is None and "NaN" in (scipy.refusal(broken) or "")


def test_a_short_signal_gets_smaller_tiles_and_so_more_blocks() -> None:
    """Tiles of four vectors a thread would give 1e5 samples to 25 blocks, on 132 multiprocessors."""
    limits, scan = replace(limits_of("sm_90"), multiprocessors=132), MEAN1D.variant("scan")

    def steps(samples: int, window: int, channels: int = 1) -> int:
        shape = (samples, channels) if channels > 1 else (samples,)
        task = Task.of(Meta("signal", shape, "float32"), {"window": window}, {"block": 256}, limits)
        assert scan.refusal(task) is None
        return scan_steps(task)

    assert [steps(100_000, 63), steps(100_000_000, 63)] == [1, 4]
    assert [steps(100_000, 4095), steps(100_000_000, 4095)] == [8, 8]
    assert [steps(100_000, 63, 2), steps(100_000_000, 63, 2)] == [1, 2]
    assert {scan_steps(trial_task(trial, limits)) for trial in scan.trials(limits)} == {4}


def trial_task(trial: Trial, limits: Limits) -> Task:
    return Task.of(Meta("signal", trial.shape, trial.dtype), dict(trial.params), dict(trial.knobs), limits)
