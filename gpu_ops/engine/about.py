"""What a message is about: in words, and the segments that it names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from gpu_ops.engine.kernel_messages import (
    BlockRequest,
    CliffsRequest,
    ContractRequest,
    PageRequest,
    PredictionRequest,
    TrafficRequest,
    XRayRequest,
)
from gpu_ops.engine.live.messages import LiveFrame, LiveRequest
from gpu_ops.engine.messages import (
    Answer,
    CancelRequest,
    DoctorRequest,
    FramesRequest,
    Loaded,
    LoadRequest,
    Request,
    ResultRequest,
    RunRequest,
    RunUpdate,
    SampleRequest,
    SaveRequest,
    Stepped,
    StepsRequest,
    SurveyRequest,
    TimelinesRequest,
    TransfersRequest,
)
from gpu_ops.errors import plain


def activity(request: Request) -> str:
    """What the engine did for a request, as part of a sentence: "ran mean2d"."""
    match request:
        case LoadRequest():
            return f"loaded {plain(PurePath(request.path).name)}"
        case SurveyRequest():
            return f"read {plain(PurePath(request.path).name)}"
        case SampleRequest():
            return f"generated the sample {request.id}"
        case StepsRequest():
            return f"changed {plain(request.input.name)}"
        case ResultRequest():
            return f"made an input of {plain(request.name)}"
        case LiveRequest():
            return f"read {request.source.name}"
        case RunRequest():
            return f"ran {request.filter}"
        case XRayRequest():
            beside = f" and {request.against.variant}" if request.against else ""
            return f"profiled {request.pick.variant}{beside} of {request.filter}"
        case CliffsRequest():
            return f"looked for cliffs of {request.pick.variant} of {request.filter}"
        case BlockRequest():
            return f"recorded a block of {request.pick.variant} of {request.filter}"
        case TrafficRequest():
            return f"recorded the traffic of {', '.join(p.variant for p in request.picks)} of {request.filter}"
        case ContractRequest():
            return f"checked an edited {request.pick.variant} of {request.filter}"
        case PageRequest():
            return f"counted {request.filter} for {plain(PurePath(request.path).name)}"
        case PredictionRequest():
            return f"counted launches of {request.filter} for {request.gpu}"
        case TimelinesRequest():
            return f"drew timelines of {request.filter}"
        case TransfersRequest():
            return f"swept transfers ({request.sweep})"
        case SaveRequest():
            return f"saved {plain(PurePath(request.path).name)}"
        case FramesRequest():
            return f"ran {request.filter} over all frames of {plain(request.input.name)}"
        case DoctorRequest():
            return "examined this machine"
        case CancelRequest():
            return "cancelled a job"


def is_of_frame(request: Request) -> bool:
    """Whether a request reads a frame of live input, or runs one of many frames unverified."""
    if isinstance(request, RunRequest):
        return (request.protocol, request.checks) == ("none", "off")
    return isinstance(request, LiveRequest) and request.do == "next"


def segments_of_request(request: Request) -> Iterator[str]:
    """Names of the segments that a request refers to."""
    about = XRayRequest | CliffsRequest | BlockRequest | PredictionRequest | TrafficRequest | TimelinesRequest
    if isinstance(request, StepsRequest | RunRequest | PageRequest | about):
        yield from request.input.segments
    elif isinstance(request, TransfersRequest):
        yield from request.input.segments if request.input else ()
    elif isinstance(request, SaveRequest | ResultRequest):
        yield request.result.array.segment
    elif isinstance(request, LiveRequest) and request.frame is not None:
        yield request.frame.segment


def segments_of_answer(answer: Answer) -> Iterator[str]:
    """Names of the segments that an answer hands over."""
    if isinstance(answer, Loaded):
        yield from answer.input.segments
    elif isinstance(answer, LiveFrame):
        yield from answer.input.segments if answer.input else ()
    elif isinstance(answer, Stepped):
        yield from answer.segments
    elif isinstance(answer, RunUpdate):
        for output in answer.outputs.values():
            yield output.array.segment
