"""What varies among rows, lines over it, and where they cross."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gpu_ops import from_array, recorded_reports, sample
from gpu_ops.errors import ParamError
from gpu_ops.params import Param
from gpu_ops.report.rows import Row
from gpu_ops.report.sweeps import (
    DISTINCT,
    SIZE,
    WIDTH,
    Line,
    Point,
    Varied,
    break_even,
    find_varied,
    noise_of,
    proposed_sizes,
    proposed_values,
    resized,
    settings,
    slices,
    sweep_lines,
)
from gpu_ops.run_key import RunKey
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Pick, Timing

BLOCK, OUTPUTS, WINDOW = Varied("knob", "block"), Varied("knob", "outputs"), Varied("param", "window")


def row(variant: str, device: str, seconds: float | None, **more: Any) -> Row:
    stages = {} if seconds is None else {"kernel": Timing("kernel", "wall", *[seconds] * 4, 3, "")}
    events: dict[str, Any] = {
        "filter": "mean2d",
        "shape": (64, 64),
        "params": {"window": 3, "border": "reflect"},
    } | more
    events = {"knobs": {}, "dtype": "float32", "mode": "stream", "clock": "wall", "ok": True, "stages": stages} | events
    return Row(variant=variant, device=device, protocol="quick", **events)


def line(device: str, times: dict[int, float], variant: str = "") -> Line:
    points = tuple(Point(value, t, 0.9 * t, 1.1 * t) for value, t in times.items())
    return Line(RunKey("mean2d", variant or device, device), "wall", points)


def test_lines_that_are_straight_on_logarithmic_axes_cross_where_their_powers_meet() -> None:
    """n² / 10⁶ against n / 10⁴: they meet at 100, after 10⁻², whatever the values around it."""
    values = (16, 64, 256, 1024)
    cpu, gpu = line("cpu", {n: n * n / 1e6 for n in values}), line("cuda:0", {n: n / 1e4 for n in values})
    (found,) = break_even([cpu, gpu])
    (crossing,) = found.crossings
    assert crossing.value == pytest.approx(100) and crossing.seconds == pytest.approx(1e-2)
    assert (crossing.faster, crossing.slower) == (gpu, cpu)


@pytest.mark.parametrize(("seconds", "gpu_faster"), [(0.5, True), (5.0, False)])
def test_lines_that_never_cross(seconds: float, gpu_faster: bool) -> None:
    cpu, gpu = line("cpu", {8: 1.0, 16: 2.0}), line("cuda:0", {8: seconds, 16: 2 * seconds})
    (found,) = break_even([cpu, gpu])
    assert found.crossings == () and found.gpu_faster is gpu_faster


def test_several_crossings_name_who_overtakes_each_time() -> None:
    cpu = line("cpu", dict.fromkeys((1, 10, 100, 1000), 1.0))
    gpu = line("cuda:0", {1: 10.0, 10: 0.1, 100: 10.0, 1000: 10.0})
    (found,) = break_even([cpu, gpu])
    assert [(c.faster.device, c.slower.device) for c in found.crossings] == [("cuda:0", "cpu"), ("cpu", "cuda:0")]
    assert [c.value for c in found.crossings] == pytest.approx([math.sqrt(10), 10 * math.sqrt(10)])


def test_the_best_cpu_variant_may_be_another_at_each_value() -> None:
    serial = line("cpu", {1: 1.0, 100: 100.0}, "serial")
    parallel = line("cpu", {1: 10.0, 100: 10.0}, "parallel")
    gpu = line("cuda:0", {1: 2.0, 100: 2.0})
    (found,) = break_even([serial, parallel, gpu])
    (crossing,) = found.crossings
    assert crossing.slower is serial  # the fastest below the crossing is the one that is overtaken
    assert 1 < crossing.value < 100


def test_values_that_one_of_them_lacks_are_passed_over() -> None:
    cpu = line("cpu", {1: 1.0, 100: 100.0, 1000: 1000.0})
    gpu = line("cuda:0", {1: 10.0, 10: 10.0, 100: 10.0})
    (found,) = break_even([cpu, gpu])
    assert [c.value for c in found.crossings] == pytest.approx([10])
    assert cpu.at(10) == pytest.approx(10) and cpu.at(100) == 100 and cpu.at(2000) is None, "between points, not beyond"
    (apart,) = break_even([cpu, line("cuda:0", {2000: 1.0, 3000: 1.0})])
    assert apart.crossings == () and apart.gpu_faster is None


def test_there_is_no_break_even_point_without_cpu_or_gpu() -> None:
    assert break_even([line("cuda:0", {1: 1.0, 2: 2.0})]) == ()
    assert break_even([line("cpu", {1: 1.0, 2: 2.0})]) == ()


def test_equal_times_are_no_crossing_of_their_own() -> None:
    cpu, gpu = line("cpu", {1: 1.0, 10: 1.0, 100: 1.0}), line("cuda:0", {1: 2.0, 10: 1.0, 100: 0.5})
    (found,) = break_even([cpu, gpu])
    assert [c.value for c in found.crossings] == pytest.approx([10])


def test_the_size_of_an_image_is_the_side_of_a_square_with_as_many_pixels() -> None:
    assert settings(row("serial", "cpu", 1.0, shape=(1080, 1920)))[SIZE] == 1440
    assert settings(row("serial", "cpu", 1.0, shape=(64, 64, 3)))[SIZE] == 64
    assert settings(row("serial", "cpu", 1.0, filter="mean1d", shape=(1000, 2)))[SIZE] == 1000


def test_images_of_one_height_vary_in_width() -> None:
    rows = [row("serial", "cpu", 1.0, shape=(4096, width)) for width in (4095, 4096, 4097, 4100)]
    assert find_varied(rows) == (WIDTH,)
    (found,) = slices(rows)
    (line,) = sweep_lines(found.rows, WIDTH)
    assert [p.value for p in line.points] == [4095, 4096, 4097, 4100] and found.fixed == {}
    rows.append(row("serial", "cpu", 1.0, shape=(512, 4096)))
    assert find_varied(rows) == (SIZE,)


def test_where_no_variant_runs_twice_nothing_is_swept() -> None:
    rows = [row("naive", "cuda:0", 1.0, knobs={"block": 128}), row("shared", "cuda:0", 1.0, knobs={"block": 256})]
    assert find_varied(rows) == (BLOCK,) and slices(rows) == ()


def test_what_varies_is_found_and_held_apart() -> None:
    rows = [
        row("naive", "cuda:0", 1e-6 * block * outputs, knobs={"block": block, "outputs": outputs})
        for block in (64, 128, 256)
        for outputs in (1, 2)
    ]
    rows.append(row("serial", "cpu", 1e-3))
    assert find_varied(rows) == (BLOCK, OUTPUTS)
    found = slices(rows)
    assert [(s.varied, dict(s.fixed)) for s in found] == [
        (BLOCK, {OUTPUTS: 1}),
        (BLOCK, {OUTPUTS: 2}),
        *((OUTPUTS, {BLOCK: block}) for block in (64, 128, 256)),
    ]
    for one in found:  # a variant without the knob belongs to every slice, at every value
        naive, serial = sweep_lines(one.rows, one.varied)
        assert not naive.level and serial.level
        assert [p.value for p in serial.points] == [p.value for p in naive.points]


def test_words_and_rows_that_differ_in_type_are_no_axis() -> None:
    rows = [
        row("serial", "cpu", 1.0, params={"window": w, "border": b}, dtype=t)
        for w in (3, 5)
        for b in ("zero", "wrap")
        for t in ("uint8", "float32")
    ]
    assert find_varied(rows) == (WINDOW,)
    assert all(len(s.rows) == 2 for s in slices(rows)) and len(slices(rows)) == 4


def test_only_times_become_points() -> None:
    sizes = {"shape": (64, 64)}, {"shape": (128, 128)}
    rows = [
        row("serial", "cpu", 1.0, **sizes[0]),
        row("serial", "cpu", None, **sizes[1], failure="no memory"),
        row("naive", "sim", None, clock="simulated", **sizes[0]),
        row("naive", "cuda:0", 1.0, ok=False, **sizes[0]),
        row("naive", "cuda:0", 2.0, **sizes[1]),
    ]
    found = sweep_lines(rows, SIZE)
    assert [(one.device, [p.value for p in one.points]) for one in found] == [("cpu", [64]), ("cuda:0", [128])]


def test_a_knob_that_does_not_vary_and_an_edited_kernel_have_lines_of_their_own() -> None:
    more = ({"knobs": {"block": 128}}, {"knobs": {"block": 256}}, {"knobs": {"block": 128}, "edits": "0a1b"})
    rows = [row("naive", "cuda:0", 1e-6 * n, shape=(n, n), **own) for own in more for n in (64, 128)]
    lines = sweep_lines(rows, SIZE)
    assert [(one.key.knobs, one.key.edits) for one in lines] == [(o["knobs"], o.get("edits", "")) for o in more]
    assert all([p.value for p in one.points] == [64, 128] for one in lines)
    assert [one.key.knobs for one in sweep_lines(rows[::2], BLOCK)] == [{}, {}]


def test_a_recorded_sweep_over_the_block() -> None:
    rows = recorded_reports()["h200-mean1d-blocks.json"].rows
    first = slices(rows)[0]
    assert first.varied == BLOCK and list(first.fixed) == [OUTPUTS]
    for one in sweep_lines(first.rows, BLOCK):
        assert [p.value for p in one.points] == [64, 128, 256, 512, 1024]
        assert all(p.q1 <= p.seconds <= p.q3 for p in one.points)


@pytest.mark.parametrize(
    "param",
    [
        Param("radius", 4, 1, 256),
        Param("window", 5, 3, 4095, 2),
        Param("block", 128, 16, 1024, 16),
        Param("depth", 3, 0, 7),
        Param("rows", 8, choices=(1, 2, 4, 8, 16)),
        Param("count", 100),
    ],
    ids=lambda p: p.name,
)
def test_proposed_values_are_allowed_and_grow(param: Param) -> None:
    values = proposed_values(param)
    assert 2 <= len(values) <= 8 and sorted(set(values)) == list(values)
    assert all(param.check(v) == v and v > 0 for v in values)
    ratios = [b / a for a, b in zip(values, values[1:], strict=False)]
    assert max(ratios) <= 4 * min(ratios)


@pytest.mark.parametrize(
    "param", [Param("sigma", 1.0, 0.1, 9.0), Param("on", True), Param("mode", "a", choices=("a",))]
)
def test_what_takes_no_whole_numbers_is_not_proposed(param: Param) -> None:
    assert proposed_values(param) == ()


@pytest.mark.parametrize("largest", [1, 5, 17, 512, 1000, 4096, 1 << 24])
def test_proposed_sizes_fit(largest: int) -> None:
    sizes = proposed_sizes(largest)
    assert 1 <= len(sizes) <= 8 and largest / 2 < sizes[-1] <= largest
    assert all(size & (size - 1) == 0 for size in sizes)


def test_proposed_sizes_lie_farther_apart_from_16384_on() -> None:
    assert proposed_sizes((1 << 14) - 1)[-2:] == (1 << 12, 1 << 13)
    assert proposed_sizes(1 << 14)[-2:] == (1 << 12, 1 << 14)


def test_an_image_keeps_its_middle_and_a_signal_its_beginning() -> None:
    image = from_array(np.arange(7 * 9, dtype=np.float32).reshape(7, 9))
    part = resized(image, 3)
    np.testing.assert_array_equal(part.array, image.array[2:5, 3:6])
    assert part.array.flags.c_contiguous
    assert part.origin["steps"] == [{"step": "crop", "start": [2, 3], "shape": [3, 3]}]
    signal = from_array(np.arange(9.0))
    np.testing.assert_array_equal(resized(signal, 4).array, np.arange(4.0))
    colour = from_array(np.zeros((8, 8, 3), np.uint8))
    assert resized(colour, 5).array.shape == (5, 5, 3)


def test_noise_has_the_type_and_the_channels_of_the_input() -> None:
    colour = from_array(np.zeros((8, 8, 3), np.uint8))
    made = resized(colour, 20, noise=True)
    assert made.array.shape == (20, 20, 3) and made.array.dtype == np.uint8 and made.array.std() > 50
    assert resized(sample("ecg"), 5000, noise=True).array.shape == (5000,)


def test_a_size_beyond_the_input_says_what_is_possible() -> None:
    with pytest.raises(ParamError, match="from 1 to 7 .* not 8; noise may be larger"):
        resized(from_array(np.zeros((7, 9), np.float32)), 8)
    with pytest.raises(ParamError, match="stack"):
        resized(from_array(np.zeros((7, 9, 9), np.float32)), 4)


def test_noise_of_few_values_varies_in_their_number_alone() -> None:
    image = from_array(np.zeros((30, 20, 3), np.uint8))
    assert np.unique(noise_of(image, 4).array).size == 4 and noise_of(image, 4).array.shape == (30, 20, 3)
    assert noise_of(sample("ecg"), 2).array.shape == (1024,)
    with pytest.raises(ParamError, match="256 levels at most"):
        noise_of(image, 257)
    rows = []
    for distinct in (1, 16):
        input = noise_of(image, distinct)
        experiment = Experiment("histogram2d", input, {}, (Pick("serial", "cpu"),), "none")
        rows.append(Row.of(list(run_experiment(experiment))[-1], experiment))
    assert [slice.varied for slice in slices(rows)] == [DISTINCT] and settings(rows[1])[DISTINCT] == 16


def test_a_knob_with_one_value_in_each_variant_separates_no_sweep() -> None:
    """The images of 8 rows of threads and the variant with 4 are in one sweep; two values of one variant are not."""
    rows = [
        row(variant, "cuda:0", 1e-6 * width, shape=(64, width), knobs={"block": block})
        for variant, block in (("shared", 8), ("rows", 4))
        for width in (64, 65)
    ]
    (found,) = slices(rows)
    assert found.varied == WIDTH and not found.fixed and len(found.rows) == 4
    more = [row("shared", "cuda:0", 1e-6 * width, shape=(64, width), knobs={"block": 16}) for width in (64, 65)]
    assert {one.fixed.get(BLOCK) for one in slices([*rows, *more]) if one.varied == WIDTH} >= {8, 16}
