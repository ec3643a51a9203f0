"""The reference as a variant: its values can be looked at and saved, and it has neither verdict nor times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpu_ops import FILTERS, Experiment, Pick, from_array, load, run_experiment, sample
from gpu_ops.cli import main
from gpu_ops.devices import open_device
from gpu_ops.errors import ParamError
from gpu_ops.filters.kit.definition import reference_variant
from gpu_ops.running.runner import last_runs
from gpu_ops.running.verify import full_meta
from gpu_ops.task import MAIN, Task
from gpu_ops.types import REFERENCE, Filter, Run

ONE = Pick(REFERENCE, "cpu")


def runs(filter: Filter, x: np.ndarray, *picks: Pick, protocol: str = "none", **params: object) -> list[Run]:
    given = from_array(x, filter.accepts)
    return last_runs(run_experiment(Experiment(filter.id, given, params, picks, protocol)))  # type: ignore[arg-type]


@pytest.mark.parametrize("filter", FILTERS, ids=lambda f: f.id)
def test_every_filter_has_it_and_lists_it_nowhere(filter: Filter) -> None:
    shape = (512, 512) if filter.accepts == "image" else (1 << 16,)
    x = np.random.default_rng(1).random(shape, np.float32).astype(filter.dtypes[-1])
    (run,) = runs(filter, x, ONE)
    assert not run.failure and run.ok is None and run.errors == {}
    given = from_array(x, filter.accepts)
    task = replace(Task.of(given.meta, run.params), metas={MAIN: full_meta(given)}).on(x)
    for name, values in filter.reference(task).items():
        if name in run.outputs:
            np.testing.assert_array_equal(run.outputs[name], np.ma.getdata(values).astype(run.outputs[name].dtype))
    assert run.outputs.keys() == {o.id for o in filter.given(run.params)}
    assert REFERENCE not in [v.id for v in filter.variants]


def test_integers_are_rounded_half_up_and_saturate() -> None:
    exact, device = np.array([[-3.0, 0.49, 0.5, 254.5, 300.0]]), open_device("cpu")
    filter = replace(FILTERS.find("mean2d"), reference=lambda task: {"image": exact})
    given = from_array(np.zeros(exact.shape, np.uint8))
    task = Task.of(given.meta, {"window": 3, "border": "zero"}, {}, device.limits).on(given.array)
    plan = reference_variant(filter).plan(device, task)
    device.execute(plan)
    assert plan.outputs["image"].tolist() == [[0, 0, 1, 255, 255]]


@pytest.mark.parametrize("command", [["bench", "mean"], ["sweep", "mean", "--over", "window=3,5"]])
def test_nothing_times_it(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = "The reference of mean2d is its definition, which is not timed; leave it out here."
    with pytest.raises(ParamError, match=words):
        runs(FILTERS.find("mean2d"), np.zeros((9, 9), np.uint8), ONE, Pick("serial", "cpu"), protocol="quick")
    assert main([*command, "--sample", "camera", "--variant", "serial", REFERENCE]) == 2
    assert words in capsys.readouterr().err


def test_the_command_line_saves_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "right.npy"
    assert main(["run", "mean", "--sample", "camera", "--variant", REFERENCE, "--output", str(target)]) == 0
    assert "the definition" in capsys.readouterr().out
    picture = load(target).array
    (run,) = runs(FILTERS.find("mean2d"), sample("camera").array, ONE)
    assert np.array_equal(picture, run.outputs["image"])
