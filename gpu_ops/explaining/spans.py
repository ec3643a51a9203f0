"""Timelines as values: when and on which engine the steps of a variant run. As text, JSON, and Chrome's trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gpu_ops.devices.sim.streams.queues import KindOf, busy, overlap
from gpu_ops.plan import DEFAULT_STREAM, Copy, Engine, HostTask, Launch, MemoryKind, Span, Step

Basis = Literal["measured", "predicted", "order"]
"""Measured by events; predicted from rates; or only the order, with steps of equal length."""
SCHEMA = "kernelscope-timelines/1"
ENGINES: Mapping[Engine, str] = {
    "host": "host",
    "upload": "copy to device",
    "kernel": "kernels",
    "device": "copies in device",
    "download": "copy to host",
}
SYMBOLS: Mapping[Engine, str] = {"host": "=", "upload": ">", "kernel": "#", "device": "+", "download": "<"}
MARKS = ", ".join(f"{SYMBOLS[e]} {name}" for e, name in ENGINES.items())


@dataclass(frozen=True)
class Rates:
    """How fast the parts of a machine are: bytes per second of each, and the seconds that a step takes on top of its
    bytes. A kernel's bytes are those of the arrays that it is given. `host`: one thread copies; `threads`: several do;
    `migration`: pages of managed memory migrate on access; `locking`: pages are locked, which takes `lock_latency`
    seconds in addition to the pages. `machine` is the one that they were recorded on, "" where a person chose them."""

    upload: float
    download: float
    kernel: float
    host: float = 10e9
    threads: float = 20e9
    latency: float = 5e-6
    migration: float = 5e9
    locking: float = 10e9
    lock_latency: float = 250e-6
    machine: str = ""

    def cost(self, step: Step, engine: Engine, kind_of: KindOf) -> float:
        """The seconds that a step keeps its engine busy."""
        return self.latency + sum(nbytes / rate for nbytes, rate in self._parts(step, engine, kind_of))

    def _parts(self, step: Step, engine: Engine, kind_of: KindOf) -> Iterator[tuple[int, float]]:
        """The bytes that a step moves, each with its rate."""
        if isinstance(step, Launch):
            arrays = (arg for arg in step.args if getattr(arg, "ndim", 0))
            yield from ((int(array.nbytes), self._access(kind_of(array))) for array in arrays)
        elif isinstance(step, HostTask):
            managed = [array for array in (*step.reads, *step.writes) if kind_of(array) == "managed"]
            yield from ((int(array.nbytes), self.migration) for array in managed)
            yield from ((int(a.nbytes), self.threads) for a in step.writes if kind_of(a) in ("pageable", "pinned"))
        else:
            array = step.source if isinstance(step, Copy) else getattr(step, "target", None)
            nbytes = 0 if array is None else int(array.nbytes)
            yield nbytes, {"upload": self.upload, "download": self.download}.get(engine, self.kernel)
            if isinstance(step, Copy) and "pageable" in (kind_of(step.source), kind_of(step.target)):
                yield nbytes, self.host  # through a pinned buffer of the driver, which a thread of the host copies

    def _access(self, kind: MemoryKind) -> float:
        """How fast a kernel accesses a kind of memory."""
        bus = min(self.upload, self.download)
        return {"mapped": bus, "managed": self.migration}.get(kind, self.kernel)


@dataclass(frozen=True)
class Timeline:
    """The spans of a variant on a device, in seconds, or in steps where only the order is known. `elapsed` is the time
    in all, without the events around each step where it was measured, as the median of so many `runs`.
    Predicted times have their `rates`. `launch_blocking`: the host waited for each kernel that was measured.
    `checked` has, for engines, the time in which one was busy by events and by CUPTI's records of the same execution;
    `unchecked` is the reason why there are none."""

    filter: str
    variant: str
    device: str
    basis: Basis
    spans: tuple[Span, ...]
    elapsed: float
    runs: int = 0
    rates: Rates | None = None
    launch_blocking: bool = False
    checked: tuple[tuple[Engine, float, float], ...] = ()
    unchecked: str = ""

    @property
    def overlap(self) -> float:
        """See `gpu_ops.devices.sim.streams.queues.overlap`."""
        return overlap(self.spans)

    @property
    def busy(self) -> dict[Engine, float]:
        """For each engine of the timeline the time in which it is busy."""
        found = busy(self.spans)
        return {engine: found[engine] for engine in ENGINES if engine in found}

    @property
    def lanes(self) -> list[str]:
        """The rows of a chart: the host, then each stream."""
        ordered = sorted(self.spans, key=lambda span: (span.engine != "host", span.stream))
        return list(dict.fromkeys(map(lane_of, ordered)))

    def of_lane(self, lane: str) -> list[Span]:
        """The spans of a row, in the order of their start."""
        own = (s for s in self.spans if lane_of(s) == lane)
        return sorted(own, key=lambda span: span.start)

    def chart(self, width: int = 72) -> list[str]:
        """A line of text for each row: a character represents the step that runs at that time."""
        end = max((span.end for span in self.spans), default=0.0) or 1.0
        widest = max(map(len, self.lanes), default=0)
        lines = []
        for lane in self.lanes:
            cells = [" "] * width
            for span in self.of_lane(lane):
                first = min(int(span.start / end * width), width - 1)
                last = max(first + 1, round(span.end / end * width))
                cells[first:last] = SYMBOLS[span.engine] * (last - first)
            lines.append(f"{lane:{widest}}  {''.join(cells[:width]).rstrip()}")
        return lines

    def to_json(self) -> dict[str, Any]:
        """The timeline as JSON."""
        spans = [{**vars(span), "lane": lane_of(span)} for span in self.spans]
        what: dict[str, Any] = {
            "filter": self.filter,
            "variant": self.variant,
            "device": self.device,
            "basis": self.basis,
        }
        what |= {"unit": self.unit, "runs": self.runs, "launch_blocking": self.launch_blocking}
        what |= {"checked_by_records": [list(one) for one in self.checked]} if self.checked else {}
        return {**what, "elapsed": self.elapsed, "overlap": self.overlap, "spans": spans}

    @property
    def unit(self) -> str:
        """The unit of times."""
        return "steps" if self.basis == "order" else "s"

    def trace(self) -> dict[str, Any]:
        """The timeline in Chrome's trace event format, which Perfetto opens; times in microseconds, a step of an order
        as one."""
        scale = 1.0 if self.basis == "order" else 1e6
        process = f"{self.filter} {self.variant} on {self.device}, {self.basis}"
        events: list[dict[str, Any]] = [_named("process_name", 0, process)]
        for number, lane in enumerate(self.lanes, start=1):
            events.append(_named("thread_name", number, lane))
            events += [_event(span, number, scale) for span in self.of_lane(lane)]
        return {"traceEvents": events, "displayTimeUnit": "ns"}


def _named(what: str, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": 1, "tid": thread, "args": {"name": name}}


def _event(span: Span, thread: int, scale: float) -> dict[str, Any]:
    times = {"ts": span.start * scale, "dur": (span.end - span.start) * scale}
    details = {"stream": span.stream} | ({"bytes": span.nbytes} if span.nbytes else {})
    return {"name": span.name, "cat": span.engine, "ph": "X", "pid": 1, "tid": thread, **times, "args": details}


def lane_of(span: Span) -> str:
    """The row of a span."""
    if span.engine == "host":
        return "host"
    name = "default stream" if span.stream == DEFAULT_STREAM else f"stream {span.stream}"
    return f"{name}, second GPU" if span.peer else name


def traces(timelines: Iterable[Timeline]) -> dict[str, Any]:
    """Several timelines in one trace, each as a process of its own."""
    events = []
    for number, one in enumerate(timelines, start=1):
        events += [{**event, "pid": number} for event in one.trace()["traceEvents"]]
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def check_text(one: Timeline) -> str:
    """How the times of events differ from CUPTI's records, or why that is not known; "" where nothing was measured on
    a GPU."""
    if one.unchecked:
        return f"Not checked against CUPTI's activity records: {one.unchecked}"
    parts = []
    for engine, events, records in one.checked:
        times = f"{events * 1e3:.4g} ms by events, {records * 1e3:.4g} ms by records"
        parts.append(f"{ENGINES[engine]} {times} ({events / records - 1:+.1%})")
    return f"{one.variant}, checked against CUPTI's activity records: {'; '.join(parts)}." if parts else ""


def rates_text(rates: Rates) -> str:
    """The rates of a prediction, and where they come from."""
    upload, download, kernel = (f"{rate / 1e9:.4g}" for rate in (rates.upload, rates.download, rates.kernel))
    where = f"recorded on {rates.machine}" if rates.machine else "given"
    return f"from {upload} GB/s to the device, {download} GB/s to the host, {kernel} GB/s for kernels ({where})"


def timelines_json(timelines: Iterable[Timeline]) -> dict[str, Any]:
    """Several timelines as JSON."""
    return {"schema": SCHEMA, "timelines": [one.to_json() for one in timelines]}
