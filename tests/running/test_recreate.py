"""Inputs that are results of filters, made again from their origin, and what files and reports say of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_ops import Experiment, Input, Pick, apply_steps, from_array, from_origin, load, run_experiment, sample, save
from gpu_ops.errors import DeviceError, InputError, KernelError
from gpu_ops.io import decoder_process
from gpu_ops.io.inputs import make_input
from gpu_ops.report.about import about_input, input_name
from gpu_ops.running.affordable import affordable, exact_crop
from gpu_ops.running.runner import last_runs
from gpu_ops.task import Task
from gpu_ops.types import Facts, Pixel

NOISY = [{"step": "crop", "start": [3, 5], "shape": [30, 40]}, {"step": "noise", "sigma": 4.0, "seed": 7}]


def result_of(input: Input, filter: str, params: dict[str, Any], output: str, pick: Pick, **more: Any) -> Input:
    """The result of a filter as an input, with the origin that says so."""
    (run,) = last_runs(run_experiment(Experiment(filter, input, params, (pick,), "none", checks="off")))
    origin = {"result": filter, "output": output, "variant": pick.variant, "device": pick.device}
    origin |= {"params": dict(run.params), "knobs": dict(pick.knobs), **more, "of": input.origin}
    kind = "signal" if output == "signal" else "image"
    return make_input(run.outputs[output], kind, "made", origin, input.rate, "keep")  # type: ignore[arg-type]


@pytest.fixture
def twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Input:
    """A file with steps through two filters, with a step between them and one after."""
    monkeypatch.setattr(decoder_process, "here", True)
    save(tmp_path / "a.tif", sample("noise", size="60x50", seed=2, dtype="uint8").array, pixel=Pixel(0.5, 0.25, "mm"))
    first = result_of(
        apply_steps(load(tmp_path / "a.tif"), NOISY), "mean2d", {"window": 5}, "image", Pick("parallel", "cpu")
    )
    matrix = {"matrix": (0.0, -1.0, 0.0, -1.0, 5.0, -1.0, 0.0, -1.0, 0.0)}
    between = apply_steps(first, [{"step": "convert", "dtype": "float32"}])
    second = result_of(between, "conv3x3", matrix, "image", Pick("serial", "cpu"))
    return apply_steps(second, [{"step": "flip", "axis": "left-right"}])


def test_a_result_of_a_result_comes_again_with_its_steps(twice: Input, tmp_path: Path) -> None:
    again = from_origin(json.loads(json.dumps(twice.origin)))
    np.testing.assert_array_equal(again.array, twice.array)
    assert again.array.dtype == np.float32 and json.loads(json.dumps(again.origin)) == json.loads(
        json.dumps(twice.origin)
    )
    assert again.facts == Facts(pixel=Pixel(0.5, 0.25, "mm")) and again.name == "conv3x3 of mean2d of a.tif"
    save(tmp_path / "a.tif", np.zeros((50, 60), np.uint8))
    with pytest.raises(InputError, match="a.tif has changed since"):
        from_origin(twice.origin)


def test_a_signal_keeps_its_rate() -> None:
    made = result_of(sample("ecg"), "mean1d", {"window": 9}, "signal", Pick("serial", "cpu"))
    again = from_origin(made.origin)
    np.testing.assert_array_equal(again.array, made.array)
    assert again.rate == made.rate and again.rate and again.kind == "signal"


def test_the_middle_of_a_simulated_result() -> None:
    whole, pick = sample("noise", size="280x300", seed=1), Pick("naive", "sim", {"block": 128})
    part, place = affordable(whole)
    (run,) = last_runs(run_experiment(Experiment("mean2d", part, {"window": 7}, (pick,), "none", checks="off")))
    task = Task.of(part.meta, run.params, pick.knobs)
    from gpu_ops import find_filter

    region = exact_crop(find_filter("mean2d"), task, whole.array.shape, place)
    origin = {"result": "mean2d", "output": "image", "variant": "naive", "device": "sim", "params": {"window": 7}}
    origin |= {"knobs": {"block": 128}, "start": list(region.place), "of": whole.origin}
    np.testing.assert_array_equal(from_origin(origin).array, run.outputs["image"][region.cut])
    with pytest.raises(InputError, match=r"begins at \[1, 2\], and now it would at \[25, 15\]"):
        from_origin({**origin, "start": [1, 2]})


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"edits": "abc"}, InputError, "by a kernel of your own"),
        ({"of": None}, InputError, "lacks of"),
        ({"device": "cuda:9"}, DeviceError, "cuda:9"),
        ({"output": "phase"}, KernelError, "cannot be made again: it has no output phase"),
        (
            {"variant": "opencv", "params": {"border": "wrap"}},
            KernelError,
            "mean2d by opencv on cpu cannot be made again",
        ),
    ],
)
def test_what_cannot_be_made_again_is_said(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    origin = {"result": "mean2d", "output": "image", "variant": "serial", "device": "cpu", "params": {"window": 3}}
    origin |= {"knobs": {}, "of": {"generator": "noise", "size": "9x9"}}
    assert from_origin(origin).array.shape == (9, 9)
    with pytest.raises(error, match=words):
        from_origin({**origin, **changes})


def test_an_array_at_the_beginning_is_refused() -> None:
    made = result_of(from_array(np.zeros((5, 5), np.uint8)), "mean2d", {}, "image", Pick("serial", "cpu"))
    with pytest.raises(InputError, match="made from an array"):
        from_origin(made.origin)


def test_files_say_how_a_result_was_made(twice: Input) -> None:
    facts = about_input(twice.origin)
    assert facts["input"] == input_name(twice.origin) == "conv3x3 of mean2d of a.tif"
    assert facts["sha256"] == twice.origin["of"]["of"]["hash"] and facts["steps"] == ["flip axis left-right"]
    first, second = facts["made by"]
    assert first.startswith("crop start x 5 y 3 size 40 x 30, noise sigma 4 seed 7, then mean2d by parallel on cpu,")
    assert ", window 5, border reflect" in first and first.endswith(", output image")
    assert second.startswith("convert dtype float32, then conv3x3 by serial on cpu, ") and "5 x -1 x 0" in second
