"""The only loop: it computes and verifies the picks of an experiment one by one, and times them together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from gpu_ops.device_names import device_kind
from gpu_ops.devices import open_device
from gpu_ops.devices.guarded import GuardedSession
from gpu_ops.devices.limited import Allowance, LimitedSession
from gpu_ops.errors import DeviceMemoryError, ParamError
from gpu_ops.filters import FILTERS
from gpu_ops.filters.kit.bands import footprint, whole_reason
from gpu_ops.output_kinds import Form
from gpu_ops.params import Values, check_values, with_current_names
from gpu_ops.plan import Device, DeviceArray
from gpu_ops.progress import finite, listening
from gpu_ops.running import kept_plans
from gpu_ops.running.attempt import FOR_ALL, INPUT_OVERWRITTEN, Attempt, Watch, has_no_errors, soonest_first
from gpu_ops.running.declared import mistakes
from gpu_ops.running.device_bands import DeviceBands
from gpu_ops.running.kept_plans import KeptPlan
from gpu_ops.running.quality import quality
from gpu_ops.running.rounds import time_attempts, time_bands
from gpu_ops.running.suitable import check_input, check_type
from gpu_ops.running.timing import compile_timing
from gpu_ops.running.verify import full_meta, nothing_judged
from gpu_ops.task import MAIN, Task
from gpu_ops.types import REFERENCE, Error, Experiment, Filter, Pick, Run, Variant


def run_experiment(
    experiment: Experiment,
    deadline: float | None = None,
    seed: int = 0,
    stop: Callable[[], bool] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    again: bool = True,
    titled: bool = False,
) -> Iterator[Run]:
    """Yield the run of each pick when it is computed, again when it is verified, again with its quality where the
    input's noise-free original is known, again when it is timed. Where nothing is timed, all picks are computed before
    the first is verified; but see `attempt.soonest_first`.

    A pick that its variant does not support, that does not compile, lacks its library or does not fit in memory yields
    a run with its `failure`; the others go on. Where nothing is timed, and on a GPU where the experiment limits the
    memory, a pick that does not fit runs in bands if its filter allows it, and a note says so; such a pick is timed end
    to end only. Where nothing is timed, a right result is computed and verified `again`, on a simulated GPU in another
    order. `deadline` is a time of `time.perf_counter`. It calls `stop` between steps, samples and pieces of long work
    on the host, and `progress(text, done, total)` before each step and now and then within it; the text names variants
    by their ids, or where that is `titled` by their titles. Raises ParamError and
    DeviceError before anything runs, KernelFault when a kernel dies, Cancelled when `stop` returns true.
    """
    attempts = _attempts(experiment, titled, again)
    watch = Watch(deadline, seed, stop, progress)
    steps = 1, experiment.checks != "off", experiment.input.clean is not None, experiment.protocol != "none"
    watch.total = len(attempts) * sum(steps)
    resident: dict[str, DeviceArray] = {}
    live = experiment.protocol == "none"
    for group in soonest_first(attempts) if live else [[attempt] for attempt in attempts]:
        for attempt in group:
            watch.begin(f"preparing {attempt.name}")
            in_use = any(j.plan is not None and j.device.name == attempt.device.name for j in attempts)
            yield from _compute(attempt, resident, watch, in_use)
        if live:
            yield from _verify_all(group, watch, again)
        else:
            yield from _verify(group[0], watch)
    if experiment.input.clean is not None:  # after all pictures, which do not wait for it
        yield from _compare(attempts, watch)
    if live:
        for attempt in attempts:
            attempt.keep_plan()
        return
    yield from _time([j for j in attempts if j.computed and j.run.ok is not False], resident, watch)


def _time(timed: list[Attempt], resident: Mapping[str, DeviceArray], watch: Watch) -> Iterator[Run]:
    """Time the attempts of each device together, and those in bands by themselves."""
    for name in dict.fromkeys(j.device.name for j in timed):
        group = [j for j in timed if j.device.name == name]
        watch.begin(f"timing {_all_of(group)}", len(group))
        if group[0].device.clock == "simulated":
            yield from _count(group, watch)
            continue
        if whole := [j for j in group if j.plan is not None]:
            yield from time_attempts(whole, resident[name], watch)
        for attempt in (j for j in group if j.bands is not None):
            yield time_bands(attempt, watch)


def _all_of(group: Sequence[Attempt]) -> str:
    """Attempts on one device in a message."""
    if group[0].titled:
        return "; ".join(dict.fromkeys(j.name for j in group))
    return f"{', '.join(dict.fromkeys(j.variant.id for j in group))} on {group[0].device.name}"


def last_runs(runs: Iterable[Run]) -> list[Run]:
    """The last run of each pick, in the order of their first runs."""
    return list({run.key: run for run in runs}.values())


def default_picks(filter: Filter, devices: Sequence[str], variants: Sequence[str] = ()) -> tuple[Pick, ...]:
    """Every variant of the filter, or the named ones, on each device that can run it."""
    chosen = [filter.variant(v) for v in variants] if variants else filter.variants
    return tuple(Pick(v.id, d) for v in chosen for d in devices if runs_on(v, d))


def runs_on(variant: Variant, device: str) -> bool:
    """CPU variants run on the CPU, kernels on CUDA devices and simulated ones, CUDA libraries on CUDA devices."""
    kind = device_kind(device)
    return kind == variant.device or (kind == "sim" and variant.device == "cuda" and not variant.library)


def _check(experiment: Experiment) -> tuple[Filter, Experiment]:
    meta = experiment.input.meta
    filter = FILTERS.find(experiment.filter, meta.kind)
    if meta.kind != filter.accepts:
        raise ParamError(f"{filter.id} takes a {filter.accepts}, {experiment.input.name} is a {meta.kind}.")
    check_type(filter, experiment.input)
    params = check_values(filter.params, experiment.params, filter.id)
    check_input(filter, experiment.input, params)
    if not experiment.picks:
        raise ParamError(
            f"No variant of {filter.id} is picked; choose from {', '.join(v.id for v in filter.variants)}."
        )
    if experiment.protocol != "none" and any(pick.variant == REFERENCE for pick in experiment.picks):
        raise ParamError(f"The {REFERENCE} of {filter.id} is its definition, which is not timed; leave it out here.")
    experiment = replace(experiment, filter=filter.id, params=params)
    return filter, replace(experiment, picks=tuple(_todays(filter, experiment, pick) for pick in experiment.picks))


def _todays(filter: Filter, experiment: Experiment, pick: Pick) -> Pick:
    """The pick with this version's id of its variant; an origin of an older version may have another one."""
    new = filter.today(pick.variant, experiment.input.meta, {**experiment.params, **pick.params}, pick.knobs)
    if new != pick.variant:
        warnings.warn(filter.renaming(pick.variant, new), FutureWarning, stacklevel=3)
    return replace(pick, variant=new)


def params_of(filter: Filter, experiment: Experiment, pick: Pick) -> Values:
    """The values of all parameters of a pick: the experiment's, replaced by the pick's own if any. Raises ParamError
    for values that the filter or the input does not allow."""
    if not pick.params:
        return experiment.params
    params = check_values(filter.params, {**experiment.params, **pick.params}, filter.id)
    check_input(filter, experiment.input, params)
    return params


def planned_run(experiment: Experiment, pick: Pick) -> Run:
    """The run of a pick before anything runs: its identity, without outputs and timings."""
    filter, experiment = _check(experiment)
    return _planned_run(filter, experiment, _todays(filter, experiment, pick))


def _planned_run(filter: Filter, experiment: Experiment, pick: Pick) -> Run:
    """The run of a pick of a checked experiment."""
    params = params_of(filter, experiment, pick)
    variant = filter.variant(pick.variant)
    # The picks of a comparison share their knobs; a variant takes those that it has.
    given = with_current_names(variant.knobs, pick.knobs)
    own = {p.name: given[p.name] for p in variant.knobs if p.name in given}
    meta = experiment.input.meta
    return Run(
        pick=replace(pick, knobs=check_values(variant.knobs, own, variant.id)),
        filter=filter.id,
        params=params,
        shape=meta.shape,
        dtype=meta.dtype,
        stage="computed",
        outputs={},
        work=filter.work(Task.of(meta, params)),
        source_hash=kept_plans.code_of(variant, pick.edits),
        notes=(variant.exactness.caveat,) if variant.exactness else (),
    )


def _attempts(experiment: Experiment, titled: bool, again: bool) -> list[Attempt]:
    """An attempt for each pick. Where all picks have kept plans, nothing is checked, since all was the same before."""
    picks = experiment.picks
    keys = [kept_plans.key_of(experiment, pick, again) for pick in picks]

    def owners(pick: Pick) -> tuple[Filter, Device]:
        return FILTERS.find(experiment.filter, experiment.input.kind), open_device(pick.device)

    kept = [
        kept_plans.take(key, experiment.input, partial(owners, pick)) for key, pick in zip(keys, picks, strict=True)
    ]
    if picks and all(kept):
        return [_again(experiment, plan, key, titled) for plan, key in zip(kept, keys, strict=True) if plan]
    filter, checked = _check(experiment)
    attempts = []
    for pick, given, key, plan in zip(checked.picks, picks, keys, kept, strict=True):
        attempt = _begin(filter, checked, pick, titled) if plan is None else _again(checked, plan, key, titled)
        attempt.key = key if pick.variant == given.variant else None  # a former name is said each time
        attempts.append(attempt)
    return attempts


def _again(experiment: Experiment, kept: KeptPlan, key: Hashable, titled: bool) -> Attempt:
    """An attempt with a kept plan."""
    of = kept.filter, experiment, kept.variant, kept.device, kept.planned, kept.session, kept.task
    return Attempt(*of, titled=titled, key=key, kept=kept)


def _begin(filter: Filter, experiment: Experiment, pick: Pick, titled: bool) -> Attempt:
    variant = filter.variant(pick.variant)
    device = open_device(pick.device)
    if device.kind != variant.device and not (device.kind == "sim" and variant.device == "cuda"):
        raise ParamError(
            f"{filter.id} {variant.id} runs on {variant.device}, not on {pick.device}; choose another device."
        )
    run = _planned_run(filter, experiment, pick)
    session = device.session(pick.edits, experiment.checks)
    if experiment.protocol == "none" and experiment.checks != "off":
        session = cast(Device, GuardedSession(session))
    if experiment.memory is not None:
        session = cast(Device, LimitedSession(session, Allowance(experiment.memory - experiment.input.array.nbytes)))
    task = Task.of(experiment.input.meta, run.params, run.pick.knobs, device.limits)
    return Attempt(filter, experiment, variant, device, run, session, task, titled=titled)


def _compute(attempt: Attempt, resident: dict[str, DeviceArray], watch: Watch, in_use: bool) -> Iterator[Run]:
    if attempt.kept is None and (reason := _refusal(attempt, watch)):
        yield attempt.fail(reason, "unsupported")
        return
    try:
        outputs = _outputs(attempt, resident, watch, in_use)
    except FOR_ALL:
        raise
    except Exception as error:
        yield attempt.fail_by(error)
        return
    if attempt.plan is not None:
        attempt.timings.update(compile_timing(attempt.plan))
    attempt.run = replace(attempt.run, outputs=outputs, forms=_forms(attempt), timings=dict(attempt.timings))
    yield attempt.run


def _refusal(attempt: Attempt, watch: Watch) -> str | None:
    """The reason why the variant does not support the task, whose samples are looked at."""
    with listening(watch.stop):
        attempt.task = replace(attempt.task, metas={MAIN: full_meta(attempt.input)})
    with mistakes(attempt.filter, attempt.variant):
        reason = attempt.variant.refusal(attempt.task)
    if attempt.device.kind == "sim" and attempt.variant.library:
        return f"it calls {attempt.variant.library}; a simulated GPU runs kernels only"
    return reason


def _forms(attempt: Attempt) -> Mapping[str, Form]:
    """The form of each output."""
    if attempt.kept is not None:
        return attempt.kept.run.forms
    facts = attempt.experiment.input.facts
    return {o.id: facts.describe(o.form(attempt.task)) for o in attempt.filter.given(attempt.task.params)}


def _outputs(
    attempt: Attempt, resident: dict[str, DeviceArray], watch: Watch, in_use: bool
) -> dict[str, np.ndarray[Any, Any]]:
    """The outputs of the whole input at once, or in bands where the device has no space for it. `in_use` says that
    other attempts' plans use the input there."""
    if attempt.kept is not None:
        resident.setdefault(attempt.device.name, attempt.kept.x)
        attempt.plan, attempt.x = attempt.kept.plan, attempt.kept.x
        return _executed(attempt, watch)
    memory, needed = attempt.experiment.memory, footprint(attempt.filter, attempt.task)
    try:
        if memory is not None and needed > memory:
            raise DeviceMemoryError(f"Input and outputs need {needed:,} bytes, and {memory:,} are allowed.")
        return _whole_outputs(attempt, resident, watch)
    except DeviceMemoryError as error:
        kept_plans.forget()
        attempt.plan, attempt.x, attempt.session = (
            None,
            None,
            attempt.device,
        )  # the guards of the failed plan would hold its memory
        timed = attempt.experiment.protocol != "none" and (memory is None or attempt.device.kind == "cpu")
        if timed and whole_reason(attempt.filter, attempt.task) is None:
            raise DeviceMemoryError(f"{error} A run that is not timed goes in bands.") from None
    if not in_use:
        resident.pop(attempt.device.name, None)  # bands need the memory
    in_bands = DeviceBands.of(attempt)
    watch.say(f"computing {attempt.name} {in_bands.note}")
    with watch.listening():
        outputs = in_bands.run(0xFF)
    attempt.bands = in_bands
    attempt.run = replace(attempt.run, notes=(*attempt.run.notes, in_bands.note))
    return outputs


def _whole_outputs(attempt: Attempt, resident: dict[str, DeviceArray], watch: Watch) -> dict[str, np.ndarray[Any, Any]]:
    if attempt.device.name not in resident:
        watch.say(f"copying {attempt.input.name} to {attempt.device.name}")
        resident[attempt.device.name] = attempt.device.upload(attempt.input.array)
        watch.say(f"preparing {attempt.name}")
    # Compiles and allocates; it does not wait for launches.
    attempt.x = resident[attempt.device.name]
    with finite(), listening(watch.stop):
        attempt.plan = attempt.make_plan(attempt.x)
    return _executed(attempt, watch)


def _executed(attempt: Attempt, watch: Watch) -> dict[str, np.ndarray[Any, Any]]:
    watch.say(f"computing {attempt.name}")
    with watch.listening():
        return attempt.execute()


def _count(attempts: list[Attempt], watch: Watch) -> Iterator[Run]:
    """A simulated GPU has no time: its runs are complete with their counts."""
    for attempt in attempts:
        if attempt.experiment.checks == "full":
            with watch.listening():
                attempt.verify_again()
        attempt.run = replace(attempt.run, stage="timed")
        yield attempt.run


def _compare(attempts: list[Attempt], watch: Watch) -> Iterator[Run]:
    """Compare correct outputs with the input's noise-free original."""
    for attempt in attempts:
        watch.begin(f"comparing {attempt.name} with the original without noise")
        if not attempt.computed or attempt.run.ok is False:
            continue
        with watch.listening():
            found = quality(attempt.filter, attempt.input, attempt.task.params, attempt.run.outputs)
        if found:
            attempt.run = replace(attempt.run, quality=found)
            yield attempt.run


def _verify_all(attempts: list[Attempt], watch: Watch, again: bool) -> Iterator[Run]:
    """Verify the results one by one. Results that were computed after a variant had overwritten the input are
    recomputed from the original input."""
    spoilt: set[str] = set()
    for attempt in attempts:
        if attempt.device.name in spoilt and attempt.plan is not None:
            try:
                attempt.run = replace(attempt.run, outputs=attempt.execute())
            except FOR_ALL:
                raise
            except Exception as error:
                yield attempt.fail_by(error)
                continue
        yield from _verify(attempt, watch, again)
        if INPUT_OVERWRITTEN in attempt.run.notes:
            spoilt.add(attempt.device.name)


def _verdict(run: Run, errors: Mapping[str, Error]) -> bool | None:
    """Whether the outputs are correct; None where the tolerance is too large to tell."""
    if not (all(e.ok for e in errors.values()) and has_no_errors(run)):
        return False
    return True if all(e.judges for e in errors.values()) else None


def _verify(attempt: Attempt, watch: Watch, again: bool = False) -> Iterator[Run]:
    """Compare the outputs with the reference; where no timing follows, check everything else as well."""
    if not attempt.computed or attempt.experiment.checks == "off" or attempt.variant.id == REFERENCE:
        return
    watch.begin(f"verifying {attempt.name}")
    verdict = attempt.kept.verdict_on(attempt.run) if attempt.kept is not None else None
    if verdict is not None:
        attempt.run = verdict
        yield verdict
        return
    attempt.kept = None  # its verdict holds no more
    with watch.listening():
        errors = attempt.errors_of(attempt.run.outputs)
    attempt.run = replace(attempt.run, stage="verified", errors=errors, ok=_verdict(attempt.run, errors))
    attempt.run = replace(attempt.run, notes=(*attempt.run.notes, *nothing_judged(errors)))
    try:
        with listening(watch.stop):
            _check_again(attempt, again)
    except FOR_ALL:
        raise
    except Exception as error:
        attempt.fail_by(error)
    yield attempt.run


def _check_again(attempt: Attempt, again: bool) -> None:
    """Run a correct attempt once more, and check what it wrote outside its outputs."""
    if attempt.run.ok is not False and again:
        attempt.verify_again()
    for fault in attempt.bands.faults if attempt.bands is not None else ():
        attempt.mark_wrong(fault)
    if attempt.guarded and attempt.bands is None:
        attempt.verify_memory(attempt.x)
