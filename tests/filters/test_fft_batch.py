"""Transforms in batches on the CPU: what is cut, what comes out, what is refused; and radices and shared memory."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tasks import on

from gpu_ops.devices import open_device
from gpu_ops.errors import ParamError
from gpu_ops.filters import find_filter
from gpu_ops.filters.fft.cuda.passes import room_of
from gpu_ops.filters.fft.cuda.radices import MOST_POINTS, halves, largest_prime, stages_of, thirds
from gpu_ops.io import from_array
from gpu_ops.params import check_values
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Pick, Run

Array = np.ndarray[Any, Any]
CPU = ("serial", "numpy", "scipy")


def result(name: str, array: Array, variant: str = "scipy", device: str = "cpu", **params: Any) -> Run:
    """The run of a variant, verified."""
    input = from_array(array, find_filter(name).accepts, rate=params.pop("rate", None))
    experiment = Experiment(name, input, params, (Pick(variant, device),), protocol="none")
    run = list(run_experiment(experiment))[-1]
    assert run.ok, (run.failure, run.errors)
    return run


def noise(*shape: int) -> Array:
    return np.random.default_rng(3).standard_normal(shape)


@pytest.mark.parametrize("variant", CPU)
def test_two_channels_or_neighbouring_values_are_complex_numbers(variant: str) -> None:
    x = noise(100, 2)
    right = np.fft.fft(x[:, 0] + 1j * x[:, 1])
    for array in (x, x.reshape(-1)):
        assert np.allclose(result("fft_batch1d", array, variant, numbers="complex").outputs["spectra"], right[None])


@pytest.mark.parametrize("variant", CPU)
def test_a_signal_is_cut_into_lines_and_what_is_left_is_not_used(variant: str) -> None:
    x = noise(103)
    lines = np.fft.rfft(x[:100].reshape(5, 20), axis=1)
    run = result("fft_batch1d", x, variant, numbers="real", points=20, rate=400.0)
    assert np.allclose(run.outputs["spectra"], lines)
    axes = run.forms["spectra"].axes
    assert [axis.name for axis in axes] == ["line", "frequency"] and axes[1].at(10) == 200.0


@pytest.mark.parametrize("variant", CPU)
def test_tiles_of_an_image_are_transformed_in_their_places(variant: str) -> None:
    image = noise(13, 22)
    spectra = result("fft_batch2d", image, variant, tile=4, numbers="complex").outputs["spectra"]
    numbers = image[:, 0::2] + 1j * image[:, 1::2]
    for down, across in ((0, 0), (4, 4), (8, 0)):
        tile = np.s_[down : down + 4, across : across + 4]
        assert np.allclose(spectra[tile], np.fft.fft2(numbers[tile]))
    assert spectra.shape == (12, 8)
    real = result("fft_batch2d", image, variant, tile=4, numbers="real").outputs["spectra"]
    assert real.shape == (12, 15)
    assert np.allclose(real[4:8, 3:6], np.fft.rfft2(image[4:8, 4:8]))


def test_channels_of_samples_are_transformed_apart() -> None:
    image = noise(6, 8, 3)
    spectra = result("fft_batch2d", image, numbers="real").outputs["spectra"]
    assert np.allclose(spectra, np.fft.rfft2(image, axes=(0, 1)))


@pytest.mark.parametrize(
    ("name", "shape", "params", "message"),
    [
        ("fft_batch1d", (1,), {}, "hold no transform of 1 complex points; choose less for points, or 0 for all, or"),
        ("fft_batch1d", (9, 3), {}, "3 channels are no complex numbers: those are two channels or neighbouring values"),
        ("fft_batch1d", (9,), {"points": 5}, "9 values hold no transform of 5 complex points; choose less for points"),
        ("fft_batch2d", (9, 9, 3), {}, "those are neighbouring values of one; choose numbers real"),
        (
            "fft_batch2d",
            (9, 9),
            {"tile": 8},
            "9 x 9 values hold no transform of 8 complex points; choose less for",
        ),
    ],
)
def test_what_has_no_transform_is_one_sentence(
    name: str, shape: tuple[int, ...], params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParamError, match=message):
        result(name, noise(*shape), numbers="complex", **params)


@pytest.mark.parametrize("radix", [4, 8, 16, 32])
def test_every_length_without_large_primes_has_stages_that_fit_their_threads(radix: int) -> None:
    for n in range(2, 1200):
        stages = stages_of(n, radix)
        assert (stages is None) == (largest_prime(n) > 13), n
        if stages is None:
            continue
        assert math.prod(stages.radices) == n
        assert max(stages.radices) <= max(radix, largest_prime(n))
        for each in stages.radices:
            butterflies = -(-n // (each * stages.threads))
            assert butterflies * each <= max(MOST_POINTS, radix) and butterflies * stages.threads >= n // each
    assert stages_of(4096) == ((16, 16, 16), 256) and stages_of(1 << 15) is None


def test_long_lines_have_two_parts() -> None:
    assert halves(1 << 24, 1 << 14) == (4096, 4096)
    assert halves(100_000, 1 << 14) == (400, 250)
    assert halves(2 * 8191, 1 << 14) is None
    assert room_of(1000, (10, 10, 10), 2) == (1099, 2208)


def test_the_longest_lines_have_three_parts_of_eight_points_at_least() -> None:
    assert thirds(1 << 27) == (512, 512, 512) and thirds(10_000_000) == (250, 200, 200)
    assert thirds(512) == (8, 8, 8) and thirds(504) is None and thirds(17 * 1024) is None


def test_every_lane_of_a_wide_access_has_two_neighbouring_butterflies() -> None:
    x = noise(4096).astype(np.float32)
    input = from_array(x, "signal")
    cases = ((8, 512, ""), (16, 1024, "width 64, or radix 8"), (8, 256, "width 64, or radix 4"), (8, 60, "width 64"))
    for radix, points, advice in cases:
        pick = Pick("fast", "sim", {"width": 128, "radix": radix})
        params = {"points": points, "numbers": "complex"}
        run = list(run_experiment(Experiment("fft_batch1d", input, params, (pick,), protocol="none")))[-1]
        words = f"the threads of {points:,} points have no two neighbouring butterflies; choose {advice}"
        assert run.failure.endswith(words) if advice else run.ok


class FakeCufft:
    """Plans of transforms as CuPy makes them, by NumPy; what was asked for is in `made`."""

    CUFFT_FORWARD = -1

    def __init__(self) -> None:
        self.made: list[tuple[Any, ...]] = []

    def library(self, name: str) -> Any:
        assert name in ("cupy", "cupyx.scipy.fft", "cupy.cuda.cufft")
        return np if name == "cupy" else self

    def get_fft_plan(self, a: Array, axes: Any, value_type: str) -> Any:
        if isinstance(axes, tuple) and value_type != "C2C" and a.flags.f_contiguous:
            raise ValueError("C2R/R2C PlanNd for F-order arrays is not supported")
        self.made.append((a.shape, axes, value_type))
        along = axes if isinstance(axes, tuple) else (axes,)
        transform = np.fft.fftn if value_type == "C2C" else np.fft.rfftn

        def fft(x: Array, out: Array, direction: int) -> None:
            assert x.shape == a.shape and direction == self.CUFFT_FORWARD
            out[...] = transform(x, axes=along)

        return SimpleNamespace(fft=fft)


@pytest.mark.parametrize(
    ("name", "shape", "params", "made"),
    [
        ("fft_batch1d", (64,), {"points": 16, "numbers": "complex"}, ((2, 1, 16), 2, "C2C")),
        ("fft_batch1d", (64,), {"points": 16}, ((4, 1, 16), 2, "R2C")),
        ("fft_batch2d", (16, 16), {"tile": 8, "numbers": "complex"}, ((2, 8, 8), (1, 2), "C2C")),
        ("fft_batch2d", (8, 16), {"tile": 8}, ((2, 8, 8), (1, 2), "R2C")),
    ],
)
def test_cufft_is_planned_for_exactly_these_lines(
    name: str, shape: tuple[int, ...], params: dict[str, Any], made: tuple[Any, ...]
) -> None:
    assert plans_of_cupy(name, shape, params) == [made]


@pytest.mark.parametrize("shape", [(1, 1), (7, 1), (1, 9)])
def test_real_tiles_with_one_long_side_need_no_plan_of_cupy(shape: tuple[int, ...]) -> None:
    assert plans_of_cupy("fft_batch2d", shape, {}) == []
    height, width = shape
    assert plans_of_cupy("fft_batch2d", (height, 2 * width), {"numbers": "complex"}) != []


def plans_of_cupy(name: str, shape: tuple[int, ...], params: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What CuPy's variant has planned, with plans by NumPy. Its steps have given the right result."""
    filter, library, x = find_filter(name), FakeCufft(), noise(*shape).astype(np.float32)
    host = open_device("cpu")
    device: Any = SimpleNamespace(library=library.library, empty=host.empty)
    task = on(filter, x, check_values(filter.params, params, name))
    plan = filter.variant("cupy").plan(device, task)
    for step in plan.steps:
        step.function(*step.args)  # type: ignore[union-attr]
    assert np.allclose(plan.outputs["spectra"], filter.reference(task)["spectra"], atol=1e-4)
    return library.made
