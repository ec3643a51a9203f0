"""Odd calls of the command line: files, streams, reports and words that are not what they should be. Each ends with a
sentence and the exit code that it has earned, never in a traceback."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpu_ops.batch.file_lock import locked
from gpu_ops.cli import benches, info, main, measure, streams
from gpu_ops.errors import ParamError, ReportError
from gpu_ops.explaining.judging import recorded_reports
from gpu_ops.own_kernels import checking
from gpu_ops.params import Param
from gpu_ops.report.files import read_report, write_report
from gpu_ops.report.rows import Report

ROOT = Path(__file__).parents[2]
SERIAL = ["mean1d", "--sample", "noise", "--length", "300", "--device", "cpu", "--variant", "serial"]
NAIVE = ["mean1d", "naive", "--sample", "noise", "--length", "300"]
POSIX = pytest.mark.skipif(os.name != "posix", reason="the system has no such files")
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")


def refused(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    """The sentence of a call that ends with exit code 2."""
    assert main(args) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said and said.strip().splitlines()[-1].startswith("kernelscope")
    return said


# Numbers


@pytest.mark.parametrize("value", ["99999999999999999999", "1e300", "nan", "inf", "", "abc", "9" * 5000])
def test_a_number_out_of_all_range_is_refused_with_the_limits(value: str) -> None:
    with pytest.raises(ParamError, match="must be an integer from 3 to 99") as events:
        Param("window", 5, 3, 99, 2).check(value)
    assert len(str(events.value)) < 200


@pytest.mark.parametrize("value", ["nan", "-1", "inf", "abc"])
def test_a_budget_is_a_time(capsys: pytest.CaptureFixture[str], value: str) -> None:
    assert "--budget" in refused(capsys, "bench", *SERIAL, "--budget", value)


# Words that nothing takes

STRAY = [
    (["run", *SERIAL, "--block", "64"], "block is a knob of naive"),
    (["xray", "conv3x3", "serial", "--sample", "camera", "--block-y", "4"], "block_y is a knob of"),
    (["sweep", *SERIAL, "--over", "windw=3,5"], "did you mean window?"),
    (["sweep", *SERIAL, "--over", "radius=1,2"], "Nothing in mean1d is called radius"),
    (["sweep", *SERIAL, "--over", "window=3", "--over", "window=5"], "window is given twice"),
    (["sweep", *SERIAL, "--over", "window=3,5", "--window", "7"], "window is given twice"),
    (["sweep", *SERIAL, "--over", "dtype=uint8,float32", "--dtype", "float64"], "dtype is given twice"),
    (["bench", *SERIAL, "--baseline", "nonsense"], "has no variant 'nonsense'"),
    (["run", *SERIAL, "--limit", "3"], "--limit defines how a file is read"),
    (["run", *SERIAL, "--kind", "signal"], "--kind defines how a file is read"),
    (["run", *SERIAL, "--nonfinite", "keep"], "--nonfinite defines how a file is read"),
    (["run", "mean1d", "--sample", "noise", "--variant", "naive", "shared", "--kernel", "k.cu"], "give --variant one"),
    (["run", "mean1d", "--sample", "noise", "--device", "sim", "cpu", "--kernel", "k.cu"], "give --device one"),
    (["run", *NAIVE[:1], "--sample", "noise", "--variant", "naive", "--rows", "3", "--kernel", "k.cu"], "rows"),
    (["compile", "mean1d/1_naive.cu", "mean1d/1_naiv.cu"], "did you mean mean1d/1_naive.cu?"),
    (["run", "mean1d", "--sample", "noise", "--variant", "naive", "--kernel", ""], ". is a folder"),
    (["claims", "--report", ""], "is a folder"),
    (["list", "--json", ""], "no file to write to"),
]


@pytest.mark.parametrize("args, words", STRAY, ids=lambda v: " ".join(v) if isinstance(v, list) else None)
def test_no_word_is_passed_over(capsys: pytest.CaptureFixture[str], args: list[str], words: str) -> None:
    assert words in refused(capsys, *args)


@pytest.mark.parametrize("flag", [["--length", "9"], ["--seed", "1"], ["--over", "length=5,9"], ["--over", "ab=1"]])
def test_a_file_takes_no_options_of_samples(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, flag: list[str]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("1\n2\n3\n4\n5\n")
    command = "sweep" if "--over" in flag else "run"
    found = refused(capsys, command, "mean1d", "--input", str(path), "--device", "cpu", "--variant", "serial", *flag)
    assert "--input names a file" in found or "Nothing in mean1d is called ab" in found


def test_a_flag_that_is_repeated_adds_to_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *SERIAL, "--variant", "scipy", "--json", "-"]) == 0
    assert [r["variant"] for r in json.loads(capsys.readouterr().out)["runs"]] == ["serial", "scipy"]


def test_a_knob_reaches_the_kernel_that_takes_a_variants_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = tmp_path / "k.cu"
    kernel.write_bytes((ROOT / "gpu_ops/kernels/mean1d/1_naive.cu").read_bytes())
    seen: list[Any] = []
    monkeypatch.setattr(measure, "_check_offline", lambda *events: seen.append(events[2].picks[0].knobs))
    monkeypatch.setattr(checking, "covering_cases", lambda *events, **how: [])
    monkeypatch.setattr(measure, "run_experiment", lambda experiment: seen.append(experiment.picks[0].knobs) or [])
    place = ["run", "mean1d", "--sample", "noise", "--length", "300", "--variant", "naive", "--device", "sim"]
    assert main([*place, "--kernel", str(kernel), "--block", "64"]) == 0
    assert seen == [{"block": 64}, {"block": 64}]


# Files that are none


@pytest.fixture
def odd_files(tmp_path: Path) -> dict[str, str]:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    (tmp_path / "folder.json").mkdir()
    with open(tmp_path / "huge.json", "wb") as file:
        file.truncate(1 << 40)
    return {p.stem: str(p) for p in tmp_path.iterdir()}


@POSIX
@pytest.mark.parametrize("name", ["pipe", "zero", "folder", "huge"])
def test_only_regular_files_of_a_sane_size_are_read(
    capsys: pytest.CaptureFixture[str], odd_files: dict[str, str], name: str
) -> None:
    path = odd_files[name]
    assert path in refused(capsys, "claims", "--report", path)
    assert path in refused(capsys, "xray", *NAIVE, "--kernel", path)


@POSIX
@pytest.mark.parametrize("name", ["pipe", "zero", "folder"])
@pytest.mark.parametrize(
    "command", [["list"], ["claims"], ["bench", *SERIAL], ["run", *SERIAL], ["xray", *NAIVE]], ids=lambda c: c[0]
)
def test_a_report_takes_the_place_of_no_device_and_no_pipe(
    capsys: pytest.CaptureFixture[str], odd_files: dict[str, str], name: str, command: list[str]
) -> None:
    assert "no file to write to" in refused(capsys, *command, "--json", odd_files[name])
    assert not Path(odd_files[name]).is_file()


@POSIX
def test_a_report_is_written_through_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "target.json")
    write_report(link, Report({}, ()).to_json())
    assert link.is_symlink() and read_report(tmp_path / "target.json").rows == ()


def test_a_full_disk_leaves_the_old_report_and_nothing_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    write_report(path, Report({}, ()).to_json())
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReportError, match="No space left"):
        write_report(path, Report({"cpu": "x"}, ()).to_json())
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("data, words", [(b"\xff\xfe", "no UTF-8"), (b"", "is empty"), (b"a\0b", "null character")])
def test_a_kernel_is_text(capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "k.cu"
    path.write_bytes(data)
    assert words in refused(capsys, "xray", *NAIVE, "--kernel", str(path))


# Reports that are none

GOOD = recorded_reports()["h200-claims-s3.json"].to_json()


def _with(**changes: Any) -> str:
    return json.dumps({**GOOD, "runs": [{**GOOD["runs"][0], **changes}]})


def _without(name: str) -> str:
    return json.dumps({**GOOD, "runs": [{k: v for k, v in GOOD["runs"][0].items() if k != name}]})


STAGE = {"median_s": 1.0, "q1_s": 1.0, "q3_s": 1.0, "min_s": 1.0, "n": 3, "stop": "", "clock": "wall", "mode": "stream"}
BAD_REPORTS = {
    "deep": ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
    "deep inside": (json.dumps({**GOOD, "x": json.loads("[" * 300 + "]" * 300)}), "32 levels"),
    "schema of superscripts": (json.dumps({**GOOD, "schema": "kernelscope-report/²"}), "its schema is"),
    "schema of many digits": (json.dumps({**GOOD, "schema": "kernelscope-report/" + "9" * 5000}), "its schema is"),
    "schema of lines": (json.dumps({**GOOD, "schema": "a\nb\x1b[31m" * 999}), "its schema is"),
    "row of a number": (json.dumps({**GOOD, "runs": [1]}), "run 1 is no object"),
    "occupancy of a number": (json.dumps({**GOOD, "occupancy": 1}), "occupancy is no list of objects"),
    "row without stages": (_without("stages"), "run 1 has no stages"),
    "row without a filter": (_without("filter"), "run 1 has no filter"),
    "stages of a number": (_with(stages={"kernel": 1}), "stages of run 1 is not"),
    "no time at all": (_with(stages={"kernel": {**STAGE, "median_s": 0}}), "stages of run 1 is not"),
    "time of text": (_with(stages={"kernel": {**STAGE, "min_s": "1"}}), "stages of run 1 is not"),
    "shape of text": (_with(shape="300"), "shape of run 1 is not"),
    "params of a list": (_with(params=[]), "params of run 1 is not an object"),
    "ok of text": (_with(ok="yes"), "ok of run 1 is not true, false or null"),
    "unheard of failure": (_with(failure_kind="boredom"), "failure_kind of run 1 is not"),
    "roof of a number": (_with(roof=1), "roof of run 1 is not an object with a kind"),
    "counters of text": (_with(counters={"blocks": "x"}), "counters of run 1 is not an object of numbers"),
    "errors of numbers": (_with(errors={"image": 1.0}), "errors of run 1 is not an object of errors"),
    "clock of a number": (_with(clock=1), "clock of run 1 is not text or null"),
    "findings of text": (_with(findings=["x"]), "findings of run 1 is not"),
    "error without tolerance": (_with(error_max=1.0, tolerance=None), "no tolerance"),
    "not a number": (_with(bytes=0).replace('"bytes": 0', '"bytes": NaN'), "not JSON"),
    "infinite": (_with(bytes=0).replace('"bytes": 0', '"bytes": 1e999'), "not JSON"),
    "huge number": (_with(bytes=0).replace('"bytes": 0', '"bytes": 1' + "0" * 400), "401 digits"),
    "devices of numbers": (json.dumps({**GOOD, "provenance": {"devices": {"cpu": 1}}}), "devices of its provenance"),
    "earlier of text": (json.dumps({**GOOD, "provenance": {"earlier": "x"}}), "earlier of its provenance"),
}


@pytest.mark.parametrize("name", BAD_REPORTS)
def test_a_report_that_is_not_ours_is_refused_before_it_is_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    text, words = BAD_REPORTS[name]
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    said = refused(capsys, "claims", "--report", str(path))
    assert words in said and len(said) < 400 and said.count("\n") == 1
    with pytest.raises(ReportError, match="other.json"):
        read_report(path)


@pytest.mark.parametrize("name", ["deep", "row of a number"])
def test_a_bench_does_not_go_on_with_what_is_no_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(benches, "machine", lambda devices: {})
    path = tmp_path / "other.json"
    path.write_text(BAD_REPORTS[name][0], encoding="utf-8")
    assert "not a report" in refused(capsys, "bench", *SERIAL, "--quick", "--json", str(path))
    assert path.read_text(encoding="utf-8") == BAD_REPORTS[name][0]


# Two writers


def test_a_second_process_is_told_that_a_report_is_being_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "report.json"
    write_report(path, Report({}, ()).to_json())
    with locked(path):
        assert "Another Kernelscope is writing" in refused(capsys, "bench", *SERIAL, "--quick", "--json", str(path))
        assert "Another Kernelscope is writing" in refused(capsys, "list", "--json", str(path))
        assert read_report(path).rows == ()
    assert main(["list", "--json", str(path)]) == 0
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]


def test_a_lock_ends_with_the_process_that_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    code = (
        "import os, sys; from pathlib import Path; from gpu_ops.batch.file_lock import locked\n"
        "with locked(Path(sys.argv[1])): os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT).returncode == 9
    with locked(path):
        pass
    assert list(tmp_path.iterdir()) == []


# Streams


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes a call with another standard output; gives its exit code."""
    opened: list[io.TextIOWrapper] = []

    def call(stream: io.TextIOWrapper, *args: str) -> int:
        opened.append(stream)
        monkeypatch.setattr(sys, "stdout", stream)
        return main(args)

    yield call
    monkeypatch.undo()
    for stream in opened:
        stream.close()


@pytest.mark.parametrize("encoding", ["ascii", "cp437", "latin-1"])
@pytest.mark.parametrize("command", [["list", "mean1d"], ["claims"], ["xray", *NAIVE]], ids=lambda c: c[0])
def test_a_terminal_of_any_encoding_shows_plain_signs(output: Any, encoding: str, command: list[str]) -> None:
    raw = io.BytesIO()
    assert output(io.TextIOWrapper(raw, encoding), *command) == 0
    assert b"  -  " in raw.getvalue() and b"\\u" not in raw.getvalue()


def test_what_has_no_plain_sign_is_written_as_its_code() -> None:
    streams.prepare()
    assert "3 µs × – \udce9 ∮".encode("ascii", streams.PLAIN) == b"3 us x - \\udce9 \\u222e"
    assert "µ \udce9".encode("utf-8", streams.PLAIN) == "µ \\udce9".encode()


def test_an_encoding_changes_no_exit_code(output: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(args: Any) -> int:
        print("× too far")
        return 3

    monkeypatch.setattr(info, "list_filters", wrong)
    assert output(io.TextIOWrapper(io.BytesIO(), "ascii"), "list") == 3


@FULL
@pytest.mark.parametrize("command", [["list"], ["list", "conv3x3", "--json", "-"], ["--help"], ["claims"]])
def test_a_full_standard_output_is_said(output: Any, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert output(open("/dev/full", "w", encoding="utf-8"), *command) == 2  # noqa: SIM115 - the fixture closes it
    assert "Standard output cannot be written (No space left on device)" in capsys.readouterr().err


@FULL
def test_help_that_cannot_be_written_is_said_without_a_buffer_as_well(
    output: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    full = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115 - the fixture closes it
    full.reconfigure(write_through=True)
    assert output(full, "--version") == 2
    assert "Standard output cannot be written" in capsys.readouterr().err


@FULL
def test_a_full_standard_output_hides_no_wrong_result(output: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(info, "list_filters", lambda args: print("wrong") or 3)
    assert output(open("/dev/full", "w", encoding="utf-8"), "list") == 3  # noqa: SIM115 - the fixture closes it


@POSIX
def test_a_reader_that_has_enough_is_no_error(output: Any, capsys: pytest.CaptureFixture[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert output(os.fdopen(writer, "w", encoding="utf-8"), "list") == 0
    assert capsys.readouterr().err == ""


def test_a_closed_standard_output_is_said_before_anything_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["list"]) == 2
    assert "Standard output is closed" in capsys.readouterr().err


@FULL
def test_a_standard_error_that_nobody_hears_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stderr", full)
        assert main(["list", "nonsense"]) == 2
        assert main(["run"]) == 2
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["list", "nonsense"]) == 2


# The machine's own limits


@pytest.mark.parametrize(
    "error, words",
    [
        (MemoryError(), "too little memory for this"),
        (OSError(24, "Too many open files", "x.cu"), "x.cu cannot be used (Too many open files)"),
    ],
    ids=["memory", "files"],
)
def test_what_the_machine_refuses_is_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: BaseException, words: str
) -> None:
    def fail(args: Any) -> int:
        raise error

    monkeypatch.setattr(info, "list_filters", fail)
    assert words in refused(capsys, "list")
