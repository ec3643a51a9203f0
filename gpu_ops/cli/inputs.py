"""From arguments to inputs and experiments."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gpu_ops.batch.choosing import checked, current_variants, devices_of, family, unknown_name, with_knobs
from gpu_ops.cli import streams
from gpu_ops.errors import ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io import CHOICES, NOISE, SAMPLES, convert, sample
from gpu_ops.io.opening import notes_in
from gpu_ops.io.reading import Reading
from gpu_ops.params import Param, Value, Values
from gpu_ops.running.runner import default_picks
from gpu_ops.running.suitable import check_type
from gpu_ops.task import Meta
from gpu_ops.types import Experiment, Filter, Input, Pick, Variant


def flag_values(args: argparse.Namespace) -> dict[str, str]:
    """The values of the parameter, knob and sample flags, still as text."""
    flags = {k.removeprefix("param_"): v for k, v in vars(args).items() if k.startswith("param_")}
    return {k: v for k, v in flags.items() if v is not None}


def reading_of(args: argparse.Namespace, overrides: Mapping[str, str] = {}) -> Reading:  # noqa: B006 - never changed
    """The reading options that the flags give. Raises ParamError."""
    values, dtype = {**flag_values(args), **overrides}, overrides.get("dtype", args.dtype)
    return Reading(args.kind, args.nonfinite, args.limit, dtype, tuple(args.step), values)


def read_input(args: argparse.Namespace, overrides: Mapping[str, str] = {}) -> Input:  # noqa: B006 - never changed
    """The input that the flags name, after its steps and the requested noise; `overrides` are further
    sample options, noise and dtype, as text."""
    reading = reading_of(args, overrides)
    if args.input is None:
        return reading.finish(_sample(args, reading))
    clean = reading.load(args.input)
    say_notes(args, clean.origin)
    return reading.finish(clean)


def _sample(args: argparse.Namespace, reading: Reading) -> Input:
    """The sample that the flags name, without steps and noise."""
    for name in ("kind", "limit", "nonfinite"):
        if getattr(args, name) is not None:
            raise ParamError(f"--{name} defines how a file is read; name one with --input FILE, or leave --{name} out.")
    params, dtype = _options(args), reading.dtype
    values = {**reading.values, **({"dtype": dtype} if dtype else {})}
    made = sample(_sample_name(args), **{p.name: p.check(values[p.name]) for p in params if p.name in values})
    return convert(made, dtype) if dtype and all(p.name != "dtype" for p in params) else made


def say_notes(args: argparse.Namespace, origin: Mapping[str, Any]) -> None:
    """Print once the reader's notes about a file."""
    _say_once(args, (f"{plain(args.input)}: {words}." for words in notes_in(origin)))


def _say_once(args: argparse.Namespace, sentences: Iterable[str]) -> None:
    said: set[str] = vars(args).setdefault("said", set())
    for sentence in sentences:
        if sentence not in said:
            said.add(sentence)
            streams.say(sentence)


def _sample_name(args: argparse.Namespace) -> str:
    return str(args.sample or _default_sample(args.filter))


def _options(args: argparse.Namespace) -> tuple[Param, ...]:
    """The options of the sample that the flags name; () for a file."""
    if args.input is not None:
        return ()
    return next(s.params for s in SAMPLES if s.id == _sample_name(args))


def check_flags(
    args: argparse.Namespace, filter: Filter, variants: Iterable[Variant], overrides: Iterable[str] = ()
) -> None:
    """Raises ParamError for a flag that the input, the filter and all of the variants would ignore."""
    options = {p.name for p in _options(args)}
    options |= {p.name for p in CHOICES} if args.input is not None else set()
    names = {p.name for p in filter.params} | {k.name for v in variants for k in v.knobs} | options | {"dtype"}
    names |= {p.name for p in NOISE}
    for name in (*flag_values(args), *overrides):
        if name not in names:
            raise ParamError(_unknown_flag(name, args, filter, sorted(names)))


def _unknown_flag(name: str, args: argparse.Namespace, filter: Filter, names: Sequence[str]) -> str:
    owners = [v.id for v in filter.variants for k in v.knobs if k.name == name]
    if owners:
        return (
            f"{name} is a knob of {', '.join(owners)}, and none of them is selected; name one with --variant, and a "
            "device that it runs on with --device."
        )
    if name in {p.name for p in CHOICES} and args.input is None and name not in {p.name for p in _all_options()}:
        return f"--{name} defines how a file is read; name one with --input FILE, or leave --{name} out."
    if name in {p.name for p in _all_options()}:
        if args.input is not None:
            return f"{name} is an option of samples, and --input names a file; leave one of them out."
        options = ", ".join(p.name for p in _options(args)) or "none"
        return f"Sample {_sample_name(args)} has no option {plain(name, 60)!r}; it has {options}."
    return unknown_name(filter, name, names)


def _all_options() -> list[Param]:
    """The options of all samples."""
    return [p for s in SAMPLES for p in s.params]


def _default_sample(name: str) -> str:
    kinds = [f.accepts for f in family(name)]
    return next(kind.sample for kind in INPUT_KINDS.values() if kind.id in kinds)


def preset(args: argparse.Namespace, filter: Filter) -> Values:
    """The values of the preset that --preset names; {} without it. Raises ParamError that names all presets."""
    name = getattr(args, "preset", None)
    return filter.preset(name) if name is not None else {}


class Requested(NamedTuple):
    """An input, a filter and its parameters, without variants and devices. `values` are those of all flags."""

    input: Input
    filter: Filter
    values: dict[str, Any]
    params: dict[str, Value]


def make_job(args: argparse.Namespace, overrides: Mapping[str, str] = {}) -> Requested:  # noqa: B006
    """The input, the filter and its parameters that the flags describe, each value checked."""
    input = read_input(args, overrides)
    filter = FILTERS.find(args.filter, input.kind)
    check_type(filter, input)
    return Requested(input, filter, *checked_values(args, filter, overrides))


def checked_values(
    args: argparse.Namespace,
    filter: Filter,
    overrides: Mapping[str, str] = {},  # noqa: B006 - never changed
) -> tuple[dict[str, Any], dict[str, Value]]:
    """The values of all flags, and those of the filter's parameters, checked."""
    values = {**preset(args, filter), **flag_values(args), **overrides}
    return values, checked(filter, values)


def make_experiment(args: argparse.Namespace, overrides: Mapping[str, str] = {}, **how: Any) -> Experiment:  # noqa: B006
    """The experiment that the flags describe, with every value checked."""
    input, filter, values, params = make_job(args, overrides)
    picks = make_picks(args, filter, input.meta, values, overrides)
    return Experiment(filter.id, input, params, picks, counted=True, **how)


def current_ids(
    args: argparse.Namespace, filter: Filter, names: Sequence[str], meta: Meta | None, values: Mapping[str, Any]
) -> list[str]:
    """The named variants by the ids of this version; standard error names each renamed one once."""
    found, sentences = current_variants(filter, names, meta, values)
    _say_once(args, sentences)
    return found


def make_picks(
    args: argparse.Namespace,
    filter: Filter,
    meta: Meta,
    values: Mapping[str, Any],
    overrides: Mapping[str, str] = {},  # noqa: B006 - never changed
) -> tuple[Pick, ...]:
    """The variants on devices that the flags name, with their knobs; without names all that can run."""
    variants, devices = current_ids(args, filter, args.variant, meta, values), devices_of(args.device)
    picks = default_picks(filter, devices, variants)
    if not picks:
        raise ParamError(_no_picks(filter, devices, variants))
    check_flags(args, filter, (filter.variant(p.variant) for p in picks), overrides)
    kept, errors = with_knobs(filter, picks, values, strict=bool(variants))
    for error in errors:
        streams.say(f"left out: {error}")
    return tuple(kept)


def _no_picks(filter: Filter, devices: list[str], variants: list[str]) -> str:
    where, runs = ", ".join(devices), ", ".join(f"{v.id} on {v.device}" for v in filter.all_variants)
    if not variants:
        return f"No variant of {filter.id} runs on {where}; choose from {runs}."
    return f"{', '.join(variants)} of {filter.id} does not run on {where}; choose from {runs}."
