"""Times the attempts of an experiment together, in turn, on memory that rotates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gpu_ops.errors import DeviceMemoryError, PinnedMemoryError
from gpu_ops.filters.kit.bands import footprint
from gpu_ops.plan import Copy, Device, DeviceArray, Mode, Plan, Sampler
from gpu_ops.progress import listening
from gpu_ops.running.attempt import FOR_ALL, WRONG_IN_CHUNKS, Attempt, Watch
from gpu_ops.running.chunked import no_chunks_reason, streamed
from gpu_ops.running.load import Others
from gpu_ops.running.timing import RULES, TRANSFERS, check_stop, measure_interleaved, once, rotated
from gpu_ops.types import Run, Timing

Array = np.ndarray[Any, Any]


def time_attempts(attempts: list[Attempt], x: DeviceArray, watch: Watch) -> Iterator[Run]:
    """Time the attempts of one experiment on one device together, in as few groups as fit its memory."""
    device, experiment = attempts[0].device, attempts[0].experiment
    device.sampler([_nothing()], "wall")  # pays first-use costs before any attempt is timed
    copies = attempts[0].filter.end_to_end  # the steps themselves are copies, of host memory that they have
    shared = {} if copies else time_transfers(device, experiment.input.array, x, watch.stop)
    inputs = [x] if copies else _rotation(device, experiment.mode, x, len(attempts), watch)
    waiting = list(attempts)
    while waiting:
        samplers, waiting, failed = _samplers(waiting, inputs, watch)
        yield from failed
        if not samplers and waiting:
            yield waiting.pop(0).fail("it does not fit in the device's memory next to the input", "memory")
            continue
        if waiting:
            note = "measured in groups, because the variants do not fit in memory together"
            for attempt in attempts:
                attempt.add_note(note)
        yield from _time_group(attempts, samplers, shared, x, watch)


def time_bands(attempt: Attempt, watch: Watch) -> Run:
    """Time an attempt in bands end to end, from and to pinned memory, and verify its results once more."""
    assert attempt.bands is not None
    needed = footprint(attempt.filter, attempt.task)
    attempt.add_note(f"timed end to end alone, from and to {needed:,} bytes of pinned host memory")
    watch.say(f"{attempt.name}: {attempt.run.notes[-1]}")
    try:
        plan, outputs = attempt.bands.timed()
        samplers = {"elapsed_streamed": attempt.device.sampler([plan], "wall")}
        timings = dict(attempt.timings)
        how: dict[str, Any] = {"stop": watch.stop, "report": watch.report, "others": Others().share}
        for stage, timing in measure_interleaved(samplers, TRANSFERS, deadline=watch.deadline, **how):
            timings[stage] = replace(timing, stage=stage)
        attempt.run = replace(attempt.run, stage="timed", timings=timings)
        if attempt.experiment.checks != "off":
            with listening(watch.stop):
                attempt.check_again(outputs())
    except FOR_ALL:
        raise
    except Exception as error:
        attempt.fail_by(error)
    return attempt.run


def _nothing() -> Plan:
    return Plan((), {})


def _rotation(device: Device, mode: Mode, x: DeviceArray, attempts: int, watch: Watch) -> list[DeviceArray]:
    """Copies of the input, as many as memory allows, so that no timed call finds its data in the cache."""
    if mode != "stream":
        return [x]
    needed_copies = rotated(device.limits.l2_bytes, x.nbytes)
    most_copies = int(device.free_bytes() // 2 // max((attempts + 1) * 2 * x.nbytes, 1))
    inputs = [x]
    for _ in range(min(needed_copies, most_copies) - 1):
        check_stop(watch.stop)
        inputs.append(device.empty(x.shape, x.dtype))
        device.copy(inputs[-1], x)
    return inputs


def _samplers(
    attempts: list[Attempt], inputs: list[DeviceArray], watch: Watch
) -> tuple[dict[int, Sampler], list[Attempt], list[Run]]:
    """Samplers by attempt, for as many attempts from the front as fit in memory, the attempts left, and the runs of
    those that failed."""
    samplers: dict[int, Sampler] = {}
    failed: list[Run] = []
    for place, attempt in enumerate(attempts):
        assert attempt.plan is not None
        check_stop(watch.stop)
        try:
            more = [attempt.make_plan(x) for x in inputs[1:]]
            mode: Mode = "wall" if attempt.filter.end_to_end else attempt.experiment.mode
            samplers[id(attempt)] = attempt.session.sampler([attempt.plan, *more], mode)
        except DeviceMemoryError:
            return samplers, attempts[place:], failed
        except FOR_ALL:
            raise
        except Exception as error:
            failed.append(attempt.fail_by(error))
    return samplers, [], failed


def _time_group(
    attempts: list[Attempt],
    samplers: dict[int, Sampler],
    shared: Mapping[str, Timing],
    x: DeviceArray,
    watch: Watch,
) -> Iterator[Run]:
    by_id, rule = {id(attempt): attempt for attempt in attempts}, RULES[attempts[0].experiment.protocol]
    failed: list[Run] = []

    def fails(key: int, error: Exception) -> bool:
        if isinstance(error, FOR_ALL):
            return False
        failed.append(by_id[key].fail_by(error))
        return True

    how: dict[str, Any] = {"stop": watch.stop, "report": watch.report, "others": Others().share, "failed": fails}
    for key, timing in measure_interleaved(samplers, rule, "kernel", watch.deadline, watch.seed, **how):
        attempt = by_id[key]
        try:
            _finish(attempt, {**shared, "kernel": timing}, samplers[key], x, watch)
        except FOR_ALL:
            raise
        except Exception as error:
            attempt.fail_by(error)
        yield attempt.run
    yield from failed


def _finish(attempt: Attempt, timings: Mapping[str, Timing], sampler: Sampler, x: DeviceArray, watch: Watch) -> None:
    """What is timed once for each attempt, and its results once more."""
    shared = len(timings) > 1
    timings = {**attempt.timings, **timings}
    host = sampler.host_seconds_per_step
    if host:
        timings["enqueue"] = once("enqueue", host)
    if shared:
        timings.update(_time_elapsed(attempt, x, watch))
    is_right = attempt.run.ok is not False
    attempt.run = replace(attempt.run, stage="timed", timings=timings if is_right else {})
    if is_right and attempt.experiment.checks != "off":
        with listening(watch.stop):
            attempt.verify_again()


def _time_elapsed(attempt: Attempt, x: DeviceArray, watch: Watch) -> dict[str, Timing]:
    """Time upload, plan and download as one: from pageable memory, from pinned memory, and from pinned memory in chunks
    that overlap. A note says which of these there is not, and why."""
    plans = {"elapsed": wrap_host(attempt, x, *_host(attempt, "pageable"))}
    try:
        source, results = _host(attempt, "pinned")
        plans["elapsed_pinned"] = wrap_host(attempt, x, source, results)
        if (found := _streamed(attempt, source, results, watch)) is not None:
            plans["elapsed_streamed"] = found
    except PinnedMemoryError as error:
        attempt.add_note(f"not timed end to end from pinned memory: {error}")
    if attempt.run.ok is False:
        return {}
    samplers = {stage: attempt.session.sampler([plan], "wall") for stage, plan in plans.items()}
    timings = {}
    for stage, timing in measure_interleaved(samplers, TRANSFERS, stop=watch.stop, others=Others().share):
        timings[stage] = replace(timing, stage=stage)
    return timings


def _streamed(attempt: Attempt, source: Array, results: dict[str, Array], watch: Watch) -> Plan | None:
    """The plan in chunks, after its results were found right. None where there is none, with a note that says why."""
    if reason := no_chunks_reason(attempt.filter, attempt.variant, attempt.task):
        attempt.add_note(f"not timed in chunks: {reason}")
        return None
    try:
        found = streamed(attempt, source, results)
        for array in results.values():
            array.reshape(-1).view(np.uint8).fill(0xFF)
        attempt.session.execute(found.plan)
    except PinnedMemoryError:
        raise
    except DeviceMemoryError as error:
        attempt.add_note(f"not timed in chunks: {error}")
        return None
    if attempt.experiment.checks != "off":
        with listening(watch.stop):
            errors = attempt.errors_of(found.results.outputs())
        if not all(error.ok for error in errors.values()):
            attempt.mark_wrong(WRONG_IN_CHUNKS)
            return None
    return found.plan


def _host(attempt: Attempt, kind: Literal["pageable", "pinned"]) -> tuple[Array, dict[str, Array]]:
    """New host memory of that kind, one with the input and one for each output: pageable memory is not registered with
    the driver."""
    assert attempt.plan is not None
    device, array = attempt.session, attempt.input.array
    source = device.allocate(kind, array.shape, array.dtype)
    np.copyto(source, array)
    return source, {name: device.allocate(kind, out.shape, out.dtype) for name, out in attempt.plan.outputs.items()}


def wrap_host(attempt: Attempt, x: DeviceArray, source: Array, results: dict[str, Array]) -> Plan:
    """The attempt's plan with its input copied in from `source` and its outputs copied out to `results`."""
    assert attempt.plan is not None
    upload = Copy(x, source, name="upload")
    downloads = (Copy(results[name], out, name=f"download {name}") for name, out in attempt.plan.outputs.items())
    return Plan((upload, *attempt.plan.steps, *downloads), results)


def time_transfers(
    device: Device, array: np.ndarray[Any, Any], x: DeviceArray, stop: Callable[[], bool] | None = None
) -> dict[str, Timing]:
    """Upload and download of the input's size from pageable memory, by the wall clock; {} for the CPU. Raises
    Cancelled when `stop`, called between samples, is true."""
    if device.kind == "cpu":
        return {}
    host = device.allocate("pageable", array.shape, array.dtype)
    np.copyto(host, array)
    back = np.empty_like(host)
    samplers = {
        "upload": device.sampler([Plan((Copy(x, host, name="upload"),), {})], "wall"),
        "download": device.sampler([Plan((Copy(back, x, name="download"),), {})], "wall"),
    }
    return {stage: replace(t, stage=stage) for stage, t in measure_interleaved(samplers, TRANSFERS, stop=stop)}
