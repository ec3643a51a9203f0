"""Images of every NumPy type that is a number, from the filter's declaration to files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from gpu_ops.cli import main
from gpu_ops.devices import open_device
from gpu_ops.engine import jobs
from gpu_ops.engine.shared import SharedArray
from gpu_ops.engine.statistics import PERCENTILES, statistics
from gpu_ops.errors import InputError, either
from gpu_ops.io import Saving, from_array, load, save, save_result
from gpu_ops.io.results import save_output
from gpu_ops.io.steps.mapping import map_values, maps_for, writes_exactly
from gpu_ops.output_kinds import NUMBERS, OUTPUT_KINDS, Axis, Form, subtracted
from gpu_ops.report.files import row
from gpu_ops.running.affordable import exact_crop
from gpu_ops.running.contract import check_case, covering_cases
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Facts, Filter, Input, Pick, Run

Array = np.ndarray[Any, Any]
IMAGE = OUTPUT_KINDS["image"]


def picture(shape: tuple[int, ...] = (44, 52)) -> Input:
    return from_array(np.random.default_rng(4).integers(0, 256, shape, np.uint8), name="dice")


def ran(filter: Filter, *picks: Pick, input: Input | None = None) -> list[Run]:
    experiment = Experiment(filter.id, input or picture(), {}, picks, "none")
    found = {run.key: run for run in run_experiment(experiment)}
    return list(found.values())


def ends(dtype: str) -> tuple[Any, Any]:
    if dtype == "bool":
        return False, True
    info = np.finfo(dtype) if dtype.startswith("float") else np.iinfo(dtype)
    return info.min, info.max


def form_of(array: Array) -> Form:
    return Form(array.shape, array.dtype.name, (Axis("y", "px"), Axis("x", "px"), Axis("channel"))[: array.ndim])


# Declared, run, compared


def test_a_filter_gives_images_of_many_types_on_every_device(pieces: Filter) -> None:
    one, other = ran(pieces, Pick("serial", "cpu"), Pick("points", "sim"))
    assert one.ok and other.ok, (one.failure, other.failure, other.errors, other.findings)
    for name, form in one.forms.items():
        assert form.dtype == one.outputs[name].dtype.name == other.outputs[name].dtype.name
        assert np.array_equal(one.outputs[name], other.outputs[name])
        assert one.errors[name].max == other.errors[name].max == 0
    types = {name: form.dtype for name, form in one.forms.items()}
    assert types == {
        **{"pieces": "int32", "slope": "int16", "pairs": "uint64", "halves": "float16"},
        **{"inside": "bool", "middles": "float64"},
    }
    assert one.outputs["slope"].min() < -100 and one.outputs["pairs"].sum() == 44 * 51
    assert "<img" in one._repr_html_()


@pytest.mark.parametrize("name", ["pieces", "slope", "pairs", "halves", "inside"])
def test_one_wrong_pixel_of_any_type_is_found(pieces: Filter, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = pieces.reference

    def wrong(task: Any) -> dict[str, Array]:
        made = right(task)
        made[name] = np.array(made[name])
        made[name][3, 2] = made[name][3, 2] + 1 if made[name].dtype != np.bool_ else ~made[name][3, 2]
        return made

    object.__setattr__(pieces, "reference", wrong)
    try:
        (run,) = ran(pieces, Pick("serial", "cpu"))
    finally:
        object.__setattr__(pieces, "reference", right)
    assert run.ok is False and run.errors[name].worst == (3, 2) and run.errors[name].max == 1


@pytest.mark.parametrize(("variant", "device"), [("serial", "cpu"), ("points", "sim")])
def test_it_keeps_the_contract(pieces: Filter, variant: str, device: str) -> None:
    limits = open_device(device).limits
    for case in covering_cases(pieces, pieces.variant(variant), limits, most_work=1_000_000)[::4]:
        run = check_case(pieces, pieces.variant(variant), case, device, {})
        assert run.ok and not run.findings, f"{case}: {run.failure} {run.findings}"


def test_the_report_has_a_row_with_its_error(pieces: Filter) -> None:
    input = picture()
    (run,) = ran(pieces, Pick("points", "sim"), input=input)
    events = json.loads(json.dumps(row(run, Experiment("pieces", input, {}, (run.pick,), "none")).to_json()))
    assert (events["ok"], events["error_max"], events["dtype"]) == (True, 0, "uint8")
    assert set(events["errors"]) == {output.id for output in pieces.outputs}


class Shelf:
    """What an engine's channel does with results: it keeps them."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}

    def announce(self, text: str) -> None: ...

    def share(self, array: Array) -> SharedArray:
        name = f"shelf{len(self.arrays)}"
        self.arrays[name] = array
        return SharedArray(name, array.shape, array.dtype.name)


def test_the_window_gets_it_in_its_own_type_with_exact_figures(pieces: Filter) -> None:
    input = replace(picture(), facts=Facts(units=("mV",)))
    (run,) = ran(pieces, Pick("serial", "cpu"), input=input)
    run = replace(run, forms={name: replace(form, unit="mV") for name, form in run.forms.items()})
    task, shelf = Task.of(input.meta, run.params), Shelf()
    sent = jobs._outputs(shelf, run, task, exact_crop(pieces, task, input.array.shape, ()))  # type: ignore[arg-type]
    for name, result in sent.items():
        array = shelf.arrays[result.array.segment]
        assert result.array.dtype == array.dtype.name and np.array_equal(array, run.outputs[name])
        assert (result.statistics is None) == (name == "middles")
        if result.statistics is not None:
            assert (result.statistics.minimum, result.statistics.maximum) == (array.min(), array.max())
    assert (sent["pieces"].unit, sent["slope"].unit) == ("", "mV"), "labels are names"


@pytest.mark.parametrize("dtype", NUMBERS)
def test_a_line_tells_integers_in_full(dtype: str) -> None:
    low, high = ends(dtype)
    array = np.array([[low, high]], dtype)
    events = IMAGE.summarise(array, form_of(array), "")
    number = "{:d}" if array.dtype.kind in "bui" else "{:.6g}"
    low_text, high_text = (number.format(value).replace("-", "−") for value in array[0])
    assert events == f"2 × 1 {dtype}, {low_text} … {high_text}"
    assert not IMAGE.fault(dtype, 2)


# Differences


WIDE = ("int64", "uint64")


@pytest.mark.parametrize("one", [t for t in NUMBERS if not t.startswith("float")])
@pytest.mark.parametrize("other", ["bool", "int8", "uint8", "int32", *WIDE])
def test_integers_of_any_types_are_subtracted_exactly(one: str, other: str) -> None:
    a, b = (np.array([*ends(t), 1, 0], t) for t in (one, other))
    for left, right in ((a, b), (a, b[::-1]), (b, a)):
        found = subtracted(left, right)
        expected = [float(int(x) - int(y)) for x, y in zip(left.tolist(), right.tolist(), strict=True)]
        assert found.dtype == np.float64 and found.tolist() == expected


def test_neighbours_beyond_what_float64_holds_differ() -> None:
    for dtype, big in (("int64", 2**60), ("uint64", 2**63 + 2**60), ("int64", -(2**62))):
        one, other = np.array([big + 1], dtype), np.array([big], dtype)
        assert (subtracted(one, other), subtracted(other, one)) == (1, -1)
    assert subtracted(np.array([2], np.uint8), np.array([5], np.uint8)) == -3
    assert np.isnan(subtracted(np.array([np.inf]), np.array([np.inf])))


# Statistics


def exact(values: list[Any]) -> tuple[Any, Any, list[float]]:
    """Lowest, highest, and percentiles as NumPy interpolates them, in Python's own numbers."""
    values, found = sorted(values), []
    for percentile in PERCENTILES:
        place = percentile / 100 * (len(values) - 1)
        a, b = values[int(place)], values[min(int(place) + 1, len(values) - 1)]
        found.append(a if a == b else a * (1 - (place - int(place))) + b * (place - int(place)))
    return values[0], values[-1], found


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("law", ["ends", "all", "few", "one"])
def test_statistics_of_every_type(dtype: str, law: str) -> None:
    random, (low, high) = np.random.default_rng(7), ends(dtype)
    if dtype.startswith("float"):
        array = random.standard_normal(5000).astype(dtype)
        array[:9] = np.nan
    else:
        array = random.integers(low, high, 5000, dtype, endpoint=True) if dtype != "bool" else random.random(5000) < 0.3
    array = {"all": array, "ends": np.append(array, np.array([low, high], dtype)), "few": array[9:12]}.get(
        law, array[9:10]
    )
    found, values = statistics(array.reshape(-1, 1)), [v for v in array.tolist() if v == v]
    values = [int(v) for v in values] if dtype == "bool" else values
    least, most, percentiles = exact(values)
    assert (found.minimum, found.maximum) == (least, most) and type(found.minimum) is type(least)
    if not (dtype.startswith("float") and law == "ends"):  # their span may overflow
        assert list(found.percentiles.values()) == pytest.approx(percentiles, rel=1e-12)
    assert sum(found.histogram) == len(values) and found.nan == len(array) - len(values)
    if array.dtype.kind != "f" and found.maximum > found.minimum:
        span = most - least
        counts = [0] * 256
        for v in values:
            counts[min(255, (v - least) * 65536 // span // 256)] += 1
        assert np.abs(np.subtract(counts, found.histogram)).sum() <= (4 if span >= 1 << 48 else 0)


def test_numbers_that_float64_takes_for_one_lie_in_bins_of_their_own() -> None:
    found = statistics(np.arange(2**60, 2**60 + 256, dtype=np.int64))
    assert found.histogram[0] > 0 and max(found.histogram) <= 2 and sum(found.histogram) == 256
    assert (found.minimum, found.maximum) == (2**60, 2**60 + 255) and isinstance(found.maximum, int)
    same = statistics(np.full(9, 2**64 - 1, np.uint64))
    assert same.percentiles[50] == 2**64 - 1 and isinstance(same.percentiles[50], int)


# Files


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("suffix", [".npy", ".tif", ".png"])
def test_a_file_keeps_every_bit_or_says_which_formats_do(dtype: str, suffix: str, tmp_path: Path) -> None:
    array = np.array([[*ends(dtype), 1], [0, 1, 0]], dtype)
    path, output = tmp_path / f"a{suffix}", next(o for o in _outputs() if o.kind == "image")
    if not maps_for(suffix, dtype):
        assert save_output(path, output, array, form_of(array), None, Saving()) == ""
        read = {".npy": np.load, ".tif": tifffile.imread, ".png": lambda p: load(p).array}[suffix](path)
        assert read.dtype == dtype and np.array_equal(read, array)
        return
    others = [s for s in IMAGE.formats if writes_exactly(s, dtype)]
    assert ".npy" in others and suffix not in others
    with pytest.raises(InputError, match=f"of this {dtype}; say how with --map .*, or save as {either(others)}[.]"):
        save_output(path, output, array, form_of(array), None, Saving())
    with pytest.raises(InputError, match=f"cannot hold {dtype}; convert to .* or save as .*.npy"):
        save_result(path, "image", array, form_of(array))
    assert not path.exists()
    words = save_output(path, output, array, form_of(array), None, Saving("scale"))
    assert "became 0" in words and load(path).array.max() == (255 if dtype == "bool" else 65535)


def _outputs() -> Any:
    from toys.pieces import PIECES

    return PIECES.outputs


def test_a_mask_becomes_black_and_white_even_where_all_is_white() -> None:
    assert maps_for(".png", "bool") == ("scale",)
    assert map_values(np.ones((2, 2), bool), ".png", "scale").array.tolist() == [[255, 255], [255, 255]]
    assert map_values(np.array([[True, False]]), ".png", "clip").array.tolist() == [[1, 0]]


def test_the_command_saves_each_of_them(pieces: Filter, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path / "in.png", picture().array)
    command = ["run", "pieces", "--input", str(tmp_path / "in.png"), "--variant", "serial", "--down", "20"]
    saved = {"pieces": "a.tif", "slope": "b.tif", "pairs": "c.tif", "halves": "d.tif", "inside": "e.npy"}
    for name, file in saved.items():
        assert main([*command, "--output", f"{name}={tmp_path / file}"]) == 0
    events = capsys.readouterr().out
    assert "pieces   52 × 44 int32, 0 … " in events and "slope    52 × 44 int16, −" in events
    (run,) = ran(pieces, Pick("serial", "cpu"))
    for name, file in saved.items():
        read = load(tmp_path / file, **({"nonfinite": "keep"})).array
        made = run.outputs[name] if name != "inside" else run.outputs[name].astype(np.uint8) * 255
        assert np.array_equal(read, made)
    assert main([*command, "--output", f"pairs={tmp_path / 'c.png'}"]) == 2
    assert "cannot hold all values of this uint64; say how with --map scale" in capsys.readouterr().err
