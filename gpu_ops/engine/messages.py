"""What the window and its engine say to each other. Every message is a frozen dataclass that pickles.

Arrays never travel: they lie in segments that the window owns, and messages name them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal

from gpu_ops.devices.status import DeviceStatus
from gpu_ops.errors import plain
from gpu_ops.input_kinds import INPUT_KINDS, Kind, Shape
from gpu_ops.measuring.rows import Row
from gpu_ops.output_kinds import Form, ViewKind
from gpu_ops.run_key import RunKey
from gpu_ops.types import Pick, Stage

PROTOCOL = 2


@dataclass(frozen=True)
class SharedArray:
    """An array at the start of a segment. `segment` is its name."""

    segment: str
    shape: Shape
    dtype: str


@dataclass(frozen=True)
class Statistics:
    """Exact figures of an array. `histogram` counts finite values in 256 equal bins from minimum to maximum;
    `percentiles` has 0.1, 1, 50, 99 and 99.9. All are 0 where nothing is finite."""

    minimum: float
    maximum: float
    mean: float
    percentiles: Mapping[float, float]
    histogram: tuple[int, ...]
    nan: int
    infinite: int


@dataclass(frozen=True)
class SharedResult:
    """One output of a run: an array in a segment with all that a view needs. `kind` is one of
    gpu_ops.output_kinds.OUTPUT_KINDS, `form` says the axes, `unit` is that of the values, `text` one line about it.
    `statistics` are None where the kind has none; of complex values they are those of the magnitudes."""

    kind: ViewKind
    array: SharedArray
    form: Form
    unit: str
    text: str
    statistics: Statistics | None


@dataclass(frozen=True)
class SharedInput:
    """An Input whose array lies in a segment, and its noise-free original where one is known."""

    kind: Kind
    array: SharedArray
    axes: str
    name: str
    origin: Mapping[str, Any]
    rate: float | None
    finite: bool
    statistics: Statistics
    clean: SharedArray | None = None

    @property
    def segments(self) -> tuple[str, ...]:
        """The names of the segments that it lies in."""
        return (self.array.segment,) if self.clean is None else (self.array.segment, self.clean.segment)

    @property
    def result(self) -> SharedResult:
        """The input as it is looked at, and saved."""
        kind, shape = INPUT_KINDS[self.kind], self.array.shape
        form = Form(shape, self.array.dtype, kind.axes_of(shape, self.rate))
        return SharedResult(kind.view, self.array, form, "", "", self.statistics)


# What the window asks. `job` numbers grow; an answer names its job.


@dataclass(frozen=True)
class LoadRequest:
    """Load a file; `options` are those of gpu_ops.load, such as {"nonfinite": "zero"}, and `dtype` to convert to."""

    job: int
    path: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SampleRequest:
    """Make a sample; `options` are its own, and `dtype`."""

    job: int
    id: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunRequest:
    """Run an experiment. `generation` tells newer parameters from older ones. `size` runs it on a part of the input
    instead, or on `noise` of that size, as gpu_ops.measuring.sweeps.resized says. Without `outputs` only rows come."""

    job: int
    generation: int
    input: SharedInput
    filter: str
    params: Mapping[str, Any]
    picks: tuple[Pick, ...]
    protocol: Literal["none", "quick", "careful"] = "quick"
    mode: Literal["stream", "cold", "hot"] = "stream"
    checks: Literal["full", "sample", "off"] = "full"
    roofs: bool = False
    size: int | None = None
    noise: bool = False
    outputs: bool = True


@dataclass(frozen=True)
class XRayRequest:
    """Look into a picked variant's kernels on a simulated GPU of an `architecture` such as "sm_75", whatever the pick's
    device. Only the part of the input is taken that such a GPU affords. `against` is looked into as well, on the same
    part: what changed from it to the pick is told."""

    job: int
    input: SharedInput
    filter: str
    params: Mapping[str, Any]
    pick: Pick
    architecture: str
    against: Pick | None = None


@dataclass(frozen=True)
class SaveRequest:
    """Save an output of a run, or an input as such, to a file by its suffix; `rate` is that of a signal, in hertz."""

    job: int
    path: str
    result: SharedResult
    rate: float | None


@dataclass(frozen=True)
class CancelRequest:
    """Stop a job as soon as may be; it answers Finished with cancelled True."""

    job: int


@dataclass(frozen=True)
class DoctorRequest:
    """What this machine can do, as `kernelscope doctor` says it."""

    job: int
    roofs: bool = False


@dataclass(frozen=True)
class SegmentGranted:
    """The segment that was wanted, or the reason why there is none."""

    ticket: int
    segment: str
    reason: str = ""


@dataclass(frozen=True)
class SegmentGone:
    """A segment is about to be unlinked or used for something else: let go of it."""

    segment: str


# What the engine answers.


@dataclass(frozen=True)
class Ready:
    """The engine works. Sent once, first."""

    protocol: int
    devices: tuple[DeviceStatus, ...]


@dataclass(frozen=True)
class SegmentWanted:
    """The engine needs memory to put something in."""

    ticket: int
    nbytes: int


@dataclass(frozen=True)
class Progress:
    """The job is alive: what it does, and that `done` of `total` equal parts of it are done. 0 of 0 where that is not
    known; `done` never falls while a job runs."""

    job: int
    text: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Loaded:
    """The answer to LoadRequest and SampleRequest."""

    job: int
    input: SharedInput


@dataclass(frozen=True)
class RunUpdate:
    """News of one pick: its row, and how far it is. `outputs` come with the first news.

    `place` is where they begin in the input along each spatial axis, when only a part of it was run; else (). They are
    what the whole input gives there, unless `exact` is False: then they are what the part gives by itself.
    `provenance` is what gpu_ops.measuring.provenance.machine says, without roofs, of all devices that ran anything so
    far; only the first news of a device brings it.
    """

    job: int
    generation: int
    stage: Stage
    row: Row
    outputs: Mapping[str, SharedResult] = field(default_factory=dict)
    place: tuple[int, ...] = ()
    exact: bool = True
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> RunKey:
        """What the run is of: its row, its outputs and its times are of nothing else."""
        return self.row.key


@dataclass(frozen=True)
class DoctorAnswer:
    """The answer to DoctorRequest."""

    job: int
    content: Mapping[str, Any]


@dataclass(frozen=True)
class XRayAnswer:
    """The answer to XRayRequest: schema kernelscope-xray/1 with the "accesses" of each kernel, and beside it "title",
    "idea", "sentences" that explain it, "sources" {file: text}, the input's "name" and "whole" spatial shape, and
    "place", where the part that was taken begins along each spatial axis, [] when it is the whole. Where it was asked
    for there is a "comparison" with another variant: "before", "rows" and "sentences" of gpu_ops.measuring.comparison,
    or the "reason" why there is none."""

    job: int
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Finished:
    """A job is done."""

    job: int
    cancelled: bool = False


@dataclass(frozen=True)
class NonFinite:
    """How many NaN and infinite values a file holds, and what may be done with them: asked for again with
    {"nonfinite": one of `choices`} among its options, it is loaded."""

    nan: int
    infinite: int
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Failed:
    """A job failed; the engine lives on unless kind is "engine" (it died, hung or was killed and is started anew).
    `nonfinite` is there when a file needs a choice before it can be loaded; the sentence then says what it holds, and
    no more."""

    job: int
    sentence: str
    details: str = ""
    kind: Literal["input", "kernel", "device", "engine"] = "input"
    nonfinite: NonFinite | None = None


Request = LoadRequest | SampleRequest | RunRequest | XRayRequest | SaveRequest | CancelRequest | DoctorRequest
Answer = Ready | Progress | Loaded | RunUpdate | XRayAnswer | DoctorAnswer | Finished | Failed


def doing(request: Request) -> str:
    """What the engine was at, for a sentence: "ran mean2d"."""
    match request:
        case LoadRequest():
            return f"loaded {plain(PurePath(request.path).name)}"
        case SampleRequest():
            return f"made the sample {request.id}"
        case RunRequest():
            return f"ran {request.filter}"
        case XRayRequest():
            beside = f" and {request.against.variant}" if request.against else ""
            return f"looked into {request.pick.variant}{beside} of {request.filter}"
        case SaveRequest():
            return f"saved {plain(PurePath(request.path).name)}"
        case DoctorRequest():
            return "looked at this machine"
        case CancelRequest():
            return "cancelled a job"


def segments_read(request: Request) -> Iterator[str]:
    """Names of the segments whose content a request needs."""
    if isinstance(request, RunRequest | XRayRequest):
        yield from request.input.segments
    elif isinstance(request, SaveRequest):
        yield request.result.array.segment


def segments_given(answer: Answer) -> Iterator[str]:
    """Names of the segments that an answer hands over."""
    if isinstance(answer, Loaded):
        yield from answer.input.segments
    elif isinstance(answer, RunUpdate):
        for output in answer.outputs.values():
            yield output.array.segment
