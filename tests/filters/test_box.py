"""The box filter's reference, host functions and CPU peers against padded prefix sums of exact integers, how far its
running sums drift, what each variant refuses, and the loads its kernels declare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cv2
import numba
import numpy as np
import pytest
from lanes import daily_subset, each_once, few
from scipy import ndimage
from tasks import of, on, planned

from gpu_ops import progress
from gpu_ops.devices import libraries, open_device
from gpu_ops.devices.limits import limits_of
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import LibraryMissing
from gpu_ops.explaining.xray import xray
from gpu_ops.filters.box import BOX, host, limits, peers
from gpu_ops.filters.box.reference import reference
from gpu_ops.plan import Copy, Launch
from gpu_ops.running.contract import Case, check_case
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Meta, Task
from gpu_ops.types import BORDERS, Experiment, Input, Pick

Array = np.ndarray[Any, Any]
EPS = 2.0**-23
PAD_MODES: dict[str, Any] = {"zero": "constant", "reflect": "symmetric", "nearest": "edge", "wrap": "wrap"}
SHAPES = [(1, 1), (1, 9), (8, 1), (2, 3, 1), (17, 33), (19, 37, 3), (70, 140), (1, 300, 2), (300, 1)]
RADII = (1, 2, 4, 16, 31, 256)
SIXTEENTHS = 16
"""Floats are whole multiples of 1 / 16, so that sums of them are exact integers."""


def samples(shape: tuple[int, ...], dtype: str, seed: int = 7) -> Array:
    """Random values over the whole range; floats are sixteenths of both signs, below 4096 in magnitude."""
    rng = np.random.default_rng(seed)
    if dtype == "float32":
        return (rng.integers(-65535, 65536, shape) / SIXTEENTHS).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def oracle(x: Array, radius: int, border: str) -> Array:
    """The contract by prefix sums of whole numbers over a padded copy: exact, and another way than any variant's."""
    exact = x.astype(np.int64) if x.dtype.kind == "u" else np.rint(x.astype(np.float64) * SIXTEENTHS).astype(np.int64)
    around = [(radius, radius)] * 2 + [(0, 0)] * (x.ndim - 2)
    table = np.pad(exact, around, mode=PAD_MODES[border]).cumsum(0).cumsum(1)
    table = np.pad(table, [(1, 0)] * 2 + [(0, 0)] * (x.ndim - 2))
    w = 2 * radius + 1
    sums = table[w:, w:] - table[:-w, w:] - table[w:, :-w] + table[:-w, :-w]
    if x.dtype.kind == "u":
        rounded: Array = ((2 * sums + w * w) // (2 * w * w)).astype(x.dtype)
        return rounded
    means: Array = sums / (w * w * SIXTEENTHS)
    return means


def cases(dtype: str) -> Iterator[tuple[Array, int, str]]:
    for place, shape in enumerate(SHAPES):
        for number, radius in enumerate(RADII):
            beyond = radius >= min(shape[:2])
            for border in BORDERS if beyond and radius < 64 else BORDERS[(number + place) % 2 :: 2]:
                yield samples(shape, dtype), radius, border


def poisoned(x: Array) -> Array:
    return np.full_like(x, 0x5A if x.dtype.kind == "u" else np.nan)


def error_of(out: Array, wanted: Array, x: Array) -> float:
    """The largest error in eps of the largest value."""
    found = np.abs(out.astype(np.float64) - wanted).max()
    return float(found / max(np.abs(x).max(), 1e-300) / EPS)


@pytest.mark.parametrize("dtype", BOX.dtypes)
def test_reference_keeps_the_contract(dtype: str) -> None:
    for x, radius, border in cases(dtype):
        out = reference(on(BOX, x, {"radius": radius, "border": border}))["image"]
        assert out.dtype == (x.dtype if x.dtype.kind == "u" else np.float64)
        assert error_of(out, oracle(x, radius, border), x) <= (0 if x.dtype.kind == "u" else 1e-6), (x.shape, radius)


@pytest.mark.parametrize("dtype", daily_subset(BOX.dtypes, 1, str))
@pytest.mark.parametrize("form", ["serial", "parallel"])
def test_host_keeps_the_contract(form: str, dtype: str) -> None:
    for x, radius, border in cases(dtype):
        out = poisoned(x)
        getattr(host, form)(x, out, radius, border)
        error = error_of(out, oracle(x, radius, border), x)
        assert error <= (0 if x.dtype.kind == "u" else 0.51), (x.shape, radius, border)


@pytest.mark.parametrize("dtype", BOX.dtypes)
@pytest.mark.parametrize("name, module", [("scipy", ndimage), ("opencv", cv2)])
def test_peers_keep_the_contract(name: str, module: Any, dtype: str) -> None:
    variant, checked = BOX.variant(name), 0
    for x, radius, border in cases(dtype):
        params = {"radius": radius, "border": border}
        if variant.refusal(Task.of(Meta("image", x.shape, dtype), params, {}, limits_of("sm_90"))) is None:
            out = poisoned(x)
            getattr(peers, name)(module, x, out, radius, border)
            error = error_of(out, oracle(x, radius, border), x)
            assert error <= (0 if x.dtype.kind == "u" else 2), (x.shape, radius, border)
            checked += 1
    assert checked >= 25


def beside_a_half(radius: int, dtype: str, mean: int, more: int) -> Array:
    """An image whose inner squares' mean is as near as can be to `mean` + 1/2: below it, or with one more, above."""
    w = 2 * radius + 1
    tile = np.full(w * w, mean, dtype)
    tile[: w * w // 2 + more] += 1
    return np.tile(tile.reshape(w, w), (1, 3))


@pytest.mark.parametrize("dtype, radii", [("uint8", (4, 64, 81, 256)), ("uint16", (4, 64, 256))])
def test_means_beside_a_half_are_rounded_right(dtype: str, radii: tuple[int, ...]) -> None:
    for radius in radii:
        middle = (radius, slice(radius, -radius))
        for mean in (0, 1, np.iinfo(dtype).max // 2, np.iinfo(dtype).max - 1):
            for more in (0, 1):
                x = beside_a_half(radius, dtype, int(mean), more)
                params = {"radius": radius, "border": "zero"}
                assert radius == 256 or (reference(on(BOX, x, params))["image"][middle] == mean + more).all()
                for form in ("serial", "parallel", "scipy", "opencv"):
                    out = poisoned(x)
                    if BOX.variant(form).refusal(
                        Task.of(Meta("image", x.shape, dtype), params, {}, limits_of("sm_75"))
                    ):
                        continue
                    if form in ("serial", "parallel"):
                        getattr(host, form)(x, out, radius, "zero")
                    else:
                        getattr(peers, form)({"scipy": ndimage, "opencv": cv2}[form], x, out, radius, "zero")
                    assert (out[middle] == mean + more).all(), (form, radius, mean, more)


def test_opencv_is_refused_where_it_is_off_by_one() -> None:
    """What the limit is for: the day no mean is off, the limit can go."""
    wrong = 0
    for mean in range(200, 255):
        x = beside_a_half(256, "uint8", mean, 0)
        assert "rounds uint8" in refusal("opencv", Meta("image", x.shape, "uint8"), 256)
        out = poisoned(x)
        peers.opencv(cv2, x, out, 256, "zero")
        wrong += int((out[256, 256:-256] != mean).any())
    assert wrong > 0


def adversarial(length: int) -> Array:
    """Large values, then tiny ones: what large sums leave behind is all that a tiny one's sum could show."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, length).astype(np.float32)
    x[length // 3 :] *= np.float32(1e-6)
    x[length // 3 - 1] = 1
    return x


@pytest.mark.parametrize("shape", [(4096, 3), (3, 4096), (4096, 33)])
@pytest.mark.parametrize("radius", [1, 16, 256])
def test_running_sums_drift_less_than_half_an_ulp_on_long_axes(shape: tuple[int, int], radius: int) -> None:
    x = adversarial(shape[0] * shape[1]).reshape(shape)
    wanted = reference(on(BOX, x, {"radius": radius, "border": "nearest"}))["image"]
    for form in (host.serial, host.parallel):
        out = poisoned(x)
        form(x, out, radius, "nearest")
        assert error_of(out, wanted, x) <= 0.51


@pytest.mark.parametrize("variant", daily_subset(["sliding", "sliding_texture", "sliding_transpose"], 1, str))
@pytest.mark.parametrize("radius", few((1, 16), 16))
def test_sliding_kernels_stay_within_four_ulp_on_long_axes(variant: str, radius: int) -> None:
    params, knobs = {"radius": radius, "border": "zero"}, {"block": 32}
    device = open_device("sim").session({})
    for shape in ((2, 4096), (4096, 2)):
        x = adversarial(8192).reshape(shape)
        wanted = reference(on(BOX, x, params))["image"]
        plan = planned(BOX, variant, device, device.upload(x), params, knobs)
        assert not device.execute(plan).findings
        # Half for the row's mean, half for the square's: as much as is stored, and next to no drift.
        assert error_of(device.download(plan.outputs["image"]), wanted, x) <= 1.02


def test_tolerances_are_what_was_asked_for() -> None:
    for variant in BOX.variants:
        rule = (variant.exactness or BOX.outputs[0]).tolerance
        for radius in (1, 64, 256):
            params = {"radius": radius}
            assert rule(of(BOX, "uint8", params)) == rule(of(BOX, "uint16", params)) == 0
            own = {"table": 65.0, "ring": 32.0, "cvcuda": (2 * radius + 1) ** 2 / 4 + 3}
            within = own.get(variant.id, 2 if variant.exactness is None else radius + 3.5)
            assert rule(of(BOX, "float32", params)) == within * EPS


def test_float_sums_of_many_equal_values_stay_within_their_bound() -> None:
    """The worst data for sums in one direction: every rounding goes the same way."""
    params = {"radius": 16, "border": "reflect"}
    for id in ("direct", "separable", "separable_fused"):
        for value in (0.7, 1 / 3, 3e38):
            x = np.full((9, 40), value, np.float32)
            device = open_device("sim").session({})
            plan = planned(BOX, id, device, device.upload(x), params, {"block": 64})
            device.execute(plan)
            assert error_of(device.download(plan.outputs["image"]), x.astype(np.float64), x) <= 16 + 3.5


def test_a_table_loses_no_more_than_it_says() -> None:
    x = np.full((150, 400), 0.7, np.float32)
    device = open_device("sim").session({})
    plan = planned(BOX, "table", device, device.upload(x), {"radius": 1, "border": "reflect"}, {"block": 128})
    device.execute(plan)
    bound = limits.table_loss(150, 400, 3) / EPS + 1
    assert bound < 2
    assert error_of(device.download(plan.outputs["image"]), x.astype(np.float64), x) <= bound


def refusal(id: str, meta: Meta, radius: int = 4, border: str = "reflect", block: int = 128) -> str:
    given = {"radius": radius, "border": border}
    return BOX.variant(id).refusal(Task.of(meta, given, {"block": block}, limits_of("sm_75"))) or ""


def test_what_variants_cannot_do_is_said() -> None:
    plain, broken = Meta("image", (99, 99), "float32"), Meta("image", (99, 99), "float32", finite=False)
    exact = {"direct", "separable", "separable_fused", "cupyx", "cucim", "cvcuda"}
    for variant in (v for v in BOX.variants if v.id != "columns"):
        assert ("NaN" in refusal(variant.id, broken)) == (variant.id not in exact), variant.id
        assert refusal(variant.id, plain) == ""
    large = Meta("image", (20000, 20000), "float32")
    assert "larger radius" in refusal("table", large) and not refusal("table", large, 64)
    assert not refusal("table", Meta("image", (4096, 4096), "float32"), 1)
    assert not refusal("table", Meta("image", (20000, 20000), "uint16"), 1)
    assert "texture" in refusal("sliding_texture", Meta("image", (9, 131073), "uint8"))
    assert "65,535" in refusal("direct", Meta("image", (70000, 9), "uint8"), block=16)
    assert "shared memory" in refusal("separable_fused", plain, 256)


def test_nan_reaches_its_squares_only_where_it_is_allowed() -> None:
    x = samples((40, 60), "float32")
    x[3, 5], x[20, 31], x[39, 59] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        wanted = reference(on(BOX, x, {"radius": 2, "border": "nearest"}))["image"]
    for id in ("direct", "separable", "separable_fused"):
        device = open_device("sim").session({})
        plan = planned(BOX, id, device, device.upload(x), {"radius": 2, "border": "nearest"}, {"block": 128})
        device.execute(plan)
        np.testing.assert_allclose(device.download(plan.outputs["image"]), wanted, rtol=0, atol=0.01)


def test_results_do_not_depend_on_the_threads_or_the_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    image = samples((301, 90), "float32")
    whole, out = poisoned(image), poisoned(image)
    host.serial(image, whole, 9, "wrap")
    monkeypatch.setattr(host, "BAND", 900)
    events: list[float] = []
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with progress.listening(None, events.append):
        host.serial(image, out, 9, "wrap")
    assert len(events) > 5 and events == sorted(events) and out.tobytes() == whole.tobytes()
    threads, results = numba.get_num_threads(), set()
    try:
        for count in {1, threads}:
            numba.set_num_threads(count)
            host.parallel(image, out, 9, "wrap")
            results.add(out.tobytes())
    finally:
        numba.set_num_threads(threads)
    assert len(results) == 1


def test_wide_images_go_in_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "PIECE", 30)
    for shape in ((70, 140), (37, 101, 3)):
        for border in BORDERS:
            x = samples(shape, "uint16")
            out = poisoned(x)
            host.parallel(x, out, 3, border)
            np.testing.assert_array_equal(out, oracle(x, 3, border))


def test_input_may_be_read_only_and_copies_are_refused() -> None:
    x = samples((40, 30), "float32")
    x.flags.writeable = False
    for function in (host.serial, host.parallel):
        function(x, np.empty_like(x), 3, "zero")
        with pytest.raises(ValueError, match="copy"):
            function(x, np.empty((30, 40), np.float32).T, 3, "zero")


def without(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine where that package is not installed."""
    found = libraries.importlib.import_module

    def missing(name: str, *more: Any) -> Any:
        if name.split(".")[0] == package:
            raise ImportError(f"No module named {package!r}")
        return found(name, *more)

    monkeypatch.setattr(libraries.importlib, "import_module", missing)


def test_a_peer_that_is_not_installed_is_said_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Input("image", samples((9, 9), "uint8"), "yx", "samples", {"generator": "test"})
    picks = tuple(Pick(id, "cpu") for id in ("scipy", "serial"))
    experiment = Experiment("box", given, {"radius": 1}, picks, protocol="none")
    without("scipy", monkeypatch)
    runs = {run.pick.variant: run for run in run_experiment(experiment)}
    assert "install scipy" in runs["scipy"].failure and runs["scipy"].failure_kind == "unsupported"
    assert runs["serial"].ok


def test_cucim_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    without("cucim", monkeypatch)
    with pytest.raises(LibraryMissing, match="install cucim-cu13"):
        libraries.import_library("cucim.skimage.filters")


@pytest.mark.parametrize("id", ["direct", "separable_fused"])
@pytest.mark.parametrize(
    "case, border",
    each_once((((40, 70), "float32", 1, 64), ((17, 33, 3), "uint8", 5, 128), ((7, 5), "uint16", 9, 16)), BORDERS),
)
def test_counted_loads_are_those_declared(case: tuple[tuple[int, ...], str, int, int], id: str, border: str) -> None:
    shape, dtype, radius, block = case
    given = Input("image", samples(shape, dtype), "yxc"[: len(shape)], "samples", {"generator": "test"})
    seen = xray(BOX, BOX.variant(id), given, {"radius": radius, "border": border}, {"block": block})
    assert seen.expected is not None and not seen.findings
    assert seen.totals["global_load_threads"] == seen.expected.total
    found = seen.kernels[0].block_loads
    assert (found["first"], found["last"]) == (seen.expected.first, seen.expected.last)


@pytest.mark.parametrize("architecture", few(("sm_75", "sm_90"), "sm_75"))
def test_every_pass_is_a_named_step_and_fits_every_architecture(architecture: str) -> None:
    for variant in (v for v in BOX.variants if v.kernels):
        device = OfflineDevice(architecture)
        x = device.empty((4096, 8192, 3), np.float32 if variant.id == "double" else np.uint8)
        knobs = {p.name: p.default for p in variant.knobs}
        plan = planned(BOX, variant.id, device, x, {"radius": 16, "border": "wrap"}, knobs)
        device.check(plan)
        names = [step.name for step in plan.steps]
        assert all(names) and len(set(names)) == len(names)
        assert all(isinstance(step, Launch | Copy) for step in plan.steps)
        assert isinstance(plan.steps[0], Copy) == (variant.id == "sliding_texture")


@pytest.mark.parametrize(
    "id, kind",
    each_once(
        ("sliding", "sliding_texture", "sliding_transpose", "table"),
        (("uint8", "reflect"), ("uint16", "wrap"), ("float32", "nearest")),
    ),
)
def test_the_largest_radius_beyond_the_image(id: str, kind: tuple[str, str]) -> None:
    dtype, border = kind
    case = Case((33, 65), dtype, "random", {"radius": 256, "border": border}, {"block": 32})
    run = check_case(BOX, BOX.variant(id), case, "sim", {})
    assert run.ok, (run.failure, run.errors)
