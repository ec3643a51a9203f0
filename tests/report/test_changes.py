"""How rows changed since others: verdicts by quartiles, pairs of two reports, and the command that compares them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.main import main
from gpu_ops.report.changes import Pair, change, count_change, pairs, percent_text, subject_of
from gpu_ops.report.files import write_report
from gpu_ops.report.rows import Report, Row


def stage(median: float, spread: float = 0.01) -> dict[str, Any]:
    times = {"median_s": median, "q1_s": median * (1 - spread), "q3_s": median * (1 + spread), "min_s": median / 2}
    return {**times, "n": 30, "stop": "stable", "clock": "cuda-event", "mode": "stream"}


def row(variant: str = "naive", seconds: float | None = 1e-3, spread: float = 0.01, **more: Any) -> Row:
    content = {"filter": "mean1d", "variant": variant, "device": "cuda:0", "params": {"window": 5}, "knobs": {}}
    content |= {"shape": [1000], "dtype": "float32", "mode": "stream", "source_hash": "", "bytes": 8000}
    content |= {"error_max": 0.0, "tolerance": 1e-6, "ok": True, "notes": [], "failure": None, "failure_kind": None}
    content |= {"stages": {"kernel": stage(seconds, spread)} if seconds else {}}
    return Row.from_json(content | more)


def test_a_change_has_a_verdict_by_the_quartiles() -> None:
    verdicts = {}
    for seconds, spread in ((0.5e-3, 0.01), (1.01e-3, 0.001), (1.5e-3, 0.01), (1.05e-3, 0.2)):
        found = change(row(), row(seconds=seconds, spread=spread))
        assert found is not None
        verdicts[found.percent] = found.verdict
    assert verdicts == {"−50 %": "faster", "+1.0 %": "same", "+50 %": "slower", "+5.0 %": "same"}
    doubted = row()
    stages = {"kernel": replace(doubted.stages["kernel"], doubt="other programs")}
    found = change(row(seconds=9), replace(doubted, stages=stages))
    assert found is not None and found.verdict == "unsure"
    assert change(row(), row(ok=False)) is None and change(row(seconds=None), row()) is None
    assert change(row(), row(), "elapsed") is None


def test_percents_have_a_sign_and_large_ones_are_factors() -> None:
    texts = [percent_text(r) for r in (1, 1.0004, 0.9, 0.004, 1.4999, 2.99, 3, 12.34)]
    assert texts == ["±0.0 %", "±0.0 %", "−10 %", "−100 %", "+50 %", "+199 %", "×3", "×12.3"]


def test_counts_change_as_well() -> None:
    counts = {"thread_instructions": 64, "warp_instructions": 2, "global_load_sectors": 10}
    before, after = (row(seconds=None, device="sim", counters=counts | {"warp_instructions": n}) for n in (2, 3))
    assert count_change(before, after, "warp_instructions") == 1.5 and count_change(before, after, "l2_bytes") == 1
    assert (
        count_change(before, after, "atomics") is None
        and count_change(before, replace(after, ok=False), "l2_bytes") is None
    )


def test_rows_of_two_reports_meet_by_their_measurement() -> None:
    before = [row("naive", knobs={"block": 128}), row("naive", 2e-3, knobs={"block": 256}), row("gone")]
    after = [row("naive", 3e-3, knobs={"block": 256}), row("new"), row("naive", shape=[7])]
    found = pairs(before, after)
    assert [(p.row.variant, p.verdict) for p in found] == [
        *(("naive", "slower"), ("new", "added"), ("naive", "added")),
        *(("naive", "removed"), ("gone", "removed")),
    ]
    assert found[0].before == before[1] and found[0].change is not None and found[0].change.ratio == 1.5


def test_other_knobs_are_compared_where_each_report_has_one_row() -> None:
    (only,) = pairs([row(knobs={"block": 128})], [row(seconds=5e-4, knobs={"block": 256})])
    assert only.verdict == "faster"
    assert subject_of(row(knobs={"block": 1})) == subject_of(row()) != subject_of(row(input={"sample": "noise"}))


def test_what_is_no_longer_right_is_worse_than_slow() -> None:
    assert Pair(row(), row(ok=False)).verdict == "wrong" and Pair(row(), row(ok=False)).regressed
    failed = row(seconds=None, failure="it does not fit", failure_kind="memory")
    assert Pair(row(), failed).verdict == "failed" and not Pair(failed, failed).regressed
    assert Pair(row(seconds=None), row(seconds=None)).verdict == "untimed"


# ---------------------------------------------------------------- the command


def written(folder: Path, name: str, *rows: Row, model: str = "NVIDIA H100") -> str:
    provenance = {"cpu": "Xeon", "devices": {"cuda:0": {"model": model}}}
    write_report(folder / name, Report(provenance, rows).to_json())
    return str(folder / name)


def test_the_command_says_what_became_slower(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = written(tmp_path, "before.json", row(), row("shared", 2e-3))
    same = written(tmp_path, "same.json", row(), row("shared", 1e-3))
    slow = written(tmp_path, "slow.json", row(seconds=4e-3), row("shared", 1e-3))
    wrong = written(tmp_path, "wrong.json", row(ok=False), row("shared", 9e-3))
    assert main(["compare", before, same]) == 0
    out = capsys.readouterr().out
    assert "1000 float32" in out and "−50 %  faster" in out and "1 same, 1 faster" in out
    assert main(["compare", before, slow, "--json", str(tmp_path / "c.json")]) == 5
    assert "1 row became slower, wrong or failed." in capsys.readouterr().err
    content = json.loads((tmp_path / "c.json").read_text())
    assert content["schema"] == "kernelscope-comparison/1" and content["verdicts"] == {"slower": 1, "faster": 1}
    assert content["rows"][0]["ratio"] == 4 and content["rows"][0]["before_s"] == 1e-3
    assert main(["compare", before, wrong]) == 3


def test_the_command_refuses_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here, there = written(tmp_path, "a.json", row()), written(tmp_path, "b.json", row(), model="NVIDIA H200")
    other = written(tmp_path, "c.json", row(shape=[9]))
    (tmp_path / "newer.json").write_text(json.dumps({"schema": "kernelscope-report/99", "runs": [], "provenance": {}}))
    cases = {
        (here, there): "different machines (NVIDIA H100, Xeon and NVIDIA H200, Xeon); give --any-machine",
        (here, other): "no measurement in common; compare reports of the same filter",
        (here, str(tmp_path / "newer.json")): "has schema kernelscope-report/99; this version reads up to",
        (here, here, "--stage", "nothing"): "--stage 'nothing' is none; choose from kernel",
        (here, str(tmp_path / "none.json")): "does not exist; check the name",
    }
    for args, sentence in cases.items():
        assert main(["compare", *args]) == 2
        error = capsys.readouterr().err
        assert sentence in error and error.count("\n") == 1
    assert main(["compare", here, there, "--any-machine"]) == 0
