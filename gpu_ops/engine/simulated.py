"""Runs on a simulated GPU while a person waits: the whole input where that is short, else the part in view, and on
request the rest of a local filter's result in further parts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gpu_ops.devices import open_device
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import KernelscopeError, counted
from gpu_ops.filters import FILTERS
from gpu_ops.filters.kit.bands import whole_reason
from gpu_ops.input_kinds import Spans
from gpu_ops.output_kinds import Array
from gpu_ops.progress import Cancelled
from gpu_ops.running.affordable import (
    PACE,
    WHOLE_SECONDS,
    Crop,
    crop_note,
    cut_note,
    cut_out,
    exact_crop,
    part_spans,
    reach_of,
    threads_of,
)
from gpu_ops.running.declared import offline_plan
from gpu_ops.running.quality import quality
from gpu_ops.running.runner import planned_run, run_experiment
from gpu_ops.task import MAIN, Task
from gpu_ops.types import Error, Experiment, Filter, Input, Run

TOO_LONG = 2 * WHOLE_SECONDS
"""A simulation of a whole input that was predicted to be short ends after so many seconds, and a part follows."""
FIRST_SHARE = 0.2
"""The share of the progress of a part that the whole input may follow."""


@dataclass(frozen=True)
class Piece:
    """A run and what it covers: its outputs are those of `input`, of which `region` is shown; `spans` are the part of
    the whole input that was simulated, () for all of it. `begins`: its outputs are new."""

    run: Run
    experiment: Experiment
    region: Crop
    spans: Spans
    begins: bool

    @property
    def task(self) -> Task:
        return Task.of(self.experiment.input.meta, self.run.params, self.run.pick.knobs)


@dataclass
class Simulation:
    """The run of one pick. `experiment` is of the whole input; `view` is what the person sees of it. `report(text,
    share)` hears how far it is, and `stop` ends it."""

    experiment: Experiment
    view: Spans
    stop: Callable[[], bool]
    report: Callable[[str, float], None]
    filter: Filter = field(init=False)
    _planned: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.filter = FILTERS.find(self.experiment.filter, self.whole.kind)
        self.key = planned_run(self.experiment, self.experiment.picks[0]).key

    @property
    def whole(self) -> Input:
        return self.experiment.input

    def run(self, always_part: bool = False) -> Iterator[Piece]:
        """The whole input, unless it is predicted to take longer than WHOLE_SECONDS; before that, or instead, the part
        in view. Without a prediction the part comes first, which gives one. With `always_part` nothing follows it.
        Raises what run_experiment raises."""
        local = self.filter.locality.kind in ("pointwise", "halo")
        spans = part_spans(self.whole, self.view if local else ())
        if spans and (always_part or not self._is_short()):
            share = 1.0 if always_part else FIRST_SHARE
            for piece in self._part(spans, share):
                yield piece
                if not always_part and not piece.run.failure and self._is_short():
                    break
            else:
                return
        try:
            yield from self._whole(FIRST_SHARE if spans else 0.0)
        except _TooLongError:
            yield from self._part(spans, 1.0)

    def _is_short(self) -> bool:
        seconds = self._seconds()
        return seconds is not None and seconds <= WHOLE_SECONDS

    def _seconds(self) -> float | None:
        """The prediction for the whole input."""
        return PACE.predict(self.key, self.whole.meta, self._threads())

    def _threads(self) -> int:
        """The threads of the whole input's plan; so many that it is never short where it cannot be planned."""
        if self._planned is None:
            pick = replace(self.experiment.picks[0], knobs=self.key.knobs)
            device = OfflineDevice(getattr(open_device(pick.device), "architecture", ""), pick.edits, assemble=False)
            try:
                self._planned = threads_of(offline_plan(self.filter, pick, self.key.params, self.whole.meta, device))
            except KernelscopeError:
                self._planned = 1 << 62
        return self._planned

    def _part(self, spans: Spans, share: float) -> Iterator[Piece]:
        part = replace(self.experiment, input=cut_out(self.whole, spans))
        begins = True
        for run in run_experiment(part, stop=self.stop, progress=self._progress(0.0, share), titled=True):
            task = Task.of(part.input.meta, run.params, run.pick.knobs)
            region = exact_crop(self.filter, task, self.whole.array.shape, _starts(spans))
            notes = crop_note(self.whole, spans, region), *run.notes
            run = replace(run, notes=notes, counted_shape=part.input.array.shape)
            yield Piece(run, part, region, spans, begins)
            begins = False

    def _whole(self, low: float) -> Iterator[Piece]:
        """Raises _TooLongError."""
        began, computed = time.monotonic(), False

        def late() -> bool:
            return not computed and bool(low) and time.monotonic() - began > TOO_LONG

        try:
            progress = self._progress(low, 1.0)
            for run in run_experiment(
                self.experiment, stop=lambda: self.stop() or late(), progress=progress, titled=True
            ):
                yield Piece(run, self.experiment, Crop((), (), True), (), not computed)
                computed = True
        except Cancelled:
            if self.stop() or not late():
                raise
            PACE.note(self.key, self.whole.meta, self._threads(), time.monotonic() - began, alone=True)
            raise _TooLongError from None

    def _progress(self, low: float, high: float) -> Callable[[str, int, int], None]:
        def report(text: str, done: int, total: int) -> None:
            self.report(text, low + (high - low) * done / max(total, 1))

        return report

    # The rest

    def rest(self) -> Iterator[Piece]:
        """The whole result of a local filter in parts: first the one that `run` begins with, whose counts stay those of
        the result, then larger ones of about WHOLE_SECONDS, and after each one what is covered so far. Ends after a
        wrong or failed part; nothing for other filters. Raises what run_experiment raises."""
        task = Task.of(self.whole.meta, self.key.params, self.key.knobs)
        if self.filter.locality.kind not in ("pointwise", "halo") or whole_reason(self.filter, task):
            return
        covered = Covered(self.filter, self.experiment, task)
        spans: Spans | None = part_spans(self.whole, self.view) or covered.whole
        while spans is not None:
            part = replace(self.experiment, input=cut_out(self.whole, spans))
            next_share = covered.share + math.prod(b - a for a, b in spans) / math.prod(b for _, b in covered.whole)
            progress = self._progress(covered.share, min(next_share, 1.0))
            *_, run = run_experiment(part, stop=self.stop, progress=progress, titled=True)
            if run.failure and run.failure_kind != "unsupported":  # a variant may need a larger part than this one
                yield Piece(run, part, Crop((), _starts(spans), False), spans, True)
            if run.failure or not covered.add(run, spans):
                return
            yield covered.piece()
            spans = covered.next_spans(math.prod(self._extents())) if run.ok is not False else None

    def _extents(self) -> tuple[int, ...]:
        """A part of the table's form that takes WHOLE_SECONDS."""
        kind, seconds = self.whole.meta.of_kind, self._seconds()
        if not seconds:
            return kind.part
        places = math.prod(kind.spatial(self.whole.array.shape)) * WHOLE_SECONDS / seconds
        factor = max(1.0, places / math.prod(kind.part)) ** (1 / kind.rank)
        return tuple(int(side * factor) for side in kind.part)


class _TooLongError(Exception):
    """The simulation of the whole took longer than predicted."""


@dataclass
class Covered:
    """What the parts of an input have given so far: a box of the whole's result that grows, with the verdict of all
    parts together and the counts of the first one: those of several would count what they share more than once, and
    other variants have other parts. `task` is that of the whole input."""

    filter: Filter
    experiment: Experiment
    task: Task
    box: Spans = ()
    _runs: list[Run] = field(default_factory=list)
    _axis: int = 0
    _outputs: dict[str, Array] = field(default_factory=dict)

    @property
    def whole(self) -> Spans:
        """The spans of the whole input."""
        return tuple((0, n) for n in self.task.meta.of_kind.spatial(self.task.meta.shape))

    @property
    def share(self) -> float:
        """The covered share of the whole."""
        if not self.box:
            return 0.0
        return math.prod(b - a for a, b in self.box) / math.prod(n for _, n in self.whole)

    def add(self, run: Run, spans: Spans) -> bool:
        """Take a part's run and what of its outputs is new; False where the part gives nothing of the whole's."""
        part = replace(self.task, metas={MAIN: replace(self.task.meta, shape=self._shape(spans))})
        region = exact_crop(self.filter, part, self.task.meta.shape, _starts(spans))
        if not region.exact:
            return False
        exact = tuple((a, a + s.stop - s.start) for a, s in zip(region.place, region.cut, strict=True))
        found = tuple(
            (a, b) if not self.box or axis == self._axis else self.box[axis] for axis, (a, b) in enumerate(exact)
        )
        inner = tuple((c - a, d - a) for (a, _), (c, d) in zip(spans, found, strict=True))
        for name, array in run.outputs.items():
            if name not in self._outputs:
                tail = array.shape[len(spans) :]
                self._outputs[name] = np.empty((*(n for _, n in self.whole), *tail), array.dtype)
            self._outputs[name][_slices(found)] = array[_slices(inner)]
        self.box = tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(self.box or found, found, strict=True))
        self._runs.append(run)
        return True

    def _shape(self, spans: Spans) -> tuple[int, ...]:
        return (*(b - a for a, b in spans), *self.task.meta.shape[len(spans) :])

    def piece(self) -> Piece:
        """All that is covered, as one run."""
        complete, whole = self.box == self.whole, self.experiment.input
        input = whole if complete else cut_out(whole, self.box)
        task = Task.of(input.meta, self.task.params, self.task.knobs)
        outputs = {name: array[_slices(self.box)] for name, array in self._outputs.items()}
        forms = {o.id: input.facts.describe(o.form(task)) for o in self.filter.given(task.params)}
        runs = self._runs
        run = replace(
            runs[-1],
            shape=input.meta.shape,
            outputs=outputs,
            forms=forms,
            work=self.filter.work(task),
            errors=_errors(runs),
            ok=_verdict(runs),
            counters=runs[0].counters,
            counted_shape=runs[0].shape,
            notes=(self._note(complete), *dict.fromkeys(note for run in runs for note in run.notes)),
            findings=tuple({(f.kind, f.file, f.line): f for run in runs for f in run.findings}.values()),
            printed=runs[0].printed,
            quality=quality(self.filter, input, task.params, outputs) if complete else {},
        )
        region = Crop((), (), True) if complete else Crop(_slices(_local(self.box)), _starts(self.box), True)
        return Piece(run, replace(self.experiment, input=input), region, () if complete else self._spans, True)

    @property
    def _spans(self) -> Spans:
        """The part of the input that the covered box depends on."""
        reach = reach_of(self.filter, self.task)
        limits = zip(self.box, reach, self.whole, strict=True)
        return tuple((max(a - h, 0), min(b + h, n)) for (a, b), h, (_, n) in limits)

    def _note(self, complete: bool) -> str:
        text = "simulated" if complete else cut_note(self.experiment.input, self.box)
        return f"{text} in {counted(len(self._runs), 'part')}; the counters are those of the first one"

    def next_spans(self, places: int) -> Spans | None:
        """The next part, next to what is covered along the axis of which least is: with its halo about so many places.
        None where nothing is left; with the border wrap an edge is left, because it reads the opposite one."""
        reach, wraps = reach_of(self.filter, self.task), self.task.params.get("border") == "wrap"
        rows = list(zip(self.box, reach, self.whole, strict=True))
        limits = [(h, n - h) if wraps and b - a < n else (0, n) for (a, b), h, (_, n) in rows]
        room = [(a - low, high - b) for ((a, b), _, _), (low, high) in zip(rows, limits, strict=True)]
        open_axes = [axis for axis, sides in enumerate(room) if max(sides) > 0]
        if not open_axes:
            return None
        self._axis = axis = min(open_axes, key=lambda k: (self.box[k][1] - self.box[k][0]) / self.whole[k][1])
        (start, stop), h, (_, n) = rows[axis]
        across = math.prod(min(b - a + 2 * r, m) for k, ((a, b), r, (_, m)) in enumerate(rows) if k != axis)
        thick = max(places // max(across, 1) - 2 * h, h + 1)
        below = room[axis][1] >= room[axis][0]
        new = (stop, min(stop + thick, limits[axis][1])) if below else (max(start - thick, limits[axis][0]), start)
        first, last = max(new[0] - h, 0), min(new[1] + h, n)
        least = min(2 * h + 1, n)  # a window may be no longer than what it slides over
        first = max(0, min(first, last - least))
        spans = [(max(a - r, 0), min(b + r, m)) for (a, b), r, (_, m) in rows]
        spans[axis] = first, max(last, first + least)
        return tuple(spans)


def _starts(spans: Spans) -> tuple[int, ...]:
    return tuple(start for start, _ in spans)


def _slices(spans: Spans) -> tuple[slice, ...]:
    return tuple(slice(*span) for span in spans)


def _local(spans: Spans) -> Spans:
    """The same extents from 0 on."""
    return tuple((0, stop - start) for start, stop in spans)


def _verdict(runs: list[Run]) -> bool | None:
    verdicts = {run.ok for run in runs}
    return False if False in verdicts else None if None in verdicts else True


def _errors(runs: list[Run]) -> dict[str, Error]:
    """Of each output the error of the part that is farthest from the reference, with the root mean square of all."""
    names: Mapping[str, Error] = runs[-1].errors
    found = {}
    for name in names:
        each = [(run.errors[name], math.prod(run.shape)) for run in runs if name in run.errors]
        worst = max((error for error, _ in each), key=lambda error: error.relative)
        total = sum(size for _, size in each)
        found[name] = replace(worst, rms=math.sqrt(sum(e.rms**2 * size for e, size in each) / total))
    return found
