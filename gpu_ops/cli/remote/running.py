"""run on devices of another machine: --device gpu-host/cuda:0, or --remote user@host for its best ones."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gpu_ops.batch.choosing import knobs_of, with_defaults
from gpu_ops.cli import outputs, streams
from gpu_ops.cli.inputs import check_flags, checked_values, current_ids, read_input
from gpu_ops.device_names import on_host
from gpu_ops.engine.messages import Loaded, LoadRequest, RunRequest, RunUpdate
from gpu_ops.engine.shared import SharedInput
from gpu_ops.errors import DeviceError, InputError, ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.io.opening import CHOICES
from gpu_ops.remote.destination import Destination, location
from gpu_ops.remote.talk import Talk
from gpu_ops.report.about import about_run
from gpu_ops.report.rows import Row
from gpu_ops.running.runner import default_picks
from gpu_ops.running.suitable import check_type
from gpu_ops.task import Meta, Task
from gpu_ops.types import Experiment, Filter, Input, Pick, Run, Work

UNKNOWN = ("frames", "kernel", "memory", "device_memory", "output_dir")


class Ran(NamedTuple):
    """What a run on another machine gave: its experiment, rows, the newest outputs, and where it ran."""

    experiment: Experiment
    rows: list[Row]
    runs: list[Run]
    provenance: dict[str, Any]


def run_there(args: argparse.Namespace, to: Destination) -> Ran:
    """Run what the flags describe on another machine, and save there what they name here. Raises the errors of run, and
    DeviceError for a machine that cannot be used."""
    for name in UNKNOWN:
        if getattr(args, name, None) is not None:
            raise ParamError(
                f"--{name.replace('_', '-')} is for devices of this machine; leave it out with {to.label}."
            )
    here = None if args.input is not None and location(args.input) else read_input(args)
    with Talk(to, streams.rewrite) as talk:
        statuses = {status.name: status for status in talk.ready().devices}
        shared = _load(args, talk) if here is None else talk.share(here)
        input = here or _described(talk, shared)
        filter = FILTERS.find(args.filter, input.kind)
        check_type(filter, input)
        values, params = checked_values(args, filter)
        names = [on_host(to.label, name) for name in args.device]
        for name in names or [n for n, s in statuses.items() if s.available and s.kind != "sim"]:
            known = statuses.get(name) or statuses.get(name.rpartition(":")[0])
            if known is None or not known.available:
                why = known.reason if known else f"it has {', '.join(statuses)}"
                raise DeviceError(f"Device {plain(name, 60)} is not available: {plain(why)}.")
        names = names or [n for n, s in statuses.items() if s.available and s.kind != "sim"]
        picks = _picks(args, filter, input.meta, values, params, names)
        targets = outputs.targets(filter, params, args.output)
        request = RunRequest(talk.number(), 0, shared, filter.id, params, picks, "none", "stream", "full")
        updates, provenance = dict[Any, RunUpdate](), dict[str, Any]()
        for update in talk.ask(request):
            provenance = dict(update.provenance) or provenance
            kept = update.outputs or getattr(updates.get(update.key), "outputs", {})
            updates[update.key] = replace(update, outputs=kept)
        streams.rewrite("")
        experiment = Experiment(filter.id, input, params, picks, "none")
        made = [update for update in updates.values() if update.outputs]
        runs = [_run(talk, update) for update in made]
        right = [(run, update.row) for run, update in zip(runs, made, strict=True) if run.ok is not False]
        _save(args, targets, experiment, right, provenance)
        return Ran(experiment, [update.row for update in updates.values()], runs, provenance)


def _load(args: argparse.Namespace, talk: Talk) -> SharedInput:
    """A file of that machine, read by its engine."""
    if args.step or "noise" in vars(args) and args.param_noise is not None:
        raise ParamError("--step and --noise are for files of this machine; leave them out, or copy the file here.")
    place = location(args.input)
    assert place is not None
    given = {"kind": args.kind, "limit": args.limit, "nonfinite": args.nonfinite, "dtype": args.dtype}
    given |= {p.name: getattr(args, f"param_{p.name}", None) for p in CHOICES}
    options = {name: value for name, value in given.items() if value is not None}
    for answer in talk.ask(LoadRequest(talk.number(), place[1], options)):
        if isinstance(answer, Loaded):
            return answer.input
    raise InputError(f"{plain(args.input)} was not read; try again.")


def _described(talk: Talk, shared: SharedInput) -> Input:
    """An input that is there: its array here has no values yet, and only its form is used."""
    array = talk.pool.array(shared.array)
    meta = (shared.axes, shared.name, shared.origin, shared.rate)
    return Input(shared.kind, array, *meta, finite=shared.finite, facts=shared.facts)


def _picks(
    args: argparse.Namespace,
    filter: Filter,
    meta: Meta,
    values: dict[str, Any],
    params: dict[str, Any],
    devices: Sequence[str],
) -> tuple[Pick, ...]:
    """The named variants, or the last of the filter's own that take the input, on each device."""
    variants = current_ids(args, filter, args.variant, meta, values)
    picks = default_picks(filter, devices, variants)
    if not variants:
        takes = _taking(filter, meta, with_defaults(filter, params))
        picks = tuple({pick.device: pick for pick in picks if takes(pick)}.values())
    if not picks:
        raise ParamError(f"No such variant of {filter.id} runs on {', '.join(devices)}; kernelscope list {filter.id}.")
    check_flags(args, filter, (filter.variant(p.variant) for p in picks))
    return tuple(replace(pick, knobs=knobs_of(filter.variant(pick.variant), values)) for pick in picks)


def _taking(filter: Filter, meta: Meta, params: Any) -> Callable[[Pick], bool]:
    def takes(pick: Pick) -> bool:
        variant = filter.variant(pick.variant)
        knobs = {k.name: k.default for k in variant.knobs}
        return not variant.library and variant.refusal(Task.of(meta, params, knobs)) is None

    return takes


def _run(talk: Talk, update: RunUpdate) -> Run:
    """A run there as one here, with all values of its outputs."""
    arrays = {name: talk.array(result.array) for name, result in update.outputs.items()}
    forms = {name: result.form for name, result in update.outputs.items()}
    row = update.row
    about = (Pick(row.variant, row.device, row.knobs), row.filter, row.params, row.shape, row.dtype, update.stage)
    return Run(*about, arrays, Work(row.bytes, 0, 0), ok=row.ok, forms=forms)


def _save(
    args: argparse.Namespace,
    targets: dict[str, str],
    experiment: Experiment,
    right: Sequence[tuple[Run, Row]],
    where: dict[str, Any],
) -> None:
    """Write the outputs of the last right result."""
    saving = outputs.saving_of(args)
    for name, path in targets.items():
        if not right:
            raise InputError(f"Nothing is written to {plain(path)}: no variant gave a right result.")
        run, row = right[-1]
        how = replace(saving, about=about_run(row, where, name), pixel=experiment.input.facts.pixel)
        what = "the result" if len(run.outputs) == 1 else name
        outputs.save_one(path, run, name, how, experiment.input.rate, what)
