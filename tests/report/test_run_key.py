"""What a run is known by: equal however it is written, and different wherever something differs."""

from __future__ import annotations

import json
import pickle
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_ops.cli import benches
from gpu_ops.cli.tables import bench_table, names
from gpu_ops.device_names import device_kind, device_place, is_simulated
from gpu_ops.io import from_array
from gpu_ops.report.rows import Report, Row
from gpu_ops.run_key import EDITS, RunKey, differences, hash_of_edits
from gpu_ops.running.runner import last_runs, planned_run, run_experiment
from gpu_ops.types import Experiment, Pick, Run, Timing, Work

MATRIX = (0.0, -1.0, 0.0, -1.0, 5.0, -1.0, 0.0, -1.0, 0.0)


def run(**pick: Any) -> Run:
    given = Pick(**{"variant": "rows", "device": "cuda:0", "knobs": {"rows": 4, "block": 128}} | pick)
    params = {"matrix": MATRIX, "divisor": 1.0, "border": "reflect"}
    return Run(given, "conv3x3", params, (8, 8), "uint8", "computed", {}, Work(64, 64, 0))


EXPERIMENT = Experiment("conv3x3", from_array(np.zeros((8, 8), np.uint8)), {}, ())


def test_a_key_from_json_is_that_of_the_run() -> None:
    made = run(edits={"conv3x3/rows.cu": "text"})
    row = Row.of(made, EXPERIMENT)
    events = Row.from_json(json.loads(json.dumps(row.to_json())))
    assert events.key == row.key == made.key and len({events.key, row.key, made.key}) == 1
    assert made.key.params == made.params and made.key.knobs == made.pick.knobs
    assert pickle.loads(pickle.dumps(events)).key == made.key


def test_the_order_of_names_does_not_matter() -> None:
    assert run(knobs={"block": 128, "rows": 4}).key == run().key


def test_every_part_tells_runs_apart() -> None:
    edited = [run(edits={"a.cu": text}) for text in ("one", "two")]
    others = [run(variant="naive"), run(device="sim"), run(knobs={"rows": 4, "block": 256}), *edited]
    others += [replace(run(), params={"matrix": MATRIX[::-1]}), replace(run(), filter="box")]
    assert len({one.key for one in (run(), *others)}) == 1 + len(others)


def test_edits_are_told_by_a_short_hash() -> None:
    assert hash_of_edits({}) == "" and run().key.edits == ""
    found = {hash_of_edits(e) for e in ({"a": "bc"}, {"ab": "c"}, {"a": "b", "c": ""}, {"a": "b"}, {"a": ""})}
    assert len(found) == 5 and all(len(one) == 12 for one in found)
    assert hash_of_edits({"a": "1", "b": "2"}) == hash_of_edits({"b": "2", "a": "1"})


def test_what_differs_is_named_and_nothing_else() -> None:
    keys = [run().key, run(knobs={"rows": 4, "block": 256}).key, run(edits={"a": "b"}).key]
    assert differences(keys) == [{"block": 128}, {"block": 256}, {"block": 128, EDITS: keys[2].edits}]
    assert differences(keys[:1]) == [{}] and differences([]) == []
    assert keys[0].unlike(keys[1]) == {"block": 128} and keys[0].unlike(run(device="sim").key) == {"device": "cuda:0"}


def test_two_settings_of_a_knob_are_two_runs_and_two_rows() -> None:
    """Also of one request, with an edited kernel next to the shipped one: every pick has its own final status."""
    array = from_array(np.arange(600, dtype=np.float32).reshape(20, 30))
    source = {"mean2d/1_naive.cu": _shipped("mean2d/1_naive.cu") + "\n// edited\n"}
    picks = [Pick("naive", "sim", {"block": n}) for n in (64, 128)]
    picks.append(Pick("naive", "sim", {"block": 64}, source))
    experiment = Experiment("mean2d", array, {"window": 3}, tuple(picks), protocol="none")
    runs = last_runs(run_experiment(experiment))
    assert len(runs) == 3 and all(one.ok for one in runs)
    rows = [Row.of(one, experiment) for one in runs]
    assert len({row.measurement for row in rows}) == 3
    assert names(rows) == ["naive · block 64", "naive · block 128", "naive · block 64 · edited"]
    assert "naive · block 128" in bench_table(rows, None, "serial")


def test_a_bench_has_a_row_for_each_setting_and_measures_none_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Pick] = []

    def timed(experiment: Experiment, deadline: float | None = None) -> Iterator[Run]:
        for pick in experiment.picks:
            made.append(pick)
            kernel = Timing("kernel", "cuda-event", *[1e-6 * len(made)] * 4, 3, "")
            yield replace(planned_run(experiment, pick), stage="timed", ok=True, timings={"kernel": kernel})

    monkeypatch.setattr(benches, "run_experiment", timed)
    monkeypatch.setattr(benches, "row", Row.of)
    args = Namespace(json=None, baseline="naive")
    edits = {"mean2d/1_naive.cu": _shipped("mean2d/1_naive.cu") + "\n// edited\n"}
    picks = (*(Pick("naive", "cuda:0", {"block": n}) for n in (64, 128)), Pick("naive", "cuda:0", {"block": 64}, edits))
    experiment = Experiment("mean2d", from_array(np.zeros((8, 9), np.float32)), {"window": 3}, picks)
    bench = benches._Bench(args, benches.TimedHere(args), {"devices": {}})
    first, again = bench.measure(experiment), bench.measure(experiment)
    assert first == again and made == list(picks) and len(bench.rows) == 3
    events = [Row.from_json(row) for row in bench.content()["runs"]]
    assert [row.key for row in events] == [row.key for row in first] and len({row.key for row in events}) == 3
    assert [row.seconds("kernel") for row in events] == [1e-6, 2e-6, 3e-6]


def _shipped(file: str) -> str:
    from gpu_ops.devices.kernel_source import source_of

    return source_of(file) or ""


def test_the_name_of_a_device_says_its_kind_and_place() -> None:
    events = {name: (device_kind(name), device_place(name)) for name in ("cpu", "cuda:1", "sim", "sim:sm_90")}
    assert events == {"cpu": ("cpu", ""), "cuda:1": ("cuda", "1"), "sim": ("sim", ""), "sim:sm_90": ("sim", "sm_90")}
    assert [name for name in events if is_simulated(name)] == ["sim", "sim:sm_90"]


def test_a_run_key_is_what_a_reader_can_show() -> None:
    key = RunKey.of("mean1d", "naive", "cuda:0", {"window": 5}, {"block": 64}, "abc")
    assert (key.filter, key.variant, key.device, key.edits) == ("mean1d", "naive", "cuda:0", "abc")


def test_a_bench_keeps_the_occupancy_of_earlier_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benches, "same_machine", lambda *both: True)
    places = [{"variant": "naive", "knobs": {"block": size}, "warps": size // 32} for size in (64, 128)]
    earlier = Report({"devices": {}}, (), tuple(places))
    args = Namespace(json="r.json", baseline="naive")
    bench = benches._resume(benches._Bench(args, benches.TimedHere(args), {"devices": {}}), earlier)
    assert bench.occupancy == places and Report.from_json(bench.content()).occupancy == tuple(places)
