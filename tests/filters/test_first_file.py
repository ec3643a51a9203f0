"""The file that is shown is the file that runs: a variant's first kernel file takes part in every plan, and somebody's
file that no launch was compiled from ends in a failure, never in a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from lanes import variants_today
from recording import Recording, plan_of, sources

from gpu_ops.cli import main
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.sim.device import DEFAULT_ARCHITECTURE
from gpu_ops.errors import KernelError
from gpu_ops.explaining.occupancies import launch_occupancy
from gpu_ops.explaining.xray import xray
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.running.contract import Case, check_case, covering_cases, long_cases
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Meta
from gpu_ops.types import Experiment, Filter, Input, Pick, Variant

NONSENSE = "This is no CUDA C."
KERNELS = variants_today([(f, v) for f in FILTERS for v in f.variants if v.kernels], 24)
IMAGE = np.random.default_rng(3).normal(size=(72, 144)).astype(np.float32)


FEW_ROWS = {"wavelet": "db4", "levels": 3, "rule": "manual", "border": "periodization", "shifts": 1}
"""The third level of an image of 56 rows has 14, too few for warps, and is left to blocks."""


@cache
def _cases(filter: str, variant: str, architecture: str) -> list[Case]:
    found, limits = find_filter(filter), Recording(architecture).limits
    own = found.variant(variant)
    cases = [*covering_cases(found, own, limits), *long_cases(found, own, limits)]
    if filter == "wavelet2d" and "wavelet/9_recomputed_blocks.cu" in own.kernels[1:]:
        cases.append(replace(cases[0], shape=(56, 136), dtype="float32", params={**cases[0].params, **FEW_ROWS}))
    return cases


@pytest.mark.parametrize("architecture", [DEFAULT_ARCHITECTURE, pytest.param("sm_90", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("filter, variant", KERNELS)
def test_the_first_file_takes_part_in_every_plan(filter: Filter, variant: Variant, architecture: str) -> None:
    device, found = Recording(architecture), set()
    for case in _cases(filter.id, variant.id, architecture):
        launched = sources(plan_of(filter, variant, case, device))
        assert variant.kernels[0] in launched, f"{case} runs {launched} instead"
        found |= launched
    assert found == set(variant.kernels), "the variant names other files than its plans need, or no case needs one"


@pytest.mark.parametrize("filter, variant", KERNELS)
def test_a_nonsense_kernel_is_never_right(filter: Filter, variant: Variant) -> None:
    cases = _cases(filter.id, variant.id, DEFAULT_ARCHITECTURE)
    for case in cases[:1] + cases[-1:]:
        run = check_case(filter, variant, case, "sim", {variant.kernels[0]: NONSENSE})
        assert run.failure and run.ok is None and not run.outputs, case
        assert variant.kernels[0] in run.failure


def _experiment(filter: Filter, pick: Pick, array: np.ndarray) -> Experiment:
    axes = "yx" if filter.accepts == "image" else "t"
    params = {"levels": 3} if filter.family == "wavelet" else {}
    return Experiment(filter.id, Input(filter.accepts, array, axes, "noise", {}), params, (pick,), protocol="none")


@pytest.mark.parametrize(
    ("id", "file", "advice"),
    [
        ("two_levels", "wavelet/4_shared.cu", "choose shared."),
        ("global", "wavelet/9_recomputed_blocks.cu", "choose recomputed_blocks."),
        ("warp_recomputed", "wavelet/13_two_levels.cu", "choose two_levels."),
        ("fused", "wavelet/risk.cu", "choose another variant or other settings."),
        ("fused", "wavelet/wavelet_lattice.cuh", "choose another variant or other settings."),
    ],
)
def test_an_edited_file_that_no_launch_was_compiled_from_is_a_failure(id: str, file: str, advice: str) -> None:
    filter, edits = find_filter("wavelet2d"), {file: read_source(file)}
    (run,) = run_experiment(_experiment(filter, Pick(id, "sim", edits=edits), IMAGE))
    assert run.failure_kind == "kernel" and run.ok is None and not run.outputs
    assert f"{file} was given, but wavelet2d {id} at these settings compiles only wavelet/" in run.failure
    assert run.failure.endswith(advice)


def test_an_edited_helper_and_an_edited_header_that_take_part_are_run() -> None:
    filter = find_filter("wavelet2d")
    for file in ("wavelet/11_warp_strips.cu", "wavelet/wavelet_lattice.cuh", "wavelet/median.cu"):
        pick = Pick("two_levels", "sim", edits={file: read_source(file)})
        *_, run = run_experiment(_experiment(filter, pick, IMAGE), again=False)
        assert run.ok, (file, run.failure, run.errors)


def test_x_ray_and_occupancy_refuse_a_file_that_takes_no_part() -> None:
    filter, edits = find_filter("wavelet2d"), {"wavelet/4_shared.cu": read_source("wavelet/4_shared.cu")}
    input = Input("image", IMAGE, "yx", "noise", {})
    with pytest.raises(KernelError, match="was given, but wavelet2d global at these settings compiles only"):
        xray(filter, filter.variant("global"), input, {"levels": 3}, {}, DEFAULT_ARCHITECTURE, edits)
    with pytest.raises(KernelError, match="was given, but wavelet2d global at these settings compiles only"):
        launch_occupancy(
            filter, Pick("global", "cpu", edits=edits), {"levels": 3}, Meta("image", IMAGE.shape, "float32"), "sm_90"
        )


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Filter]:
    """A filter whose variant has a file that only some parameters run."""
    from dataclasses import replace

    monkeypatch.syspath_prepend(Path(__file__).parents[1])
    mean = find_filter("mean1d")
    naive, constant = mean.variant("naive"), mean.variant("constant")

    def plan(device, task):  # type: ignore[no-untyped-def]
        return (naive if task.params["window"] > 5 else constant).plan(device, task)

    hybrid = replace(naive, plan=plan)
    filter = replace(mean, id="toy", family="toy", variants=(mean.variants[0], hybrid))
    monkeypatch.setattr(FILTERS, "_filters", (*FILTERS, filter))
    yield filter


def test_a_toy_whose_first_file_runs_for_some_parameters_alone_is_found_out(toy: Filter) -> None:
    variant, signal = toy.variant("naive"), np.arange(64, dtype=np.float32)
    pick = Pick("naive", "sim", edits={variant.kernels[0]: NONSENSE})
    for window, words in ((3, "was given, but toy naive at these settings compiles only"), (7, "does not compile")):
        experiment = _experiment(toy, pick, signal)
        (run,) = run_experiment(Experiment(toy.id, experiment.input, {"window": window}, (pick,), protocol="none"))
        assert words in run.failure and run.ok is None


@pytest.mark.parametrize("id", ["recomputed_blocks", "warp_recomputed", "two_levels"])
def test_somebodys_nonsense_on_the_command_line_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, id: str
) -> None:
    kernel = tmp_path / "nonsense.cu"
    kernel.write_text(NONSENSE)
    sample = ("--sample", "camera", "--dtype", "float32")
    code = main(["run", "wavelet2d", "--variant", id, "--kernel", str(kernel), "--device", "sim", *sample])
    events = capsys.readouterr()
    assert code == 2 and "does not compile" in events.err and "right" not in events.out
