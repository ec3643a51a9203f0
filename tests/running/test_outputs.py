"""Outputs of any kind: what may be one, how two are compared, what is said of one, and what breaks its declaration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_ops.errors import DeclarationError, KernelError, ParamError
from gpu_ops.filters import find_filter
from gpu_ops.filters.registry import Registry
from gpu_ops.input_kinds import INPUT_KINDS, time_axis
from gpu_ops.io import from_array
from gpu_ops.output_kinds import OUTPUT_KINDS, Axis, Band, Form, Marks, difference
from gpu_ops.params import Param
from gpu_ops.plan import Call, Plan
from gpu_ops.running.quality import quality
from gpu_ops.running.runner import run_experiment
from gpu_ops.running.suitable import check_input
from gpu_ops.running.verify import measure_error
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Pick, Run

HERTZ = Axis("frequency", "Hz", 0, 2.5)
EXAMPLES: dict[str, tuple[np.ndarray, tuple[Axis, ...], str]] = {
    "image": (np.arange(12, dtype=np.uint8).reshape(3, 4), (Axis("y", "px"), Axis("x", "px")), "4 × 3 uint8, 0 … 11"),
    "signal": (np.linspace(-1, 1, 5), (time_axis(100.0),), "5 float64, −1 … 1"),
    "spectrum": (
        np.array([3 + 4j, 0], np.complex64),
        (Axis("frequency", "Hz", 0, 2.5),),
        "2 complex64, magnitudes 0 … 5",
    ),
    "bars": (np.array([4, 0, 5]), (Axis("value", start=-1, step=0.5),), "3 bars over value −1 … 0.5, 9"),
    "pyramid": (np.zeros(6, np.float32), (Axis("coefficient"),), "2 levels, 3 bands, 6 float32"),
    "number": (np.array(2.5), (), "2.5"),
    "table": (np.array([1.5, 2.0]), (Axis("of", labels=("mean", "median")),), "mean 1.5, median 2"),
    "timeline": (np.array([[0.0, 0.5, 0, 8], [0.25, 1, 1, 8]]), (Axis("span"), Axis("what")), "2 spans in 1 s"),
}
BANDS = (Band(2, "approximation", (0,), (2,)), Band(2, "detail", (2,), (1,)), Band(1, "detail", (3,), (3,)))


@pytest.mark.parametrize("kind", OUTPUT_KINDS)
def test_every_kind_holds_its_own_and_tells_it_in_a_line(kind: str) -> None:
    array, axes, events = EXAMPLES[kind]
    form = Form(array.shape, array.dtype.name, axes, BANDS if kind == "pyramid" else ())
    of_kind = OUTPUT_KINDS[kind]
    assert of_kind.fault(form.dtype, array.ndim) == "" and of_kind.formats
    assert of_kind.summarise(array, form, "") == events
    figures = of_kind.figures(array)
    assert figures is None or figures.dtype.kind in "uif"
    assert of_kind.fault("object", array.ndim).startswith("object, and a")
    assert "dimensions" in of_kind.fault(form.dtype, 7)


def test_the_conjugate_of_a_spectrum_is_wrong() -> None:
    right = np.fft.rfft(np.random.default_rng(1).standard_normal(64))
    assert measure_error(right, right.astype(np.complex64), 1.0, 1e-5).ok
    assert not measure_error(right, right.conj(), 1.0, 1e-5).ok
    assert not measure_error(right, right.real.copy(), 1.0, 1e-5).ok
    broken = right.copy()
    broken[3] = complex(np.nan, right[3].imag)
    assert measure_error(right, broken, 1.0, 1e-5).max == np.inf and measure_error(broken, broken, 1.0, 0.0).ok


def test_integers_are_compared_exactly_whatever_their_width() -> None:
    big = np.array([2**63, 2**53 + 1], np.uint64)
    assert difference(big, big - np.uint64(1)).tolist() == [1.0, 1.0]
    assert difference(np.array([-5], np.int64), np.array([2], np.int64)).tolist() == [7.0]
    assert difference(np.array([2**62]), np.array([-(2**62)])).tolist() == [2.0**63]


@pytest.mark.parametrize("dtype", ["datetime64[s]", "U3", "object", "timedelta64[s]"])
def test_what_nobody_can_judge_is_refused(dtype: str) -> None:
    with pytest.raises(KernelError, match="cannot be judged"):
        difference(np.zeros(2, dtype), np.zeros(2, dtype))


def test_an_axis_says_where_an_element_lies() -> None:
    axis = Axis("frequency", "Hz", 10.0, 2.5)
    assert axis.text(2) == "frequency 15 Hz" and axis.index(15.0) == 2 and axis.cut(2).start == 15
    assert Axis("of", labels=("mean", "median")).text(1) == "median"
    form = Form((10, 8), "uint8", (Axis("y"), Axis("x"))).cut((slice(2, 5), slice(1, 8)))
    assert form.shape == (3, 7) and [a.start for a in form.axes] == [2, 1]


def test_inputs_have_axes_of_their_kind() -> None:
    signal, image = INPUT_KINDS["signal"], INPUT_KINDS["image"]
    assert [a.unit for a in signal.axes_of((9, 2), 250.0)] == ["s", ""] and signal.axes_of((9,), 250.0)[
        0
    ].step == 1 / 250
    assert [a.name for a in image.axes_of((4, 5, 3))] == ["y", "x", "channel"]
    assert (image.channels_of((4, 5, 3)), signal.channels_of((4,))) == (3, 1)


# Declarations that are broken


def _ran(monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], /, **changes: Any) -> Run:
    """The mean filter with a variant that gives these outputs, and with these changes of its declaration."""
    filter = find_filter("mean2d")

    def plan(device: Any, task: Task) -> Plan:
        outputs = {name: np.empty_like(array) for name, array in given.items()}
        copies = (Call(np.copyto, (outputs[name], array)) for name, array in given.items())
        return Plan((Call(lambda: None, ()), *copies), outputs)

    changed = replace(filter, variants=(replace(filter.variants[0], plan=plan),), **changes)

    monkeypatch.setattr(Registry, "find", lambda self, name, kind=None: changed)
    image = from_array(np.ones((4, 5), np.uint8))
    experiment = Experiment("mean2d", image, {"window": 3, "border": "reflect"}, (Pick("serial", "cpu"),), "none")
    return list(run_experiment(experiment))[-1]


GOOD = np.ones((4, 5), np.uint8)
BROKEN = [
    ({}, "mean2d serial gives the outputs none, and the filter declares image; make them the same."),
    (
        {"image": GOOD, "more": GOOD},
        "gives the outputs image, more, and the filter declares image; make them the same.",
    ),
    ({"image": GOOD[:3]}, "gives 'image' of shape (3, 5) and type uint8; the filter declares (4, 5) and uint8."),
    ({"image": GOOD.astype(np.float32)}, "and type float32; the filter declares (4, 5) and uint8."),
    (
        {"image": GOOD.astype(np.complex64)},
        "as complex64, and an image holds bool, uint8, uint16, uint32, uint64, int8,",
    ),
    ({"image": GOOD.reshape(2, 2, 5, 1)}, "of 4 dimensions, and an image has 2 or 3;"),
]


@pytest.mark.parametrize(("outputs", "words"), BROKEN, ids=lambda v: str(v)[-40:] if isinstance(v, str) else "")
def test_a_variant_that_breaks_its_declaration_fails_with_its_name(
    monkeypatch: pytest.MonkeyPatch, outputs: dict[str, Any], words: str
) -> None:
    run = _ran(monkeypatch, outputs)
    assert run.failure_kind == "kernel" and words in run.failure and run.failure.startswith("mean2d serial gives")
    assert run.ok is None and not run.outputs


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({}, "The reference of mean2d gives the outputs none"),
        ({"image": np.ones((4, 6))}, "The reference of mean2d gives 'image' of shape (4, 6)"),
        ({"image": np.ones((4, 5))}, "and type float64; the filter declares (4, 5) and uint8."),
    ],
)
def test_a_reference_that_breaks_the_declaration_is_named(
    monkeypatch: pytest.MonkeyPatch, made: dict[str, Any], words: str
) -> None:
    with pytest.raises(DeclarationError) as error:
        _ran(monkeypatch, {"image": GOOD.copy()}, reference=lambda task: made)
    assert words in str(error.value)


def test_a_reference_is_no_number_only_where_a_sample_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    mean = find_filter("mean2d").outputs[0]
    floats = replace(mean, form=lambda task: replace(mean.form(task), dtype="float32"))
    nan = np.full((4, 5), np.nan)
    changes = {"outputs": (floats,), "reference": lambda task: {"image": nan}}
    with pytest.raises(DeclarationError, match="gives NaN in 'image' for finite samples"):
        _ran(monkeypatch, {"image": nan.astype(np.float32)}, **changes)


# Outputs that the parameters ask for, and inputs that do not suit


def test_only_the_outputs_that_the_parameters_ask_for_are_given_and_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    mean = find_filter("mean2d").outputs[0]
    spare = replace(mean, id="spare", when={"border": ("wrap",)})
    changes = {"outputs": (mean, spare), "reference": lambda task: {"image": GOOD}}
    run = _ran(monkeypatch, {"image": GOOD.copy()}, **changes)
    assert run.ok and set(run.outputs) == set(run.errors) == set(run.forms) == {"image"}
    run = _ran(monkeypatch, {"image": GOOD.copy(), "spare": GOOD.copy()}, **changes)
    assert "gives the outputs image, spare, and the filter declares image;" in run.failure


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": True}, "gives 'image' as float32, and labels are integers; give them as such."),
        ({"marks": Marks(("image",), "x", "y", "n")}, "with columns without names; its marks need x, y, n."),
    ],
)
def test_labels_and_marks_are_what_they_say(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], words: str
) -> None:
    mean = find_filter("mean2d").outputs[0]
    out = replace(mean, form=lambda task: replace(mean.form(task), dtype="float32"), **changes)
    run = _ran(monkeypatch, {"image": GOOD.astype(np.float32)}, outputs=(out,))
    assert run.failure_kind == "kernel" and run.failure.endswith(words)


def test_labels_have_no_quality(monkeypatch: pytest.MonkeyPatch) -> None:
    mean, noisy = find_filter("mean2d").outputs[0], replace(from_array(GOOD), clean=GOOD + np.uint8(1))
    for labels, found in ((False, {"image"}), (True, set())):
        filter = replace(find_filter("mean2d"), outputs=(replace(mean, labels=labels),))
        assert set(quality(filter, noisy, {}, {"image": GOOD})) == found


def test_a_scale_of_its_own_leaves_the_input_out(monkeypatch: pytest.MonkeyPatch) -> None:
    mean, small = find_filter("mean2d").outputs[0], np.full((4, 5), 1e-6, np.float32)
    out = replace(mean, form=lambda task: replace(mean.form(task), dtype="float32"), tolerance=lambda task: 1e-3)
    for own, right in ((False, True), (True, False)):
        changes = {"outputs": (replace(out, own_scale=own),), "reference": lambda task: {"image": small}}
        assert _ran(monkeypatch, {"image": small * np.float32(2)}, **changes).ok is right


def test_a_filter_of_finite_values_names_the_first_that_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    filter = replace(find_filter("mean2d"), finite_only=True)
    monkeypatch.setattr(Registry, "find", lambda self, name, kind=None: filter)
    array = np.ones((4, 5), np.float32)
    array[2, 3] = np.nan
    array[3, 0] = np.inf
    image = from_array(array, name="hole", nonfinite="keep")
    experiment = Experiment("mean2d", image, {}, (Pick("serial", "cpu"),), "none")
    words = r"hole holds 1 NaN and 1 infinite values, the first at index \(2, 3\); mean2d takes finite values only"
    with pytest.raises(ParamError, match=words):
        list(run_experiment(experiment))


def test_a_part_without_nan_suits_a_filter_of_finite_values() -> None:
    filter = replace(find_filter("mean2d"), finite_only=True)
    part = replace(from_array(np.ones((4, 5), np.float32)), finite=False)
    check_input(filter, part, {p.name: p.default for p in filter.params})


def test_a_parameter_matters_beside_some_values_of_others() -> None:
    threshold = Param("threshold", 1.0, 0.0, 9.0, when={"rule": ("manual", "given")})
    assert threshold.matters({"rule": "given"}) and not threshold.matters({"rule": "universal"})
