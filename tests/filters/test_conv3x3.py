"""The 3×3 convolution: its reference against exact fractions, its variants against that, and what they refuse."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import cv2
import numba
import numpy as np
import pytest
from lanes import daily_subset, few
from scipy import ndimage
from tasks import of, on, planned

from gpu_ops.devices import open_device
from gpu_ops.devices.compiler import ARCHITECTURES
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.explaining.xray import xray
from gpu_ops.filters import find_filter
from gpu_ops.filters.conv3x3 import host, peers, reference
from gpu_ops.filters.conv3x3.arithmetic import arithmetic, is_whole, least, tolerance
from gpu_ops.filters.conv3x3.presets import PRESETS
from gpu_ops.filters.kit.borders import border_indices
from gpu_ops.io import from_array
from gpu_ops.params import Values, check_values
from gpu_ops.plan import Launch, Limits
from gpu_ops.running.contract import Case, check_case, settings_of
from gpu_ops.running.verify import verify
from gpu_ops.task import Meta, Task
from gpu_ops.types import BORDERS, DTYPES

Array = np.ndarray[Any, Any]
CONV = find_filter("conv3x3")
KERNELS = [v.id for v in CONV.variants if v.kernels]
SHAPES = [(1, 1), (1, 7), (7, 1), (2, 2, 3), (17, 33), (19, 23, 3), (16, 31, 4), (9, 5, 6)]
SETTINGS: list[dict[str, Any]] = [dict(pairs) for pairs in settings_of(CONV)]
DYADIC = {"matrix": (0.5, -1.25, 0.75, 2.0, -0.5, 1.5, -3.0, 0.25, 1.0), "divisor": 0.5, "offset": 3.25}
LARGE = {"matrix": (1000, -999, 998, -997, 996, -995, 994, -993, 992), "divisor": 999_999, "offset": 3000}
TIES = {"matrix": (0, 0, 0, 1, 1, 0, 0, 0, 0), "divisor": 2, "offset": -20}


def params(setting: Values, border: str = "reflect", passes: int = 1) -> dict[str, Any]:
    return check_values(CONV.params, {**setting, "border": border, "passes": passes}, "conv3x3")


def samples(shape: tuple[int, ...], dtype: str) -> Array:
    """Random values over the whole range, both signs for floats, with runs of the largest and the smallest one."""
    rng = np.random.default_rng(7)
    if dtype.startswith("uint"):
        top = np.iinfo(dtype).max
        values = rng.integers(0, top, shape, dtype, endpoint=True)
        return np.where(rng.random(shape) < 0.3, (values > top // 2) * np.asarray(top, dtype), values)
    return rng.uniform(-1, 1, shape).astype(dtype)


def exact(x: Array, given: Values) -> Array:
    """One pass in fractions: floats stay fractions, integers are rounded half up and cut."""
    rows, columns = (border_indices(given["border"], -1, n + 1, n) for n in x.shape[:2])
    weights = [Fraction(w) for w in given["matrix"]]
    out = np.empty(x.shape, object)
    for place in np.ndindex(x.shape):
        total = Fraction(0)
        for k, weight in enumerate(weights):
            r, c = rows[place[0] + k // 3], columns[place[1] + k % 3]
            total += weight * Fraction(x[(r, c, *place[2:])].item()) if min(r, c) >= 0 else 0
        value = total / Fraction(given["divisor"]) + Fraction(given["offset"])
        if x.dtype.kind == "u":
            value = min(max(math.floor(value + Fraction(1, 2)), 0), np.iinfo(x.dtype).max)
        out[place] = value
    return out


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("setting", [*PRESETS.values(), DYADIC, LARGE, TIES], ids=[*PRESETS, "dyadic", "large", "ties"])
def test_reference_is_exact_for_integers(setting: Values, passes: int, border: str) -> None:
    for shape, dtype in [((1, 1), "uint8"), ((1, 5), "uint16"), ((4, 3, 2), "uint8"), ((6, 7), "uint16")]:
        x = samples(shape, dtype)
        wanted = x
        for _ in range(passes):
            wanted = exact(wanted, params(setting, border)).astype(dtype)
        found = reference.reference(on(CONV, x, params(setting, border, passes)))["image"]
        rounds = not is_whole(params(setting))
        assert found.dtype == (np.float64 if rounds else x.dtype)
        assert (np.floor(found + 0.5) == wanted if rounds else found == wanted).all(), shape


@pytest.mark.parametrize("border", BORDERS)
def test_reference_is_close_for_floats(border: str) -> None:
    for setting in SETTINGS:
        x = samples((5, 6, 2), "float64")
        given = params(setting, border)
        wanted = exact(x, given).astype(np.float64)
        found = reference.reference(on(CONV, x, given))["image"]
        allowed = tolerance(of(CONV, "float64", given)) / 2 * least(on(CONV, x, given))
        assert found.dtype == np.float64 and np.abs(found - wanted).max() <= allowed


def test_reference_in_bands_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    x, given = samples((37, 11, 3), "float32"), params(DYADIC, "wrap", 2)
    whole = reference.reference(on(CONV, x, given))["image"]
    monkeypatch.setattr(reference, "BAND", 150)
    assert reference.reference(on(CONV, x, given))["image"].tobytes() == whole.tobytes()


@pytest.mark.parametrize("dtype", daily_subset(DTYPES, 1, str))
@pytest.mark.parametrize("form", ["serial", "parallel"])
def test_host_keeps_the_contract(form: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers come out as the reference has them, to the last level, even where weights are not whole."""
    monkeypatch.setattr(host, "BAND", 400)
    for place, setting in enumerate([*SETTINGS, DYADIC, LARGE, TIES]):
        for shape in SHAPES:
            given = params(setting, BORDERS[(place + len(shape) + shape[0]) % 4])
            x = samples(shape, dtype)
            out = np.full_like(x, 77)
            getattr(host, form)(x, out, arithmetic(x.dtype, given), given["border"])
            wanted = reference.reference(on(CONV, x, given))["image"]
            if x.dtype.kind == "u":
                assert (out == np.floor(wanted + 0.5)).all(), (shape, given)
                continue
            error = np.abs(out.astype(np.float64) - wanted).max()
            assert error <= tolerance(of(CONV, dtype, given)) * least(on(CONV, x, given)), (shape, given)


def test_which_arithmetic_is_taken() -> None:
    def kind(dtype: str, setting: Values) -> str:
        return str(arithmetic(np.dtype(dtype), params(setting)).weights.dtype.name)

    assert [kind(d, PRESETS["gaussian"]) for d in DTYPES] == ["int32", "int32", "float32", "float64"]
    assert [kind(d, LARGE) for d in DTYPES[:2]] == ["float64", "float64"]
    assert kind("uint8", DYADIC) == "float64" and not is_whole(DYADIC)


def test_results_do_not_depend_on_the_threads() -> None:
    x, how = samples((301, 90), "float32"), arithmetic(np.dtype("float32"), params(DYADIC))
    threads, results = numba.get_num_threads(), set()
    try:
        for count in (1, threads):
            numba.set_num_threads(count)
            out = np.empty_like(x)
            host.parallel(x, out, how, "wrap")
            results.add(out.tobytes())
    finally:
        numba.set_num_threads(threads)
    assert len(results) == 1


def test_nan_and_infinity_reach_their_neighbours_only() -> None:
    x = samples((40, 50), "float64")
    x[7, 9], x[20, 0], x[39, 49] = np.nan, np.inf, -np.inf
    given = params(PRESETS["sobel-x"], "nearest")
    wanted = reference.reference(on(CONV, x, given))["image"]
    assert np.isnan(wanted).sum() >= 9  # 0 times infinity is NaN, so weights of 0 count
    for form in (host.serial, host.parallel):
        out = np.zeros_like(x)
        form(x, out, arithmetic(x.dtype, given), "nearest")
        np.testing.assert_allclose(out, wanted, rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name, module", [("scipy", ndimage), ("opencv", cv2)])
def test_peers_keep_the_contract(name: str, module: Any, dtype: str) -> None:
    for place, setting in enumerate([*SETTINGS, DYADIC, LARGE, TIES]):
        for shape in SHAPES:
            given = params(setting, BORDERS[(place + shape[0]) % 4])
            if name == "opencv" and CONV.variant("opencv").refusal(Task.of(Meta("image", shape, dtype), given)):
                assert given["border"] == "wrap"
                continue
            x = samples(shape, dtype)
            out = np.full_like(x, 77)
            getattr(peers, name)(module, x, out, arithmetic(x.dtype, given), given["border"])
            wanted = reference.reference(on(CONV, x, given))["image"]
            scale = np.iinfo(dtype).max if x.dtype.kind == "u" else least(on(CONV, x, given))
            error = np.abs(out.astype(np.float64) - wanted).max()
            assert error / scale <= tolerance(of(CONV, dtype, given)), (shape, given)


def test_opencv_alone_rounds_halves_to_even() -> None:
    """Why sums are finished outside of it: 1 / 2 is 1 here and 0 there."""
    x = np.ones((3, 3), np.uint8)
    halves = {"matrix": (0, 0, 0, 0, 1, 0, 0, 0, 0), "divisor": 2}
    assert (cv2.filter2D(x, -1, np.float32([[0.5]])) == 0).all()
    assert (reference.reference(on(CONV, x, params(halves)))["image"] == 1).all()


def test_results_are_cut_on_both_sides() -> None:
    x = samples((19, 23), "uint8")
    sums = reference.reference(on(CONV, x.astype(np.float64), params(PRESETS["sobel-x"])))["image"]
    found = reference.reference(on(CONV, x, params(PRESETS["sobel-x"])))["image"]
    assert sums.min() < 0 and sums.max() > 255
    assert (found[sums < 0] == 0).all() and (found[sums > 255] == 255).all()


def test_presets_do_what_they_are_called() -> None:
    flat = np.full((5, 6), 100, np.uint8)
    ramp = np.arange(42, dtype=np.uint8).reshape(6, 7)
    for name in PRESETS:
        level = {"sobel-x": 0, "sobel-y": 0, "laplacian": 0}.get(name, 100)
        assert (reference.reference(on(CONV, flat, params(PRESETS[name])))["image"] == level).all(), name
    inner = {n: reference.reference(on(CONV, ramp, params(PRESETS[n])))["image"][2, 3] for n in PRESETS}
    assert inner["identity"] == inner["mean"] == inner["gaussian"] == inner["sharpen"] == ramp[2, 3]
    assert (inner["sobel-x"], inner["sobel-y"]) == (8, 56)
    assert inner["emboss"] == ramp[2, 3] + 2 * (2 * 8 + 7 + 1)


def knobs_of(id: str, block_y: int) -> dict[str, Any]:
    """A variant's knobs: their defaults, but for the rows of a block."""
    return {k.name: block_y if k.name == "block_y" else k.default for k in CONV.variant(id).knobs}


@pytest.mark.parametrize("turn", few(range(3), 0))
@pytest.mark.parametrize("id", daily_subset(KERNELS, 5, str))
def test_kernels_agree_with_the_reference_to_the_last_level(id: str, turn: int) -> None:
    """Also where weights are not whole, and where whole sums do not fit int32: each setting with one of the shapes, in
    the other turns with the others."""
    variant, tried = CONV.variant(id), 0
    for number, setting in enumerate([DYADIC, LARGE, TIES, SETTINGS[-1]]):
        shape = ((19, 23, 3), (5, 6, 4), (16, 41))[(number + turn) % 3]
        dtype, border = ("uint8", "uint16")[number % 2], BORDERS[(number + shape[0]) % 4]
        given = params(setting, border, 2 if id == "fused" else 1 + number % 2)
        case = Case(shape, dtype, "random", given, knobs_of(id, 4))
        limits = open_device("sim").limits
        if variant.refusal(Task.of(Meta("image", shape, dtype), given, case.knobs, limits)) is None:
            run = check_case(CONV, variant, case, "sim", {})
            assert run.ok and run.errors["image"].max <= 0.5 and not run.findings, (str(case), run.failure)
            tried += 1
    assert tried


def _refusal(id: str, shape: tuple[int, ...] = (9, 9), dtype: str = "uint8", finite: bool = True, **values: Any) -> str:
    knobs = knobs_of(id, values.pop("block_y", 8))
    limits = Limits((7, 5), 1024, 65536, 1, 1, 1, 1)
    meta = Meta("image", shape, dtype, finite)
    return CONV.variant(id).refusal(Task.of(meta, params({}, **values), knobs, limits)) or ""


def test_what_variants_cannot_do_is_said() -> None:
    assert "this image has 1" in _refusal("rgba") and "this image has 5" in _refusal("rgba", (9, 9, 5))
    assert not _refusal("rgba", (9, 9, 3)) and not _refusal("rgba", (9, 9, 4), "float64")
    assert "it fuses two passes; choose passes 2" in _refusal("fused") and not _refusal("fused", passes=2)
    assert "wrap" in _refusal("texture", border="wrap") and "float64" in _refusal("texture", dtype="float64")
    assert "another channel" in _refusal("texture", (9, 9, 3)) and not _refusal("texture", (9, 9, 3), border="zero")
    assert "131,072" in _refusal("texture", (9, 131073)) and "65,536" in _refusal("texture", (65537, 9))
    assert "shared memory" in _refusal("packed", (9, 9, 64), "float32", block_y=32)
    assert "shared memory" in _refusal("warp_rows", (9, 9, 99), "float32", block_y=32)
    assert "wrap" in _refusal("opencv", border="wrap")
    for id in ("scipy", "opencv", "cupyx"):
        assert "NaN" in _refusal(id, dtype="float32", finite=False)
    for id in KERNELS:
        shape = (300_000, 9, 3) if id == "rgba" else (300_000, 9)
        allowed = {"block_y": 1, "passes": 2} if id == "fused" else {"block_y": 1}
        assert "block" in _refusal(id, shape, **allowed) or "65,536 rows" in _refusal(id, shape, **allowed)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("id", [v.id for v in CONV.variants if v.counts.accesses])
def test_counted_loads_are_those_declared(id: str, border: str) -> None:
    variant = CONV.variant(id)
    for shape, dtype, passes, rows in [
        ((40, 70), "float32", 1, 8),
        ((17, 33, 3), "uint8", 2, 4),
        ((1, 5), "uint16", 1, 1),
        ((65, 2, 4), "float32", 1, 16),
    ]:
        given, knobs = params(PRESETS["emboss"], border, passes), {"block_y": rows}
        if variant.refusal(Task.of(Meta("image", shape, dtype), given, knobs, open_device("sim").limits)):
            continue
        x = xray(CONV, variant, from_array(samples(shape, dtype), kind="image"), given, knobs)
        assert x.expected is not None and not x.findings
        counted = {**x.kernels[0].block_loads, "total": x.totals["global_load_threads"]}
        assert counted == {name: getattr(x.expected, name) for name in counted}, (shape, dtype)
        assert set(counted) == {"first", "inner", "last", "total"}
        assert x.totals["global_store_threads"] == passes * x.outputs


@pytest.mark.parametrize("border", daily_subset(BORDERS, 2, str))
@pytest.mark.parametrize("passes", [1, 2])
def test_checking_samples_agrees_with_checking_all(passes: int, border: str) -> None:
    """What the second pass reads beyond the edges is not what a padded input gives."""
    x = samples((300, 290), "float32")
    given = params(DYADIC, border, passes)
    right = reference.reference(on(CONV, x, given))["image"].astype(np.float32)
    input, task = from_array(x), on(CONV, x, given)
    assert verify(CONV, CONV.variants[0], input, task, {"image": right}, "sample")["image"].ok
    right[0, 5] += 1
    assert verify(CONV, CONV.variants[0], input, task, {"image": right}, "sample")["image"].worst == (0, 5)


@pytest.mark.parametrize("id", KERNELS)
@pytest.mark.parametrize("architecture", few(ARCHITECTURES, ARCHITECTURES[0]))
def test_the_largest_block_has_registers_enough(architecture: str, id: str) -> None:
    """65536 registers per block on every architecture, handed out to a warp in portions of 256."""
    device = OfflineDevice(architecture)
    for dtype in DTYPES[: 3 if id == "texture" else 4]:
        x = device.empty((64, 64, 3) if id == "rgba" else (64, 64), np.dtype(dtype))
        plan = planned(CONV, id, device, x, params({}, "zero", 2), knobs_of(id, 32))
        for launch in (s for s in plan.steps if isinstance(s, Launch)):
            used = launch.kernel.resources
            assert used["registers"] <= 64 and not used["spill_store_bytes"], (dtype, used)
