"""The Fourier transform's kernels on the simulated GPU, against NumPy in double: any length, forward and inverse."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from lanes import choices_today

from gpu_ops.devices import open_device
from gpu_ops.devices.compiler import ARCHITECTURES, compile_kernel
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import find_filter
from gpu_ops.filters.fft.counts.conflicts import growing_padding, no_padding, source_padding, wavefronts
from gpu_ops.filters.fft.cuda.radices import stages_of
from gpu_ops.filters.fft.cuda.transform import Lines, Transforms, chirp, fits, longest_line, padded, twiddles
from gpu_ops.filters.fft.cuda.ways import STOCKHAM
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.params import check_values
from gpu_ops.plan import Device, Execution, Limits, Plan
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Meta, Task
from gpu_ops.types import Experiment, Filter, Input, Pick, Run
from tests.tasks import planned

Array = np.ndarray[Any, Any]
SHAPES = ((3, 1, 2), (3, 2, 1), (1, 4, 5), (2, 8, 3), (3, 64, 2), (2, 97, 1), (1, 100, 3), (2, 1024, 1), (1, 1024, 2))
MANY = Limits((9, 0), 1024, 227 << 10, 132, 50 << 20, 80 << 30, 2)
"""Those of a GPU with many multiprocessors."""
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


TOO_LONG = [(64, 8, 32), (128, 16, 64), (100, 16, 256), (2, 64, 1024)]
"""The length, the longest that a block transforms, and the threads of a block."""


@pytest.mark.parametrize("way, dtype", choices_today(4, ["global", "shared", *STOCKHAM], MOST))
def test_lines_of_every_length_forward_and_inverse(way: str, dtype: str) -> None:
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


@pytest.mark.parametrize("way, sizes", choices_today(6, ["shared", "registers", "table"], TOO_LONG))
def test_a_line_too_long_for_shared_memory_is_transformed_in_two_parts(way: str, sizes: tuple[int, int, int]) -> None:
    n, longest, block = sizes
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


GAPS = {
    ("padded_as_published", 0): no_padding,
    ("padded_as_published", 1): source_padding,
    ("padded", 1): growing_padding,
}
SOURCES = {(1024, 2): ((480, 320), (448, 448), (320, 448)), (4096, 16): ((2432, 384), (512, 512), (384, 512))}
"""Stores and loads of one part of a line, without gaps, with the source's, and with those that grow."""


@pytest.mark.parametrize("n, radix", list(SOURCES))
def test_the_simulated_gpu_counts_the_wavefronts_of_the_formula(n: int, radix: int) -> None:
    x = numbers((1, n, 1), "complex64")
    for place, ((way, gap), rule) in enumerate(GAPS.items()):
        knobs = {"radix": radix} | ({"gap": gap} if way == "padded_as_published" else {})
        device = SimDevice("sm_75", Options(checks="off", counters="full")).session({})
        _, _, execution = executed(device, x, way, block=256, **knobs)
        found = wavefronts(n, radix, rule)
        both = 2 * found.loads
        for code, passes in (("re[index] =", found.stores), ("im[index] =", found.stores), ("re[index], im", both)):
            assert _passes_of(execution, STOCKHAM[way].file, code) == passes, (way, gap, code)
        assert found[:2] == SOURCES[n, radix][place] and found.least == SOURCES[n, radix][2][0]


def _passes_of(execution: Execution, file: str, code: str) -> int:
    """The wavefronts of the lines of a file with this code."""
    text = read_source(file).splitlines()
    lines = [line for line in execution.lines if line.file.endswith(file)]
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
    signal = np.random.default_rng(5).standard_normal(1024).astype(np.float32)
    runs = [run("fft_batch1d", "fast_sine", signal, edits=edits, numbers="complex") for edits in ({}, coarse)]
    right, coarse_one = (one.errors["spectra"] for one in runs)
    assert right.relative < coarse_one.relative < coarse_one.tolerance


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
    fft1d, mask, batch = (find_filter(name) for name in ("fft1d", "fft_mask", "fft_batch1d"))

    def reason(filter: Filter, variant: str, shape: tuple[int, ...]) -> str:
        params = {p.name: p.default for p in filter.params}
        own = filter.variant(variant)
        knobs = {p.name: p.default for p in own.knobs}
        return own.refusal(Task.of(Meta(filter.accepts, shape, "float64"), params, knobs, limits)) or ""

    assert "use the variant global" in reason(fft1d, "shared", ((1 << 24) - 1,))
    assert "hold 4,194,304; use the variant global" in reason(batch, "padded", ((1 << 25) - 2,))
    assert "use the variant registers" in reason(batch, "fast_sine", (64,))
    assert "a prime factor above 13; use the variant registers" in reason(batch, "fast", (34,))
    assert "no power of two; use the variant mixed_radix" in reason(batch, "four_step", (60,))
    assert reason(fft1d, "shared", (1 << 24,)) == reason(fft1d, "global", ((1 << 24) - 1,)) == ""
    assert "columns of 5,000 pixels need 16,384 complex numbers" in reason(mask, "fused", (5000, 10))
    assert reason(mask, "steps", (5000, 10)) == reason(mask, "fused", (2048, 5000)) == ""


@pytest.mark.parametrize("architecture, double", choices_today(1, ARCHITECTURES, (False, True)))
def test_kernels_beside_the_default_result_compile_too(architecture: str, double: bool) -> None:
    """With registers for the largest block."""
    real = "double" if double else "float"
    for file in ("fft/bluestein.cu", "fft/spectrum.cu", "fft/levels.cu", "fft/peaks.cu"):
        compiled = compile_kernel(file, architecture, {"REAL": real, "COMPLEX": f"{real}2"})
        assert not compiled.warnings
        assert all(e.resources["registers"] <= 128 for e in compiled.entries.values())


def _counted(name: str, variant: str, shape: tuple[int, ...], knobs: Mapping[str, Any], **params: Any) -> Any:
    """The counters of a variant, and the sectors that its work takes at least."""
    filter = find_filter(name)
    own = filter.variant(variant)
    device = SimDevice("sm_90", Options(checks="off", counters="full")).session({})
    values = {p.name: p.default for p in own.knobs} | dict(knobs)
    meta = Meta(filter.accepts, shape, "float32")
    task = Task.of(meta, check_values(filter.params, params, name), values, device.limits)
    assert own.refusal(task) is None
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    execution = device.execute(own.plan(device, task.on(device.upload(x))))
    return execution.counters, filter.work(task).bytes // 32


@pytest.mark.parametrize(
    ("points", "knobs"),
    [(128, {}), (256, {}), (512, {}), (1024, {}), (2048, {}), (4096, {}), (4096, {"together": 1, "radix": 8})],
    ids=str,
)
def test_exchanges_of_powers_of_two_have_no_bank_conflicts_and_no_gaps(points: int, knobs: dict[str, Any]) -> None:
    counters, _ = _counted("fft_batch1d", "fast", (16384,), knobs, points=points, numbers="complex")
    assert counters["shared_wavefronts"] == counters["shared_ideal_wavefronts"] > 0
    stages = len(stages_of(points, knobs.get("radix", 16)).radices)  # type: ignore[union-attr]
    words = 2 * 8192 * 2 * (stages - 1)  # parts, points, store and load, exchanges
    assert counters["shared_wavefronts"] == words // 32


@pytest.mark.parametrize("columns", [1, 2, 4, 16])
def test_columns_read_and_stored_together_fill_their_sectors(columns: int) -> None:
    shape = (64, 128)  # 64 x 64 complex numbers
    counters, least = _counted("fft_batch2d", "columns", shape, {"batch": columns}, numbers="complex")
    waste = max(1, 4 // columns)  # 8 bytes a number, 32 a sector
    assert counters["global_store_sectors"] == least // 2 + waste * least // 2
    twiddles = counters["global_load_sectors"] - counters["global_store_sectors"]
    assert 0 < twiddles < 0.6 * least


def test_rows_stored_as_columns_fill_their_sectors_as_well() -> None:
    counters, least = _counted("fft_batch2d", "transposed", (64, 128), {"batch": 4}, numbers="complex")
    assert counters["global_store_sectors"] == least


@pytest.mark.parametrize("tile", [32, 64, 128])
def test_a_tile_in_a_block_is_read_once_and_stored_once_without_conflicts(tile: int) -> None:
    counters, least = _counted("fft_batch2d", "fast", (128, 256), {}, tile=tile, numbers="complex")
    assert counters["launches"] == 1 and counters["global_store_sectors"] == least // 2
    assert counters["global_load_sectors"] < 0.65 * least  # tables of twiddles beside the input
    assert counters["shared_wavefronts"] == counters["shared_ideal_wavefronts"]
    two, _ = _counted("fft_batch2d", "fast", (128, 256), {"launches": 2}, tile=tile, numbers="complex")
    assert two["launches"] == 2 and two["global_store_sectors"] == least


@pytest.mark.parametrize(("side", "size", "launches"), [(128, 128, 2), (128, 1024, 1), (64, 64, 1)])
def test_few_large_tiles_take_two_launches(side: int, size: int, launches: int) -> None:
    filter, device = find_filter("fft_batch2d"), OfflineDevice("sm_90", limits=MANY)
    params = {p.name: p.default for p in filter.params} | {"tile": side, "numbers": "complex"}
    x = device.empty((size, 2 * size), "float32")
    knobs = {k.name: k.default for k in filter.variant("fast").knobs}
    assert len(planned(filter, "fast", device, x, params, knobs).steps) == launches


@pytest.mark.parametrize(("tile", "knobs"), [(60, {}), (48, {"together": 1}), (100, {"radix": 8})])
def test_tiles_of_other_sides_in_a_block_are_right(tile: int, knobs: dict[str, Any]) -> None:
    x = np.random.default_rng(4).standard_normal((tile, 2 * tile)).astype(np.float32)
    input = Input("image", x, "yx", "noise", {"generator": "test", "steps": []})
    params = {"tile": tile, "numbers": "complex"}
    experiment = Experiment("fft_batch2d", input, params, (Pick("fast", "sim", knobs),), protocol="none")
    made = list(run_experiment(experiment))[-1]
    assert made.ok and not made.findings


@pytest.mark.parametrize("points", [13, 16, 121])
def test_short_lines_are_copied_in_whole_sectors_and_have_no_bank_conflicts(points: int) -> None:
    shape = (512 * points,)
    counters, least = _counted("fft_batch1d", "short", shape, {}, points=points, numbers="complex")
    apart, _ = _counted("fft_batch1d", "fast", shape, {}, points=points, numbers="complex")
    assert counters["global_store_sectors"] == least // 2 < apart["global_store_sectors"]
    twiddles = counters["global_load_sectors"] - least // 2
    assert twiddles == 0 if points <= 16 else 0 < twiddles < 0.03 * least
    assert counters["shared_wavefronts"] == counters["shared_ideal_wavefronts"] > 0


@pytest.mark.parametrize(("shape", "numbers"), [((3 * 1024,), "complex"), ((3 * 1024,), "real"), ((1024, 2), "real")])
def test_several_lines_in_three_launches_are_right(shape: tuple[int, ...], numbers: str) -> None:
    x = np.random.default_rng(4).standard_normal(shape).astype(np.float32)
    input = Input("signal", x, "t" if x.ndim == 1 else "tc", "noise", {"generator": "test", "steps": []})
    params = {"points": 512 if numbers == "complex" else 1024, "numbers": numbers}
    pick = Pick("fast", "sim", {"parts": "three", "batch": 4})
    made = list(run_experiment(Experiment("fft_batch1d", input, params, (pick,), protocol="none")))[-1]
    assert made.ok and not made.findings


def test_real_samples_in_pairs_move_and_exchange_half() -> None:
    apart, _ = _counted("fft_batch1d", "mixed_radix", (1 << 14,), {}, numbers="real", points=1024)
    pairs, _ = _counted("fft_batch1d", "packed", (1 << 14,), {}, numbers="real", points=1024)
    assert pairs["global_store_sectors"] < 1.01 * apart["global_store_sectors"]
    assert pairs["shared_wavefronts"] < 0.8 * apart["shared_wavefronts"]  # one exchange more, of half as many points
    assert pairs["warp_instructions"] < 0.7 * apart["warp_instructions"]


def test_4096_squared_would_be_as_exact_as_it_must_be() -> None:
    """Rows and columns of an image lose as much as lines do, independently: a line of 4096 may lose 5e-7 / sqrt 2."""
    x = np.random.default_rng(5).standard_normal(1 << 14).astype(np.float32)
    device = open_device("sim").session({})
    filter = find_filter("fft_batch1d")
    own = filter.variant("fast")
    knobs = {p.name: p.default for p in own.knobs}
    params = check_values(filter.params, {"points": 4096, "numbers": "complex"}, "fft_batch1d")
    task = Task.of(Meta("signal", x.shape, "float32"), params, knobs, device.limits)
    plan = own.plan(device, task.on(device.upload(x)))
    device.execute(plan)
    right = np.fft.fft((x[0::2] + 1j * x[1::2].astype(np.float64)).reshape(2, 4096), axis=1)
    assert error(right, device.download(plan.outputs["spectra"])) < 5e-7 / np.sqrt(2)
