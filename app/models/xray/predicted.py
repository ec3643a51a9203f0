"""Predicted times in the form that views need: bars of each variant, and sentences. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from PySide6.QtCore import QCoreApplication

from app.base.numbers import count, number, seconds
from gpu_ops.engine.kernel_messages import Counted
from gpu_ops.explaining.prediction.gpus import GPUS, Gpu
from gpu_ops.explaining.prediction.model import LIMITS, Prediction, predict
from gpu_ops.explaining.prediction.sentences import sentences

Kind = Literal["limit", "most", "predicted", "measured"]
"""Of a bar: a limit, the one that takes longest, the predicted interval, or the recorded median."""
BARS = len(LIMITS) + 2
"""The most bars of a variant."""
DIGITS = 3


class Job(NamedTuple):
    """A variant by its title, whether its kernel is edited, and what was counted of it."""

    title: str
    edited: bool
    counted: Counted

    @property
    def name(self) -> str:
        return tr("{variant}, edited").format(variant=self.title) if self.edited else self.title


class Bar(NamedTuple):
    """A bar from `low` to `high`, in seconds, with its name and its text."""

    kind: Kind
    name: str
    text: str
    low: float
    high: float


class Times(NamedTuple):
    """The bars of a variant, or the reason why there are none."""

    name: str
    bars: tuple[Bar, ...] = ()
    reason: str = ""


def tr(text: str) -> str:
    return QCoreApplication.translate("Predicted", text)


def times(job: Job, gpu: Gpu) -> Times:
    """The times of a variant on a GPU. A recorded median is that of the GPU as it is."""
    if job.counted.reason:
        return Times(job.name, (), job.counted.reason)
    found = predict(job.counted.launches, gpu)
    longest = "" if found.unknown else found.limit
    bars = []
    for limit, text in LIMITS.items():
        alone = found.terms[limit]
        bars.append(Bar("most" if limit == longest else "limit", text, seconds(alone, DIGITS), 0.0, alone))
    bars.append(_predicted(found))
    recorded = job.counted.recorded
    if recorded is not None and gpu.measured:
        bars.append(Bar("measured", tr("measured"), seconds(recorded, DIGITS), 0.0, recorded))
    return Times(job.name, tuple(bars))


def _predicted(found: Prediction) -> Bar:
    if found.unknown:
        return Bar("predicted", tr("predicted"), tr("unknown"), 0.0, 0.0)
    text = tr("{low} to {high}").format(low=seconds(found.low, DIGITS), high=seconds(found.high, DIGITS))
    return Bar("predicted", tr("predicted"), text, found.low, found.high)


def explained(jobs: Sequence[Job], gpu: Gpu) -> list[str]:
    """What decides for each variant, and what changes from the compared one, which comes last, to the first."""
    known = [(job.name, predict(job.counted.launches, gpu)) for job in reversed(jobs) if not job.counted.reason]
    return sentences(known)


def gpu_text(gpu: Gpu) -> str:
    """The numbers of a GPU, and where its roofs come from."""
    own = GPUS[gpu.id]
    source = tr("changed as set above") if gpu != own else basis(own)
    return tr("{copy} TB/s, L2 {l2} TB/s, {clock} GHz, {multiprocessors} multiprocessors; {source}").format(
        copy=number(gpu.copy / 1e12, DIGITS),
        l2=number(gpu.l2 / 1e12, DIGITS),
        clock=number(gpu.clock / 1e9, DIGITS),
        multiprocessors=count(gpu.multiprocessors),
        source=source,
    )


def basis(gpu: Gpu) -> str:
    """Where the roofs of a GPU come from, in words."""
    return tr("roofs measured") if gpu.measured else tr("roofs by its data sheet")
