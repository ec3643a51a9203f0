"""Kernel files held to a contract in parallel, and limits of counters for one."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_ops.cli import main
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.errors import ParamError
from gpu_ops.filters import FILTERS
from gpu_ops.own_kernels import checking
from gpu_ops.own_kernels.checking import Check, Held, Verdict, check_files, kept, report_of
from gpu_ops.own_kernels.gate import Condition, conditions

CHECK = Check("mean1d", "shared")
SHIPPED = read_source("mean1d/3_shared.cu")
FILES = {
    "right.cu": SHIPPED,
    "same.cu": SHIPPED,
    "barrier.cu": SHIPPED.replace("__syncthreads();", ""),
    "nonsense.cu": "nonsense",
}


@pytest.fixture
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    real = checking.covering_cases
    monkeypatch.setattr(checking, "covering_cases", lambda *args, **how: real(*args, **how)[:6])


def test_a_right_kernel_and_wrong_ones(few_cases: None) -> None:
    right = CHECK.verdict("mine.cu", FILES["right.cu"])
    assert (right.status, right.cases, right.text, right.findings) == ("right", "6 of 6 cases right", "", ())
    assert right.counters == right.shipped and right.counters and right.counters["global_load_sectors"] > 0
    assert right.counters["bank_conflicts"] == 1, "a ratio is no count for each element"
    wrong = CHECK.verdict("mine.cu", FILES["barrier.cu"])
    assert wrong.status == "wrong" and wrong.text.startswith("mine.cu:32: read-after-write hazard: ")
    assert "no __syncthreads() in between" in wrong.text and "mean1d/3_shared.cu" not in str(wrong)
    failed = CHECK.verdict("mine.cu", FILES["nonsense.cu"])
    assert failed.status == "failed" and "mine.cu does not compile: mine.cu:1:1: error" in failed.text


def test_headers_of_the_host_are_there_as_for_a_launch(few_cases: None) -> None:
    text = "#include <cstdint>\n#include <stdio.h>\n#include <math.h>\n" + SHIPPED + "\n__device__ uint8_t more;\n"
    assert CHECK.verdict("mine.cu", text).status == "right"
    failed = CHECK.verdict("mine.cu", "#include <nothing.h>\n" + SHIPPED)
    assert failed.status == "failed" and "nothing.h" in failed.text


def test_a_kernel_that_is_often_wrong_is_not_tried_with_all_cases(
    few_cases: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "MOST_WRONG", 2)
    wrong = CHECK.verdict("mine.cu", FILES["barrier.cu"])
    assert wrong.status == "wrong" and wrong.cases == "0 of 2 cases right; 4 more did not run"


def test_conditions_are_part_of_a_check(few_cases: None) -> None:
    check = replace(CHECK, gate="sectors_per_load <= 4.5")
    unmet = check.verdict("mine.cu", SHIPPED)
    assert (unmet.status, unmet.line) == ("wrong", 26)
    assert unmet.text == "mine.cu:26: error: sectors_per_load is 4.65, required: sectors_per_load <= 4.5"
    assert replace(check, gate="sectors_per_load <= 4.7").verdict("mine.cu", SHIPPED).status == "right"
    assert len({CHECK.key("a"), check.key("a"), replace(check, contract=False).key("a")}) == 3
    assert report_of(check, [])["gate"] == check.gate and "gate" not in report_of(CHECK, [])


def test_a_limit_is_no_wrong_result(few_cases: None) -> None:
    text = SHIPPED.replace("__syncthreads();", "__syncthreads(); while (clock64() >= 0) __nanosleep(1);")
    verdict = replace(CHECK, seconds=1.0).verdict("mine.cu", text)
    assert verdict.status == "failed" and "took more than 1 s" in verdict.text


@pytest.mark.thorough
def test_files_in_processes_of_their_own() -> None:
    verdicts = {v.file: v for v in check_files(CHECK, FILES, jobs=2)}
    status = {name: v.status for name, v in verdicts.items()}
    assert status == {"right.cu": "right", "same.cu": "right", "barrier.cu": "wrong", "nonsense.cu": "failed"}
    report = report_of(CHECK, [*verdicts.values()])
    assert report == json.loads(json.dumps(report)) and [f["file"] for f in report["files"]] == sorted(FILES)
    assert kept(report, CHECK, FILES) == verdicts
    changed = {**FILES, "right.cu": SHIPPED + "\n// changed"}
    assert set(kept(report, CHECK, changed)) == set(FILES) - {"right.cu"}
    assert kept(report, replace(CHECK, architecture="sm_90"), FILES) == {}


ADVICE = "Look for very large arrays, tables and output."


def test_a_process_that_dies_ends_its_file_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "WORK", "works:die")
    found = {v.file: v for v in check_files(CHECK, {"a.cu": "a", "b.cu": "b"}, jobs=1)}
    assert {name: v.text for name, v in found.items()} == {
        name: f"{name} ended its process with code 7. {ADVICE}" for name in ("a.cu", "b.cu")
    }


def test_a_process_that_hears_nothing_is_ended_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "WORK", "works:misbehave")
    found = {v.file: v.text for v in check_files(CHECK, {"a.cu": "a", "b.cu": "b"}, jobs=1)}
    assert found["a.cu"] == "a.cu: case 1 took more than 0.5 s; --deadline allows more."
    assert found["b.cu"] == f"b.cu: case 1 ended its process with code 3. {ADVICE}"


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.cu").write_text("a")
    (tmp_path / "b<i>.cu").write_text("b")
    counts = {id: 1.5 for id in checking.COMPARED}
    asked: list[str] = []

    def verdicts(check: Check, texts: dict[str, str], jobs: int):
        for name, text in texts.items():
            asked.append(name)
            status = "right" if text == "a" else "wrong"
            yield Verdict(
                name,
                check.key(text),
                status,
                "5 of 6 cases right",
                "" if text == "a" else "why",
                () if text == "a" else ("why",),
                counts,
                counts,
            )  # type: ignore[arg-type]

    monkeypatch.setattr("gpu_ops.cli.own.check.check_files", verdicts)
    command = ["check", "mean1d", str(tmp_path / "*.cu"), "--variant", "shared"]
    files = ["--json", str(tmp_path / "r.json"), "--html", str(tmp_path / "r.html")]
    assert main([*command, *files]) == 3
    said = capsys.readouterr().out
    assert "1 of 2 right (mean1d shared, sm_75)" in said and "b<i>.cu  5 of 6 cases right: why" in said
    page = (tmp_path / "r.html").read_text()
    assert "simulated GPU of sm_75; at most 6 s and 2048 MiB" in page and page.count(">why<") == 1
    assert "b&lt;i&gt;.cu" in page and "<i>" not in page and "1 of 2 right" in page
    assert len(asked) == 2 and main([*command, *files]) == 3 and len(asked) == 2  # nothing is checked twice
    (tmp_path / "b<i>.cu").write_text("a")
    assert main([*command, *files]) == 0 and len(asked) == 3
    capsys.readouterr()
    for wrong, words in (
        (["check", "mean", "a.cu"], "mean is several filters; name one of mean1d, mean2d"),
        (["check", "mean1d", str(tmp_path / "x*.cu")], "fits no file; give kernel files"),
        ([*command, "--json", str(tmp_path / "a.cu")], "is no report of check"),
        (["check", "mean1d", str(tmp_path / "a.cu"), "--variant", "scipy"], "has no kernel to replace"),
    ):
        assert main(wrong) == 2
        assert words in capsys.readouterr().err


def test_a_file_that_cannot_be_read_keeps_no_other_from_being_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = lambda check, texts, jobs: (Verdict(n, check.key(t), "right", "all", "") for n, t in texts.items())  # noqa: E731
    monkeypatch.setattr("gpu_ops.cli.own.check.check_files", right)
    for name, data in (("a.cu", b"// \xe4"), ("b.cu", b""), ("c.cu", b"// fine"), ("d.cu", b"a" * (1 << 21))):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "e.cu").mkdir()
    (tmp_path / "f.cu").symlink_to("gone.cu")
    os.mkfifo(tmp_path / "g.cu")
    report = tmp_path / "r.json"
    assert main(["check", "mean1d", str(tmp_path / "*.cu"), "--json", str(report)]) == 3
    said = capsys.readouterr().out
    for name, words in (
        ("a.cu", "line 1, column 4 is no UTF-8"),
        ("b.cu", "it is empty"),
        ("d.cu", "it is larger than 1024 KiB"),
        ("f.cu", "does not exist"),
        ("g.cu", "is a pipe"),
    ):
        (line,) = (line for line in said.splitlines() if line.startswith(f"FAILED  {tmp_path / name}  "))
        assert words in line
    assert said.count("FAILED") == 5 and "1 of 6 right" in said
    assert [f["status"] for f in json.loads(report.read_text())["files"]].count("right") == 1


def test_a_folder_is_no_file_that_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "parts.cu").mkdir()
    for given, words in ((tmp_path / "solutions", "is a folder"), (tmp_path / "solutions" / "*.cu", "fits no file")):
        assert main(["check", "mean1d", str(given)]) == 2
        assert f"{given} {words}; give kernel files, such as 'solutions/*.cu'" in capsys.readouterr().err


def test_a_summary_counts_what_did_not_run() -> None:
    assert Held(3, 5, ("x",)).summary == "2 of 3 cases right; 2 more did not run"


def test_conditions() -> None:
    assert conditions("sectors_per_load<=4.5, races == 0") == (
        Condition("sectors_per_load", "<=", 4.5),
        Condition("races", "==", 0),
    )
    for text in ("", "nonsense <= 3", "sectors_per_load", "races = 0", "races == x"):
        with pytest.raises(ParamError, match="is no condition; give NAME <= NUMBER"):
            conditions(text)


def test_a_gate_names_the_line_that_counts_most(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.cu").write_text(
        "__global__ void k(const float* x, float* y)\n{\n    float a = x[threadIdx.x];\n"
        "    float b = x[32 * threadIdx.x];\n    y[threadIdx.x] = a + b;\n}\n"
    )
    launch = [
        "xray",
        str(tmp_path / "k.cu"),
        "--block",
        "32",
        "--arg",
        "ones:float32:1024",
        "--arg",
        "empty:float32:32",
    ]
    assert main([*launch, "--gate", "races == 0, sectors_per_load <= 18, sectors_per_store < 5"]) == 0
    assert main([*launch, "--gate", "sectors_per_load <= 17.9, findings > 0"]) == 3
    said = capsys.readouterr().err
    assert "k.cu:4: error: sectors_per_load is 18, required: sectors_per_load <= 17.9\n" in said
    assert "k.cu: error: findings is 0, required: findings > 0\n" in said
    assert main([*launch, "--gate", "races == 0", "--device", "cuda:0"]) == 2
    assert "--gate needs the counters of a simulated GPU" in capsys.readouterr().err


@pytest.mark.parametrize(("filter", "variant"), [("histogram1d", "bytes"), ("wavelet2d", "shared")])
def test_a_variant_that_does_not_take_the_sample_is_counted_at_a_case(filter: str, variant: str) -> None:
    check = Check(filter, variant, contract=False)
    verdict = check.verdict("mine.cu", read_source(FILTERS.find(filter).variant(variant).kernels[0]))
    assert verdict.status == "right" and verdict.counters == verdict.shipped
    assert verdict.counters and verdict.counters["global_load_sectors"] > 0
