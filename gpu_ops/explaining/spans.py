"""Timelines as values: when and on which engine the steps of a variant run. As text, JSON, and Chrome's trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gpu_ops.devices.sim.streams.queues import busy, overlap
from gpu_ops.plan import DEFAULT_STREAM, Copy, Engine, HostTask, Launch, Span, Step

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
    """The speed of a machine's engines: bytes per second of each, and the constant overhead of a step in seconds. A
    kernel's bytes are those of its array arguments."""

    upload: float
    download: float
    kernel: float
    host: float = 10e9
    latency: float = 5e-6

    def cost(self, step: Step, engine: Engine) -> float:
        """The seconds that a step keeps its engine busy."""
        rates = {"upload": self.upload, "download": self.download, "host": self.host}
        return self.latency + _bytes_of(step) / rates.get(engine, self.kernel)


def _bytes_of(step: Step) -> int:
    if isinstance(step, Launch):
        return sum(int(arg.nbytes) for arg in step.args if getattr(arg, "ndim", 0))
    if isinstance(step, HostTask):
        return sum(int(array.nbytes) for array in step.writes)
    array = step.source if isinstance(step, Copy) else getattr(step, "target", None)
    return 0 if array is None else int(array.nbytes)


@dataclass(frozen=True)
class Timeline:
    """The spans of a variant on a device, in seconds, or in steps where only the order is known. `elapsed` is the total
    time; a measured one is the median of so many `runs` without events around each step. Predicted times have their
    `rates`."""

    filter: str
    variant: str
    device: str
    basis: Basis
    spans: tuple[Span, ...]
    elapsed: float
    runs: int = 0
    rates: Rates | None = None

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
        what |= {"unit": self.unit, "runs": self.runs}
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


def timelines_json(timelines: Iterable[Timeline]) -> dict[str, Any]:
    """Several timelines as JSON."""
    return {"schema": SCHEMA, "timelines": [one.to_json() for one in timelines]}
