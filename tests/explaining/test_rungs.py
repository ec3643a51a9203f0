"""Why a row of a simulated GPU differs from the row before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_ops import FILTERS, Experiment, Pick, from_array, run_experiment, sample
from gpu_ops.counters import COUNTERS, FIGURES, counted_in, value_of
from gpu_ops.explaining.rungs import is_counted, rung_before, why
from gpu_ops.explaining.sentences import compare
from gpu_ops.explaining.xray import xray
from gpu_ops.filters import find_filter
from gpu_ops.report.rows import Row

VARIANTS = ("adjacent", "strided", "sequential", "first_add")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    signal = sample("noise", length=2048, dtype="float32")
    picks = tuple(Pick(id, "sim") for id in VARIANTS)
    experiment = Experiment("reduce1d", signal, {}, picks, "none", checks="sample", counted=True)
    runs = {run.key: run for run in run_experiment(experiment)}
    return [Row.of(run, experiment) for run in runs.values()]


def test_a_row_counts_what_an_xray_counts_and_says_the_same(rows: list[Row]) -> None:
    filter, signal = find_filter("reduce1d"), sample("noise", length=2048, dtype="float32")
    before, after = (xray(filter, filter.variant(id), signal, {}, {}) for id in VARIANTS[:2])
    assert dict(rows[0].counters) | {"blocks": 0} == before.totals | {"launches": 2, "blocks": 0} | {
        name: rows[0].counters[name] for name in rows[0].counters if name.startswith("block_loads")
    }
    own = {s.text for s in why(rows[0], rows[1])}
    assert own and own == {s.text for s in compare(before, after) if s.rule not in ("occupancy", "spills")}


def test_the_first_sentence_rests_on_what_the_filter_shows(rows: list[Row]) -> None:
    texts = [why(before, after)[0] for before, after in zip(rows, rows[1:], strict=False)]
    assert [s.rule for s in texts] == ["lanes", "bank conflicts", "instructions"]
    assert [s.rule for s in why(rows[0], rows[1])][-1] != "lanes"


def test_only_rows_of_one_job_on_one_device_are_compared(rows: list[Row]) -> None:
    assert [rung_before(rows, place) for place in range(4)] == [None, 0, 1, 2]
    wrong = replace(rows[1], ok=False)
    assert rung_before([rows[0], wrong, rows[2]], 2) == 0 and rung_before([rows[0], wrong], 1) is None
    assert rung_before([replace(rows[0], shape=(7,)), rows[1]], 1) is None
    assert rung_before([replace(rows[0], device="sim:sm_90"), rows[1]], 1) is None
    assert rung_before([None, rows[1]], 1) is None and rung_before([rows[0], None], 1) is None
    assert not is_counted(replace(rows[0], counters={"warp_instructions": 5}))


def test_an_edited_kernel_is_compared_with_the_shipped_one(rows: list[Row]) -> None:
    edited = replace(rows[0], edits="0a1b")
    both = [rows[0], edited, rows[1]]
    assert [rung_before(both, place) for place in range(3)] == [None, 0, 0]
    assert rung_before([edited, rows[1]], 1) is None


def test_only_a_counted_experiment_counts_accesses() -> None:
    image = from_array(sample("camera").array[:32, :32])
    runs = [
        list(run_experiment(Experiment("mean2d", image, {}, (Pick("naive", "sim"),), "none", counted=counted)))[-1]
        for counted in (False, True)
    ]
    assert set(runs[0].counters) == {"launches", "blocks", "warp_instructions"} < set(runs[1].counters)
    assert runs[1].counters["global_load_sectors"] > 0 and runs[1].ok


def test_every_ladder_of_kernels_declares_what_explains_it() -> None:
    for filter in FILTERS:
        assert {*filter.shows} <= {*COUNTERS, *FIGURES}, filter.id
        assert bool(filter.shows) != filter.end_to_end, filter.id


def test_values_of_counters_and_figures() -> None:
    counts = {"global_load_sectors": 8, "global_load_requests": 4, "thread_instructions": 64, "warp_instructions": 2}
    assert value_of("sectors_per_load", counts) == 2 and value_of("l2_bytes", counts) == 8 * 32
    assert value_of("atomic_collisions", counts) == 0, "accesses were counted, and there is none of these"
    assert value_of("bank_conflicts", counts) is None, "there is nothing to divide by"
    bare = {"warp_instructions": 2, "newer": 5}
    assert value_of("atomics", bare) is None and value_of("active_lanes", bare) is None and value_of("newer", bare) == 5
    ids = counted_in([counts, bare])
    assert ids[0] == "warp_instructions" and ids[-1] == "newer" and {"sectors_per_load", "l2_bytes"} < {*ids}
    assert "atomics" not in ids and "global_load_ideal_sectors" not in ids
