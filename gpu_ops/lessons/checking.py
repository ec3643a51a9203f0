"""Checks lessons: every name exists, every answer is what the simulated GPU counts or a recorded row has, and every
broken kernel is found out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gpu_ops.counters import COUNTERS, FIGURES
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.errors import KernelError, KernelscopeError, ParamError, plain, shortened
from gpu_ops.explaining.judging import recorded_reports
from gpu_ops.explaining.sentences import number
from gpu_ops.explaining.xray import XRay, xray
from gpu_ops.lessons.experiments import filter_of, input_of
from gpu_ops.lessons.expressions import evaluate
from gpu_ops.lessons.lesson import Action, Exercise, Lesson, Page, Question, Setup, Trial
from gpu_ops.params import Values, check_values, nearest
from gpu_ops.running.affordable import affordable
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Filter, Pick, Variant

OWN = ("samples", "outputs", "least_bytes", "whole_least_bytes", "launches", "findings", "registers", "occupancy")
"""Figures of an X-ray that are no counters: the samples of the input, the elements of the result, the bytes that any
variant must move for what is simulated, and for the whole input, to which recorded times belong, the launches, the
number of findings, and of the first kernel registers per thread and the share of a multiprocessor's warps that can be
resident."""
RECORDED = re.compile(r"(?P<stage>kernel|elapsed|elapsed_pinned|upload|download)_us_(?P<gpu>[a-z0-9]+)")
"""A figure of recorded rows: the median time of a stage in microseconds on a recorded GPU."""
EXACT = 1e-9
"""The relative difference at which an answer without a tolerance still is the computed one."""


def check_lesson(lesson: Lesson) -> list[str]:
    """What is wrong in a lesson, a sentence each; [] where nothing is. Runs its experiments on the simulated GPU."""
    found, rays = [], dict[str, XRay]()
    for place, page in enumerate(lesson.pages, 1):
        try:
            faults = _check_page(page, rays)
        except KernelscopeError as error:
            faults = [shortened(error.sentence())]
        where = f"{lesson.id}, page {place} ({plain(page.title, 60)}, line {page.line})"
        found += [f"{where}: {fault}" for fault in faults]
    return found


def _check_page(page: Page, rays: dict[str, XRay]) -> list[str]:
    if page.setup is None:
        return []
    filter = check_setup(page.setup)
    for trial in page.trials:
        check_setup(trial.setup).variant(trial.variant)
    if fault := _counter_fault(page.setup, filter, rays):
        return [fault]
    if page.question:
        return check_question(page.question, Figures(page.trials, rays))
    if page.action:
        return _check_action(page.action, page.setup, filter)
    return _check_exercise(page.exercise, page.setup, filter) if page.exercise else []


def check_setup(setup: Setup) -> Filter:
    """The filter of a setup whose names all exist. Raises KernelscopeError."""
    filter = filter_of(setup)
    check_values(filter.params, setup.params, filter.id)
    variants = [filter.variant(id) for id in setup.variants]
    known = {knob.name for variant in variants for knob in variant.knobs}
    if unknown := sorted(set(setup.knobs) - known):
        raise ParamError(f"No variant of the page has the knob {unknown[0]}; they have {', '.join(sorted(known))}.")
    for variant in variants:
        knobs_of(variant, setup)
    return filter


def _counter_fault(setup: Setup, filter: Filter, rays: dict[str, XRay]) -> str:
    """What is wrong with the counter of a page: the kernel that its X-ray shows must count it."""
    shown = [id for id in setup.variants if filter.variant(id).kernels]
    if not setup.counter:
        return ""
    if not shown:
        return f"no variant of the page has a kernel, whose {setup.counter} could be shown."
    figures = Figures([Trial("shown", shown[-1], setup)], rays)
    return "" if figures.value("shown", setup.counter) else f"{shown[-1]} has no {setup.counter}; name one that it has."


def check_question(question: Question, figures: Figures) -> list[str]:
    """What is wrong with the answer of a question; [] where it is what is computed. Raises KernelscopeError."""
    values = [evaluate(text, figures.value) for text in question.computed]
    if question.kind == "number":
        value, answer = float(values[0]), float(question.answer)
        limit = max(question.tolerance, EXACT) * abs(answer)
        right = abs(value - answer) <= limit
        return [] if right else [f"the answer says {number(answer)}, and {question.computed[0]} is {number(value)}."]
    if question.kind == "choice":
        holding = [choice for choice, value in zip(question.choices, values, strict=True) if value is True]
        if holding == [question.answer]:
            return []
        return [f"the answer says {question.answer!r}, and what holds is {' and '.join(map(repr, holding)) or 'none'}."]
    ordered = [choice for _, choice in sorted(zip(map(float, values), question.choices, strict=True))]
    if len(set(map(float, values))) < len(values):
        return [f"two of {', '.join(question.computed)} are equal, which have no order."]
    return [] if tuple(ordered) == question.answer else [f"the right order is {', '.join(ordered)}."]


def _check_action(action: Action, setup: Setup, filter: Filter) -> list[str]:
    for id in action.variants:
        filter.variant(id)
    wanted = check_values(filter.params, {**setup.params, **action.params}, filter.id)
    begin = check_values(filter.params, setup.params, filter.id)
    done = set(action.variants) <= set(setup.variants) and all(wanted[k] == begin[k] for k in action.params)
    return ["the action is done before it begins; ask for other values."] if done else []


def _check_exercise(exercise: Exercise, setup: Setup, filter: Filter) -> list[str]:
    variant = filter.variant(exercise.variant)
    if not variant.kernels:
        return [f"{variant.id} has no kernel to repair."]
    file = variant.kernels[0]
    text = read_source(file)
    if exercise.find not in text or exercise.broken(text) == text:
        return [f"{file} has no {exercise.find!r} to replace; copy the text from the file."]
    trial = Trial("own", variant.id, setup)
    if findings := ray_of(trial).findings:
        return [f"{file} itself has a finding: {shortened(str(findings[0]))}"]
    try:
        found = ray_of(trial, {file: exercise.broken(text)}).findings
    except KernelError:
        return []
    return [] if found or _is_wrong(filter, variant, exercise, setup) else ["nothing finds the fault of the kernel."]


def _is_wrong(filter: Filter, variant: Variant, exercise: Exercise, setup: Setup) -> bool:
    """Whether the broken kernel's result differs from the reference."""
    file = variant.kernels[0]
    edits = {file: exercise.broken(read_source(file))}
    pick = Pick(variant.id, "sim", knobs_of(variant, setup), edits=edits)
    experiment = Experiment(filter.id, input_of(setup), setup.params, (pick,), protocol="none")
    return any(run.ok is False or run.failure for run in run_experiment(experiment))


def knobs_of(variant: Variant, setup: Setup) -> Values:
    """The setup's knobs that this variant has, and the defaults of its others."""
    own = {knob.name for knob in variant.knobs}
    return check_values(variant.knobs, {k: v for k, v in setup.knobs.items() if k in own}, variant.id)


class Figures:
    """The figures of a page's trials, each counted when an expression first names it. `rays` keeps the X-rays, also for
    other pages."""

    def __init__(self, trials: Sequence[Trial], rays: dict[str, XRay]) -> None:
        self._trials, self._rays = {trial.name: trial for trial in trials}, rays

    def value(self, name: str, figure: str) -> float:
        """Raises ParamError for names that there are not, KernelError where a kernel fails."""
        if name not in self._trials:
            raise ParamError(f"There is no run {plain(name, 40)!r}; choose from {', '.join(self._trials)}.")
        trial = self._trials[name]
        recorded = RECORDED.fullmatch(figure)
        if recorded:
            return recorded_microseconds(trial, recorded["stage"], recorded["gpu"])
        if figure == "whole_least_bytes":
            return float(whole_least_bytes(trial.setup))
        if figure not in (*COUNTERS, *FIGURES, *OWN):
            known = dict.fromkeys((*OWN, "kernel_us_h100", "elapsed_us_h100", *FIGURES, *COUNTERS))
            text = f"There is no figure {plain(figure, 40)!r}{nearest(figure, tuple(known))}"
            raise ParamError(f"{text}; choose from {', '.join(known)}.")
        key = repr((trial.variant, replace(trial.setup, variants=(), panel="", tab="", counter="")))
        if key not in self._rays:
            self._rays[key] = ray_of(trial)
        return _figure(self._rays[key], figure)


def ray_of(trial: Trial, edits: Mapping[str, str] | None = None) -> XRay:
    """The X-ray of a trial, of the part of its input that the window's X-ray simulates. Raises KernelscopeError."""
    input, _ = affordable(input_of(trial.setup))
    filter = filter_of(trial.setup)
    variant = filter.variant(trial.variant)
    return xray(filter, variant, input, trial.setup.params, knobs_of(variant, trial.setup), edits=edits)


def whole_least_bytes(setup: Setup) -> int:
    """The bytes that any variant must move for the whole input of a setup, of which an X-ray may simulate a part."""
    input, filter = input_of(setup), filter_of(setup)
    return filter.work(Task.of(input.meta, check_values(filter.params, setup.params, filter.id))).bytes


def recorded_microseconds(trial: Trial, stage: str, gpu: str) -> float:
    """The median time of a stage of the trial on a recorded GPU, in microseconds. Raises ParamError where no row has
    exactly this experiment."""
    input = input_of(trial.setup)
    filter = filter_of(trial.setup)
    wanted = (filter.id, filter.variant(trial.variant).id, input.array.shape, input.array.dtype.name, "stream")
    params = dict(check_values(filter.params, trial.setup.params, filter.id))
    for name, report in recorded_reports().items():
        for row in report.rows if name.startswith(f"{gpu}-") else ():
            same = wanted == (row.filter, row.variant, tuple(row.shape), row.dtype, row.mode)
            same = same and dict(row.params) == params and dict(trial.setup.knobs).items() <= dict(row.knobs).items()
            if same and row.input.get("generator") == trial.setup.sample and row.ok and stage in row.stages:
                return row.stages[stage].median * 1e6
    text = f"No recorded row of {plain(gpu, 20)} has {filter.id} {trial.variant} with this input and these settings"
    raise ParamError(f"{text}; `kernelscope bench` makes one, or ask for a counter.")


def _figure(x: XRay, figure: str) -> float:
    kernel = x.kernels[0]
    samples = math.prod(x.shape)
    own: Mapping[str, float] = {
        "samples": float(samples),
        "outputs": float(x.outputs),
        "least_bytes": float(x.least_bytes),
        "launches": float(sum(k.launches for k in x.kernels)),
        "findings": float(sum(f.count for f in x.findings)),
        "registers": float(kernel.resources.get("registers", 0)),
        "occupancy": kernel.occupancy.share if kernel.occupancy else 0.0,
    }
    if figure in own:
        return own[figure]
    counts = {**x.totals, "samples": samples}
    return float((COUNTERS.get(figure) or FIGURES[figure]).value(counts))
