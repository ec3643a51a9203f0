"""run on devices of another machine: --device gpu-host/cuda:0, or --remote user@host for its best ones."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gpu_ops.batch.choosing import with_defaults
from gpu_ops.cli import outputs, streams
from gpu_ops.cli.remote.machine import Machine
from gpu_ops.engine.messages import RunRequest, RunUpdate
from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.talk import Talk
from gpu_ops.report.about import about_run
from gpu_ops.report.rows import Row
from gpu_ops.task import Meta, Task
from gpu_ops.types import Experiment, Filter, Pick, Run, Work


class Ran(NamedTuple):
    """What a run on another machine gave: its experiment, rows, the newest outputs, and where it ran."""

    experiment: Experiment
    rows: list[Row]
    runs: list[Run]
    provenance: dict[str, Any]


def run_there(args: argparse.Namespace, to: Destination) -> Ran:
    """Run what the flags describe on another machine, and save there what they name here. Raises the errors of run, and
    DeviceError for a machine that cannot be used."""
    with Talk(to, streams.rewrite) as talk:
        there = Machine(args, talk)
        asked = there.asked()
        input, filter, params = asked.input, asked.filter, asked.params
        picks = there.picks(asked, there.devices())
        if not args.variant:
            takes = _taking(filter, input.meta, with_defaults(filter, params))
            picks = tuple({pick.device: pick for pick in picks if takes(pick)}.values())
        if not picks:
            raise ParamError(f"No variant of {filter.id} takes this input there; kernelscope list {filter.id}.")
        shared = asked.shared or talk.share(input)
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
