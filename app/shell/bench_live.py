"""The latency from a parameter's change to its result, for `kernelscope window-bench`: from the key to the picture."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

Figures = dict[str, Any]


@dataclass(frozen=True)
class LiveKey:
    """Presses of Up and Down in the field of a filter's parameter, on 1024² float32."""

    what: str
    filter: str
    variant: str
    parameter: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, quick: bool) -> Figures:
        """The time from the key to the paint of the result, in milliseconds."""
        from PySide6.QtCore import Qt
        from PySide6.QtTest import QTest

        from app.shell.bench_stage import BenchWindow

        with BenchWindow() as stage:
            stage.choose(self.filter, (self.variant,))
            stage.open_noise(size="1024x1024", dtype="float32")
            session = stage.controller.session
            session.set_params({**session.choice.params, **self.params})
            stage.settle()
            form = stage.window.panel.form
            assert form is not None, f"{self.filter} has a form"
            control, times = form.editor(self.parameter).control(), []
            control.setFocus()
            for turn in range(6 if quick else 16):
                press = partial(QTest.keyClick, control, Qt.Key.Key_Down if turn % 2 else Qt.Key.Key_Up)
                times.append(stage.until_drawn(self.variant, press))
                stage.settle()
        return {"median": statistics.median(times), "slowest": max(times), "runs": times}


LIVE_KEYS = {
    "histogram": LiveKey("the number of bins", "histogram2d", "parallel", "bins"),
    "spectrum": LiveKey("the window of a spectrum", "fft2d", "scipy", "window", {"window": "flat-top"}),
    "mask": LiveKey("the radius of a mask", "fft_mask", "scipy", "high"),
    "wavelet": LiveKey("the threshold of wavelets", "wavelet2d", "parallel", "value", {"rule": "manual"}),
}


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
