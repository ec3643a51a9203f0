"""Ids of the version before are taken once more: each means the variant that ran with these settings, and says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gpu_ops
from gpu_ops import recorded_reports
from gpu_ops.cli import main
from gpu_ops.errors import DeclarationError, ParamError
from gpu_ops.filters import find_filter
from gpu_ops.filters.registry import check_filters
from gpu_ops.params import check_values
from gpu_ops.report.rows import Row
from gpu_ops.running.runner import planned_run, run_experiment
from gpu_ops.task import Meta, Successor
from gpu_ops.types import Experiment, Input, Pick

MANUAL = {"rule": "manual"}
WIDE = (4096, 4096)
MEANT: list[tuple[str, tuple[int, ...], str, dict[str, Any], dict[str, Any], str]] = [
    ("wavelet2d", WIDE, "float32", {}, {}, "two_levels"),
    ("wavelet2d", WIDE, "float32", {"levels": 1}, {}, "warp_recomputed"),
    ("wavelet2d", WIDE, "float32", {"border": "symmetric"}, {}, "warp_recomputed"),
    ("wavelet2d", WIDE, "float32", {}, {"details": "kept"}, "warp_strips"),
    ("wavelet2d", WIDE, "float32", {"levels": 1}, {"details": "kept"}, "warp_recomputed"),
    ("wavelet2d", (*WIDE, 3), "float32", {}, {"details": "kept"}, "warp_strips"),
    ("wavelet2d", WIDE, "float32", {"wavelet": "db20"}, {}, "recomputed_blocks"),
    ("wavelet2d", WIDE, "float64", {}, {}, "recomputed_blocks"),
    ("wavelet1d", (4096,), "float32", MANUAL, {}, "warp_registers"),
    ("wavelet1d", (4096,), "float32", {}, {}, "recomputed_blocks"),
    ("wavelet1d", (4099,), "float32", MANUAL, {}, "recomputed_blocks"),
]


@pytest.mark.parametrize(("id", "shape", "dtype", "params", "knobs", "new"), MEANT)
def test_an_old_id_means_what_ran_with_these_settings(
    id: str, shape: tuple[int, ...], dtype: str, params: dict[str, Any], knobs: dict[str, Any], new: str
) -> None:
    filter = find_filter(id)
    assert filter.today("recomputed", Meta(filter.accepts, shape, dtype), params, knobs) == new
    assert filter.variant(filter.today("recomputed")).kernels
    assert filter.today("fused") == "fused"
    with pytest.raises(ParamError, match="has no variant 'recomptued'"):
        filter.variant("recomptued")


def test_a_row_of_the_version_before_names_what_ran() -> None:
    row = next(r for r in recorded_reports()["h100-wavelet2d-db4.json"].rows if r.variant == "two_levels")
    before = {**row.to_json(), "variant": "recomputed", "knobs": {"block": 128, "rows": 128, "details": "twice"}}
    assert Row.from_json(before).key == row.key
    kept = Row.from_json({**before, "knobs": {**before["knobs"], "details": "kept"}})
    assert (kept.variant, kept.knobs) == ("warp_strips", {})
    blocks = Row.from_json({**before, "dtype": "float64"})
    assert (blocks.variant, blocks.knobs) == ("recomputed_blocks", {"block": 128, "rows": 128})


def _experiment(pick: Pick) -> Experiment:
    x = np.random.default_rng(1).normal(size=1024).astype(np.float32)
    input = Input("signal", x, "t", "noise", {})
    return Experiment("wavelet1d", input, {**MANUAL, "levels": 2}, (pick,), protocol="none")


def test_the_runner_takes_an_old_id_and_warns() -> None:
    experiment = _experiment(Pick("recomputed", "sim"))
    with pytest.warns(FutureWarning, match="wavelet1d recomputed is called warp_registers now"):
        runs = list(run_experiment(experiment))
    assert {run.pick.variant for run in runs} == {"warp_registers"} and runs[-1].ok
    with pytest.warns(FutureWarning, match="warp_registers"):
        assert planned_run(experiment, experiment.picks[0]).pick.variant == "warp_registers"


def test_a_call_takes_an_old_id_and_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros((64, 64), np.float32)
    with (
        pytest.warns(FutureWarning, match="wavelet2d recomputed is called warp_recomputed now"),
        pytest.raises(ParamError, match="warp_recomputed does not run on cpu"),
    ):
        gpu_ops.apply("wavelet", x, variant="recomputed", levels=1, device="cpu")


def test_the_command_line_takes_an_old_id_and_says_the_new_one_once(capsys: pytest.CaptureFixture[str]) -> None:
    how = ("--sample", "noise", "--length", "2048", "--dtype", "float32", "--rule", "manual", "--levels", "2")
    assert main(["run", "wavelet", *how, "--variant", "recomputed", "--device", "sim"]) == 0
    events = capsys.readouterr()
    assert events.err.count("wavelet1d recomputed is called warp_registers now") == 1 and "warp_registers" in events.out
    assert main(["xray", "wavelet", "recomputed", *how, "--gpu", "sm_75"]) == 0
    events = capsys.readouterr()
    assert events.err.count("wavelet1d recomputed is called warp_registers now") == 1
    assert events.out.split("\n")[1].startswith("warp_registers") or "warp_registers  –" in events.out


def test_a_renaming_to_nothing_is_a_mistake() -> None:
    wavelet = find_filter("wavelet1d")
    for renamed in ({"recomputed": (Successor("gone"),)}, {"fused": (Successor("levels"),)}):
        with pytest.raises(DeclarationError, match="correct `renamed`"):
            check_filters((replace(wavelet, renamed=renamed),))


def test_a_knob_by_its_old_name_is_the_same_knob(capsys: pytest.CaptureFixture[str]) -> None:
    variant = find_filter("layout").variant("broadcast")
    assert check_values(variant.knobs, {"apart": 4}, "broadcast") == {"block": 192, "lane_stride": 4}
    row = next(r for r in recorded_reports()["h200-layout.json"].rows if r.variant == "broadcast")
    old = {"apart" if k == "lane_stride" else k: v for k, v in row.knobs.items()}
    assert old != dict(row.knobs) and Row.from_json({**row.to_json(), "knobs": old}).key == row.key
    pick = Pick("broadcast", "sim", {"apart": 4})
    input = Input("signal", np.ones(64, np.float32), ("time",), "ones", {})
    assert planned_run(Experiment("layout", input, {}, (pick,), protocol="none"), pick).pick.knobs["lane_stride"] == 4
    how = ("--sample", "noise", "--length", "256", "--dtype", "float32", "--device", "sim", "--json", "-")
    assert main(["run", "layout", "--variant", "broadcast", "--apart", "4", *how]) == 0
    assert '"lane_stride": 4' in capsys.readouterr().out
    with pytest.raises(ParamError, match="no parameter 'gap'"):
        check_values(variant.knobs, {"gap": 4}, "broadcast")


def test_padded_text_is_padded_as_published() -> None:
    for id in ("fft_batch1d", "fft_batch2d"):
        assert find_filter(id).variant("padded_text").id == "padded_as_published"
