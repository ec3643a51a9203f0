"""The command that compares two devices: its report, its verdicts, its exit status."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.sim import crosscheck
from tests.sim.bench import Case, Outcome, launch
from tests.sim.table import TABLE

PAIR = ["--devices", "sim:sm_75", "sim:sm_90"]


def test_equal_devices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.json"
    assert crosscheck.main([*PAIR, "--only", "warp.*", "--json", str(target)]) == 0
    report = json.loads(target.read_text(encoding="utf-8"))
    names = [n for n in TABLE if n.startswith("warp.") and n != "warp.reductions"]
    assert [c["name"] for c in report["cases"]] == names
    assert all(c["ok"] and c["bit_equal"] and len(c["seconds"]) == 2 for c in report["cases"])
    provenance = report["provenance"]
    assert provenance["complete"] and "warp.reductions" in provenance["left_out"]
    assert {d["architecture"] for d in provenance["devices"].values()} == {"sm_75", "sm_90"}
    assert f"{len(names)} cases: {len(names)} equal to the last bit" in capsys.readouterr().out


def _second_device(monkeypatch: pytest.MonkeyPatch, change: object) -> None:
    """The second device gives another answer."""

    def changed(given: Case, device: str) -> Outcome:
        outcome = launch(given, device)
        return outcome if device == "sim:sm_75" else change(outcome)  # type: ignore[operator]

    monkeypatch.setattr(crosscheck, "launch", changed)


def test_a_single_bit_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def off(outcome: Outcome) -> Outcome:
        arrays = [np.array(a) for a in outcome.arrays]
        place = np.flatnonzero(np.isfinite(arrays[-1]) & (arrays[-1] != 0))[0]
        arrays[-1][place] = np.nextafter(arrays[-1][place], np.float32(0))
        return replace(outcome, arrays=tuple(arrays))

    _second_device(monkeypatch, off)
    assert crosscheck.main([*PAIR, "--only", "float.float_fma"]) == 1
    assert "the devices differ by 1, allowed are 0" in capsys.readouterr().out
    monkeypatch.setitem(TABLE, "float.float_fma", replace(TABLE["float.float_fma"], across=1))
    assert crosscheck.main([*PAIR, "--only", "float.float_fma"]) == 0
    assert "0 equal to the last bit, 1 within their allowance" in capsys.readouterr().out


def test_cases_with_a_judge_are_judged_on_both(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(outcome: Outcome) -> Outcome:
        arrays = [np.array(a) for a in outcome.arrays]
        arrays[2][0] = arrays[2][1]
        return replace(outcome, arrays=tuple(arrays))

    assert crosscheck.main([*PAIR, "--only", "atomics.float_answers"]) == 0
    _second_device(monkeypatch, twice)
    assert crosscheck.main([*PAIR, "--only", "atomics.float_answers"]) == 1


def test_nothing_to_compare_is_no_success() -> None:
    assert crosscheck.main([*PAIR, "--only", "nothing.*"]) == 1
    assert crosscheck.main(["--devices", "sim:sm_75", "sim:sm_12"]) == 2
