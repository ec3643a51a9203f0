"""Reports: what is written, what is read, what is refused, and claims judged by them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_ops.errors import ReportError
from gpu_ops.explaining.judging import RECORDED, judge_by_reports, recorded_reports, run_of
from gpu_ops.filters import FILTERS
from gpu_ops.io import from_array, sample
from gpu_ops.report import files as reports
from gpu_ops.report.check import fault_of
from gpu_ops.report.rows import MAJOR, SCHEMA, Report, Row
from gpu_ops.report.speedups import with_speedups
from gpu_ops.running.roofline import Roofs
from gpu_ops.types import Error, Experiment, Pick, Run, Timing, Work

ROOFS = Roofs(10e9, 20e9, 1 << 30)


@pytest.fixture(autouse=True)
def known_roofs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "roofs", lambda name: ROOFS)
    monkeypatch.setattr(reports, "roofs_at", lambda name, nbytes: ROOFS)


def _timing(seconds: float) -> Timing:
    return Timing(
        "kernel", "wall", seconds, seconds * 0.99, seconds * 1.01, seconds * 0.98, 30, "stdev/mean < 0.5 %", "stream"
    )


def _run(variant: str, seconds: float, **changes: Any) -> Run:
    values: dict[str, Any] = {
        "pick": Pick(variant, "cpu"),
        "filter": "mean1d",
        "params": {"window": 5, "border": "zero"},
        "shape": (1000,),
        "dtype": "float64",
        "stage": "timed",
        "outputs": {},
        "work": Work(8000, 8000, 5000),
        "errors": {"signal": Error(1e-16, 1e-17, (3,), 1.0, 1e-15)},
        "ok": True,
        "timings": {"kernel": _timing(seconds)},
        "source_hash": "",
    }
    return Run(**{**values, **changes})


EXPERIMENT = Experiment(
    "mean1d", from_array(np.arange(1000.0)), {"window": 5, "border": "zero"}, (), protocol="careful"
)


def test_a_row_has_rate_share_and_stages() -> None:
    row = reports.row(_run("serial", 4e-6), EXPERIMENT)
    assert row.gbps == pytest.approx(4.0)
    assert row.share == pytest.approx(0.4)
    assert row.stages["kernel"].median == 4e-6
    assert row.error_max == 1e-16
    assert "flag" not in row.to_json()
    json.dumps(row.to_json(), allow_nan=False)


def test_faster_than_the_roof_is_flagged() -> None:
    assert "cache" in reports.row(_run("serial", 1e-6), EXPERIMENT).flag


def test_a_filter_that_only_reads_is_held_to_the_read_roof() -> None:
    row = reports.row(_run("serial", 4e-6, work=Work(16000, 8, 5000)), EXPERIMENT)
    assert row.roof.kind == "read"
    assert row.share == pytest.approx(0.2, rel=1e-3)
    row = reports.row(_run("serial", 4e-6, work=Work(16000, 800, 5000)), EXPERIMENT)
    assert row.roof.kind == "copy", "one that writes a twentieth"


def test_a_report_has_32_levels_at_most() -> None:
    def nested(levels: int) -> dict[str, Any]:
        lists = "[" * (levels - 1) + "]" * (levels - 1)
        return {"schema": f"{SCHEMA}/{MAJOR}", "runs": [], "provenance": {}, "more": json.loads(lists)}

    assert fault_of(nested(32)) == "" and "more than 32 levels" in fault_of(nested(33))


def test_an_infinite_error_is_a_word_and_not_bad_json() -> None:
    wrong = _run(
        "serial", 1e-3, errors={"signal": Error(float("inf"), float("inf"), (0,), 1.0, 0.0)}, ok=False, timings={}
    )
    row = reports.row(wrong, EXPERIMENT)
    assert row.error_max == float("inf") and row.to_json()["error_max"] == "infinite"
    json.dumps(row.to_json(), allow_nan=False)


def test_speedups_name_their_baseline() -> None:
    rows = [reports.row(_run(v, s), EXPERIMENT) for v, s in (("serial", 8e-3), ("parallel", 2e-3))]
    found = with_speedups(rows, "serial")
    assert found[1].to_json()["speedup"] == {"against": "serial on cpu", "kernel": pytest.approx(4.0)}
    assert "speedup" not in with_speedups(rows[1:], "serial")[0].to_json()


def test_of_several_settings_of_the_baseline_the_one_that_counts_is_named() -> None:
    picks = [Pick("serial", "cpu", {"block": block}) for block in (64, 128)]
    rows = [reports.row(_run("serial", 8e-3 / n, pick=pick), EXPERIMENT) for n, pick in enumerate(picks, 1)]
    found = with_speedups([*rows, reports.row(_run("parallel", 2e-3), EXPERIMENT)], "serial")
    assert found[2].speedup == ("serial (block 128) on cpu", {"kernel": pytest.approx(2.0)})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    content = Report({"cpu": "x"}, (reports.row(_run("serial", 1e-3), EXPERIMENT),))
    reports.write_report(path, content.to_json())
    assert reports.read_report(path) == content
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize(
    "text, words",
    [
        ("{", "not JSON"),
        ("[]", "not a report"),
        ('{"schema": "other/1"}', "its schema is 'other/1'"),
        ('{"schema": "kernelscope-report/3", "runs": [], "provenance": {}}', "update Kernelscope"),
        ('{"schema": "kernelscope-report/1"}', "runs or provenance are missing"),
    ],
)
def test_what_is_no_report_is_refused_in_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ReportError, match="bad.json") as error:
        reports.read_report(path)
    assert words in str(error.value)


def test_unknown_keys_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "later.json"
    path.write_text('{"schema": "kernelscope-report/1", "runs": [], "provenance": {}, "moons": 2}')
    assert reports.read_report(path).rows == ()


def test_a_size_of_the_first_schema_was_height_by_width() -> None:
    content = json.loads((RECORDED / "h200-mean2d.json").read_text())
    noise = {"generator": "noise", "size": "30x40", "steps": []}
    for origin, expected in ((noise, "40x30"), ({"result": "image", "of": noise}, "40x30")):
        rows = [content["runs"][0] | {"input": origin}]
        first = Report.from_json(content | {"schema": "kernelscope-report/1", "runs": rows}).rows[0].input
        assert first.get("of", first)["size"] == expected
        assert Report.from_json(content | {"runs": rows}).rows[0].input == origin


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.json")), ids=lambda path: path.stem)
def test_a_recorded_report_is_written_as_it_was_read(path: Path) -> None:
    assert reports.read_report(path).to_json() == json.loads(path.read_text())


def test_an_early_report_is_read_and_what_is_not_known_is_kept() -> None:
    found = reports.read_report(Path(__file__).parent / "reports" / "early.json")
    first, failed = found.rows[0], found.rows[-1]
    assert first.ok and first.stages["kernel"].median > 0 and first.key.knobs == first.knobs
    assert (first.clock, first.protocol, first.input, first.roof, first.edits) == ("", "", {}, None, "")
    assert (failed.failure, failed.failure_kind, failed.error_max, failed.ok) == ("it calls CuPy", "", None, None)
    assert failed.to_json()["moons"] == [1, 2] and "rings" not in found.to_json()
    assert reports.Report.from_json(found.to_json()) == found


def test_nothing_is_left_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="choose another file"):
        reports.write_report(tmp_path / "no" / "where.json", {})
    assert list(tmp_path.iterdir()) == []


def test_rows_are_the_same_measurement_only_when_everything_is_the_same() -> None:
    first = Row.of(_run("serial", 1e-3), EXPERIMENT).measurement
    assert first == Row.of(_run("serial", 2e-3), EXPERIMENT).measurement
    others = [{"source_hash": "other"}, {"shape": (999,)}, {"pick": Pick("serial", "cpu", {"block": 64})}]
    others.append({"pick": Pick("serial", "cpu", {}, {"a.cu": "edited"})})
    assert first not in [Row.of(_run("serial", 1e-3, **change), EXPERIMENT).measurement for change in others]


S4 = sample("noise", length=16, dtype="float64")


def _claim_rows(times: dict[str, float], error: float = 1e-16) -> tuple[Row, ...]:
    experiment = Experiment("mean1d", S4, {"window": 5, "border": "zero"}, (), protocol="careful")
    rows = []
    for variant, seconds in times.items():
        run = _run(variant, seconds, errors={"signal": Error(error, 0.0, (0,), 1.0, 1e-15)})
        row = reports.row(run, experiment)
        rows.append(replace(row, input={**row.input, "length": 10_000_000}))
    return tuple(rows)


def _judge(times: dict[str, float], error: float = 1e-16) -> dict[str, Any]:
    report = Report({"devices": {}, "cpu": "x"}, _claim_rows(times, error))
    return {j.claim.id: j for j in judge_by_reports(FILTERS.claims, {"made.json": report})}


def test_a_row_without_a_later_parameter_is_of_the_same_job() -> None:
    rows = {row.variant: row for row in recorded_reports()["h200-fft2d-4096.json"].rows}
    assert "floor" not in rows["cupy"].params and "floor" in rows["fast"].params
    assert (
        rows["cupy"].job
        == rows["fast"].job
        != replace(rows["fast"], params={**rows["fast"].params, "floor": -60.0}).job
    )


def test_claims_are_judged_by_a_reports_runs() -> None:
    found = _judge({"serial": 0.02, "naive": 0.0001, "constant": 0.00008, "shared": 0.00007})
    assert found["S4-table"].holds is True and "×200" in found["S4-table"].result
    assert found["S4-constant"].holds is False and "×1.25" in found["S4-constant"].result
    assert found["S4-shared"].holds is True
    assert found["S4-agreement"].holds is True
    assert "made.json" in found["S4-table"].where


def test_a_report_that_decides_a_claim_is_taken_before_one_with_more_runs() -> None:
    more = {"serial": 0.02, "parallel": 0.01, "naive": 0.0001, "shared": 0.00007}
    made = {"more.json": more, "right.json": {"naive": 0.0001, "constant": 0.00004}}
    given = {name: Report({"devices": {}, "cpu": "x"}, _claim_rows(times)) for name, times in made.items()}
    found = {j.claim.id: j for j in judge_by_reports(FILTERS.claims, given)}
    assert found["S4-constant"].holds is True and "right.json" in found["S4-constant"].where
    assert found["S4-table"].holds is True and "more.json" in found["S4-table"].where


def test_kernels_that_have_changed_since_decide_no_claim() -> None:
    rows = _claim_rows({"serial": 0.02, "naive": 0.0001, "constant": 0.00008, "shared": 0.00007})
    older = tuple(replace(row, source_hash="0" * 16) if row.variant == "constant" else row for row in rows)
    found = {
        j.claim.id: j
        for j in judge_by_reports(FILTERS.claims, {"made.json": Report({"devices": {}, "cpu": "x"}, older)})
    }
    assert found["S4-constant"].holds is None and found["S4-table"].holds is True


AWAITED: list[str] = []
"""Claims whose only rows are of older kernels: the next run of `bench` on a GPU decides them."""


def test_the_recorded_reports_decide_every_claim() -> None:
    undecided = [j.claim.id for j in judge_by_reports(FILTERS.claims, recorded_reports()) if j.holds is None]
    assert undecided == AWAITED


def test_a_large_error_breaks_the_claim_of_agreement() -> None:
    assert _judge({"serial": 0.02, "naive": 0.0001}, 2e-15)["S4-agreement"].holds is False


def test_what_was_not_measured_is_undecided_and_what_is_counted_is_not() -> None:
    found = {j.claim.id: j for j in judge_by_reports(FILTERS.claims, {})}
    assert found["S4-table"].holds is None
    assert [found[i].holds for i in ("S4-loads", "S4-partial", "S4-limit")] == [True, True, True]


def test_a_run_survives_its_row() -> None:
    run = _run("serial", 1e-3)
    back = run_of(reports.row(run, EXPERIMENT))
    assert back.timings["kernel"] == run.timings["kernel"]
    assert (back.pick, back.params, back.shape, back.ok) == (run.pick, run.params, run.shape, run.ok)


def test_recorded_reports_are_whole_and_small() -> None:
    for name, content in recorded_reports().items():
        assert (RECORDED / name).stat().st_size < 1 << 20
        assert all(r.ok for r in content.rows if not r.failure)
        assert content.provenance["flags"] and content.provenance["source_tree"]
