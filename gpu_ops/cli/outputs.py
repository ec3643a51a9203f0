"""Outputs by name: the file that each goes to, and a line about each."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpu_ops.cli import streams
from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.io import Saving
from gpu_ops.io.results import save_output
from gpu_ops.io.steps.mapping import MAP_HELP, MAPS
from gpu_ops.output_kinds import Array, Form
from gpu_ops.params import Values, check_values
from gpu_ops.report.about import about_run
from gpu_ops.report.files import row
from gpu_ops.report.provenance import machine
from gpu_ops.types import Experiment, Filter, Output, Pixel, Run

NOTHING: Mapping[str, Any] = {}


def add_saving(parser: argparse.ArgumentParser) -> None:
    """The flags that say how a result is saved."""
    group = parser.add_argument_group("saved values")
    group.add_argument("--map", choices=MAPS, default="none", help=MAP_HELP)
    levels = "the values that --map levels takes to black and white"
    group.add_argument("--map-levels", nargs=2, type=float, metavar=("LOW", "HIGH"), help=levels)


def saving_of(args: argparse.Namespace, about: Mapping[str, Any] = NOTHING, pixel: Pixel | None = None) -> Saving:
    """The saving options that the flags give. Raises ParamError for levels without their mapping, and vice versa."""
    if (args.map == "levels") != (args.map_levels is not None):
        raise ParamError("--map levels and --map-levels LOW HIGH belong together; give both or none.")
    return Saving(args.map, tuple(args.map_levels) if args.map_levels else None, about, pixel)


def targets(filter: Filter, chosen: Values, arguments: Sequence[str]) -> dict[str, str]:
    """The file that each output goes to. Raises ParamError for an unknown name, for an output that the `chosen`
    parameters do not ask for, and for two files of one output."""
    params = check_values(filter.params, chosen, filter.id)
    names, files = [o.id for o in filter.given(params)], {}
    for text in arguments:
        name, _, path = text.rpartition("=") if re.match(r"[a-z_]+=", text) else (names[0], "", text)
        if name not in names:
            others = any(name == o.id for o in filter.outputs)
            fault = "does not give" if others else "has no output"
            with_these = " with these parameters" if len(names) < len(filter.outputs) else ""
            raise ParamError(
                f"{filter.id} {fault} {plain(name, 40)!r}{with_these}; --output names one of {', '.join(names)}."
            )
        if name in files:
            raise ParamError(f"--output names two files for {name}; give each output one.")
        files[name] = path
    return files


def save_all(targets: Mapping[str, str], runs: Sequence[Run], experiment: Experiment, saving: Saving) -> None:
    """Write the outputs of the last run with a correct result."""
    if not targets and saving.map != "none":
        raise ParamError(f"--map {saving.map} is for a saved result; name its file with --output.")
    usable = [r for r in runs if r.outputs and r.ok is not False]
    for name, path in targets.items():
        if not usable:
            raise InputError(f"Nothing is written to {plain(path)}: no variant gave a right result.")
        run = usable[-1]
        about = about_run(row(run, experiment, with_roofs=False), machine([run.pick.device], with_roofs=False), name)
        how = replace(saving, about=about, pixel=experiment.input.facts.pixel)
        save_one(path, run, name, how, experiment.input.rate, "the result" if len(run.outputs) == 1 else name)


def save_one(path: str, run: Run, name: str, saving: Saving, rate: float | None, what: str) -> None:
    """Write an output of a run and print so, with `what` as its name."""
    output = FILTERS.find(run.filter).output(name)
    mapping = save_output(path, output, run.outputs[name], run.forms[name], rate, saving)
    words = f"; {mapping}" if mapping else ""
    streams.say(f"{plain(path)} holds {what} of {run.pick.variant} on {run.pick.device}{words}")


def describe(runs: Sequence[Run]) -> str:
    """A line about each output of the last run with a correct result."""
    usable = [r for r in runs if r.outputs and r.ok is not False]
    if not usable:
        return ""
    arrays, forms = usable[-1].outputs, usable[-1].forms
    outputs = [o for o in FILTERS.find(usable[-1].filter).outputs if o.id in arrays]
    width = max(len(o.id) for o in outputs)
    return "\n".join(f"{o.id:{width}}  {_summary(o, arrays[o.id], forms[o.id])}" for o in outputs)


def _summary(output: Output, array: Array, form: Form) -> str:
    return output.of_kind.summarise(array, form, form.unit_of(output.kind, output.unit))
