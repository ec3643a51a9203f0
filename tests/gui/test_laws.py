"""The laws of the source in the sweep's tab: curves, counted points, times of sweeps, and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from PySide6.QtGui import QImage

from app.models.timing.laws import LawPicture, law_pictures
from app.models.timing.sweep import Sweep
from app.views.window.panels import SWEEP
from gpu_ops import find_filter, from_array, recorded_steps
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.messages import Ready
from gpu_ops.report.rows import Row
from gpu_ops.report.sweeps import SIZE, Varied
from gpu_ops.types import Timing

REDUCE = find_filter("reduce1d")
THREADS = Varied("knob", "threads")


def _row(variant: str, n: int, seconds: float, **knobs: int) -> Row:
    timing = Timing("kernel", "cuda-event", seconds, seconds, seconds, seconds, 20, "", "stream")
    events = {"filter": "reduce1d", "params": {}, "shape": (n,), "ok": True, "dtype": "float32", "mode": "stream"}
    events |= {"protocol": "quick", "clock": "cuda-event", "error_max": 0.0, "tolerance": 1.0}
    return Row(variant=variant, device="cuda:0", knobs=knobs, stages={"kernel": timing}, **events)


def _pictures(*sweeps: Sweep) -> dict[str, LawPicture]:
    return {picture.over: picture for picture in law_pictures(REDUCE, recorded_steps(), sweeps)}


def test_counted_points_lie_on_the_laws() -> None:
    for picture in _pictures().values():
        for curve in picture.curves:
            assert len(curve.counted) >= 5
            for place in curve.counted:
                assert place.speedup == pytest.approx(curve.law.speedup(place.n, place.p))
                apart = [abs(np.log(station.x(picture.over) / place.x(picture.over))) for station in curve.line]
                assert curve.line[int(np.argmin(apart))].speedup == pytest.approx(place.speedup, rel=0.15)
    assert _pictures()["n"].values() == [256, 1024, 4096, 16384, 65536]


def test_times_begin_on_the_law_and_go_their_own_way() -> None:
    over_p = Sweep(REDUCE, THREADS, rows=[_row("two_phase", 10**6, s, threads=p) for p, s in ((64, 8e-3), (256, 4e-3))])
    over_n = Sweep(REDUCE, SIZE, rows=[_row(v, n, 1e-5) for v in ("sequential", "two_phase") for n in (256, 1024)])
    pictures = _pictures(over_p, over_n)
    *_, measured = pictures["p"].curves
    assert measured.n == 10**6 and not measured.counted and [p.p for p in measured.measured] == [64, 256]
    first, second = measured.measured
    assert first.speedup == pytest.approx(measured.law.speedup(10**6, 64)) and second.speedup == 2 * first.speedup
    timed = [curve for curve in pictures["n"].curves if curve.measured]
    assert [curve.law.id for curve in timed] == ["fan-in"], "a knob sets the other's processors"
    assert timed[0].measured[1].speedup == pytest.approx(timed[0].measured[0].speedup * 1023 / 255)


def test_laws_are_chosen_beside_sweeps_and_written_to_files(qtbot, tmp_path: Path) -> None:
    engine = FakeEngine()
    window = make(qtbot, engine)
    engine.answered.emit(Ready(1, (DeviceStatus("cpu", "Xeon", True),)))
    engine.show(from_array(np.zeros((30, 20), np.float32)))
    engine.end()
    window.docks.turn_to(SWEEP)
    panel = window.sweep

    def listed() -> list[str]:
        return [panel.source.itemText(k) for k in range(panel.source.count())]

    assert not any("laws" in text for text in listed()) and panel.subject == ""
    window.controller.session.set_filter("reduce2d")
    place = listed().index("laws over P, counted")
    panel.source.setCurrentIndex(place)
    panel.source.activated.emit(place)
    assert panel.stack.currentIndex() == 2 and panel.subject == "laws-p" and panel.source.currentIndex() == place
    assert "two phases, N = 65536" in panel.laws.words.text() and not panel.rows.isEnabled() and not panel.state.text()
    panel.export(str(tmp_path / "laws.csv"), "csv")
    lines = [line for line in (tmp_path / "laws.csv").read_text().splitlines() if not line.startswith("#")]
    assert lines[0].startswith("law,basis,device,n,p") and len(lines) == 10
    panel.export(str(tmp_path / "laws.png"), "picture")
    assert not QImage(str(tmp_path / "laws.png")).isNull()
    window.controller.session.set_filter("mean2d")
    assert panel.stack.currentIndex() == 0 and panel.subject == "" and not any("laws" in text for text in listed())
