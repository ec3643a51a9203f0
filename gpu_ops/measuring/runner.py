"""The only loop: an experiment becomes runs – computed, verified, timed – one pick after another, timed together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np

from gpu_ops.devices import open_device
from gpu_ops.devices.compiler import source_hash
from gpu_ops.devices.guarded import GuardedSession
from gpu_ops.errors import DeviceMemoryError, KernelError, KernelFault, ParamError
from gpu_ops.filters import find_filter
from gpu_ops.measuring.stages import time_transfers, wrap_host
from gpu_ops.measuring.timing import RULES, TRANSFERS, Rule, check_stop, measure_interleaved, once
from gpu_ops.measuring.verify import verify
from gpu_ops.params import check_values
from gpu_ops.plan import Device, DeviceArray, Launch, Plan, Sampler
from gpu_ops.progress import advance, finite, listening
from gpu_ops.types import Experiment, Filter, Pick, Run, Timing, Variant

ROTATION_BYTES = 256 << 20
"""Inputs and outputs rotate over at least this much, and over four times the last-level cache."""
MOST_COPIES = 64
PARTS = 1000
"""What a step counts in what `progress` is told, so that parts of it are whole numbers."""
CHUNK = 1 << 24


@dataclass
class _Job:
    """A pick at work. `run` is what is known so far."""

    pick: Pick
    variant: Variant
    device: Device
    run: Run
    session: Device
    plan: Plan | None = None
    timings: dict[str, Timing] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What a reader calls it."""
        return f"{self.variant.id} on {self.device.name}"


@dataclass
class _Watch:
    """Who may stop the loop, and who is told how far it is."""

    deadline: float | None
    seed: int
    stop: Callable[[], bool] | None
    progress: Callable[[str, int, int], None] | None
    total: int = 0
    text: str = ""
    begun: int = 0
    done: int = 0

    def begin(self, text: str, steps: int = 1) -> None:
        """Steps are about to begin. Raises Cancelled."""
        self.begun, self.done = self.done, self.done + steps
        self.say(text)

    def say(self, text: str) -> None:
        """What the step is at now. Raises Cancelled."""
        check_stop(self.stop)
        self.text = text
        self.tell(0.0)

    def tell(self, part: float) -> None:
        """A part of the steps, from 0 to 1, is done."""
        if self.progress is not None:
            done = self.begun + part * (self.done - self.begun)
            self.progress(self.text, int(PARTS * done), PARTS * self.total)

    def listening(self) -> AbstractContextManager[None]:
        """Inside, work in pieces tells its part of the step, and may be stopped."""
        return listening(self.stop, self.tell)


def run_experiment(
    experiment: Experiment,
    deadline: float | None = None,
    seed: int = 0,
    stop: Callable[[], bool] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Iterator[Run]:
    """Runs of an experiment: each pick's is yielded when computed, again when verified, again when timed.

    A pick that its variant does not support, that does not compile or does not fit in memory yields a run with its
    `failure`; the others go on. `deadline` is a time of `time.perf_counter`. `stop` is asked between steps, samples
    and pieces of long work on the host; `progress(text, done, total)` is told each step before it begins, and now and
    then how far it is. Raises ParamError and DeviceError before anything runs, KernelFault when a kernel dies,
    Cancelled when `stop` is true.
    """
    filter, experiment = _checked(experiment)
    jobs = [_job(filter, experiment, pick) for pick in experiment.picks]
    watch = _Watch(deadline, seed, stop, progress)
    watch.total = len(jobs) * (1 + (experiment.checks != "off") + (experiment.protocol != "none"))
    resident: dict[str, DeviceArray] = {}
    for job in jobs:
        watch.begin(f"preparing {job.name}")
        yield from _compute(job, filter, experiment, resident, watch)
        if job.plan is not None and experiment.checks != "off":
            watch.begin(f"verifying {job.name}")
            yield _verify(job, filter, experiment, resident[job.device.name], watch)
    if experiment.protocol == "none":
        return
    timed = [j for j in jobs if j.plan is not None and j.run.ok is not False]
    for name in dict.fromkeys(j.device.name for j in timed):
        group = [j for j in timed if j.device.name == name]
        watch.begin(f"timing {', '.join(j.variant.id for j in group)} on {name}", len(group))
        yield from _time(group, filter, experiment, resident[name], watch)


def default_picks(filter: Filter, devices: Sequence[str], variants: Sequence[str] = ()) -> tuple[Pick, ...]:
    """Every variant of the filter, or those named, on each device of its kind."""
    chosen = [filter.variant(v) for v in variants] if variants else filter.variants
    return tuple(Pick(v.id, d) for v in chosen for d in devices if d.split(":")[0] == v.device)


def _checked(experiment: Experiment) -> tuple[Filter, Experiment]:
    meta = experiment.input.meta
    filter = find_filter(experiment.filter, meta.kind)
    if meta.kind != filter.accepts:
        raise ParamError(f"{filter.id} takes a {filter.accepts}, {experiment.input.name} is a {meta.kind}.")
    if meta.dtype not in filter.dtypes:
        allowed = ", ".join(filter.dtypes)
        raise ParamError(f"{filter.id} takes {allowed}, {experiment.input.name} is {meta.dtype}; convert it (--dtype).")
    params = check_values(filter.params, experiment.params, filter.id)
    filter.check(meta, params)
    if not experiment.picks:
        raise ParamError(
            f"No variant of {filter.id} is picked; choose from {', '.join(v.id for v in filter.variants)}."
        )
    return filter, replace(experiment, filter=filter.id, params=params)


def planned_run(experiment: Experiment, pick: Pick) -> Run:
    """What a pick's run will be called, before anything is done: its identity with no outputs and no timings."""
    filter, experiment = _checked(experiment)
    variant = filter.variant(pick.variant)
    # A knob is shared by a comparison's picks; a variant takes those it has.
    own = {p.name: pick.knobs[p.name] for p in variant.knobs if p.name in pick.knobs}
    meta = experiment.input.meta
    return Run(
        pick=replace(pick, knobs=check_values(variant.knobs, own, variant.id)),
        filter=filter.id,
        params=experiment.params,
        shape=meta.shape,
        dtype=meta.dtype,
        stage="computed",
        outputs={},
        work=filter.work(meta, experiment.params),
        source_hash="-".join(source_hash(kernel, pick.edits) for kernel in variant.kernels),
        notes=(variant.caveat,) if variant.caveat else (),
    )


def _job(filter: Filter, experiment: Experiment, pick: Pick) -> _Job:
    variant = filter.variant(pick.variant)
    device = open_device(pick.device)
    if device.kind != variant.device and not (device.kind == "sim" and variant.device == "cuda"):
        raise ParamError(f"{filter.id} {variant.id} runs on {variant.device}, not on {pick.device}.")
    run = planned_run(experiment, pick)
    session = device.session(pick.edits)
    guard = experiment.protocol == "none" and experiment.checks != "off"
    return _Job(run.pick, variant, device, run, cast(Device, GuardedSession(session)) if guard else session)


def _fail(job: _Job, reason: str, kind: Any) -> Run:
    job.plan = None
    job.run = replace(job.run, failure=reason, failure_kind=kind)
    return job.run


def _compute(
    job: _Job, filter: Filter, experiment: Experiment, resident: dict[str, DeviceArray], watch: _Watch
) -> Iterator[Run]:
    meta = experiment.input.meta
    reason = job.variant.supports(meta, experiment.params, job.pick.knobs, job.device.limits)
    if reason:
        yield _fail(job, reason, "unsupported")
        return
    try:
        if job.device.name not in resident:
            watch.say(f"copying {experiment.input.name} to {job.device.name}")
            resident[job.device.name] = job.device.upload(experiment.input.array)
            watch.say(f"preparing {job.name}")
        x = resident[job.device.name]
        with finite():  # compiling and allocating; nothing is launched that is waited for
            job.plan = job.variant.plan(job.session, x, experiment.params, job.pick.knobs)
        watch.say(f"computing {job.name}")
        with watch.listening():
            outputs = _execute(job, {name: _poison(out) for name, out in job.plan.outputs.items()})
    except KernelFault:
        raise
    except KernelError as error:
        yield _fail(job, str(error), "kernel")
        return
    except DeviceMemoryError as error:
        yield _fail(job, str(error), "memory")
        return
    job.timings.update(_compile_timing(job.plan))
    job.run = replace(job.run, outputs=outputs, timings=dict(job.timings))
    yield job.run


def _execute(job: _Job, poison: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, np.ndarray[Any, Any]]:
    """One execution over poisoned outputs."""
    assert job.plan is not None
    for name, wrong in poison.items():
        job.session.upload(wrong, out=job.plan.outputs[name])
    job.session.execute(job.plan)
    return {name: job.session.download(out) for name, out in job.plan.outputs.items()}


def _poison(array: DeviceArray) -> np.ndarray[Any, Any]:
    """All bits set: NaN in a float, the largest value in an integer."""
    poison: np.ndarray[Any, Any] = np.full(array.nbytes, 0xFF, np.uint8).view(array.dtype)
    return poison.reshape(array.shape)


def _turned_over(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Every bit of a result turned over, so that an element nobody writes cannot stay what it was."""
    inverted: np.ndarray[Any, Any] = np.invert(np.ascontiguousarray(array).reshape(-1).view(np.uint8)).view(array.dtype)
    return inverted.reshape(array.shape)


def _compile_timing(plan: Plan) -> dict[str, Timing]:
    kernels = {id(s.kernel.compiled): s.kernel for s in plan.steps if isinstance(s, Launch)}
    return {"compile": once("compile", sum(k.compile_seconds for k in kernels.values()))} if kernels else {}


def _verify(job: _Job, filter: Filter, experiment: Experiment, x: DeviceArray, watch: _Watch) -> Run:
    """Hold the outputs to the reference; without timing to come, everything else is checked right away as well."""
    with watch.listening():
        errors = verify(filter, job.variant, experiment, job.run.outputs, job.pick.knobs)
    job.run = replace(job.run, stage="verified", errors=errors, ok=all(e.ok for e in errors.values()))
    with listening(watch.stop):
        if job.run.ok and experiment.protocol == "none":
            _verify_again(job, filter, experiment)
        if isinstance(job.session, GuardedSession):
            _verify_memory(job, experiment, x)
    return job.run


def _verify_again(job: _Job, filter: Filter, experiment: Experiment) -> None:
    again = _execute(job, {name: _turned_over(array) for name, array in job.run.outputs.items()})
    errors = verify(filter, job.variant, experiment, again, job.pick.knobs)
    if not all(e.ok for e in errors.values()):
        _condemn(job, "right once and wrong the next time: an element is not written, or the result depends on timing")
        job.run = replace(job.run, errors=errors)


def _verify_memory(job: _Job, experiment: Experiment, x: DeviceArray) -> None:
    """What the kernel may not touch: memory beyond its arrays, and the input."""
    if cast(GuardedSession, job.session).damaged():
        _condemn(job, "memory outside the arrays was written: a bound is missing")
    if not _same_bytes(job.session.download(x), experiment.input.array):
        _condemn(job, "the input was overwritten")
        job.session.upload(experiment.input.array, out=x)


def _same_bytes(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays of one shape hold the same bits; NaN is equal to itself here."""
    left, right = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (a, b))
    for start in range(0, left.size, CHUNK):
        advance(start, left.size)
        if not np.array_equal(left[start : start + CHUNK], right[start : start + CHUNK]):
            return False
    return True


def _condemn(job: _Job, note: str) -> None:
    job.run = replace(job.run, ok=False, timings={}, notes=(*job.run.notes, note))


def _time(jobs: list[_Job], filter: Filter, experiment: Experiment, x: DeviceArray, watch: _Watch) -> Iterator[Run]:
    """Time the jobs of one device together, in as few groups as fit its memory."""
    rule = RULES[experiment.protocol]
    device = jobs[0].device
    device.sampler([_nothing()], "wall")  # first-use costs belong to nobody
    shared = time_transfers(device, experiment.input.array, x, watch.stop)
    inputs = _rotation(device, experiment, x, len(jobs), watch)
    waiting = list(jobs)
    while waiting:
        samplers, waiting = _samplers(waiting, experiment, inputs, watch)
        if not samplers:
            yield _fail(waiting.pop(0), "it does not fit in the device's memory next to the input", "memory")
            continue
        if waiting:
            note = "measured in groups, because the variants do not fit in memory together"
            for job in jobs:
                job.run = replace(job.run, notes=tuple(dict.fromkeys((*job.run.notes, note))))
        yield from _time_group(jobs, samplers, filter, experiment, rule, shared, x, watch)


def _nothing() -> Plan:
    return Plan((), {})


def _rotation(device: Device, experiment: Experiment, x: DeviceArray, jobs: int, watch: _Watch) -> list[DeviceArray]:
    """Copies of the input so that nothing timed finds its data in the cache; as many as memory allows."""
    if experiment.mode != "stream":
        return [x]
    total = max(4 * device.limits.l2_bytes, ROTATION_BYTES)
    wanted = min(-(-total // max(2 * x.nbytes, 1)), MOST_COPIES)
    affordable = int(device.free_bytes() // 2 // max((jobs + 1) * 2 * x.nbytes, 1))
    inputs = [x]
    for _ in range(min(wanted, affordable) - 1):
        check_stop(watch.stop)
        inputs.append(device.empty(x.shape, x.dtype))
        device.copy(inputs[-1], x)
    return inputs


def _samplers(
    jobs: list[_Job], experiment: Experiment, inputs: list[DeviceArray], watch: _Watch
) -> tuple[dict[int, Sampler], list[_Job]]:
    """Samplers by job, for as many jobs from the front as fit in memory, and the jobs left."""
    samplers: dict[int, Sampler] = {}
    for place, job in enumerate(jobs):
        assert job.plan is not None
        check_stop(watch.stop)
        try:
            more = [job.variant.plan(job.session, x, experiment.params, job.pick.knobs) for x in inputs[1:]]
            samplers[id(job)] = job.session.sampler([job.plan, *more], experiment.mode)
        except DeviceMemoryError:
            return samplers, jobs[place:]
    return samplers, []


def _time_group(
    jobs: list[_Job],
    samplers: dict[int, Sampler],
    filter: Filter,
    experiment: Experiment,
    rule: Rule,
    shared: Mapping[str, Timing],
    x: DeviceArray,
    watch: _Watch,
) -> Iterator[Run]:
    by_id = {id(job): job for job in jobs}
    timings_by_key = measure_interleaved(
        samplers, rule, "kernel", watch.deadline, watch.seed, stop=watch.stop, tell=watch.tell
    )
    for key, timing in timings_by_key:
        job = by_id[key]
        timings = {**job.timings, **shared, "kernel": timing}
        host = samplers[key].host_seconds_per_step
        if host:
            timings["enqueue"] = once("enqueue", host)
        if shared:
            timings.update(_time_elapsed(job, experiment, x, watch))
        job.run = replace(job.run, stage="timed", timings=timings)
        if experiment.checks != "off":
            with listening(watch.stop):
                _verify_again(job, filter, experiment)
        yield job.run


def _time_elapsed(job: _Job, experiment: Experiment, x: DeviceArray, watch: _Watch) -> dict[str, Timing]:
    """Upload, plan and download as one, from memory the system may move and from pinned memory."""
    assert job.plan is not None
    kinds: dict[str, Literal["pageable", "pinned"]] = {"elapsed": "pageable", "elapsed_pinned": "pinned"}
    samplers = {
        stage: job.session.sampler([wrap_host(job.session, job.plan, experiment.input.array, x, kind)], "wall")
        for stage, kind in kinds.items()
    }
    timings = {}
    for stage, timing in measure_interleaved(samplers, TRANSFERS, stop=watch.stop):
        timings[stage] = replace(timing, stage=stage)
    return timings
