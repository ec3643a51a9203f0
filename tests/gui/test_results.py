"""The model of the results: states, comparisons, files."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from PySide6.QtCore import QLocale
from result_rows import TITLES, row, rows, stage

from app.models.experiment.slot import RowSlot
from app.models.experiment.subject import Subject
from app.models.results.results import Results
from app.views.timing.ladder_layout import entry_texts
from app.views.timing.row_text import details, verdict
from gpu_ops.report.rows import Report

SERIAL, PARALLEL = RowSlot("serial", "cpu"), RowSlot("parallel", "cpu")
NAIVE, SHARED = RowSlot("naive", "cuda:0"), RowSlot("shared", "cuda:0")
H200 = "NVIDIA H200"


@pytest.fixture
def results(qapp) -> Results:
    results = Results()
    results.declare([SERIAL, PARALLEL, NAIVE, SHARED], TITLES)
    results.set_baseline(SERIAL)
    return results


def fill(results: Results) -> None:
    for r in reversed(rows()):
        results.put(r)


def test_rows_keep_the_declared_order(results: Results) -> None:
    assert [e.state for e in results.entries()] == ["waiting"] * 4
    fill(results)
    assert results.slots() == (SERIAL, PARALLEL, NAIVE, SHARED)
    assert results.entry(NAIVE).name == "1 naive" and results.entry(NAIVE).state == "fresh"


def test_a_row_that_is_no_longer_declared_keeps_its_name(results: Results) -> None:
    results.declare([NAIVE], TITLES)
    results.put(rows()[0])
    assert results.slots() == (NAIVE, SERIAL) and results.entry(SERIAL).name == TITLES["serial"]


def test_signals(results: Results, qtbot) -> None:
    with qtbot.waitSignal(results.row_changed) as events:
        results.put(rows()[0])
    assert events.args == [SERIAL]
    with qtbot.waitSignal(results.rows_reset):
        results.put(row("opencv", "cpu", 0.0016))
    with qtbot.waitSignal(results.baseline_changed) as events:
        results.set_baseline(NAIVE)
    assert events.args == [NAIVE]
    with qtbot.assertNotEmitted(results.baseline_changed):
        results.set_baseline(NAIVE)


def test_states(results: Results) -> None:
    fill(results)
    results.mark_stale()
    assert {e.state for e in results.entries()} == {"stale"}
    results.set_running([NAIVE, SHARED])
    results.put(rows()[2])
    assert [e.state for e in results.entries()] == ["stale", "stale", "fresh", "running"]
    results.stop_running()
    assert results.entry(SHARED).state == "stale" and results.entry(SHARED).row
    results.put(row("shared", "cuda:0", None, failure="no room", failure_kind="memory", ok=None))
    assert results.entry(SHARED).state == "failed"
    results.put(row("shared", "cuda:0", None, ok=False, error_max="infinite"))
    assert results.entry(SHARED).state == "failed"


def test_cancelling_gives_every_row_its_state_back(results: Results) -> None:
    results.put(rows()[0])
    results.set_running([SERIAL, NAIVE])
    results.stop_running()
    assert results.entry(SERIAL).state == "fresh" and results.entry(NAIVE).state == "waiting"
    results.set_running([SERIAL])
    results.mark_stale()
    assert results.entry(SERIAL).state == "running"
    results.stop_running()
    assert results.entry(SERIAL).state == "stale"


def test_recorded_rows_do_not_get_stale(qapp) -> None:
    results = Results()
    results.load(rows(), "NVIDIA H200", titles=TITLES)
    results.mark_stale()
    assert {(e.state, e.recorded, e.machine) for e in results.entries()} == {("fresh", True, "NVIDIA H200")}


def test_speedups_are_against_the_chosen_baseline(results: Results) -> None:
    fill(results)
    assert results.speedup(SHARED) == pytest.approx(0.029 / 5.2e-5)
    assert results.speedup(SHARED, "elapsed") == pytest.approx(0.029 / 8.8e-3)
    assert results.speedup(SERIAL) == 1
    assert results.speedup(SERIAL, "elapsed") is None
    results.set_baseline(NAIVE)
    assert results.speedup(SHARED) == pytest.approx(5.85 / 5.2)
    results.set_baseline(RowSlot("nothing", "cpu"))
    assert results.speedup(SHARED) is None


def test_only_the_same_job_on_the_same_machine_is_compared(results: Results) -> None:
    fill(results)
    results.put(row("naive", "cuda:0", 5.85e-5, shape=[4096]))
    assert results.speedup(NAIVE) is None
    results.set_recorded([(rows()[3], H200)], TITLES)
    assert results.speedup(SHARED) and results.speedup(results.slots()[-1]) is None
    results.put(row("parallel", "cpu", 1e-3, stages={"kernel": stage(1e-3, "simulated")}))
    assert results.speedup(PARALLEL) is None


def test_the_fair_bars(results: Results) -> None:
    fill(results)
    bars = {b.id: b for b in results.fair_bars()}
    assert list(bars) == ["cpu_one", "cpu_best", "gpu_kernel", "gpu_pageable", "gpu_pinned", "gpu_streamed"]
    assert bars["cpu_one"].seconds == 0.029 and bars["cpu_best"].variant == "CPU, all cores"
    assert bars["gpu_kernel"].seconds == 5.2e-5 and bars["gpu_kernel"].clock == "cuda-event"
    assert bars["gpu_pageable"].seconds == 8.8e-3 and bars["gpu_pageable"].clock == "wall"
    assert bars["gpu_pinned"].seconds == 2.96e-3 and bars["gpu_streamed"].seconds == 1.91e-3
    results.put(row("parallel", "cpu", 1e-6, ok=False))
    assert results.fair_bars()[1].seconds == 0.029, "a wrong result is no bar"


def test_the_fair_bars_never_mix_machines(results: Results) -> None:
    for r in rows()[:2]:
        results.put(r)
    results.set_recorded([(r, H200) for r in rows()[2:]], TITLES)
    events = [b for b in results.fair_bars() if b.entry]
    assert len({b.entry.origin for b in events}) == 1
    assert [b.seconds for b in Results().fair_bars()] == [None] * 6


def test_csv_is_in_the_c_locale(results: Results) -> None:
    QLocale.setDefault(QLocale(QLocale.Language.German))
    try:
        fill(results)
        table = list(csv.DictReader(io.StringIO(results.to_csv())))
    finally:
        QLocale.setDefault(QLocale.c())
    assert [r["variant"] for r in table] == ["serial", "parallel", "naive", "shared"]
    assert table[2]["kernel_s"] == "5.85e-05" and table[2]["elapsed_pinned_s"] == "0.00296"
    assert float(table[2]["speedup"]) == pytest.approx(495.7, abs=0.1)
    assert table[2]["against"] == "serial on cpu" and table[2]["recorded"] == "False"
    assert table[0]["elapsed_s"] == ""


def test_an_exported_row_says_what_it_is_of_and_where_it_ran(results: Results) -> None:
    origin = {"path": "pictures/moon.png", "hash": "ab12"}
    job = {"params": {"window": 5, "border": "zero"}, "knobs": {"block": 64}, "shape": [40, 60, 3], "input": origin}
    results.put(row("naive", "cuda:0", 1e-4, **job, dtype="uint8"))
    sample = {"generator": "noise", "size": "8x8", "seed": 3}
    results.put(row("serial", "cpu", 1e-4, **job | {"input": sample}))
    results.provenance = {"cpu": "Some CPU", "devices": {"cuda:0": {"model": "H200"}, "cpu": {"model": "Some CPU"}}}
    second, first = sorted(csv.DictReader(io.StringIO(results.to_csv())), key=lambda cells: cells["device"])
    assert json.loads(first["params"]) == job["params"] and json.loads(first["knobs"]) == job["knobs"]
    assert (first["shape"], first["dtype"]) == ("40x60x3", "uint8")
    assert (first["input"], first["input_hash"]) == ("moon.png", "ab12")
    assert (second["input"], second["input_hash"]) == ("noise seed=3 size=8x8", "")
    assert (first["machine"], second["machine"]) == ("H200", "Some CPU") and first["mode"] == "stream"
    content = json.loads(results.to_json())
    assert content["provenance"] == results.provenance
    assert {r["device"]: r["machine"] for r in content["runs"]} == {"cuda:0": "H200", "cpu": "Some CPU"}


def test_report_rows_and_json(results: Results) -> None:
    results.put(rows()[0])
    results.set_recorded([(rows()[3], H200)], TITLES)
    events = results.to_report_rows()
    assert events[0] == rows()[0].to_json()
    assert events[1] == rows()[3].to_json() | {"recorded": True, "machine": H200}
    results.mark_stale()
    content = json.loads(results.to_json())
    assert content["schema"] == "kernelscope-report/2" and content["runs"][0]["stale"] is True


def test_a_time_in_doubt_says_so_instead_of_a_speedup() -> None:
    doubt = "half of its samples spread over 80% of their median"
    doubted = row("parallel", "cpu", 2.3e-3, stages={"kernel": stage(2.3e-3) | {"doubt": doubt}})
    results = Results()
    results.set_baseline(RowSlot("serial", "cpu"))
    results.put(row("serial", "cpu", 0.03))
    results.put(doubted)
    entry = results.entry(RowSlot("parallel", "cpu"))
    assert results.speedup(entry.slot) is None
    assert entry_texts(entry, results)["speedup"] == "unsure"
    assert "80%" in details(entry, results) and "80%" in results.to_csv()


def test_a_row_without_times_keeps_those_before_apart() -> None:
    results = Results()
    results.put(row("serial", "cpu", 0.03, params={"window": 3}))
    results.put(row("serial", "cpu", None, params={"window": 5}))
    entry = results.entry(RowSlot("serial", "cpu"))
    assert entry.state == "stale" and entry.seconds("kernel") == 0.03 and verdict(entry) == "right"
    assert [r["params"]["window"] for r in results.to_report_rows()] == [3]
    results.mark_stale()
    assert verdict(results.entry(entry.slot)) == ""
    results.put(row("serial", "cpu", None, params={"window": 5}, ok=False))
    assert results.entry(entry.slot).state == "failed" and results.entry(entry.slot).seconds("kernel") is None


BLOCKS = [row("naive", "cuda:0", 1e-5 * block, knobs={"block": block}) for block in (64, 128, 256)]


def test_a_loaded_report_keeps_every_row(qapp) -> None:
    results = Results()
    sizes = [row("naive", "cuda:0", 1e-5, knobs={"block": 64}, shape=[n]) for n in (10, 20)]
    results.load([*BLOCKS, *sizes, BLOCKS[0]], H200, titles=TITLES)
    assert [e.row for e in results.entries()] == [*BLOCKS, *sizes, BLOCKS[0]]
    assert len(set(results.slots())) == 6 and len(results.to_report_rows()) == 6
    names = [e.name for e in results.entries()]
    assert names[1] == "1 naive · block 128 · 10000000 float64" and names[3] == "1 naive · block 64 · 10 float64"
    assert len(list(csv.DictReader(io.StringIO(results.to_csv())))) == 6


def test_recorded_rows_with_other_knobs_stand_beside_the_own_one(results: Results) -> None:
    fill(results)
    before = results.slots()
    results.set_recorded([(r, machine) for r in BLOCKS for machine in (H200, "another")], TITLES)
    found = results.entries()[4:]
    assert [(e.row.knobs["block"], e.machine) for e in found[:2]] == [(64, H200), (64, "another")] and len(found) == 6
    assert {e.device for e in found} == {"cuda:0"} and found[0].name == "1 naive · block 64"
    assert results.entry(NAIVE).name == "1 naive", "it is the only one that was made here"
    results.mark_stale([NAIVE])
    results.put(row("naive", "cuda:0", 1e-6, knobs={"block": 256}))
    assert results.entry(NAIVE).state == "fresh" and results.entries()[4:] == found
    results.set_recorded([], TITLES)
    assert results.slots() == before


def test_several_settings_of_one_variant_that_are_asked_for_at_once(qapp) -> None:
    results = Results()
    slots = [RowSlot("naive", "cuda:0", r.key) for r in BLOCKS]
    results.declare([SERIAL, *slots], TITLES)
    results.set_running(slots)
    assert [e.state for e in results.entries()] == ["waiting", "running", "running", "running"]
    for r in reversed(BLOCKS):
        results.put(r)
    assert [e.row for e in results.entries()[1:]] == BLOCKS and len(results) == 4
    assert [e.name for e in results.entries()[1:]] == [f"1 naive · pinned · block {n}" for n in (64, 128, 256)]
    results.put(row("naive", "cuda:0", 1e-3, knobs={"block": 64}))
    assert results.entry(slots[0]).seconds("kernel") == 1e-3 and results.entry(slots[1]).row == BLOCKS[1]


def test_a_pinned_row_is_stale_for_another_input_only(results: Results) -> None:
    slot = RowSlot("naive", "cuda:0", BLOCKS[0].key)
    results.declare([NAIVE, slot], TITLES)
    for place in (NAIVE, slot):
        results.put(BLOCKS[0], Subject(1, BLOCKS[0].key), place)
    results.compare_with(lambda s: Subject(1, s.key or BLOCKS[1].key))
    assert (results.entry(NAIVE).state, results.entry(slot).state) == ("stale", "fresh")
    results.compare_with(lambda s: Subject(2, s.key or BLOCKS[1].key))
    assert results.entry(slot).state == "stale"


def test_a_row_of_the_choice_follows_it(results: Results) -> None:
    """Another setting of a knob makes the row stale, and the next row takes its place."""

    def present(slot: RowSlot) -> Subject:
        return Subject(1, replace(BLOCKS[1].key, variant=slot.variant))

    results.put(BLOCKS[0], Subject(1, BLOCKS[0].key))
    results.compare_with(present)
    assert results.entry(NAIVE).state == "stale" and not results.entry(NAIVE).current
    results.put(BLOCKS[1], Subject(1, BLOCKS[1].key))
    results.compare_with(present)
    assert (results.entry(NAIVE).state, results.entry(NAIVE).row) == ("fresh", BLOCKS[1])
    assert len(results) == 4 and results.entry(NAIVE).name == "1 naive"


def test_a_row_says_anew_in_what_it_differs_when_its_neighbour_changes(results: Results, qtbot) -> None:
    kept = RowSlot("naive", "cuda:0", BLOCKS[0].key)
    results.declare([NAIVE, kept], TITLES)
    results.put(BLOCKS[0])
    results.put(BLOCKS[1])
    assert [e.name for e in results.entries()] == ["1 naive · block 128", "1 naive · pinned · block 64"]
    with qtbot.waitSignals([results.row_changed] * 2):
        results.put(replace(BLOCKS[0], edits="0a1b"))
    assert [e.name for e in results.entries()] == ["1 naive · edited", "1 naive · pinned"]


def test_an_edited_kernel_has_a_row_of_its_own_in_every_file(qapp) -> None:
    results = Results()
    results.load(BLOCKS[:1], H200, titles=TITLES)
    assert "edits" not in results.to_csv() and "edits" not in results.to_json()
    results.load([BLOCKS[0], replace(BLOCKS[0], edits="0a1b")], H200, titles=TITLES)
    assert [e.name for e in results.entries()] == ["1 naive", "1 naive · edited"]
    assert [cells["edits"] for cells in csv.DictReader(io.StringIO(results.to_csv()))] == ["", "0a1b"]
    content = Report.from_json(json.loads(results.to_json()))
    assert [r.key for r in content.rows] == [e.row.key for e in results.entries()]
