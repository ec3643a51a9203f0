"""The engine's work for panels, and for all frames of a file. It is imported with the first of these jobs, because it
loads the simulated GPU and the explanations."""

from __future__ import annotations

from gpu_ops.batch.all_frames import Wanted, write_frames
from gpu_ops.devices.occupancy import LaunchOccupancy
from gpu_ops.devices.sim.streams.queues import Queues
from gpu_ops.doctor.machine import examine
from gpu_ops.engine.job_channel import JobChannel
from gpu_ops.engine.kernel_messages import (
    BlockRequest,
    CliffsRequest,
    ContractRequest,
    PageRequest,
    PredictionRequest,
    TrafficRequest,
    XRayRequest,
)
from gpu_ops.engine.messages import (
    DoctorAnswer,
    DoctorRequest,
    FramesRequest,
    Job,
    OccupancyAnswer,
    RunRequest,
    TimelinesAnswer,
    TimelinesRequest,
    TransfersAnswer,
    TransfersRequest,
)
from gpu_ops.engine.xrays import (
    answer_block,
    answer_cliffs,
    answer_contract,
    answer_page,
    answer_prediction,
    answer_traffic,
    answer_xray,
)
from gpu_ops.errors import DeviceError, KernelError, KernelscopeError, ParamError
from gpu_ops.explaining.blocked import any_timeline
from gpu_ops.explaining.occupancies import launch_occupancy
from gpu_ops.explaining.spans import Timeline
from gpu_ops.explaining.timeline import TimelineJob
from gpu_ops.explaining.transfers.catalogue import KINDS
from gpu_ops.explaining.transfers.making import sweep
from gpu_ops.explaining.transfers.subject import Subject
from gpu_ops.filters import FILTERS
from gpu_ops.io import from_origin
from gpu_ops.io.origins import of_frame
from gpu_ops.progress import stage
from gpu_ops.running.attempt import FOR_ALL, named
from gpu_ops.types import Input


def work_for_panel(channel: JobChannel, job: Job) -> None:
    """Do a panel's job, as `gpu_ops.engine.jobs.work` does the others."""
    match job:
        case XRayRequest():
            answer_xray(channel, job)
        case CliffsRequest():
            answer_cliffs(channel, job)
        case BlockRequest():
            answer_block(channel, job)
        case TrafficRequest():
            answer_traffic(channel, job)
        case ContractRequest():
            answer_contract(channel, job)
        case PageRequest():
            answer_page(channel, job)
        case PredictionRequest():
            answer_prediction(channel, job)
        case TimelinesRequest():
            _timelines(channel, job)
        case TransfersRequest():
            _transfers(channel, job)
        case FramesRequest():
            _frames(channel, job)
        case DoctorRequest():
            channel.progress("measuring bandwidth" if job.roofs else "detecting devices and libraries")
            channel.send(DoctorAnswer(job.job, examine(job.roofs)))


def _frames(channel: JobChannel, request: FramesRequest) -> None:
    """Read every frame again with the input's own steps, run the filter on it, and write the results."""
    origin = request.input.origin

    def report(done: int, total: int) -> None:
        channel.progress(f"computing frame {done + 1} of {total}", done, total)

    wanted, count = Wanted(request.filter, request.params, request.pick, request.output), request.input.facts.frames
    frames = (lambda frame: from_origin(of_frame(origin, frame)), count, wanted)
    write_frames(*frames, request.path, report, request.token)


def send_occupancy(channel: JobChannel, request: RunRequest, whole: Input) -> None:
    """Compile the kernels of the picks and report their theoretical occupancy."""
    filter, found, reasons = FILTERS.find(request.filter), dict[str, LaunchOccupancy](), list[str]()
    for pick in request.occupancy_for:
        channel.announce(f"compiling {filter.variant(pick.variant).title} for {request.architecture}")
        try:
            occupancy = launch_occupancy(filter, pick, request.params, whole.meta, request.architecture)
        except (ParamError, KernelError, DeviceError) as error:  # a CPU has times without an occupancy
            reasons.append(str(error))
        else:
            found |= {pick.variant: occupancy} if occupancy else {}
    channel.send(OccupancyAnswer(request.job, found, tuple(reasons)))


def _timelines(channel: JobChannel, request: TimelinesRequest) -> None:
    """The timelines of all picks; a pick that fails does not affect the others."""
    whole, filter = channel.input(request.input), FILTERS.find(request.filter)
    found, reasons = dict[str, Timeline](), dict[str, str]()
    queues = Queues(request.copy_engines, request.in_order, request.launch_blocking)
    for place, pick in enumerate(request.picks):
        channel.announce(f"planning {named(filter.variant(pick.variant), pick.device, True)}")
        about = (filter, filter.variant(pick.variant), pick.device, whole, request.params, pick.knobs)
        try:
            with stage(place, len(request.picks)):
                found[pick.variant] = any_timeline(TimelineJob(*about, request.rates, queues, pick.edits))
        except FOR_ALL:
            raise
        except KernelscopeError as error:
            reasons[pick.variant] = str(error)
    channel.send(TimelinesAnswer(request.job, found, reasons))


def _transfers(channel: JobChannel, request: TransfersRequest) -> None:
    kind = KINDS[request.sweep]
    channel.announce(f"sweeping transfers on {request.device}")
    subject = None
    if kind.of_input:
        assert request.input is not None
        subject = Subject.of(channel.input(request.input), request.filter, request.params)
    queues = Queues(request.copy_engines, request.in_order)
    found = sweep(request.sweep, request.device, subject, request.rates, queues)
    channel.send(TransfersAnswer(request.job, found))
