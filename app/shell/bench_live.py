"""The latency from a parameter's change to its result, for `kernelscope window-bench`: from the key to the picture."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

Figures = dict[str, Any]
ABSENT = "absent"
"""In place of the figures: the reason why this machine has none."""


@dataclass(frozen=True)
class LiveKey:
    """Presses of Up and Down in the field of a filter's parameter, on float32, with a variant on the CPU, or on a
    `device`. With `onwards`, all presses are Up, so that each value is new."""

    what: str
    filter: str
    variant: str
    parameter: str
    params: Mapping[str, Any] = field(default_factory=dict)
    size: str = "1024x1024"
    device: str = ""
    onwards: bool = False

    def __call__(self, quick: bool) -> Figures:
        """The time from the key to the paint of the result, in milliseconds; and when each part of the work began."""
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        from app.shell.bench_stage import BenchWindow

        with BenchWindow() as stage:
            session = stage.controller.session
            if self.device and self.device not in session.devices:
                return {ABSENT: f"there is no {self.device} here"}
            session.set_device(self.device or session.device)
            stage.choose(self.filter, (self.variant,))
            stage.open_noise(size=self.size, dtype="float32")
            session.set_params({**session.choice.params, **self.params})
            stage.settle()
            form = stage.window.panel.form
            assert form is not None, f"{self.filter} has a form"
            control, times, parts = form.editor(self.parameter).control(), [], []
            control.setFocus()
            for turn in range(6 if quick else 16):
                back = turn % 2 and not self.onwards
                press = partial(QTest.keyClick, control, Qt.Key.Key_Down if back else Qt.Key.Key_Up)
                times.append(stage.until_drawn(self.variant, press))
                parts.append(stage.parts)
                stage.settle()
        middle = sorted(times)[len(times) // 2]
        at = dict(zip(times, parts, strict=True))[middle]
        return {"median": statistics.median(times), "slowest": max(times), "runs": times, "parts_begin_ms": at}


LIVE_KEYS = {
    "histogram": LiveKey("the number of bins", "histogram2d", "parallel", "bins"),
    "spectrum": LiveKey("the window of a spectrum", "fft2d", "scipy", "window", {"window": "flat-top"}),
    "mask": LiveKey("the radius of a mask", "fft_mask", "scipy", "high"),
    "wavelet": LiveKey("the threshold of wavelets", "wavelet2d", "parallel", "value", {"rule": "manual"}),
}
_ON_GPU = LiveKey("the radius of a box on a GPU, 4096²", "box", "ring", "radius", size="4096x4096", device="cuda:0")
GPU_KEYS = {"gpu": _ON_GPU, "gpu_new": replace(_ON_GPU, what=f"{_ON_GPU.what}, each new", onwards=True)}


def spectrogram(quick: bool) -> Figures:
    """The time from choosing the spectrogram of ten million samples to its picture, in milliseconds."""
    from app.shell.bench_stage import BenchWindow

    with BenchWindow() as stage:
        stage.choose("fft1d", ("scipy",))
        stage.open_noise(length=10_000_000, dtype="float32")
        session, times = stage.controller.session, []
        for _ in range(2 if quick else 5):
            session.set_params({**session.choice.params, "result": "spectrum"})
            stage.settle()
            times.append(stage.until_drawn("scipy", partial(session.set_output, "spectrogram")))
            stage.settle()
    return {"show": statistics.median(times), "slowest": max(times), "runs": times}
