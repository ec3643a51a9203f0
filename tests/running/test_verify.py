"""The checker itself: it must find what is wrong, where, and nothing else."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tasks import on

from gpu_ops.devices import open_device
from gpu_ops.devices.guarded import GuardedSession
from gpu_ops.filters import find_filter
from gpu_ops.filters.registry import Registry
from gpu_ops.io import from_array
from gpu_ops.plan import Call, Plan
from gpu_ops.running.runner import run_experiment
from gpu_ops.running.verify import measure_error, regions, same_bytes, sum_of_squares, verify
from gpu_ops.task import Task
from gpu_ops.types import BORDERS, Experiment, Pick, Run

RANDOM = np.random.default_rng(3)


def _error(expected: np.ndarray, actual: np.ndarray, tolerance: float = 0.0):  # type: ignore[no-untyped-def]
    return measure_error(expected, actual, 1.0, tolerance)


def test_integers_that_are_equal_in_one_part_and_differ_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_ops.running.verify._CHUNK", 64)
    rng = np.random.default_rng(5)
    expected = rng.integers(0, 2**16, (16, 16), np.uint16)
    actual = expected.copy()
    same = _error(expected, actual)
    assert same == _error(expected, actual.astype(np.int32)) and (same.max, same.rms, same.worst) == (0, 0, (0, 0))
    actual[9, 3] ^= 5
    wanted = abs(int(expected[9, 3]) - int(actual[9, 3]))
    other = _error(expected, actual)
    assert (other.max, other.rms, other.worst) == (wanted, wanted / 16, (9, 3))


def test_the_same_bytes_to_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_ops.running.verify._COMPARED", 16)
    for nbytes in (0, 1, 15, 16, 17, 40):
        array = np.arange(nbytes, dtype=np.uint8)
        assert same_bytes(array, array.copy()) and not same_bytes(array, array.astype(np.int8))
        for place in range(nbytes):
            other = array.copy()
            other[place] ^= 64
            assert not same_bytes(array, other) and not same_bytes(other, array)
    nan, image = np.array([np.nan, -0.0]), np.arange(12.0).reshape(3, 4)
    assert same_bytes(nan, nan.copy()) and not same_bytes(nan, np.array([np.nan, 0.0]))
    assert same_bytes(image.T, np.ascontiguousarray(image.T)) and not same_bytes(image, image.T)


def test_sums_of_squares_are_exact_enough() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=100_001) * 10.0 ** rng.integers(-8, 8, 100_001)
    exact = math.fsum(float(v) ** 2 for v in values)
    assert sum_of_squares(values) == pytest.approx(exact, rel=1e-12)
    assert sum_of_squares(np.array([1e200, 1.0])) == np.inf and np.isnan(sum_of_squares(np.array([np.nan])))


def test_equal_arrays_have_no_error() -> None:
    a = RANDOM.random((5, 7))
    error = _error(a, a.copy())
    assert (error.max, error.rms, error.ok) == (0.0, 0.0, True)


@pytest.mark.parametrize(("shape", "place"), [((300, 200), (123, 45)), ((3000, 1000), (2555, 7))])
def test_the_largest_difference_is_found_with_its_place(shape: tuple[int, int], place: tuple[int, int]) -> None:
    """In arrays that one thread compares, and in those that several do."""
    a = np.zeros(shape)
    b = a.copy()
    b[place] = -0.5
    error = _error(a, b, 0.4)
    assert (error.max, error.worst, error.ok) == (0.5, place, False)
    assert error.rms == pytest.approx(0.5 / np.sqrt(a.size))


def test_integers_are_compared_exactly_and_never_wrap() -> None:
    error = _error(np.array([0, 255], np.uint8), np.array([255, 0], np.uint8))
    assert error.max == 255


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_is_infinitely_wrong(bad: float) -> None:
    a = np.ones(9)
    b = a.copy()
    b[4] = bad
    error = _error(a, b, 1e9)
    assert (error.max, error.worst, error.ok) == (np.inf, (4,), False)


def test_the_same_nan_and_infinity_are_right() -> None:
    a = np.array([1.0, np.nan, np.inf, -np.inf])
    assert _error(a, a.copy()).max == 0
    assert _error(a, np.array([1.0, np.nan, -np.inf, -np.inf])).worst == (2,)


def test_a_wrong_shape_is_infinitely_wrong() -> None:
    assert not _error(np.ones((2, 3)), np.ones((3, 2)), 1e9).ok


def test_chunks_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = RANDOM.random(1000), RANDOM.random(1000)
    whole = _error(a, b)
    monkeypatch.setattr("gpu_ops.running.verify._CHUNK", 17)
    parts = _error(a, b)
    assert (whole.max, whole.worst) == (parts.max, parts.worst)
    assert whole.rms == pytest.approx(parts.rms)


def test_regions_cover_every_edge() -> None:
    touched = np.zeros((700, 900), bool)
    for region in regions(touched.shape, (3, 3)):
        touched[region] = True
    assert touched[:4].all() and touched[-4:].all() and touched[:, :4].all() and touched[:, -4:].all()
    assert not touched.all()


def _experiment(array: np.ndarray, border: str, window: int) -> Experiment:
    params = {"window": window, "border": border}
    return Experiment("mean", from_array(array), params, (), checks="sample")


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("shape", [(300, 400), (20, 31), (40, 50, 3), (1, 1)])
def test_checking_samples_agrees_with_checking_all(border: str, shape: tuple[int, ...]) -> None:
    array = RANDOM.random(shape).astype(np.float32)
    filter = find_filter("mean2d")
    experiment = _experiment(array, border, 7)
    right = filter.reference(on(filter, array, experiment.params))["image"].astype(np.float32)
    variant, task, input = filter.variant("serial"), on(filter, array, experiment.params), experiment.input
    sampled = verify(filter, variant, input, task, {"image": right}, "sample")
    assert sampled["image"].ok
    wrong = right.copy()
    wrong.reshape(-1)[0] += 1
    found = verify(filter, variant, input, task, {"image": wrong}, "sample")["image"]
    assert not found.ok
    assert found.worst == (0,) * len(shape)


def _sampled(array: np.ndarray, actual: np.ndarray) -> Any:
    """The error that samples of the checks find in a mean over three samples per axis."""
    filter = find_filter("mean2d")
    experiment = _experiment(array, "reflect", 3)
    task = on(filter, array, experiment.params)
    return verify(filter, filter.variant("serial"), experiment.input, task, {"image": actual}, "sample")["image"]


def test_every_region_that_is_sampled_counts() -> None:
    """A fault in any of them alone is found, with its place and its size; the largest of several is the one that is
    named, whichever region comes first."""
    array = RANDOM.random((700, 900)).astype(np.float32)
    filter = find_filter("mean2d")
    right = filter.reference(on(filter, array, {"window": 3, "border": "reflect"}))["image"].astype(np.float32)
    places = []
    for region in regions(array.shape, (1, 1)):
        place = tuple(s.start + (s.stop - s.start) // 2 for s in region)
        places.append(place)
        wrong = right.copy()
        wrong[place] += 0.25
        found = _sampled(array, wrong)
        assert not found.ok and found.worst == place and found.max == pytest.approx(0.25, rel=1e-5), region
    for largest in (places[0], places[5], places[-1]):
        wrong = right.copy()
        for place in places:
            wrong[place] += 0.5 if place == largest else 0.25
        assert _sampled(array, wrong).worst == largest
    assert len(places) == 12 and _sampled(array, right).ok


def test_a_nan_in_a_later_region_is_found() -> None:
    array = RANDOM.random((700, 900)).astype(np.float32)
    filter = find_filter("mean2d")
    wrong = filter.reference(on(filter, array, {"window": 3, "border": "reflect"}))["image"].astype(np.float32)
    wrong[0, 0] += 0.25
    wrong[699, 899] = np.nan
    found = _sampled(array, wrong)
    assert found.max == np.inf and found.worst == (699, 899)


def _one_run(plan, array: np.ndarray, monkeypatch: pytest.MonkeyPatch, **how: Any) -> Run:  # type: ignore[no-untyped-def]
    """The mean filter with one variant replaced by `plan`."""
    filter = find_filter("mean2d")
    variant = replace(filter.variants[0], plan=plan)
    changed = replace(filter, variants=(variant,))

    monkeypatch.setattr(Registry, "find", lambda self, name, kind=None: changed)
    experiment = Experiment(
        "mean2d", from_array(array), {"window": 3, "border": "reflect"}, (Pick("serial", "cpu"),), **how
    )
    return list(run_experiment(experiment))[-1]


def _right(x: np.ndarray, out: np.ndarray) -> None:
    result = find_filter("mean2d").reference(on(find_filter("mean2d"), x, {"window": 3, "border": "reflect"}))["image"]
    np.copyto(out, result.astype(out.dtype))


def _plan(function):  # type: ignore[no-untyped-def]
    def plan(device: Any, task: Task) -> Plan:
        out = device.empty(task.x.shape, task.x.dtype)
        return Plan((Call(function, (task.x, out)),), {"image": out})

    return plan


IMAGE = (RANDOM.random((40, 50)) * 255).astype(np.uint8)


def test_a_right_variant_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _one_run(_plan(_right), IMAGE, monkeypatch, protocol="none").ok is True


def test_an_element_that_is_never_written_is_found_even_when_it_looks_right(monkeypatch: pytest.MonkeyPatch) -> None:
    white = np.full((40, 50), 255, np.uint8)

    def leaves_one(x: np.ndarray, out: np.ndarray) -> None:
        kept = out[7, 9].copy()
        _right(x, out)
        out[7, 9] = kept

    run = _one_run(_plan(leaves_one), white, monkeypatch, protocol="none")
    assert run.ok is False
    assert "not written" in run.notes[-1]


def test_an_overwritten_input_is_found_and_put_right(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoils(x: np.ndarray, out: np.ndarray) -> None:
        _right(x, out)
        x[0, 0] = 77

    array = IMAGE.copy()
    array[0, 0] = 76
    run = _one_run(_plan(spoils), array, monkeypatch, protocol="none")
    assert run.ok is False
    assert any("input was overwritten" in note for note in run.notes)
    assert array[0, 0] == 76


def test_a_write_past_the_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def spills(x: np.ndarray, out: np.ndarray) -> None:
        _right(x, out)
        base = out
        while base.base is not None:
            base = base.base
        base[-1] = 1

    run = _one_run(_plan(spills), IMAGE, monkeypatch, protocol="none")
    assert run.ok is False
    assert "outside the arrays" in run.notes[-1]


def test_a_wrong_result_has_no_timings(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(x: np.ndarray, out: np.ndarray) -> None:
        out.fill(1)

    run = _one_run(_plan(wrong), IMAGE, monkeypatch, protocol="quick")
    assert run.ok is False
    assert "kernel" not in run.timings


def test_guards_lie_around_the_array_and_keep_its_alignment() -> None:
    session = GuardedSession(open_device("cpu"))
    array = session.empty((3, 5), np.float64)
    assert array.shape == (3, 5)
    assert array.ctypes.data % 8 == 0
    array.fill(1)
    assert not session.damaged()
