"""What a window hears of a simulated GPU: statuses, rows and answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from fake_engine import FakeEngine
from result_rows import row

from app.views.window.main_window import MainWindow
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.messages import PROTOCOL, Ready, RunUpdate
from gpu_ops.engine.shared import SharedArray, SharedResult, Statistics
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.output_kinds import Form
from gpu_ops.report.rows import Row

CPU = DeviceStatus("cpu", "Xeon", True)
NO_CUDA = DeviceStatus("cuda:0", "", False, "CUDA finds no driver")
CUDA = DeviceStatus("cuda:0", "H200", True)
SIM = DeviceStatus("sim", "simulated GPU, sm_75", True)
NO_SIM = DeviceStatus("sim", "simulated GPU", False, "NVRTC is missing; install nvidia-cuda-nvrtc")
COUNTERS = {"launches": 1, "blocks": 256, "warp_instructions": 507008}


def ready(engine: FakeEngine, *statuses: DeviceStatus) -> None:
    engine.answered.emit(Ready(PROTOCOL, (CPU, *statuses)))


def finding(line: int, severity: str = "error") -> dict[str, Any]:
    """A finding as rows hold it."""
    text = f"mean2d/3_shared.cu:{line}: read-after-write hazard: tile[{line}] – once in thread (0, 0, 0)"
    place = {"file": "mean2d/3_shared.cu", "line": line, "block": [0, 0, 0], "thread": [0, 0, 0]}
    return {"kind": "read-after-write hazard", "severity": severity, "count": 1, "detail": "", "text": text, **place}


def simulated(variant: str, **more: Any) -> Row:
    """One simulated row as the engine sends it: counters and no kernel time; `more` replaces entries."""
    extra = {"clock": "simulated", "counters": dict(COUNTERS), "findings": [], "printed": []}
    return row(variant, "sim", None, **extra | more)


def shared_result(
    kind: Any,
    segment: str,
    array: np.ndarray,
    statistics: Statistics | None,
    place: tuple[int, ...] = (),
    rate: float | None = None,
) -> SharedResult:
    """An output as the engine hands it over: of a kind that inputs have as well, where it lies in the input."""
    axes = list(INPUT_KINDS[kind].axes_of(array.shape, rate))
    axes[: len(place)] = [axis.cut(start) for axis, start in zip(axes, place, strict=False)]
    form = Form(array.shape, array.dtype.name, tuple(axes))
    return SharedResult(kind, SharedArray(segment, array.shape, array.dtype.name), form, "", "", statistics)


def bring(
    window: MainWindow,
    engine: FakeEngine,
    row: Row,
    array: np.ndarray,
    place: tuple[int, ...] = (),
    exact: bool = True,
) -> None:
    """A result comes of what is asked now."""
    key = window.controller.session.shown.key(row.variant)
    row = replace(row, filter=key.filter, params=key.params, knobs=key.knobs)
    name = f"segment{len(engine.arrays)}"
    engine.arrays[name] = array
    low, high = float(array.min()), float(array.max())
    figures = Statistics(low, high, low, {0.1: low, 1: low, 50: low, 99: high, 99.9: high}, (1,) * 256, 0, 0)
    session = window.controller.session
    rate = session.input.rate if session.input else None
    output = {o.id: shared_result(o.kind, name, array, figures, place, rate) for o in session.filter.outputs}
    generation = window.controller.queue.generation
    engine.answered.emit(RunUpdate(engine.jobs, generation, "verified", row, output, place, exact))
