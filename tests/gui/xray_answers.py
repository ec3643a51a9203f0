"""Answers like the engine's to a request for an X-ray, and a window that has asked for one."""

from __future__ import annotations

from typing import Any

import numpy as np
from fake_engine import FakeEngine, act, make

from app.views.window.main_window import MainWindow
from gpu_ops import from_array
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.kernel_messages import XRayAnswer, XRayRequest
from gpu_ops.engine.messages import Ready

THERE = DeviceStatus("gpu-host/cuda:0", "NVIDIA H200", True, architecture="sm_90")
"""The GPU of another machine."""
FILE = "mean2d/3_shared.cu"
SOURCE = "// idea\n__global__ void k(int* x)\n{\n    x[0] = x[1];\n    x[2] = 7;\n}\n"
LOADS = {"global_load_requests": 2000, "global_load_sectors": 12500, "global_load_ideal_sectors": 6250}
STORES = {"global_store_sectors": 2500, "global_store_ideal_sectors": 2500, "warp_instructions": 80}
FINDING = {
    **{"kind": "hazard", "severity": "error", "kernel": "k", "file": "mean.cuh", "line": 9, "count": 3},
    **{"inlined_at": ((FILE, 4),), "text": "mean.cuh:9: hazard: two threads write <x>"},
}


def plain_line(line: int, counts: dict[str, int]) -> dict[str, Any]:
    """A line of a file that calls nothing."""
    return {"line": line, "counts": counts, "calls": {}, "callees": []}


def content(variant: str = "shared", **more: Any) -> dict[str, Any]:
    """An answer like the engine's, of a kernel of six lines."""
    kernel = {
        **{"name": "k", "file": FILE, "launches": 1, "grid": [8, 32, 1], "block": [32, 4, 1], "shared_bytes": 340},
        **{"block_loads": {}, "resources": {"registers": 44}, "occupancy_by_block": {}, "headers": []},
        "occupancy": {"blocks": 8, "warps": 16, "most_warps": 32, "share": 0.5, "limiter": "registers"},
        "lines": [{"line": 4, "counts": LOADS}, {"line": 5, "counts": STORES}],
        "files": [{"file": FILE, "lines": [plain_line(4, LOADS), plain_line(5, STORES)]}],
        "totals": {**LOADS, **STORES},
    }
    return {
        **{"variant": variant, "title": "3 constant + shared", "idea": "", "architecture": "sm_75", "unit": "pixel"},
        **{"shape": [256, 256], "whole": [512, 600], "place": [128, 172], "name": "photo", "outputs": 1000},
        **{"totals": kernel["totals"], "kernels": [kernel], "sources": {FILE: SOURCE}, "printed": ["here & there"]},
        **{"findings": [FINDING], "sentences": [{"rule": "r", "text": "Loads touch twice what they need."}]},
        **more,
    }


def window_with(qtbot, engine: FakeEngine, devices: tuple[DeviceStatus, ...]) -> MainWindow:
    """A window with an input whose runs have ended; kernels run on the first of the devices."""
    window = make(qtbot, engine)
    window.resize(1400, 900)
    window.controller.queue.timed_after_pause = False
    engine.devices = devices
    engine.answered.emit(Ready(1, devices))
    engine.show(from_array(np.zeros((512, 600), np.uint8)))
    engine.end()
    return window


def asked(engine: FakeEngine) -> list[XRayRequest]:
    return [r for r in engine.asked if isinstance(r, XRayRequest)]


def answer(engine: FakeEngine, content: dict[str, Any]) -> None:
    """Answer the last request."""
    engine.answered.emit(XRayAnswer(asked(engine)[-1].job, content))
    engine.end()


def show(qtbot, window: MainWindow, engine: FakeEngine, found: dict[str, Any] | None = None) -> None:
    """Open the panel and answer what it asks."""
    act(window, "xray")
    qtbot.waitUntil(lambda: bool(asked(engine)))
    answer(engine, found or content())


def plain(text: str) -> str:
    """A text whose spaces are all alike."""
    return text.replace("\u00a0", " ")
