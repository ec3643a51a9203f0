"""The fast transforms of signals, images and masks on the simulated GPU: their launches, their traffic, any length."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import find_filter
from gpu_ops.filters.fft.cuda.any_length import line_of
from gpu_ops.filters.fft.cuda.long_signal import BOTH, CONVOLVED, PACKED, matrix_of
from gpu_ops.filters.fft.cuda.radices import MOST_PRIME, largest_prime
from gpu_ops.params import check_values
from gpu_ops.plan import Limits
from gpu_ops.task import Meta, Task
from tests.recording import Recording
from tests.tasks import planned

H100 = Limits((9, 0), 1024, 227 << 10, 132, 50 << 20, 80 << 30, 2)


def test_every_length_has_stages_whose_product_holds_it() -> None:
    for n in (*range(1, 300), 1009, 4096, 8191, 8192, 16384):
        line = line_of(n, 16)
        assert line is not None and prod(line.stages.radices) == line.points
        smooth = largest_prime(n) <= MOST_PRIME
        assert line.points == n if smooth else 2 * n - 1 <= line.points < 2.3 * n
        assert smooth or largest_prime(line.points) <= MOST_PRIME
        assert line.stages.radices[0] % 2 == 0 or line.points % 2 == 1
    assert line_of(8209, 16) is None  # its convolution would have 16,417 points


def test_long_signals_are_packed_or_convolved() -> None:
    for n in (20_000, 10_000_000, 1 << 27, 100_003, 1_000_003, 200_006):
        matrix, smooth = matrix_of(n, False, 16), largest_prime(n) <= MOST_PRIME
        assert matrix is not None and matrix.how == (CONVOLVED if n % 2 else PACKED if smooth else BOTH)
        points = n if n % 2 else n // 2
        assert matrix.size == points if smooth else 2 * points - 1 <= matrix.size < 2.1 * points
        assert max(matrix.columns.points, matrix.rows.points) <= 16384


def launches(name: str, variant: str, shape: tuple[int, ...], **params: Any) -> list[str]:
    """The names of the launches that an H100 gets."""
    filter, device = find_filter(name), Recording("sm_90", limits=H100)
    values = {p.name: p.default for p in filter.params} | params
    knobs = {k.name: k.default for k in filter.variant(variant).knobs}
    return [s.name for s in planned(filter, variant, device, device.empty(shape, "float32"), values, knobs).steps]


def test_masks_take_three_launches_levels_two_and_spectrograms_one() -> None:
    assert len(launches("fft_mask", "fast", (1000, 1009))) == 3
    assert len(launches("fft_mask", "fast", (4096, 64))) == 5
    assert len(launches("fft2d", "fast", (1000, 1920), result="level", centred=True, window="Hann")) == 2
    assert len(launches("fft2d", "fast", (4096, 64), result="level")) == 3
    assert len(launches("fft1d", "fast", (100_000,), result="spectrogram", window="Hann")) == 1
    assert len(launches("fft1d", "four_step", (1_000_000,), result="spectrum")) == 2
    assert len(launches("fft1d", "four_step", (100_003,), result="spectrum")) == 3
    assert launches("fft1d", "three_step", (10_000_000,), result="spectrum") == ["samples", "middle", "bins"]


@pytest.mark.parametrize(("points", "count"), [(1 << 24, 2), (1 << 25, 3), (1 << 27, 3), (10_000_000, 3), (10**6, 2)])
def test_lines_take_three_launches_where_two_leave_a_block_too_few_neighbours(points: int, count: int) -> None:
    assert len(launches("fft_batch1d", "fast", (2 * points,), numbers="complex")) == count


def counted(name: str, shape: tuple[int, ...], **params: Any) -> Any:
    """The counters of the fast variant."""
    filter = find_filter(name)
    own, device = filter.variant("fast"), SimDevice("sm_90", Options(checks="off", counters="full")).session({})
    knobs = {k.name: k.default for k in own.knobs}
    task = Task.of(Meta(filter.accepts, shape, "float32"), check_values(filter.params, params, name), knobs, H100)
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    return device.execute(own.plan(device, task.on(device.upload(x)))).counters


def test_an_image_is_stored_as_half_a_spectrum_and_once_more() -> None:
    """Rows of 128 pixels are 65 numbers in two halves of 80; opposite columns begin one value after a sector."""
    height, width, stored = 64, 128, counted("fft2d", (64, 128), result="magnitude")["global_store_sectors"]
    between, out = height // 2 * width * 8 // 32, height * width * 4 // 32
    assert between + out <= stored <= 1.5 * (between + out)


@pytest.mark.parametrize("segment", [64, 128])
def test_spectrograms_are_stored_in_runs_of_segments(segment: int) -> None:
    counters = counted("fft1d", (64 * segment,), result="spectrogram", segment=segment, overlap=0)
    assert counters["global_store_sectors"] == (segment // 2 + 1) * 64 * 4 // 32


@pytest.mark.parametrize("length", [6, 34, 74, 1006])
@pytest.mark.parametrize("result", ["spectrum", "magnitude"])
def test_even_lengths_with_large_primes_are_a_convolution_of_half_the_length(length: int, result: str) -> None:
    filter, device = find_filter("fft1d"), SimDevice("sm_90").session({})
    x = np.random.default_rng(length).standard_normal(length).astype(np.float32)
    params = {p.name: p.default for p in filter.params} | {"result": result, "window": "Hann"}
    knobs = {k.name: k.default for k in filter.variant("four_step").knobs}
    plan = planned(filter, "four_step", device, device.upload(x), params, knobs)
    assert [step.name for step in plan.steps][:4] == ["samples", "rows", "columns", "pairs"]
    assert device.execute(plan).findings == ()
    meta = Meta("signal", (length,), "float32")
    expected = filter.reference(Task.of(meta, params).on(x))[result]
    found = device.download(plan.outputs[result])
    assert np.abs(found - expected).max() < 2e-6 * np.abs(expected).max()
