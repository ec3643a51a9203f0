"""The Fourier transform's kernels on the simulated GPU, against NumPy in double: any length, there and back."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices import open_device
from gpu_ops.devices.compiler import ARCHITECTURES, compile_kernel
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import find_filter
from gpu_ops.filters.fft.conflicts import gap_of_one, gap_of_span, no_gap, wavefronts
from gpu_ops.filters.fft.transform import Lines, Transforms, chirp, fits, longest_line, padded, twiddles
from gpu_ops.filters.fft.ways import STOCKHAM
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.measuring.runner import run_experiment
from gpu_ops.measuring.xray import xray
from gpu_ops.params import check_values
from gpu_ops.plan import Device, Execution, Plan
from gpu_ops.task import Meta, Task
from gpu_ops.types import Experiment, Filter, Input, Pick, Run
from tests.lanes import each_once, few

Array = np.ndarray[Any, Any]
SHAPES = ((3, 1, 2), (3, 2, 1), (1, 4, 5), (2, 8, 3), (3, 64, 2), (2, 97, 1), (1, 100, 3), (2, 1024, 1), (1, 1024, 2))
FEWER = ((2, 8, 3), (2, 97, 1), (1, 1024, 2))
"""For the kernels that share most of their code."""
MOST = {"complex64": 3e-7, "complex128": 8e-16}
"""The relative root-mean-square error: 1.5e-7 and 7e-16 were measured of these lengths, Bluestein's the largest."""


def numbers(shape: tuple[int, ...], dtype: str) -> Array:
    random = np.random.default_rng(7)
    return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)


def transformed(
    x: Array, way: str, inverse: bool = False, longest: int = 0, block: int = 64, **knobs: Any
) -> tuple[Array, int]:
    """The transform along the middle axis, and the number of its steps. Nothing may be found wrong."""
    found, steps, execution = executed(open_device("sim").session({}), x, way, inverse, longest, block, **knobs)
    assert execution.findings == ()
    return found, steps


def executed(
    device: Device, x: Array, way: str, inverse: bool = False, longest: int = 0, block: int = 64, **knobs: Any
) -> tuple[Array, int, Execution]:
    """The same, with all that the device tells."""
    transforms = Transforms(device, x.dtype, way, block, longest, knobs)
    buffer = transforms.take(x.size)
    device.upload(x.reshape(-1), out=buffer)
    result = transforms.along(buffer, Lines(*x.shape), "lines", inverse)
    execution = device.execute(Plan(tuple(transforms.steps), {}))
    return device.download(result).reshape(x.shape), len(transforms.steps), execution


def error(right: Array, found: Array) -> float:
    """Relative, root mean square."""
    return float(np.sqrt(np.mean(np.abs(found - right) ** 2) / np.mean(np.abs(right) ** 2)))


@pytest.mark.parametrize("dtype", MOST)
@pytest.mark.parametrize("way", ["global", "shared", *STOCKHAM])
def test_lines_of_every_length_there_and_back(way: str, dtype: str) -> None:
    if (way, dtype) == ("fast_sine", "complex128"):
        pytest.skip("fast sine has no doubles")
    for shape in SHAPES if way in ("global", "shared") else FEWER:
        x = numbers(shape, dtype)
        found, steps = transformed(x, way)
        assert error(np.fft.fft(x.astype(np.complex128), axis=1), found) <= MOST[dtype], shape
        back, _ = transformed(found, way, inverse=True)
        assert error(x, back / shape[1]) <= 2 * MOST[dtype], shape
        n = shape[1]
        ones = 0 if n == 1 else padded(n).bit_length() - 1 if way == "global" else 1
        assert steps == (ones if padded(n) == n else 3 + 2 * ones), shape


@pytest.mark.parametrize("way", ["shared", "registers", "table"])
@pytest.mark.parametrize("n, longest, block", [(64, 8, 32), (128, 16, 64), (100, 16, 256), (2, 64, 1024)])
def test_a_line_too_long_for_shared_memory_is_transformed_in_two_parts(
    n: int, longest: int, block: int, way: str
) -> None:
    x = numbers((2, n, 3), "complex128")
    found, steps = transformed(x, way, longest=longest, block=block)
    assert error(np.fft.fft(x, axis=1), found) <= MOST["complex128"]
    assert steps == {64: 2, 128: 2, 100: 7, 2: 1}[n]
    back, _ = transformed(found, way, True, longest, block)
    assert error(x, back / n) <= 2 * MOST["complex128"]


@pytest.mark.parametrize("knobs", [{"radix": 8}, {"radix": 16}], ids=str)
@pytest.mark.parametrize("block", [32, 512])
def test_every_rest_of_the_radix_is_right_with_long_and_short_blocks(block: int, knobs: dict[str, int]) -> None:
    for n in (16, 32, 512, 4096):
        x = numbers((3, n, 1), "complex64")
        found, _ = transformed(x, "registers", block=block, **knobs)
        assert error(np.fft.fft(x.astype(np.complex128), axis=1), found) <= MOST["complex64"], n


GAPS = {("padded_text", 0): no_gap, ("padded_text", 1): gap_of_one, ("padded", 1): gap_of_span}
SOURCES = {(1024, 2): ((480, 320), (448, 448), (320, 448)), (4096, 16): ((2432, 384), (512, 512), (384, 512))}
"""Stores and loads of one part of a line, without gaps, with the source's, and with those that grow."""


@pytest.mark.parametrize("n, radix", list(SOURCES))
def test_the_simulated_gpu_counts_the_wavefronts_of_the_formula(n: int, radix: int) -> None:
    x = numbers((1, n, 1), "complex64")
    for place, ((way, gap), rule) in enumerate(GAPS.items()):
        knobs = {"radix": radix} | ({"gap": gap} if way == "padded_text" else {})
        device = SimDevice("sm_75", Options(checks="off", counters="full")).session({})
        _, _, execution = executed(device, x, way, block=256, **knobs)
        found = wavefronts(n, radix, rule)
        both = 2 * found.loads
        for code, passes in (("re[place] =", found.stores), ("im[place] =", found.stores), ("re[place], im", both)):
            assert _passes_of(execution, code) == passes, (way, gap, code)
        assert found[:2] == SOURCES[n, radix][place] and found.least == SOURCES[n, radix][2][0]


def _passes_of(execution: Execution, code: str) -> int:
    """The wavefronts of the lines with this code."""
    text = read_source("include/fft_stockham.cuh").splitlines()
    lines = [line for line in execution.lines if line.file.endswith("fft_stockham.cuh")]
    return sum(line.counts.get("shared_wavefronts", 0) for line in lines if code in text[line.line - 1])


def test_radix_16_in_registers_exchanges_4096_points_twice() -> None:
    """Through shared memory go 4096 complex numbers, twice: 8 warps of 16 points, both parts, in and out."""
    x = numbers((1, 4096, 1), "complex64")
    device = SimDevice("sm_75", Options(checks="off", counters="full")).session({})
    counters = executed(device, x, "registers", block=256)[2].counters
    requests = [counters[f"shared_{verb}_requests"] for verb in ("store", "load")]
    assert requests == [2 * 2 * 8 * 16] * 2
    assert counters["shared_wavefronts"] == 512 * 2 + 128 * 2  # what the loads after the first stage lose


def test_twiddles_as_coarse_as_cuda_states_stay_within_the_tolerance_of_fast_sine() -> None:
    """A simulated GPU computes sines better than a real one: here every twiddle is off by the most that CUDA states."""
    text = read_source("fft/7_fast_sine.cu")
    wrong = "w.x += (k & 1 ? 4.18e-7f : -4.18e-7f); w.y += (k & 2 ? 3.59e-7f : -3.59e-7f);\n        return w;"
    coarse = {"fft/7_fast_sine.cu": text.replace("return w;", wrong)}
    assert coarse["fft/7_fast_sine.cu"] != text
    signal = np.random.default_rng(5).standard_normal(512).astype(np.float32)
    sizes = []
    for edits in ({}, coarse):
        for result in ("spectrum", "round trip", "power density"):
            found = run("fft1d", "fast_sine", signal, result=result, edits=edits)
            sizes += [max(error.relative / error.tolerance for error in found.errors.values())]
    assert max(sizes[:3]) < max(sizes[3:]) < 1


def test_tables_are_right_where_k_squared_is_large() -> None:
    n = (1 << 20) - 3  # odd, so that (n - 2)² is n + 4 modulo 2 n
    assert abs(chirp(n)[n - 2] - np.exp(-1j * np.pi * (n + 4) / n)) < 1e-15
    assert abs(twiddles(4096)[1024] - -1j) < 1e-15


def test_the_longest_lines_are_known() -> None:
    single, double = np.dtype(np.complex64), np.dtype(np.complex128)
    assert [longest_line(b, single) for b in (48 << 10, 64 << 10, 232448)] == [4096, 8192, 16384]
    assert padded(1) == 1 and padded(2) == 2 and padded(3) == 8 and padded(4096) == 4096 and padded(4097) == 16384
    assert padded((1 << 24) - 1) == 1 << 25
    assert fits(1 << 24, "shared", 64 << 10, double) and not fits((1 << 24) - 1, "shared", 64 << 10, double)
    assert fits((1 << 24) - 1, "global", 64 << 10, double) and fits((1 << 24) - 1, "shared", 64 << 10, single)


def run(
    filter_id: str,
    variant: str,
    x: Array,
    rate: float | None = None,
    edits: Mapping[str, str] = MappingProxyType({}),
    **params: Any,
) -> Run:
    """A verified run on the simulated GPU; nothing may be found wrong."""
    filter = find_filter(filter_id)
    kind = filter.accepts
    input = Input(kind, x, INPUT_KINDS[kind].axes[x.ndim], "x", {"generator": "test"}, rate)
    values = {p.name: p.default for p in filter.params} | params
    experiment = Experiment(filter.id, input, values, (Pick(variant, "sim", edits=edits),), protocol="none")
    result = list(run_experiment(experiment))[-1]
    assert result.ok and not result.findings, (result.failure, result.errors, result.findings)
    return result


@pytest.mark.parametrize("variant", ["global", "shared"])
def test_the_peaks_of_tones_are_found(variant: str) -> None:
    t = np.arange(512) / 1000
    tones = np.sin(2 * np.pi * 100 * t) + 0.5 * np.cos(2 * np.pi * 333.3 * t) + 40
    x = np.stack([tones, np.roll(tones, 3) * 2], axis=1).astype(np.float32)
    found = run("fft1d", variant, x, 1000.0, result="magnitude", window="Hann").outputs
    assert found["peak_count"] == 4
    assert found["peaks"][:2, 0] == pytest.approx([100, 333.3], abs=0.2)
    assert found["peaks"][:2, 2] == pytest.approx(found["peaks"][:2, 0], abs=0.01)
    assert not found["peaks"][2:].any()
    density = run("fft1d", variant, x, 1000.0, result="power density", segment=128, detrend="constant", window="Hann")
    assert density.outputs["peak_count"] == 4


@pytest.mark.parametrize("variant", ["global", "shared"])
def test_signs_and_both_sides_are_right_where_the_length_is_a_power_of_two(variant: str) -> None:
    x = np.random.default_rng(2).integers(0, 60000, (64, 2)).astype(np.uint16)
    for result in ("spectrum", "phase"):
        for sides in ("one", "two"):
            run("fft1d", variant, x, result=result, sides=sides, window="Hann")
    image = np.random.default_rng(3).standard_normal((16, 8))
    for result in ("spectrum", "phase", "magnitude", "radial profile"):
        run("fft2d", variant, image, result=result, centred=True)


def test_a_pattern_is_one_peak_wherever_zero_frequency_lies() -> None:
    y, x = np.mgrid[:48, :64]
    image = (3 + np.cos(2 * np.pi * (0.125 * y - 0.25 * x))).astype(np.float32)
    for centred in (False, True):
        found = run("fft2d", "shared", image, result="magnitude", centred=centred).outputs
        assert found["peak_count"] == 1
        assert found["peaks"][0] == pytest.approx([0.125, -0.25, 0.5], abs=1e-3)


def test_what_does_not_fit_into_shared_memory_is_refused_with_another_way() -> None:
    limits = open_device("sim").limits
    fft1d, mask = find_filter("fft1d"), find_filter("fft_mask")

    def reason(filter: Filter, variant: str, shape: tuple[int, ...]) -> str:
        params = {p.name: p.default for p in filter.params}
        task = Task.of(Meta(filter.accepts, shape, "float64"), params, {"block": 256}, limits)
        return filter.variant(variant).refusal(task) or ""

    assert "use the variant global" in reason(fft1d, "shared", ((1 << 24) - 1,))
    assert "hold 4194304; use the variant global" in reason(fft1d, "padded", ((1 << 24) - 1,))
    assert "use the variant registers" in reason(fft1d, "fast_sine", (64,))
    assert reason(fft1d, "shared", (1 << 24,)) == reason(fft1d, "global", ((1 << 24) - 1,)) == ""
    assert "columns of 5000 pixels need 16384 complex numbers" in reason(mask, "fused", (5000, 10))
    assert reason(mask, "steps", (5000, 10)) == reason(mask, "fused", (2048, 5000)) == ""


@pytest.mark.parametrize("architecture, double", each_once(ARCHITECTURES, (False, True)))
def test_kernels_beside_the_default_result_compile_too(architecture: str, double: bool) -> None:
    """With registers for the largest block."""
    real = "double" if double else "float"
    for file in ("fft/bluestein.cu", "fft/spectrum.cu", "fft/peaks.cu"):
        compiled = compile_kernel(file, architecture, {"REAL": real, "COMPLEX": f"{real}2"})
        assert not compiled.warnings
        assert all(e.resources["registers"] <= 128 for e in compiled.entries.values())


TWO_PASSES = {
    "uint8": ((64, 128), {"window": "Hann", "centred": True}, 10.0),
    "float32": ((128, 64), {"window": "none"}, 10.0),
    "float64": ((64, 64), {"window": "flat-top", "floor": -100.0}, 18.0),
}
"""Shape and parameters of levels in two passes, by the type of the samples, and the bytes a pixel of the sectors that
are stored: half a complex number; half a level where it lies, and again in twice the sectors, because a row of 32
bytes has its opposite across the edge of a sector. Doubles have 64 bytes a row there, in three sectors."""


@pytest.mark.parametrize("dtype", few(TWO_PASSES, "uint8"))
def test_levels_in_two_passes_touch_the_sectors_that_are_predicted(dtype: str) -> None:
    shape, params, stored = TWO_PASSES[dtype]
    x = (np.random.default_rng(6).random(shape) * 200).astype(dtype)
    filter = find_filter("fft2d")
    input = Input("image", x, "yx", "x", {"generator": "test"})
    found = xray(filter, filter.variant("spectrum"), input, {"result": "level", **params}, {"block": 64})
    assert len(found.predicted) == 4 and not found.findings
    assert {id: found.totals[id] for id in found.predicted} == found.predicted
    assert found.totals["global_store_sectors"] * 32 == stored * x.size
    assert found.totals["shared_wavefronts"] == found.totals["shared_ideal_wavefronts"]  # no bank conflicts


def test_levels_in_two_passes_refuse_by_name_what_they_do_not_take() -> None:
    filter = find_filter("fft2d")
    params = check_values(filter.params, {"result": "level"}, "fft2d")

    def reason(shape: tuple[int, ...], dtype: str = "float32", architecture: str = "sm_90", strip: int = 8) -> str:
        limits = OfflineDevice(architecture).limits
        task = Task.of(Meta("image", shape, dtype), params, {"block": 256, "strip": strip}, limits)
        return filter.variant("spectrum").refusal(task) or ""

    assert "1000 × 1024 pixels; crop it, or use the variant registers" in reason((1000, 1024))
    assert "one channel, and this image has 3" in reason((64, 64, 3))
    assert "neighbouring columns of 4096, in its threads and 65536 bytes" in reason((4096, 4096), architecture="sm_75")
    assert "neighbouring columns of 8192" in reason((8192, 1024))
    assert reason((4096, 16384)) == reason((4096, 4096), "float64") == reason((1024, 4096), architecture="sm_75") == ""
