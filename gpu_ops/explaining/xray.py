"""X-ray: the memory accesses of a variant's kernels, line by line, counted on a simulated GPU."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from math import prod
from typing import Any

from gpu_ops.counters import add_up
from gpu_ops.devices.coalescing import Rule
from gpu_ops.devices.kernel_source import header_fields, read_source
from gpu_ops.devices.occupancy import Occupancy, by_block_size, is_known, occupancy
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Extent, Options
from gpu_ops.devices.sim.traces import Tracing
from gpu_ops.errors import ParamError
from gpu_ops.explaining.cliffs.occupancy_steps import Demand
from gpu_ops.explaining.cliffs.occupancy_steps import as_dict as steps_dict
from gpu_ops.explaining.cliffs.spilled_lines import as_dicts, spilled_lines
from gpu_ops.explaining.machine_code import KernelCode, begin_listing, code_dict, code_of, counted_as
from gpu_ops.explaining.source_files import FileXRay, by_file
from gpu_ops.explaining.spills import spill_counts
from gpu_ops.params import Value, Values, check_values
from gpu_ops.plan import Access, Execution, Finding, Launch, Limits, LineCounts, Plan, Trace
from gpu_ops.running.declared import make_plan
from gpu_ops.running.suitable import check_input
from gpu_ops.running.verify import full_meta
from gpu_ops.task import Task
from gpu_ops.types import Accesses, Filter, Input, Variant

SCHEMA = "kernelscope-xray/1"
BLOCK_LOADS = ("first", "inner", "last")


@dataclass(frozen=True)
class KernelXRay:
    """One kernel of a variant, all its launches together; grid, block and `shared_bytes` are the first one's.

    `lines` has counts by line of its file, headers' counts at the line that uses them; `headers` by (file, line) of
    the headers themselves; `files` has both separately, the kernel's file first. `block_loads` are global loads by
    threads of the first, the inner and the last block of the first launch. `occupancy` is None where the
    architecture's is not known. `defines` are those of the launches, each set once, in order. `traces` are those of the
    first launch that reached the line, by file and line; None where no warp was traced. `code` is the PTX and the
    machine code of the first launch, if it was asked for.
    """

    name: str
    file: str
    text: str
    launches: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    lines: Mapping[int, Mapping[str, int]]
    headers: Mapping[tuple[str, int], Mapping[str, int]]
    totals: Mapping[str, int]
    block_loads: Mapping[str, int]
    resources: Mapping[str, int]
    occupancy: Occupancy | None
    by_block: Mapping[int, Occupancy]
    files: tuple[FileXRay, ...] = ()
    defines: tuple[Mapping[str, Value], ...] = ()
    traces: Mapping[tuple[str, int], tuple[Trace, ...]] | None = None
    code: KernelCode | None = None
    architecture: str = ""

    @property
    def demand(self) -> Demand:
        """What a block of the first launch asks of a multiprocessor."""
        own = self.resources
        return Demand(prod(self.block), own.get("registers", 0), self.shared_bytes, own.get("barriers", 1))


@dataclass(frozen=True)
class XRay:
    """The X-ray of a variant. `shape` and `dtype` are those of the simulated input, `outputs` the elements
    of its result, each a `unit` such as "sample". `least_bytes` must be transferred to or from device memory by any
    variant. `expected` are the loads that the variant declares, if any, and `predicted` counters of all kernels
    together that follow from the samples. `coalescing` is the rule of `…_transactions`."""

    filter: str
    variant: str
    title: str
    idea: str
    architecture: str
    shape: tuple[int, ...]
    dtype: str
    params: Values
    knobs: Values
    outputs: int
    unit: str
    least_bytes: int
    expected: Accesses | None
    coalescing: Rule
    kernels: tuple[KernelXRay, ...]
    findings: tuple[Finding, ...]
    printed: tuple[str, ...]
    predicted: Mapping[str, int] = field(default_factory=dict)

    @property
    def totals(self) -> dict[str, int]:
        """Counts of all kernels together."""
        return add_up(k.totals for k in self.kernels)

    @property
    def faulty(self) -> bool:
        """Whether any finding is an error."""
        return any(f.severity == "error" for f in self.findings)


def xray(
    filter: Filter,
    variant: Variant,
    input: Input,
    params: Values,
    knobs: Values,
    architecture: str = "sm_75",
    edits: Mapping[str, str] | None = None,
    counters: Extent = "full",
    coalescing: Rule = "today",
    trace: bool = False,
    code: bool = False,
) -> XRay:
    """Simulate a variant on an input and count; `trace` also records the accesses of a few warps, `code` has the PTX
    and the machine code, and counts accesses as that makes them where it is known. It may take minutes, and reports to
    `gpu_ops.progress`.

    Raises ParamError for variants without kernels of their own, KernelError, DeviceError, Cancelled.
    """
    tracing = Tracing() if trace else None
    options = Options(counters=counters, coalescing=coalescing, tracing=tracing, machine_code=code)
    _, task, plan, executions = execute_by_step(filter, variant, input, params, knobs, architecture, options, edits)
    return XRay(
        filter=filter.id,
        variant=variant.id,
        title=variant.title,
        idea=variant.idea,
        architecture=architecture,
        shape=input.array.shape,
        dtype=input.array.dtype.name,
        params=task.params,
        knobs=task.knobs,
        outputs=sum(int(out.size) for out in plan.outputs.values()),
        unit=filter.unit(task),
        least_bytes=filter.work(task).bytes,
        expected=variant.counts.accesses(task) if variant.counts.accesses else None,
        coalescing=coalescing,
        kernels=kernels_of(executions, architecture, edits, trace, code),
        findings=tuple(f for _, execution in executions for f in execution.findings),
        printed=tuple(line for _, execution in executions for line in execution.printed),
        predicted=_predicted(variant, task.on(input.array), coalescing) if not edits else {},
    )


def execute_by_step(
    filter: Filter,
    variant: Variant,
    input: Input,
    params: Values,
    knobs: Values,
    architecture: str,
    options: Options,
    edits: Mapping[str, str] | None = None,
) -> tuple[Any, Task, Plan, list[tuple[Any, Execution]]]:
    """Execute a variant's plan on a simulated GPU step by step, so that each has counts of its own. Returns the device,
    the task on it, the plan and each step with its execution. Raises as `xray` does."""
    device = SimDevice(architecture, options, assemble=True)
    session, task, plan = planned(device, filter, variant, input, params, knobs, edits)
    begin_listing(plan, options)
    return session, task, plan, [(step, session.execute(Plan((step,), plan.outputs))) for step in plan.steps]


def planned(
    device: SimDevice,
    filter: Filter,
    variant: Variant,
    input: Input,
    params: Values,
    knobs: Values,
    edits: Mapping[str, str] | None,
) -> tuple[SimDevice, Task, Plan]:
    """A variant's plan on a session of a simulated GPU. Raises as `xray` does."""
    if not variant.kernels:
        kernels = ", ".join(v.id for v in filter.variants if v.kernels)
        raise ParamError(f"{variant.id} has no kernel to look into; choose from {kernels}.")
    session = device.session(edits or {})
    task = _task(filter, variant, input, params, knobs, session.limits)
    task = task.on(session.upload(input.array))
    return session, task, make_plan(filter, variant, session, task, edits)


def _predicted(variant: Variant, task: Task, rule: Rule) -> dict[str, int]:
    """The counters that follow from the samples, and the transactions if an older rule is requested."""
    counts = variant.counts
    predicted = dict(counts.predicts(task)) if counts.predicts else {}
    if rule != "today" and counts.transactions:
        predicted |= counts.transactions(task, rule)
    return predicted


def _task(filter: Filter, variant: Variant, input: Input, params: Values, knobs: Values, limits: Limits) -> Task:
    """The task, checked. Raises ParamError for what the filter or the variant does not take."""
    params = check_values(filter.params, params, filter.id)
    knobs = check_values(variant.knobs, knobs, variant.id)
    task = Task.of(full_meta(input), params, knobs, limits)
    check_input(filter, input, params)
    reason = variant.refusal(task)
    if reason:
        raise ParamError(f"{variant.id} cannot do this: {reason}.")
    return task


LaunchExecution = tuple[Launch, Execution]


def kernels_of(
    executions: Sequence[tuple[Any, Execution]],
    architecture: str,
    edits: Mapping[str, str] | None,
    trace: bool,
    code: bool = False,
) -> tuple[KernelXRay, ...]:
    """The kernels of steps that were executed one by one, in the order of their first launches."""
    launches: dict[str, list[LaunchExecution]] = defaultdict(list)
    for step, execution in executions:
        if isinstance(step, Launch):
            launches[step.kernel.name].append((step, execution))
    kernels = [_kernel(name, own, architecture, edits) for name, own in launches.items()]
    kernels = [replace(k, code=code_of(launches[k.name][0][0].kernel)) if code else k for k in kernels]
    return tuple(replace(k, traces=_traces(launches[k.name])) if trace else k for k in kernels)


def _traces(launches: Sequence[LaunchExecution]) -> dict[tuple[str, int], tuple[Trace, ...]]:
    """Traces by file and line, of the first launch that reached the line."""
    lines: dict[tuple[str, int], tuple[Trace, ...]] = {}
    for _, execution in launches:
        here: dict[tuple[str, int], list[Trace]] = defaultdict(list)
        for one in execution.traces:
            here[one.file, one.line].append(one)
        lines = {**{line: tuple(traces) for line, traces in here.items()}, **lines}
    return dict(sorted(lines.items()))


def _kernel(
    name: str, launches: Sequence[LaunchExecution], architecture: str, edits: Mapping[str, str] | None
) -> KernelXRay:
    first, execution = launches[0]
    file = first.kernel.compiled.source
    counts = [c for _, each in launches for c in each.lines]
    lines, headers = _by_line(file, counts)
    resources = first.kernel.resources
    threads = first.block[0] * first.block[1] * first.block[2]
    shared = resources.get("shared_bytes", 0) + first.shared_bytes
    demand = (resources.get("registers", 0), shared, resources.get("barriers", 1))
    has_occupancy = is_known(architecture)
    return KernelXRay(
        name=name,
        file=file,
        text=read_source(file, edits),
        launches=len(launches),
        grid=first.grid,
        block=first.block,
        shared_bytes=shared,
        lines=lines,
        headers=headers,
        totals=add_up(
            (*(c.counts for c in counts), *(spill_counts(launch, first.kernel.compiled) for launch, _ in launches))
        ),
        block_loads={
            b: execution.counters[f"block_loads_{b}"] for b in BLOCK_LOADS if f"block_loads_{b}" in execution.counters
        },
        resources=resources,
        occupancy=occupancy(architecture, threads, *demand) if has_occupancy else None,
        by_block=by_block_size(architecture, *demand) if has_occupancy else {},
        files=by_file(file, counts, edits),
        defines=_different(launch.kernel.compiled.defines for launch, _ in launches),
        architecture=architecture,
    )


def _different(defines: Iterable[Mapping[str, Value]]) -> tuple[Mapping[str, Value], ...]:
    found: list[Mapping[str, Value]] = []
    for one in defines:
        if one not in found:
            found.append(one)
    return tuple(found)


def _by_line(
    file: str, counts: Sequence[LineCounts]
) -> tuple[dict[int, dict[str, int]], dict[tuple[str, int], dict[str, int]]]:
    """Counts by line of the kernel's file, and by (file, line) of the headers it uses."""
    lines: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    headers: dict[tuple[str, int], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in counts:
        places = ((one.file, one.line), *one.inlined_at)
        own = next((line for where, line in places if where == file), 0)
        for key, value in one.counts.items():
            lines[own][key] += value
            if one.file != file:
                headers[one.file, one.line][key] += value
    return {k: dict(v) for k, v in sorted(lines.items())}, {k: dict(v) for k, v in sorted(headers.items())}


def as_dict(x: XRay, code: bool = True) -> dict[str, Any]:
    """An X-ray as JSON: schema kernelscope-xray/1; without `code` it has neither PTX nor machine code."""
    return {
        "schema": SCHEMA,
        "filter": x.filter,
        "variant": x.variant,
        "architecture": x.architecture,
        "shape": list(x.shape),
        "dtype": x.dtype,
        "params": dict(x.params),
        "knobs": dict(x.knobs),
        "outputs": x.outputs,
        "unit": x.unit,
        "least_bytes": x.least_bytes,
        "expected_loads": vars(x.expected) if x.expected else None,
        "coalescing": x.coalescing,
        "totals": x.totals,
        "predicted": dict(x.predicted),
        "kernels": [_kernel_dict(k, code) for k in x.kernels],
        "findings": [{**vars(f), "text": str(f)} for f in x.findings],
        "printed": list(x.printed),
    }


def _kernel_dict(k: KernelXRay, code: bool) -> dict[str, Any]:
    return {
        "name": k.name,
        "file": k.file,
        "header": header_fields(k.text),
        "launches": k.launches,
        "defines": [dict(one) for one in k.defines],
        "grid": list(k.grid),
        "block": list(k.block),
        "shared_bytes": k.shared_bytes,
        "block_loads": dict(k.block_loads),
        "resources": dict(k.resources),
        "occupancy": _occupancy_dict(k.occupancy) if k.occupancy else None,
        "cliffs": steps_dict(k.architecture, k.demand) if k.occupancy else None,
        "spills": as_dicts(spilled_lines(k.code)) if k.code else [],
        "occupancy_by_block": {str(t): _occupancy_dict(o) for t, o in k.by_block.items()},
        "lines": [{"line": n, "counts": dict(c)} for n, c in k.lines.items()],
        "headers": [{"file": f, "line": n, "counts": dict(c)} for (f, n), c in k.headers.items()],
        "files": [_file_dict(f) for f in k.files],
        "totals": dict(k.totals),
        "counted_as": counted_as(k.code),
        **({} if k.code is None or not code else {"code": code_dict(k.code)}),
        **({} if k.traces is None else {"accesses": [_trace_dict(t) for own in k.traces.values() for t in own]}),
    }


def _file_dict(f: FileXRay) -> dict[str, Any]:
    """`counts` are a line's own, `calls` those of the lines that it calls, and `callees` these lines, the most used
    first."""
    lines = sorted({*f.lines, *f.calls})
    return {
        "file": f.file,
        "lines": [
            {
                "line": n,
                "counts": dict(f.lines.get(n, {})),
                "calls": dict(f.calls.get(n, {})),
                "callees": [list(place) for place in f.callees.get(n, ())],
            }
            for n in lines
        ],
    }


def _trace_dict(t: Trace) -> dict[str, Any]:
    place = {"file": t.file, "line": t.line, "block": list(t.block), "warp": t.warp}
    return {**place, "count": t.count, "accesses": [_access_dict(a) for a in t.accesses]}


def _access_dict(a: Access) -> dict[str, Any]:
    """The lanes as a mask; their offsets as the first one and runs of [number of steps, step size]."""
    steps = [b - a for a, b in pairwise(a.offsets)]
    return {
        **{"space": a.space, "verb": a.verb, "bytes": a.nbytes, "buffer": a.buffer, "itemsize": a.itemsize},
        **{"start": a.start, "lanes": sum(1 << lane for lane in a.lanes), "first": a.offsets[0]},
        "steps": [[len(list(same)), step] for step, same in groupby(steps)],
    }


def _occupancy_dict(o: Occupancy) -> dict[str, Any]:
    return {"blocks": o.blocks, "warps": o.warps, "most_warps": o.most, "share": o.share, "limiter": o.limiter}
