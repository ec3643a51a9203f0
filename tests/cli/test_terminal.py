"""Names of files may hold sequences that retitle, recolour or program a terminal. No command writes one of them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from app.main import COMMANDS, WINDOW_BENCH, main
from gpu_ops import save
from gpu_ops.cli import streams

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J"
IMAGE, FOLDER, MISSING = f"{EVIL}.png", f"out{EVIL}", f"none{EVIL}.png"
CPU = ("--device", "cpu", "--variant", "serial")
ONE = ("mean1d", "--sample", "noise", "--length", "64", *CPU)
CALLS = [
    ["run", "mean", "--input", IMAGE, *CPU, "--output", f"a{EVIL}.png"],
    ["run", "mean", "--input", MISSING, *CPU],
    ["run", "mean", "--input", IMAGE, *CPU, "--output", f"missing{EVIL}/a.png"],
    ["run", "mean", "--input", IMAGE, *CPU, "--json", f"missing{EVIL}/a.json"],
    ["run", "mean", "--input", IMAGE, f"b{EVIL}.tif", f"c{EVIL}.png", *CPU, "--output-dir", FOLDER],
    ["run", "mean", "--input", f"{EVIL}*", *CPU, "--output-dir", FOLDER],
    ["run", "mean", "--input", f"s{EVIL}.tif", *CPU, "--frames", "all", "--output", f"d{EVIL}.tif"],
    ["run", "mean1d", "--sample", "noise", "--variant", "naive", "--kernel", f"{EVIL}.cu"],
    ["run", *ONE, "--step", f"crop {EVIL}=1"],
    ["bench", *ONE, "--quick", "--json", f"missing{EVIL}/a.json"],
    ["bench", *ONE, "--baseline", EVIL],
    ["sweep", *ONE, "--over", f"{EVIL}=3"],
    ["timeline", "transfer", EVIL],
    ["timeline", "transfer", "pinned", "--sample", "noise", "--length", "64", "--trace", f"missing{EVIL}/a.json"],
    ["transfers", EVIL],
    ["transfers", "memory", "--report", f"{EVIL}.json"],
    ["list", EVIL],
    ["claims", "--report", MISSING],
    ["compare", f"a{EVIL}.json", f"b{EVIL}.json"],
    ["report", *ONE, "--no-counts", "--output", f"p{EVIL}.html"],
    ["report", "--report", f"a{EVIL}.json", "--output", f"p{EVIL}.html"],
    ["figures", EVIL],
    ["figures", "--csv", f"missing{EVIL}/a.csv"],
    ["tables", EVIL],
    ["tables", "--write", f"missing{EVIL}.md"],
    ["compile", EVIL],
    ["doctor", EVIL],
    ["lesson", "check", EVIL],
    ["lesson", "show", MISSING],
    ["lecture", "check", EVIL],
    ["lecture", "handout", MISSING],
    ["explain", EVIL],
    ["exercise", "make", EVIL],
    ["exercise", "check", EVIL],
    ["engine", EVIL],
    ["run", "mean", "--remote", EVIL],
    ["run", "mean", "--device", f"{EVIL}/cpu"],
    ["run", "mean", "--remote", "a", "--remote-command", EVIL],
    ["xray", "mean1d", EVIL, "--sample", "noise"],
    ["xray", "mean2d", "naive", "--input", MISSING],
    ["xray", f"{EVIL}.cu"],
    ["check", "mean1d", f"{EVIL}*.cu"],
    ["predict", "mean1d", EVIL, "--sample", "noise"],
    ["predict", "mean1d", "naive", "--sample", "noise", "--gpu", EVIL],
    [WINDOW_BENCH, EVIL],
    [EVIL],
    [MISSING, IMAGE],
    ["--sample", EVIL],
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    image = np.zeros((6, 7), np.uint8)
    save(IMAGE, image)
    save(f"s{EVIL}.tif", np.stack([image] * 2))
    Path(f"c{EVIL}.png").write_bytes(b"no picture")


def test_every_command_is_tried() -> None:
    assert {call[0] for call in CALLS} >= {*COMMANDS, WINDOW_BENCH}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: ascii(" ".join(call)))
def test_no_command_writes_what_steers_a_terminal(
    files: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, call: list[str]
) -> None:
    monkeypatch.setattr("app.main.open_window", lambda args: 0)
    try:
        main(call)
    except SystemExit as end:
        assert end.code == 2
    written = "".join(capsys.readouterr())
    assert written and [sign for sign in written if not sign.isprintable() and sign != "\n"] == []


def test_output_for_programs_is_what_it_was(files: None, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "mean", "--input", IMAGE, *CPU, "--output-dir", FOLDER, "--json", "-"])
    assert json.loads(capsys.readouterr().out)["files"][0]["file"] == IMAGE


def test_signs_that_steer_nothing_stay() -> None:
    assert streams.printable("µ × 3\tα…\n日本 🙂\u00a0x") == "µ × 3\tα…\n日本 🙂\u00a0x"
    assert streams.printable("a\x1b[0m\r\x85\u202eb\udcff") == "a\\x1b[0m\\r\\x85\\u202eb\\udcff"


def test_the_part_at_work_replaces_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    with streams.only_printable():
        streams.rewrite("frame 1 of 2\x1b[31m")
        streams.rewrite("")
    assert terminal.getvalue() == "\r\033[Kframe 1 of 2\\x1b[31m\r\033[K"
