"""`apply`: one filter on one array, with its plan kept between calls."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpu_ops as ks
from gpu_ops.errors import DeviceMemoryError, InputError, ParamError, WrongResult
from gpu_ops.plan import Call, Plan
from gpu_ops.running import applying, reusable_plan
from gpu_ops.running.reusable_plan import SHORT
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter

RANDOM = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    ks.forget_plans()
    yield
    ks.forget_plans()


def samples(filter: Filter, dtype: str = "float32") -> np.ndarray:
    shape = (128, 128) if filter.accepts == "image" else (256,)
    return (RANDOM.random(shape) * 200).astype(dtype)


def as_dict(filter: Filter, found: Any) -> dict[str, np.ndarray]:
    return found._asdict() if isinstance(found, tuple) else {filter.given(_defaults(filter))[0].id: found}


def _defaults(filter: Filter) -> dict[str, Any]:
    return {p.name: p.default for p in filter.params}


USUAL = ("mean1d", "mean2d", "histogram2d", "reduce1d", "fft1d")
EACH = [pytest.param(f, id=f.id, marks=() if f.id in USUAL else pytest.mark.thorough) for f in ks.FILTERS]


@pytest.mark.parametrize("filter", EACH)
def test_it_gives_what_a_run_gives_however_often_it_is_called(filter: Filter, plans: list[str]) -> None:
    """What earlier calls left in the memory of the plan does not enter a result, and a result stays as it is."""
    first, second = samples(filter), samples(filter) - 90
    found = as_dict(filter, ks.apply(filter.id, first, verify=True))
    before = {name: array.copy() for name, array in found.items()}
    other = as_dict(filter, ks.apply(filter.id, second, verify=True))
    again = as_dict(filter, ks.apply(filter.id, first))
    variant = plans[0].split()[1]
    for array, results in ((first, found), (second, other)):
        experiment = ks.Experiment(
            filter.id, ks.from_array(array, filter.accepts), {}, (ks.Pick(variant, "cpu"),), "none"
        )
        *_, run = ks.run_experiment(experiment)
        assert run.ok and run.outputs.keys() == results.keys()
        for name, right in run.outputs.items():
            np.testing.assert_array_equal(results[name], right)
    for name, array in found.items():
        np.testing.assert_array_equal(array, before[name])
        np.testing.assert_array_equal(array, again[name])
    by_range = filter.family == "histogram"
    assert len(plans) == (3 if by_range else 1), "only a histogram depends on the range of its samples"


def test_a_plan_is_for_one_form_and_one_choice_of_settings(plans: list[str]) -> None:
    image = RANDOM.random((20, 30)).astype(np.float32)
    for _ in range(2):
        ks.apply("mean", image)
        ks.apply("mean", image, window=5)
        ks.apply("mean", image, variant="serial")
        ks.apply("mean", image[:, :29])
        ks.apply("mean", image.astype(np.uint8))
        ks.apply("mean", image, kind="signal")
    assert len(plans) == 6 == len(set(plans)) + 3 and plans[2] == "mean2d serial" and plans[5] == "mean1d parallel"
    ks.forget_plans()
    ks.apply("mean", image)
    assert len(plans) == 7


def test_the_last_plans_are_kept_and_no_more(plans: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applying, "MOST_KEPT", 2)
    for length in (10, 11, 12, 11, 12, 10):
        ks.apply("mean", np.ones(length, np.uint8))
    assert len(plans) == 4
    monkeypatch.setattr(applying, "SHARE_KEPT", 1 << 62)
    ks.apply("mean", np.ones(13, np.uint8))
    ks.apply("mean", np.ones(13, np.uint8))
    assert len(plans) == 6, "what takes much of the memory is not kept"


def test_other_plans_make_room(plans: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    ks.apply("mean", np.ones(10, np.uint8))
    real = reusable_plan.make_plan

    def full(*given: Any) -> Plan:
        if applying._kept:
            raise DeviceMemoryError("full")
        return real(*given)

    monkeypatch.setattr(reusable_plan, "make_plan", full)
    assert ks.apply("mean", np.ones(12, np.uint8)).tolist() == [1] * 12
    assert len(applying._kept) == 1


@pytest.mark.parametrize("size", [400, SHORT + 400])
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_samples_that_are_not_finite_get_a_plan_that_takes_them(size: int, odd: float, plans: list[str]) -> None:
    signal = RANDOM.random(size)
    holed = signal.copy()
    holed[7] = odd
    assert np.isfinite(ks.apply("mean", signal, window=3)).all()
    for _ in range(2):
        found = ks.apply("mean", holed, window=3, verify=True)
    assert len(plans) == 2 and np.flatnonzero(~np.isfinite(found)).tolist() == [6, 7, 8]
    assert np.isfinite(ks.apply("mean", signal, window=3, verify=True)).all() and len(plans) == 3
    with pytest.raises(ParamError, match="1 (NaN|infinite)|0 NaN and 1 infinite.*the first at index 7"):
        ks.apply("fft", holed)


@pytest.mark.parametrize("rows", [20, SHORT // 80 + 20])
def test_alpha_is_no_part_of_the_range_of_a_histogram(rows: int) -> None:
    image = RANDOM.random((rows, 20, 4)).astype(np.float32)
    image[..., 3] = 50
    ks.apply("histogram", image, verify=True)
    assert [one.task.meta.high for one in applying._kept.values()] == [image[..., :3].max()]


@pytest.mark.parametrize("size", [400, SHORT + 400])
def test_samples_that_are_too_large_are_refused_after_smaller_ones(size: int) -> None:
    signal = RANDOM.random(size)
    ks.apply("mean", signal)
    huge = signal.copy()
    huge[3] = -1.7e308
    with pytest.raises(ParamError, match="No variant of mean1d on cpu does this.*scale the input down"):
        ks.apply("mean", huge)
    assert np.isfinite(ks.apply("mean", signal, verify=True)).all()


def test_plans_know_the_range_of_the_samples_only_where_the_filter_says_so() -> None:
    """Else a kept plan would be used for samples of another range."""

    class Guarded(Meta):
        def __getattribute__(self, name: str) -> Any:
            assert name not in ("low", "high"), "a plan that depends on the range"
            return super().__getattribute__(name)

    device = ks.open_device("cpu")
    for filter in ks.FILTERS:
        x = samples(filter)
        task = Task.of(Guarded(filter.accepts, x.shape, "float32"), _defaults(filter), {}, device.limits).on(x)
        for variant in (v for v in filter.variants if v.device == "cpu"):
            if filter.locality.extremes(task):
                with pytest.raises(AssertionError, match="depends on the range"):
                    variant.plan(device, task)
            elif not variant.refusal(task):
                variant.plan(device, task)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_results_have_the_type_of_the_input(dtype: str) -> None:
    image = (RANDOM.random((12, 13)) * 200).astype(dtype)
    assert ks.apply("mean", image, verify=True).dtype == dtype


def test_arrays_with_gaps_other_byte_order_and_no_writing() -> None:
    whole = RANDOM.random((300, 600))
    parts = (whole[::2, ::3], whole.T, whole[::-1], whole.astype(">f8"), np.asfortranarray(whole))
    for part in parts:
        np.testing.assert_array_equal(ks.apply("mean", part), ks.apply("mean", np.array(part, "f8", order="C")))
    whole.flags.writeable = False
    before = whole.copy()
    ks.apply("mean", whole)
    np.testing.assert_array_equal(whole, before)


def test_lists_booleans_inputs_and_settings_as_arrays() -> None:
    assert ks.apply("mean", [0.0, 3.0, 6.0], window=3).tolist() == [1.0, 3.0, 5.0]
    assert ks.apply("mean", np.ones((3, 3)) > 0, window=3).max() == 255
    camera = ks.sample("camera")
    np.testing.assert_array_equal(ks.apply("mean", camera), ks.apply("mean", camera.array))
    sharp = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])
    expected = ks.apply("conv3x3", camera, matrix=(0, -1, 0, -1, 5, -1, 0, -1, 0))
    np.testing.assert_array_equal(ks.apply("conv3x3", camera, matrix=sharp), expected)
    np.testing.assert_array_equal(ks.apply("conv3x3", camera, matrix=sharp.tolist(), passes=np.int64(1)), expected)


def test_several_outputs_have_names_and_one_can_be_picked() -> None:
    signal = np.sin(np.arange(512.0))
    found = ks.apply("fft", signal, result="magnitude", rate=100.0)
    assert found._fields == ("magnitude", "peaks", "peak_count") and int(found.peak_count) > 0
    assert ks.apply("fft", signal, result="magnitude", rate=100.0, output="peak_count") == found.peak_count
    counts, outside = ks.apply("histogram", signal, bins=16)
    assert counts.sum() == 512 and outside.sum() == 0


def test_a_simulated_gpu_and_knobs() -> None:
    image = RANDOM.random((20, 21)).astype(np.float32)
    found = ks.apply("mean", image, device="sim", variant="naive", block=64, verify=True)
    np.testing.assert_allclose(found, ks.apply("mean", image), rtol=1e-5)


WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"filter": "mea"}, "no filter 'mea'; choose from mean, box"),
    ({"filter": "box", "array": np.ones(9, np.uint8)}, "an image is .H, W. or .H, W, C."),
    ({"filter": "mean1d", "kind": "image"}, "mean1d takes a signal, not a image"),
    (
        {"windw": 3},
        r"mean2d has no parameter 'windw' \(did you mean window\?\); it takes window, border, device, variant",
    ),
    ({"devise": "cpu"}, r"did you mean device\?"),
    ({"window": 4}, "window must be an integer from 3 to 63 in steps of 2, not 4; the default is 3"),
    ({"array": [[1, 2], [3, 4]]}, r"mean2d takes uint8, .*the array is int64: give numpy.asarray"),
    ({"array": [[1.0], [1.0, 2.0]]}, "same length"),
    ({"array": np.zeros((0, 3))}, "is empty"),
    ({"array": 3.0}, "0 dimensions"),
    ({"array": np.ones((3, 4), complex)}, "takes uint8, .* the array is complex128"),
    ({"array": np.ma.masked_less(np.eye(3), 1)}, "masked elements"),
    ({"variant": "nave"}, "no variant 'nave'; choose from serial"),
    ({"variant": "naive"}, "mean2d naive does not run on cpu; choose another device or variant"),
    ({"variant": "naive", "device": "sim", "rows": 2}, "no parameter 'rows'"),
    ({"device": "gpu"}, "no device 'gpu'; choose cpu"),
    ({"rate": 0}, "rate must be a positive number of hertz"),
    ({"rate": float("nan")}, "rate must be a positive number of hertz"),
    ({"rate": [9]}, "rate must be a positive number of hertz"),
    ({"device": 3}, "device must be a name, not 3"),
    ({"filter": ["mean"]}, "filter must be a name, not .'mean'."),
    ({"window": {"a": 3}}, "window must be an integer"),
    ({"output": "picture"}, "mean2d gives image with these settings, and no 'picture'"),
)


@pytest.mark.parametrize(("wrong", "words"), WRONG, ids=lambda value: str(value)[:40])
def test_what_cannot_be_done_is_one_sentence_in_pythons_words(wrong: dict[str, Any], words: str) -> None:
    given = {"filter": "mean", "array": np.eye(9, dtype=np.uint8), **wrong}
    with pytest.raises((ParamError, InputError, ks.KernelscopeError), match=words) as caught:
        ks.apply(given.pop("filter"), given.pop("array"), **given)
    assert "--" not in str(caught.value)


def test_a_result_that_is_wrong_is_an_error_where_it_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    real = reusable_plan.make_plan

    def spoilt(*given: Any) -> Plan:
        plan = real(*given)
        (out,) = plan.outputs.values()
        return Plan((*plan.steps, Call(lambda: out.__setitem__((3, 5), 9e9), ())), plan.outputs)

    monkeypatch.setattr(reusable_plan, "make_plan", spoilt)
    image = RANDOM.random((20, 21))
    assert ks.apply("mean", image)[3, 5] == 9e9
    with pytest.raises(WrongResult, match=r"mean2d parallel on cpu is wrong: image is off by 9e\+09 at \(3, 5\)"):
        ks.apply("mean", image, verify=True)


def test_threads_wait_for_one_another() -> None:
    arrays = [np.full((64, 64), k, np.float32) for k in range(8)]
    found: dict[int, Any] = {}
    threads = [
        threading.Thread(target=lambda k=k, a=a: found.update({k: [ks.apply("mean", a) for _ in range(20)]}))
        for k, a in enumerate(arrays)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, results in found.items():
        assert len(results) == 20 and all((r == k).all() for r in results)


def test_no_parameter_has_a_name_that_apply_takes_itself() -> None:
    for filter in ks.FILTERS:
        names = {p.name for p in filter.params} | {k.name for v in filter.variants for k in v.knobs}
        assert not names & {*applying.OWN}, filter.id


def test_the_names_are_listed_and_loaded_when_they_are_needed() -> None:
    code = (
        "import sys, gpu_ops as ks;"
        "names = dir(ks); assert 'apply' in names and 'load' in names and 'Any' not in names, names;"
        "assert 'gpu_ops.io' not in sys.modules;"
        "ks.apply, ks.from_array;"
        "heavy = {'numba', 'scipy', 'cv2', 'pywt', 'cupy', 'imageio', 'soundfile', 'tifffile', 'PIL', 'xarray'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
