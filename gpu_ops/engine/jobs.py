"""The engine's work for each kind of request. Every job ends with a return or an error."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from gpu_ops.device_names import is_simulated
from gpu_ops.engine.edits import limits_of_edits
from gpu_ops.engine.job_channel import PARTS, JobChannel
from gpu_ops.engine.live.messages import LiveFrame, LiveRequest
from gpu_ops.engine.messages import (
    Job,
    Loaded,
    LoadRequest,
    ResultRequest,
    ResultSaved,
    RunRequest,
    RunUpdate,
    SampleRequest,
    SaveRequest,
    Stepped,
    StepsRequest,
)
from gpu_ops.engine.shared import SharedArray, SharedInput, SharedResult, Statistics
from gpu_ops.engine.simulated import Piece, Simulation
from gpu_ops.engine.statistics import statistics
from gpu_ops.errors import InputError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io import SAMPLES, apply_steps, convert, load, sample, save_result
from gpu_ops.io.inputs import make_input
from gpu_ops.io.live.newest import Frame, OneSource
from gpu_ops.io.rows import check_fits
from gpu_ops.output_kinds import OUTPUT_KINDS, Array, Form
from gpu_ops.progress import finite, listening, stage
from gpu_ops.report.files import row
from gpu_ops.report.rows import Row
from gpu_ops.report.sweeps import noise_of, resized
from gpu_ops.run_key import RunKey
from gpu_ops.running.affordable import Crop
from gpu_ops.running.attempt import named
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Input, Output, Pick, Run

_LIVE = OneSource()


def work(channel: JobChannel, job: Job) -> None:
    """Do a job and send all its answers except Finished. Raises KernelscopeError, Cancelled and any unexpected
    error."""
    if isinstance(job, RunRequest):  # a run reports its progress itself
        with listening(channel.should_stop):
            _run(channel, job)
        return
    with listening(channel.should_stop, channel.report_part):
        match job:
            case LoadRequest():
                _load(channel, job)
            case SampleRequest():
                _sample(channel, job)
            case StepsRequest():
                _steps(channel, job)
            case ResultRequest():
                _result(channel, job)
            case LiveRequest():
                _live(channel, job)
            case SaveRequest():
                channel.progress(f"saving {plain(job.path)}")
                result, array = job.result, channel.array(job.result.array)
                how = (result.form, result.unit, job.rate)
                mapping = save_result(job.path, result.kind, array, *how, saving=job.saving)
                channel.send(ResultSaved(job.job, job.path, mapping))
            case _:  # imported only now: the first picture does not wait for the simulated GPU and the explanations
                from gpu_ops.engine.panel_jobs import work_for_panel

                work_for_panel(channel, job)


def _load(channel: JobChannel, request: LoadRequest) -> None:
    channel.progress(f"loading {plain(request.path)}")
    options = dict(request.options)
    dtype = options.pop("dtype", None)
    check_fits(request.path, options.get("kind"))
    with stage(0, 2), channel.allocating():
        input = load(request.path, **options)
    _answer(channel, request.job, input, dtype)


def _sample(channel: JobChannel, request: SampleRequest) -> None:
    channel.progress(f"generating the sample {request.id}")
    options = dict(request.options)
    names = {p.name for s in SAMPLES if s.id == request.id for p in s.params}
    dtype = None if "dtype" in names else options.pop("dtype", None)
    with finite():
        input = sample(request.id, **options)
    _answer(channel, request.job, input, dtype)


def _steps(channel: JobChannel, request: StepsRequest) -> None:
    original = request.input
    channel.progress(f"changing {original.name}")
    base = channel.input(original)
    with stage(0, 2):
        stepped = apply_steps(base, request.steps)
    # The window has the original already: an array of it is not copied.
    sent = [(base.clean, original.clean), (base.array, original.array)]
    clean = next((shared for array, shared in sent if array is stepped.clean and array is not None), None)
    shared = _shared_input(channel, stepped, clean)
    own = (shared.array.segment,) if clean is not None or shared.clean is None else shared.segments
    channel.send(Stepped(request.job, shared, own))


def _result(channel: JobChannel, request: ResultRequest) -> None:
    """Copy the result, because the window releases its memory when the next result arrives."""
    channel.progress(f"copying {request.name}")
    array, kind = channel.array(request.result.array), request.result.kind
    takers = [k.id for k in INPUT_KINDS.values() if k.view == kind and len(array.shape) in k.axes and k.sample]
    if not takers:
        raise InputError(f"{request.name} is {OUTPUT_KINDS[kind].title}, and an input is an image or a signal.")
    with finite():
        about = (takers[0], request.name, request.origin, request.rate, "keep", request.name, request.facts)
        input = make_input(array, *about)
    channel.send(Loaded(request.job, _shared_input(channel, input)))


def _live(channel: JobChannel, request: LiveRequest) -> None:
    """Send the newest frame of a live source, or let it rest."""
    if request.do == "hold":
        _LIVE.hold()
        return
    if request.do == "close":
        _LIVE.close()
        return
    name, start = request.source.name, time.monotonic()
    channel.progress(f"reading {name}")
    if request.frame is not None:
        frame: Frame | None = Frame(channel.array(request.frame), request.after + 1, request.source.rate)
    else:
        frame = _LIVE.after(request.source, request.after, channel.should_stop)
    waited = time.monotonic() - start
    if frame is None:
        channel.send(LiveFrame(request.job, None))
    else:
        shared = _shared_input(channel, frame.input(name))
        channel.send(LiveFrame(request.job, shared, frame.number, frame.rate, waited))


def _answer(channel: JobChannel, job: int, input: Input, dtype: str | None) -> None:
    channel.announce(f"summarising {input.name}")
    if dtype:
        with finite():
            input = convert(input, dtype)
    channel.send(Loaded(job, _shared_input(channel, input)))


def _shared_input(channel: JobChannel, input: Input, clean: SharedArray | None = None) -> SharedInput:
    """Send an input to the window: the second half of a job. `clean` is its clean original where the window already has
    it."""
    with stage(2, 4):
        figures = statistics(_values(input))
    with stage(3, 4):
        array = channel.share(input.array)
        if clean is None and input.clean is not None:
            clean = channel.share(input.clean)
    meta = (input.axes, input.name, input.origin, input.rate, input.finite)
    return SharedInput(input.kind, array, *meta, figures, clean, input.facts)


def _values(input: Input) -> Array:
    """The real values that an input's statistics describe, such as magnitudes of complex ones."""
    figures = OUTPUT_KINDS[INPUT_KINDS[input.kind].view].figures(input.array)
    return input.array if figures is None else figures


def _run(channel: JobChannel, request: RunRequest) -> None:
    """Run the picks of real devices first, then the simulated ones one by one."""
    whole = channel.input(request.input)
    if request.size is not None:
        with finite():
            whole = resized(whole, request.size, request.noise)
    if request.distinct is not None:
        whole = noise_of(whole, request.distinct)
    if request.occupancy_for:
        from gpu_ops.engine.panel_jobs import send_occupancy

        send_occupancy(channel, request, whole)
    channel.pin(request.input.array.segment, (p.device for p in request.picks))
    fast = tuple(p for p in request.picks if not is_simulated(p.device))
    if fast:
        _run_picks(channel, request, whole, fast)
    for place, pick in enumerate(p for p in request.picks if is_simulated(p.device)):
        _simulate(channel, request, whole, pick, len(fast) + place)


def _simulate(channel: JobChannel, request: RunRequest, whole: Input, pick: Pick, place: int) -> None:
    """Run a pick on a simulated GPU, the one in this place of the request's: see Simulation. Without outputs only a
    part that takes seconds is run: it is the work of one size that is wanted."""
    how = request.protocol, request.mode, request.checks
    experiment = Experiment(request.filter, whole, request.params, (pick,), *how, counted=True)

    def report(text: str, share: float) -> None:
        channel.progress(text, int(PARTS * (place + share)), PARTS * len(request.picks))

    simulation = Simulation(experiment, request.view, channel.should_stop, report)
    pieces = simulation.rest() if request.rest else simulation.run(always_part=not request.outputs)
    while True:
        with limits_of_edits(pick):
            piece = next(pieces, None)
        if piece is None:
            return
        _send(channel, request, piece)


def _run_picks(channel: JobChannel, request: RunRequest, whole: Input, picks: tuple[Pick, ...]) -> None:
    """Run picks of real devices on the whole input."""
    how = request.protocol, request.mode, request.checks
    experiment = Experiment(request.filter, whole, request.params, picks, *how, counted=True)
    count, all_picks = len(picks), len(request.picks)

    def report(text: str, done: int, total: int) -> None:
        """Report the progress of the whole request, of which these picks are a share."""
        channel.progress(text, done, total * all_picks // count)

    sent: set[RunKey] = set()
    with channel.allocating([pick.device for pick in picks]):
        for run in run_experiment(experiment, stop=channel.should_stop, progress=report, titled=True):
            _send(channel, request, Piece(run, experiment, Crop((), (), True), (), run.key not in sent))
            sent.add(run.key)


def _send(channel: JobChannel, request: RunRequest, piece: Piece) -> None:
    """Send the newest state of a run, with the part of its outputs that equals the whole input's where they are new."""
    run, region = piece.run, piece.region
    new_row = _row(channel, run, piece.experiment, request.roofs)
    outputs = _outputs(channel, run, piece.task, region) if piece.begins and request.outputs else {}
    opened = bool(run.timings or run.outputs)
    machine = channel.provenance(run.pick.device, new_row.roof is not None) if opened else {}
    where = region.place, region.exact, piece.spans
    channel.send(RunUpdate(request.job, request.generation, run.stage, new_row, outputs, *where, machine))


def _row(channel: JobChannel, run: Run, experiment: Experiment, roofs: bool) -> Row:
    if roofs and "kernel" in run.timings:
        channel.announce(f"measuring the bandwidth of {run.pick.device}")  # once per device; it takes some time
    return row(run, experiment, with_roofs=roofs)


def _outputs(channel: JobChannel, run: Run, task: Task, region: Crop) -> dict[str, SharedResult]:
    filter = FILTERS.find(run.filter)
    channel.announce(f"summarising the outputs of {named(filter.variant(run.pick.variant), run.pick.device, True)}")
    declared = {o.id: o for o in filter.outputs}
    forms = run.forms
    return {n: _shared(channel, declared[n], array, forms[n], task, region) for n, array in run.outputs.items()}


def _shared(channel: JobChannel, output: Output, array: Array, form: Form, task: Task, region: Crop) -> SharedResult:
    """The shared form of an output. If it has the input's shape, it is cut to the part that equals the whole input's
    result; if it is of the input's kind as well, its axes begin at the position of that part in the input."""
    kind, rank = output.of_kind, len(region.place)
    alike = form.shape[:rank] == task.meta.shape[:rank]
    over = region.cut if alike else ()
    places = form.begin_at(region.place) if alike and kind.id == task.meta.of_kind.view else form.cut(over)
    form, values = replace(form.cut(over), axes=places.axes), np.asarray(array[over], order="C")
    figures = kind.figures(values)
    summary = None if figures is None else statistics(figures)
    unit = "" if output.labels else form.unit_of(kind.id, output.unit)
    text = kind.summarise(_ends(values, figures, summary) if kind.by_ends else values, form, unit)
    return SharedResult(kind.id, channel.share(values), form, unit, text, summary)


def _ends(values: Array, figures: Array | None, summary: Statistics | None) -> Array:
    """The two values that a text about the range needs, where the statistics know them: another pass over a large
    result takes as long as to paint it."""
    if figures is None or summary is None or figures.size != values.size or summary.finite == 0:
        return values
    return np.array([summary.minimum, summary.maximum], figures.dtype).astype(values.dtype)
