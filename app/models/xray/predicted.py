"""Predicted times in the form that views need: bars of each variant, and sentences. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QCoreApplication

from app.base.numbers import count, number, seconds, short_count
from gpu_ops.engine.kernel_messages import Counted
from gpu_ops.explaining.prediction.break_even import BreakEven, find_break_even
from gpu_ops.explaining.prediction.gpus import GPUS, Gpu
from gpu_ops.explaining.prediction.model import LIMITS, Prediction, predict
from gpu_ops.explaining.prediction.sentences import sentences
from gpu_ops.explaining.prediction.waterfall import Part, waterfall

Kind = Literal["limit", "most", "predicted", "measured", "saved", "added", "copies"]
"""Of a bar: a limit, the one that takes longest, the predicted interval, or the recorded median; of a step from one
variant to another, the time that a limit saves or adds; the predicted interval with copies."""
BARS = len(LIMITS) + 2
"""The most bars of a variant."""
STEP_BARS = len(LIMITS) + 4
"""The most bars of a step from one variant to another: both with their recorded medians, and the limits between."""
LEAST_CHANGE = 0.005
"""The least change of a limit that has a bar, as a share of the longer time."""
DIGITS = 3


class Job(NamedTuple):
    """A variant by its title, whether its kernel is edited, and what was counted of it."""

    title: str
    edited: bool
    counted: Counted

    @property
    def name(self) -> str:
        return tr("{variant}, edited").format(variant=self.title) if self.edited else self.title


class CpuTime(NamedTuple):
    """The fastest time measured on the CPU for the input, with its number of `samples`, and the bytes that would be
    `copied` to a GPU and back."""

    title: str
    seconds: float
    samples: int
    copied: int


class Bar(NamedTuple):
    """A bar from `low` to `high`, in seconds, with its name and its text."""

    kind: Kind
    name: str
    text: str
    low: float
    high: float

    @property
    def described(self) -> str:
        """In words, with how it was found."""
        if self.kind in ("predicted", "measured", "copies"):
            return f"{self.name}: {self.text}"
        return tr("{name}: {text}, predicted").format(name=self.name, text=self.text)


class Times(NamedTuple):
    """The bars of a variant, and a sentence: the reason why there are none, or what follows from them."""

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
    bars += [_predicted(found), *_measured(job, gpu)]
    return Times(job.name, tuple(bars))


def _measured(job: Job, gpu: Gpu, name: str = "{word}") -> list[Bar]:
    """The recorded median, where there is one of the GPU as it is."""
    recorded = job.counted.recorded
    if recorded is None or not gpu.measured:
        return []
    return [Bar("measured", name.format(word=tr("measured")), seconds(recorded, DIGITS), 0.0, recorded)]


def _predicted(found: Prediction, name: str = "{word}") -> Bar:
    name = name.format(word=tr("predicted"))
    if found.unknown:
        return Bar("predicted", name, tr("unknown"), 0.0, 0.0)
    text = tr("{low} to {high}").format(low=seconds(found.low, DIGITS), high=seconds(found.high, DIGITS))
    return Bar("predicted", name, text, found.low, found.high)


def ladder(jobs: Sequence[Job], gpu: Gpu) -> Times | None:
    """The predicted time of each variant, with the recorded median where there is one; None without variants."""
    bars = []
    for job in jobs:
        name = f"{job.name.replace('{', '{{').replace('}', '}}')}: {{word}}"
        if job.counted.reason:
            bars.append(Bar("predicted", name.format(word=tr("none")), tr("not for this input"), 0.0, 0.0))
            continue
        bars += [_predicted(predict(job.counted.launches, gpu), name), *_measured(job, gpu, name)]
    return Times(tr("Ladder"), tuple(bars)) if bars else None


def step(jobs: Sequence[Job], gpu: Gpu) -> Times | None:
    """The way from the compared variant, which comes last, to the first: what each limit saves or adds, from the
    predicted time of one to that of the other; None without two variants."""
    if len(jobs) < 2 or any(job.counted.reason for job in jobs):
        return None
    after, before = jobs[0], jobs[-1]
    title = tr("From {before} to {after}").format(before=before.name, after=after.name)
    found = waterfall(before.counted.launches, after.counted.launches, gpu)
    if found.unknown:
        return Times(title, (), tr("unknown, because {reason}.").format(reason=found.unknown))
    names = [f"{job.name.replace('{', '{{').replace('}', '}}')}: {{word}}" for job in (before, after)]
    bars = [_predicted(found.before, names[0]), *_measured(before, gpu, names[0])]
    now, least = found.before.seconds, LEAST_CHANGE * max(found.before.seconds, found.after.seconds)
    for part in found.parts:
        if abs(part.change) >= least:
            bars.append(_change(part, now))
        now += part.change
    bars += [_predicted(found.after, names[1]), *_measured(after, gpu, names[1])]
    return Times(title, tuple(bars))


def _change(part: Part, now: float) -> Bar:
    name = tr("{limit} (counted: {before} → {after} {unit})").format(
        limit=LIMITS[part.limit],
        **{"before": short_count(part.counted[0]), "after": short_count(part.counted[1]), "unit": part.unit},
    )
    text = f"{'−' if part.change < 0 else '+'}{seconds(abs(part.change), DIGITS)}"
    ends = sorted((now, now + part.change))
    return Bar("saved" if part.change < 0 else "added", name, text, *ends)


def even_bars(job: Job, gpu: Gpu, cpu: CpuTime) -> Times | None:
    """The time of a variant with its copies, that of the CPU, and from which size on it is less; None if unknown."""
    if job.counted.reason:
        return None
    found = find_break_even(job.counted.launches, gpu, cpu.copied, cpu.seconds)
    if found is None:
        return None
    low, high = found.ends
    text = tr("{low} to {high}").format(low=seconds(low, DIGITS), high=seconds(high, DIGITS))
    own = tr("{variant} with copies to the GPU and back").format(variant=job.name)
    other, time = tr("{variant}, measured here").format(variant=cpu.title), seconds(cpu.seconds, DIGITS)
    bars = Bar("copies", own, text, low, high), Bar("measured", other, time, 0.0, cpu.seconds)
    return Times(tr("Break-even with the CPU"), bars, _even_text(job, found, cpu))


def _even_text(job: Job, found: BreakEven, cpu: CpuTime) -> str:
    """From which size on a GPU is faster than the CPU, in words."""
    names = {"variant": job.name, "cpu": cpu.title}
    if found.low is None:
        return tr("Predicted: {variant} with its copies is not faster than {cpu} at any size.").format(**names)
    if found.high is None:
        text = tr("Predicted: {variant} with its copies may be faster than {cpu} from {low} samples on, or never.")
        return text.format(low=_samples(found.low, cpu), **names)
    if found.high == 0:
        return tr("Predicted: {variant} with its copies is faster than {cpu} at any size.").format(**names)
    text = tr("Predicted: {variant} with its copies is faster than {cpu} from a size of {low} to {high} samples on.")
    return text.format(low=_samples(found.low, cpu), high=_samples(found.high, cpu), **names)


def _samples(factor: float, cpu: CpuTime) -> str:
    return short_count(round(factor * cpu.samples))


def explained(jobs: Sequence[Job], gpu: Gpu) -> list[str]:
    """What decides for each variant, and what changes from the compared one, which comes last, to the first."""
    known = [(job.name, predict(job.counted.launches, gpu)) for job in reversed(jobs) if not job.counted.reason]
    return sentences(known)


def as_json(jobs: Sequence[Job], gpu: Gpu) -> dict[str, Any]:
    """The predicted times as in an export, in seconds: like those of `kernelscope predict --json`."""
    variants = []
    for job in jobs:
        found = predict(job.counted.launches, gpu)
        known = not found.unknown and not job.counted.reason
        variants.append(
            {
                "variant": job.name,
                "unknown": job.counted.reason or found.unknown,
                "notes": list(found.notes),
                "low_s": found.low if known else None,
                "high_s": found.high if known else None,
                "limit": found.limit if known else None,
                "terms_s": dict(found.terms),
                "shares_s": dict(found.shares),
                "measured_s": job.counted.recorded if gpu.measured else None,
            }
        )
    return {"gpu": asdict(gpu), "variants": variants}


def gpu_text(gpu: Gpu) -> str:
    """The numbers of a GPU, and where its roofs come from."""
    own = GPUS[gpu.id]
    source = tr("changed as set above") if gpu != own else basis(own)
    text = tr("{copy} TB/s, L2 {l2} TB/s, {clock} GHz, {multiprocessors} multiprocessors; {source}")
    if gpu.shared:
        text = tr(
            "{copy} TB/s, L2 {l2} TB/s, {clock} GHz, {multiprocessors} multiprocessors with {shared} KiB of shared "
            "memory each; {source}"
        )
    return text.format(
        copy=number(gpu.copy / 1e12, DIGITS),
        l2=number(gpu.l2 / 1e12, DIGITS),
        clock=number(gpu.clock / 1e9, DIGITS),
        multiprocessors=count(gpu.multiprocessors),
        shared=count(gpu.shared_bytes >> 10),
        source=source,
    )


def basis(gpu: Gpu) -> str:
    """Where the roofs of a GPU come from, in words."""
    return tr("roofs measured") if gpu.measured else tr("roofs by its data sheet")
