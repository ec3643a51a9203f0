"""The messages between the window and its engine. Every message is a frozen dataclass that pickles. Arrays are in
segments that the window owns, and messages name the segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gpu_ops.devices.occupancy import LaunchOccupancy
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.kernel_messages import (
    BlockAnswer,
    BlockRequest,
    CliffsAnswer,
    CliffsRequest,
    ContractAnswer,
    ContractRequest,
    PageRequest,
    PredictionAnswer,
    PredictionRequest,
    TrafficAnswer,
    TrafficRequest,
    XRayAnswer,
    XRayRequest,
)
from gpu_ops.engine.live.messages import LiveFrame, LiveRequest
from gpu_ops.engine.shared import SharedInput, SharedResult
from gpu_ops.explaining.spans import Rates, Timeline
from gpu_ops.explaining.transfers.sweep import TransferSweep
from gpu_ops.filters.own import OwnVariant
from gpu_ops.input_kinds import Spans
from gpu_ops.io.opening import Survey
from gpu_ops.io.part_files import part_of
from gpu_ops.io.results import Saving
from gpu_ops.report.rows import Row
from gpu_ops.run_key import RunKey
from gpu_ops.types import Facts, Pick, RunStage

PROTOCOL = 12


# Requests of the window. Job numbers ascend; an answer has the number of its job.


@dataclass(frozen=True)
class LoadRequest:
    """Load a file. `options` are those of gpu_ops.load, such as {"nonfinite": "zero", "frame": 3}, and `dtype`, the
    type to convert to."""

    job: int
    path: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SurveyRequest:
    """Find the content of a file and its reading choices, as gpu_ops.survey does with these `choices`."""

    job: int
    path: str
    choices: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SampleRequest:
    """Generate a sample. `options` are its parameters, and `dtype`, the type to convert to."""

    job: int
    id: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StepsRequest:
    """Apply steps to an input, as gpu_ops.apply_steps does."""

    job: int
    input: SharedInput
    steps: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class ResultRequest:
    """Turn a result of a run into an input: an image or a signal. `origin` says how it was computed, `rate` is that of
    a signal, in hertz."""

    job: int
    result: SharedResult
    name: str
    origin: Mapping[str, Any]
    rate: float | None = None
    facts: Facts = Facts()


@dataclass(frozen=True)
class RunRequest:
    """Run an experiment. `generation` distinguishes newer parameters from older ones. `size` selects a part of the
    input, or `noise` of that size, see gpu_ops.report.sweeps.resized; with `distinct` the input is noise of so many
    values. Without `outputs` the answers have only rows. `occupancy_for` are picks whose theoretical occupancy on an
    `architecture` is reported first; `picks` may then be empty. A simulated GPU runs the whole input where that is
    short, else a part around the centre of `view`, what the person sees of it; with `rest` all further parts. Another
    machine sends so much of a result first as fills `view` on so many `pixels` of the screen."""

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
    distinct: int | None = None
    outputs: bool = True
    view: Spans = ()
    pixels: int = 0
    rest: bool = False
    occupancy_for: tuple[Pick, ...] = ()
    architecture: str = ""


@dataclass(frozen=True)
class TimelinesRequest:
    """Find when the steps of the picks begin and end. Those of a simulated GPU have queues with so many `copy_engines`,
    which begin steps `in_order` of their enqueueing before compute capability 3.5; with `rates` times are predicted.
    With `launch_blocking` the host waits for each kernel."""

    job: int
    input: SharedInput
    filter: str
    params: Mapping[str, Any]
    picks: tuple[Pick, ...]
    copy_engines: int = 2
    in_order: bool = False
    rates: Rates | None = None
    launch_blocking: bool = False


@dataclass(frozen=True)
class TransfersRequest:
    """Make a `sweep` of transfers by its id, of an input or of none. The model is as in a TimelinesRequest."""

    job: int
    sweep: str
    device: str
    input: SharedInput | None
    filter: str
    params: Mapping[str, Any]
    copy_engines: int = 2
    in_order: bool = False
    rates: Rates | None = None


@dataclass(frozen=True)
class SaveRequest:
    """Save an output of a run, or an input in the same form, to a file in the format of its suffix. `rate` is that of a
    signal, in hertz, `saving` has the mapping of its values and the facts that the file stores."""

    job: int
    path: str
    result: SharedResult
    rate: float | None
    saving: Saving = Saving()


@dataclass(frozen=True)
class FramesRequest:
    """Run a filter over all frames of an input's stack, each with the input's steps, and write the `output` of each
    into one NPY or TIFF file. While incomplete it is `part`, which the window removes if the engine was ended."""

    job: int
    input: SharedInput
    filter: str
    params: Mapping[str, Any]
    pick: Pick
    output: str
    path: str
    token: str

    @property
    def part(self) -> Path:
        """The incomplete file."""
        return part_of(self.path, self.token)


@dataclass(frozen=True)
class CancelRequest:
    """Stop a job as soon as possible; its answer is Finished with cancelled True."""

    job: int


@dataclass(frozen=True)
class DoctorRequest:
    """Examine this machine, as `kernelscope doctor` does."""

    job: int
    roofs: bool = False


@dataclass(frozen=True)
class SegmentGrant:
    """The segment for a SegmentRequest, or the reason why there is none."""

    ticket: int
    segment: str
    reason: str = ""


@dataclass(frozen=True)
class SegmentRelease:
    """The engine must unmap this segment, because the window removes it or reuses it."""

    segment: str


@dataclass(frozen=True)
class OwnVariants:
    """All variants that the user has defined; later jobs may name them."""

    own: tuple[OwnVariant, ...]


# Answers of the engine.


@dataclass(frozen=True)
class Ready:
    """The engine is ready. It sends this once, first."""

    protocol: int
    devices: tuple[DeviceStatus, ...]


@dataclass(frozen=True)
class SegmentRequest:
    """The engine needs a segment of at least `nbytes`."""

    ticket: int
    nbytes: int


@dataclass(frozen=True)
class Progress:
    """The job is alive: its present step, and that `done` of `total` equal parts are done (0 of 0 if unknown). `done`
    never decreases while a job runs."""

    job: int
    text: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Loaded:
    """The answer to LoadRequest, SampleRequest and ResultRequest."""

    job: int
    input: SharedInput


@dataclass(frozen=True)
class Surveyed:
    """The answer to SurveyRequest."""

    job: int
    survey: Survey


@dataclass(frozen=True)
class Stepped:
    """The answer to StepsRequest: the input after its steps. Its clean original may be in a segment of the request's
    input; `segments` are those whose ownership the answer transfers."""

    job: int
    input: SharedInput
    segments: tuple[str, ...]


@dataclass(frozen=True)
class ResultSaved:
    """The answer to SaveRequest: the file, and how its values were converted in words, "" where they are unchanged."""

    job: int
    path: str
    mapping: str


@dataclass(frozen=True)
class RunUpdate:
    """The newest state of one pick: its stage and its row. The first update also has the `outputs`.

    If only a part of the input was run, `place` is where the outputs begin in the input along each spatial axis; else
    it is (). The outputs equal the whole input's there, unless `exact` is False: then they depend only on the part,
    which begins and ends at `part` along each axis. `provenance` is the answer of gpu_ops.report.provenance.machine
    for all devices so far, with the roofs of those that were measured; only an update with which one of them is new has
    it."""

    job: int
    generation: int
    stage: RunStage
    row: Row
    outputs: Mapping[str, SharedResult] = field(default_factory=dict)
    place: tuple[int, ...] = ()
    exact: bool = True
    part: Spans = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> RunKey:
        """The key of the run that the row, the outputs and the times belong to."""
        return self.row.key


@dataclass(frozen=True)
class OccupancyAnswer:
    """The theoretical occupancy of picks of a RunRequest, by variant, and the `reasons` of those that cannot do the
    task."""

    job: int
    variants: Mapping[str, LaunchOccupancy]
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class DoctorAnswer:
    """The answer to DoctorRequest."""

    job: int
    content: Mapping[str, Any]


@dataclass(frozen=True)
class TimelinesAnswer:
    """The answer to TimelinesRequest: the timelines by variant, and the reasons of variants without one."""

    job: int
    timelines: Mapping[str, Timeline]
    reasons: Mapping[str, str]


@dataclass(frozen=True)
class TransfersAnswer:
    """The answer to TransfersRequest."""

    job: int
    content: TransferSweep


@dataclass(frozen=True)
class Finished:
    """A job is done."""

    job: int
    cancelled: bool = False


@dataclass(frozen=True)
class NonFinite:
    """The number of NaN and infinite values in a file. A new LoadRequest with the option {"nonfinite": one of
    `choices`} loads it."""

    nan: int
    infinite: int
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Failed:
    """A job failed. The engine continues, unless `kind` is "engine": then it died, hung or was killed, and a new one
    starts. `nonfinite` is set if the user must choose before a file can be loaded; `sentence` then states only the
    problem."""

    job: int
    sentence: str
    details: str = ""
    kind: Literal["input", "kernel", "device", "engine"] = "input"
    nonfinite: NonFinite | None = None


Read = LoadRequest | SurveyRequest | SampleRequest | StepsRequest | ResultRequest | LiveRequest
OfKernel = (
    XRayRequest | CliffsRequest | BlockRequest | ContractRequest | PredictionRequest | TrafficRequest | PageRequest
)
Look = OfKernel | TimelinesRequest | TransfersRequest | DoctorRequest
Job = Read | Look | RunRequest | SaveRequest | FramesRequest
Request = Job | CancelRequest
Made = Loaded | LiveFrame | Surveyed | Stepped | ResultSaved | RunUpdate | OccupancyAnswer
Seen = XRayAnswer | CliffsAnswer | BlockAnswer | ContractAnswer | PredictionAnswer | TrafficAnswer
Found = Seen | TimelinesAnswer | TransfersAnswer | DoctorAnswer
Answer = Ready | Progress | Made | Found | Finished | Failed
