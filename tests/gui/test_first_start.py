"""The very first start on a machine, where no loop of Numba has been compiled yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fake_engine import make
from pytestqt.qtbot import QtBot

from app.base.worker import Engine
from gpu_ops.engine.messages import RunUpdate


def test_a_verified_picture_comes_first_then_the_window_says_compiling(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # empty, for the engine's process
    engine = Engine()
    window = make(qtbot, engine)
    events: list[str] = []

    def note(answer: Any) -> None:
        if isinstance(answer, RunUpdate):
            events.append(f"{answer.key.variant} {answer.stage}")

    engine.answered.connect(note)
    window.controller.busy_changed.connect(lambda _text: events.append(window.status.busy.text()))
    try:
        window.controller.start()
        window.controller.open_sample("camera")
        qtbot.waitUntil(lambda: "serial computed" in events, timeout=120_000)
    finally:
        window.controller.cancel()
        engine.close()
    said = next(place for place, text in enumerate(events) if "compiling" in text)
    assert events[said] == "computing CPU, one core: compiling"
    assert events.index("scipy verified") < said < events.index("serial computed")
