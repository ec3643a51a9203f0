"""The log: what a report of a fault needs, with times."""

from __future__ import annotations

import re
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import qWarning

from app.base.worker import Engine
from app.controllers.engine_log import EngineLog, describe
from app.models.log import LOG_LINES, Log
from app.shell.faults import IDLE, log_faults
from gpu_ops import save
from gpu_ops.engine.messages import (
    DoctorRequest,
    Finished,
    LoadRequest,
    RunRequest,
    RunUpdate,
    SampleRequest,
    SurveyRequest,
)
from gpu_ops.engine.shared import SharedArray, SharedInput, Statistics
from gpu_ops.report.rows import Row
from gpu_ops.types import Pick

TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}  ")
SHARED = SharedInput(
    "image", SharedArray("s", (8, 9), "uint8"), "", "a", {}, None, True, Statistics(0, 1, 0, {}, (), 0, 0)
)


def test_an_entry_has_its_time_and_its_details_set_in() -> None:
    log, heard = Log(), []
    log.added.connect(heard.append)
    log.add("engine", "failed", "Traceback\n  here")
    first, *rest = log.text().splitlines()
    assert TIME.match(first) and first.endswith("  engine: failed")
    assert rest == ["    Traceback", "      here"]
    assert heard == [log.text()]


def test_the_newest_lines_stay() -> None:
    log = Log()
    for number in range(LOG_LINES + 5):
        log.add("test", str(number))
    lines = log.text().splitlines()
    assert len(lines) == LOG_LINES and lines[-1].endswith(str(LOG_LINES + 4)) and lines[0].endswith("test: 5")


def test_a_request_says_all_that_makes_it_again() -> None:
    picks = (Pick("serial", "cpu"), Pick("tiled", "cuda:0", {"rows": 4}))
    run = RunRequest(3, 1, SHARED, "mean2d", {"window": 5, "border": "wrap"}, picks, "careful")
    assert describe(run) == (
        "run mean2d window=5 border=wrap of 9 × 8 uint8; protocol careful, mode stream, checks full; "
        "serial on cpu, tiled on cuda:0 rows=4"
    )
    assert describe(LoadRequest(1, "/a b/c.png", {"rate": 2})) == "load /a b/c.png rate=2"
    assert describe(SurveyRequest(1, "/a.csv", {"header": 2})) == "read /a.csv header=2"
    assert describe(SampleRequest(1, "noise", {"size": "8x8"})) == "generate the sample noise size=8x8"


def test_the_engines_doings_are_logged(qtbot, tmp_path: Path) -> None:
    engine, log = Engine(), Log()
    EngineLog(engine, log, engine)
    good, bad = tmp_path / "good.png", tmp_path / "bad.png"
    save(str(good), np.zeros((8, 9), np.uint8))
    bad.write_bytes(b"no picture")
    try:
        for job, path in enumerate((good, bad), start=1):
            engine.submit(LoadRequest(job, str(path)))
        qtbot.waitUntil(lambda: "job 2: failed" in log.text(), timeout=60_000)
        engine.answered.emit(Finished(2, cancelled=True))
        row = Row("mean2d", "serial", "cpu", {}, {}, (8, 9), "uint8", "stream")
        failed = replace(row, failure="no memory", failure_kind="memory")
        engine.answered.emit(RunUpdate(7, 1, "computed", failed))
        engine.answered.emit(RunUpdate(7, 1, "verified", replace(row, ok=False, error_max=2.0, tolerance=1.0)))
    finally:
        engine.close()
    lines = log.text().splitlines()
    texts = [TIME.sub("", line) for line in lines if TIME.match(line)]
    assert texts[:2] == [f"engine: job 1: load {good}", f"engine: job 2: load {bad}"]
    assert re.fullmatch(r"engine: started, process \d+, protocol \d+; .*cpu.*", texts[2])
    assert texts[3] == "engine: job 1: good.png, 9 × 8 uint8"
    assert re.fullmatch(r"engine: job 1: done after \d+\.\d{3} s", texts[4])
    assert re.match(r"engine: job 2: failed \(input\) after \d+\.\d{3} s: .*bad\.png", texts[5])
    assert texts[6:] == [
        "engine: job 2: cancelled",
        "engine: job 7: serial on cpu failed (memory): no memory",
        "engine: job 7: serial on cpu is wrong by 2.0 where 1.0 is allowed",
    ]
    assert describe(DoctorRequest(1)) not in log.text()


def test_what_goes_wrong_anywhere_is_logged(qtbot, capfd, monkeypatch: pytest.MonkeyPatch) -> None:
    log, passed_on = Log(), []
    monkeypatch.setattr(sys, "excepthook", lambda *events: passed_on.append(events))
    monkeypatch.setattr(threading, "excepthook", passed_on.append)
    with log_faults(log):
        for _ in range(25):
            qWarning("the plug is loose")
            qWarning(f"{IDLE}()")
        try:
            raise ValueError("of no use")
        except ValueError as error:
            sys.excepthook(type(error), error, error.__traceback__)
        thread = threading.Thread(target=lambda: 1 // 0, name="worker")
        thread.start()
        thread.join()
        qtbot.waitUntil(lambda: "ZeroDivisionError in worker" in log.text())
    qtbot.wait(1)
    text = log.text()
    assert "Kernelscope" in text.splitlines()[0] and "PySide6" in text.splitlines()[0]
    heard = capfd.readouterr().err
    assert "Qt warning: the plug is loose" in text and "the plug is loose" in heard
    assert text.count("the plug is loose") == 2 and "the plug is loose (10 times)" in text
    assert "error: ValueError: of no use" in text and 'raise ValueError("of no use")' in text
    assert IDLE not in text and IDLE not in heard
    assert len(passed_on) == 2
    log.add("test", "after")
    qtbot.wait(1)
    sys.excepthook(ValueError, ValueError("later"), None)
    assert "later" not in log.text()
