"""Transfers: one kernel with every strategy to copy its input to the device and its result back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gpu_ops.filters.kit.planning import BORDER
from gpu_ops.filters.transfer import strategies
from gpu_ops.filters.transfer.claims import CLAIMS
from gpu_ops.filters.transfer.strategies import Strategy
from gpu_ops.filters.transfer.workload import Workloads
from gpu_ops.input_kinds import Kind
from gpu_ops.params import Param
from gpu_ops.plan import Device, Plan
from gpu_ops.task import Task
from gpu_ops.types import DTYPES, Filter, Locality, Rule, Variant

REPEATS = Param(
    "repeats",
    1,
    choices=(1, 2, 4, 16),
    help="launches of the kernel on each chunk, which make it take longer",
)
STREAMS = Param("streams", 3, 1, 8, help="streams that the chunks take turns in")
CHUNKS = Param("chunks", 8, 1, 64, help="parts of the input")
ORDER = Param("order", "depth first", choices=("depth first", "breadth first"), help="the order of enqueueing")
BUFFERS = Param("buffers", 4, 2, 8, help="pairs of pinned buffers")
THREADS = Param("threads", 8, 1, 16, help="threads of the host that copy")
CHUNK = Param("chunk", 8, 1, 64, unit="MiB", help="size of a buffer")
PREFETCH = Param("prefetch", "no", choices=("no", "yes"), help="migrate pages ahead of their use")
SUMMARY = "A kernel with the copies of its input and its result, by every strategy: memory kinds, chunks, streams."

PAGEABLE = "Ordinary memory: the driver copies it through a pinned buffer of its own, and the host waits."
STAGED = "Several threads of the host fill a ring of pinned buffers; uploads, kernels and downloads overlap."
PINNED = "Page-locked memory, which the copy engine accesses by itself, at the speed of the bus."
REGISTERED = "Ordinary memory that is page-locked in place, once: as fast as pinned memory, and nothing moves."
MAPPED = "Zero-copy: the kernel accesses page-locked host memory over the bus; no copy, and no second access."
MANAGED = "Unified memory: pages migrate on the first access, fault by fault, or ahead of it by a prefetch."
STREAMED = "Chunks in streams: the upload of one, the kernel of another and the download of a third overlap."
IN_DEFAULT = "A command in the default stream behind each chunk: all other streams wait for it."
PINNED_ALLOCATION = "Page-locked memory is allocated behind each chunk: the driver waits for the device."
DEVICE_ALLOCATION = "Device memory is allocated and set behind each chunk: the driver waits for the device."
CARVEOUT = "The share of shared memory in L1 is switched behind each chunk: kernels with another one wait."
PAGEABLE_STREAMS = "The same streams with pageable memory: every copy keeps the host waiting, so nothing overlaps."
GRAPH = "The same streams as one CUDA graph: the driver enqueues all steps by one call."
BOTH = "Two GPUs share the rows, each with a bus of its own; at the boundary they exchange the halo."
FAST = "Chunks of 4 MiB in three streams as one graph: each copy runs at full speed, and only two run alone."


_TOO_MANY = "{chunks} chunks need as many rows, this input has {meta.shape[0]}; choose that many or fewer"
_FEW_CHUNKS = Rule(lambda task: task.knobs["chunks"] > task.meta.shape[0], _TOO_MANY)
_ONE_ROW = "two GPUs share at least two rows, this input has one"
_TWO_ROWS: Mapping[Kind, Rule] = {
    "signal": Rule(lambda task: task.meta.shape[0] < 2, _ONE_ROW, {"shape": ((1,),)}),
    "image": Rule(lambda task: task.meta.shape[0] < 2, _ONE_ROW, {"shape": ((1, 1), (1, 7))}),
}


def _variant(
    workloads: Workloads,
    id: str,
    title: str,
    idea: str,
    strategy: Strategy,
    *knobs: Param,
    rules: tuple[Rule, ...] = (),
) -> Variant:
    def plan(device: Device, task: Task) -> Plan:
        return strategy(device, task, workloads.of(task))

    rules = (*rules, Rule(workloads.refusal, "{found}"))
    return Variant(id, title, idea, plan, "cuda", (), knobs, source="S1", rules=rules, largest=workloads.largest)


def _host(workloads: Workloads, id: str, title: str, idea: str) -> Variant:
    def plan(device: Device, task: Task) -> Plan:
        workload = workloads.of(task)
        found = workload.filter.variant(id).plan(device, workload.task(task))
        return Plan(found.steps, {workload.filter.id: found.outputs[workload.output.id]})

    def largest(task: Task) -> float:
        return workloads.largest(task, id)

    return Variant(id, title, idea, plan, "cpu", source="S1", largest=largest)


def _variants(accepts: Kind, workloads: Workloads) -> tuple[Variant, ...]:
    make, streamed = partial(_variant, workloads), strategies.streamed
    chunked = partial(make, rules=(_FEW_CHUNKS,))
    knobs = STREAMS, CHUNKS
    return (
        _host(workloads, "serial", "CPU, one core", "No copies: the plain loop on one core."),
        _host(workloads, "parallel", "CPU, all cores", "No copies: the loop on all cores and SIMD lanes."),
        make("pageable", "1 pageable", PAGEABLE, strategies.whole("pageable")),
        make("staged", "2 staged", STAGED, strategies.staged, BUFFERS, THREADS, CHUNK),
        make("pinned", "3 pinned", PINNED, strategies.whole("pinned")),
        make("registered", "4 registered", REGISTERED, strategies.whole("registered")),
        make("mapped", "5 mapped", MAPPED, strategies.mapped),
        make("managed", "6 managed", MANAGED, strategies.managed, PREFETCH),
        chunked("streams", "7 chunks in streams", STREAMED, streamed(), *knobs, ORDER),
        chunked(
            *("default_stream", "8 default stream", IN_DEFAULT),
            *(streamed(interruption=strategies.on_default_stream), *knobs),
        ),
        chunked(
            *("pinned_allocation", "8 pinned allocation", PINNED_ALLOCATION),
            *(streamed(interruption=strategies.beside("pinned allocation")), *knobs),
        ),
        chunked(
            *("device_allocation", "8 device allocation", DEVICE_ALLOCATION),
            *(streamed(interruption=strategies.beside("device allocation")), *knobs),
        ),
        chunked("carveout", "8 L1 switch", CARVEOUT, streamed(interruption=strategies.beside("carveout")), *knobs),
        chunked("pageable_streams", "8 pageable streams", PAGEABLE_STREAMS, streamed("pageable"), *knobs),
        chunked("graph", "9 graph", GRAPH, streamed(graph=True), *knobs),
        make("fast", "10 fast", FAST, strategies.fast),
        make("two_gpus", "11 two GPUs", BOTH, strategies.both, rules=(_TWO_ROWS[accepts],)),
    )


def transfers_of(accepts: Kind, *kernels: tuple[str, Filter]) -> Filter:
    """The filter of transfers for one kind of input, with these variants of other filters as its kernels."""
    workloads = Workloads(*kernels)
    return Filter(
        id=f"transfer{'2d' if accepts == 'image' else '1d'}",
        family="transfer",
        title=f"Transfers of {'images' if accepts == 'image' else 'signals'}",
        summary=SUMMARY,
        accepts=accepts,
        dtypes=DTYPES,
        params=(workloads.param, REPEATS, BORDER),
        outputs=workloads.outputs,
        reference=workloads.reference,
        work=workloads.work,
        locality=Locality("halo", workloads.halo),
        source="S1",
        picked=("serial", "parallel", "pageable", "pinned", "streams", "default_stream", "fast"),
        end_to_end=True,
        claims=CLAIMS if accepts == "image" else (),
        variants=_variants(accepts, workloads),
    )
