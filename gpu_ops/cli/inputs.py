"""From arguments to inputs and experiments."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gpu_ops.cli import streams
from gpu_ops.devices import device_statuses, open_device
from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io import SAMPLES, convert, load, sample
from gpu_ops.io.regular import require_regular
from gpu_ops.measuring.runner import default_picks
from gpu_ops.params import Param, Value, Values, nearest
from gpu_ops.types import Experiment, Filter, Input, Pick, Variant

LARGEST_KERNEL = 1 << 20
"""Bytes of a kernel file."""


def given(args: argparse.Namespace) -> dict[str, str]:
    """The parameter, knob and sample flags that were given, still as text."""
    found = {k.removeprefix("param_"): v for k, v in vars(args).items() if k.startswith("param_")}
    return {k: v for k, v in found.items() if v is not None}


def read_input(args: argparse.Namespace, overrides: Mapping[str, str] = {}) -> Input:  # noqa: B006 - never changed
    """The input that the flags name; `overrides` are further sample options and dtype, as text."""
    values = {**given(args), **overrides}
    dtype = overrides.get("dtype", args.dtype)
    if args.input is not None:
        options: dict[str, Any] = {} if args.limit is None else {"limit": args.limit}
        loaded = load(args.input, kind=args.kind, nonfinite=args.nonfinite or "refuse", **options)
        return convert(loaded, dtype) if dtype else loaded
    for name in ("kind", "limit", "nonfinite"):
        if getattr(args, name) is not None:
            raise ParamError(f"--{name} says how a file is read; name one with --input FILE, or leave --{name} out.")
    options = {p.name: p.check(values[p.name]) for p in _options(args) if p.name in values}
    takes_dtype = any(p.name == "dtype" for p in _options(args))
    if dtype and takes_dtype:
        options["dtype"] = dtype
    made = sample(_sample_name(args), **options)
    return convert(made, dtype) if dtype and not takes_dtype else made


def _sample_name(args: argparse.Namespace) -> str:
    return str(args.sample or _default_sample(args.filter))


def _options(args: argparse.Namespace) -> tuple[Param, ...]:
    """What the sample takes that the flags name; a file takes nothing."""
    if args.input is not None:
        return ()
    return next(s.params for s in SAMPLES if s.id == _sample_name(args))


def check_words(
    args: argparse.Namespace, filter: Filter, variants: Iterable[Variant], overrides: Iterable[str] = ()
) -> None:
    """Raises ParamError for a value that was given and that neither the input nor the filter nor any of the variants
    takes: nothing that a person says is passed over."""
    options = {p.name for p in _options(args)}
    taken = {p.name for p in filter.params} | {k.name for v in variants for k in v.knobs} | options | {"dtype"}
    for name in (*given(args), *overrides):
        if name not in taken:
            raise ParamError(_nobody_takes(name, args, filter, sorted(taken)))


def _nobody_takes(name: str, args: argparse.Namespace, filter: Filter, taken: Sequence[str]) -> str:
    owners = [v.id for v in filter.variants for k in v.knobs if k.name == name]
    if owners:
        return (
            f"{name} is a knob of {', '.join(owners)}, and none of them runs here; name one with --variant, and a "
            "device that it runs on with --device."
        )
    if name in {p.name for s in SAMPLES for p in s.params}:
        if args.input is not None:
            return f"{name} is an option of samples, and --input names a file; leave one of them out."
        options = ", ".join(p.name for p in _options(args)) or "none"
        return f"Sample {_sample_name(args)} has no option {name!r}; it has {options}."
    return f"Nothing in {filter.id} is called {plain(name, 40)}{nearest(name, taken)}; there are {', '.join(taken)}."


def _default_sample(name: str) -> str:
    filters = [f for f in FILTERS if name in (f.id, f.family)]
    if not filters:
        find_filter(name)  # raises, naming what there is
    kinds = [f.accepts for f in filters]
    return next(kind.sample for kind in INPUT_KINDS.values() if kind.id in kinds)


def preset(args: argparse.Namespace, filter: Filter) -> Values:
    """The values of the preset that is named; none where none is. Raises ParamError naming those there are."""
    name = getattr(args, "preset", None)
    return filter.preset(name) if name is not None else {}


class Job(NamedTuple):
    """What is to be computed, before anything is said of who computes it. `values` are all that were given."""

    input: Input
    filter: Filter
    values: dict[str, Any]
    params: dict[str, Value]


def make_job(args: argparse.Namespace, overrides: Mapping[str, str] = {}) -> Job:  # noqa: B006
    """The input, the filter and its parameters that the flags describe, each value checked."""
    made = read_input(args, overrides)
    filter = find_filter(args.filter, made.kind)
    values = {**preset(args, filter), **given(args), **overrides}
    params = {p.name: p.check(values[p.name]) for p in filter.params if p.name in values}
    check_knobs(filter, values)
    return Job(made, filter, values, params)


def make_experiment(args: argparse.Namespace, overrides: Mapping[str, str] = {}, **how: Any) -> Experiment:  # noqa: B006
    """The experiment that the flags describe, with every value checked."""
    made, filter, values, params = make_job(args, overrides)
    # A simulated GPU is only taken when it is asked for: it is a thousand times slower, and has no time to tell.
    devices = args.device or [s.name for s in device_statuses() if s.available and s.kind != "sim"]
    devices, variants = list(dict.fromkeys(devices)), list(dict.fromkeys(args.variant))
    for device in devices:
        open_device(device)  # raises for what is not there
    picks = default_picks(filter, devices, variants)
    if not picks:
        raise ParamError(_no_picks(filter, devices, variants))
    check_words(args, filter, (filter.variant(p.variant) for p in picks), overrides)
    picks = _with_knobs(filter, picks, values, strict=bool(variants))
    return Experiment(filter.id, made, params, picks, **how)


def _no_picks(filter: Filter, devices: list[str], variants: list[str]) -> str:
    asked = ", ".join(variants) or "no variant"
    runs = "; ".join(f"{v.id} on {v.device}" for v in filter.variants)
    return f"{asked} of {filter.id} runs on {', '.join(devices)}; its variants are {runs}."


def check_knobs(filter: Filter, values: Mapping[str, Any]) -> None:
    """Raises ParamError for a knob that no variant takes with that value, picked or not."""
    knobs = [k for v in filter.variants for k in v.knobs if k.name in values]
    for name in dict.fromkeys(k.name for k in knobs):
        refused = [error for k in knobs if k.name == name and (error := _refusal(k, values[name]))]
        if len(refused) == sum(k.name == name for k in knobs):
            raise refused[0]


def _refusal(knob: Param, value: object) -> ParamError | None:
    try:
        knob.check(value)
    except ParamError as error:
        return error
    return None


def knobs_of(variant: Variant, values: Mapping[str, Any]) -> dict[str, Value]:
    """The knobs of a variant that were given. Raises ParamError naming the variant."""
    try:
        return {k.name: k.check(values[k.name]) for k in variant.knobs if k.name in values}
    except ParamError as error:
        raise ParamError(f"{variant.id}: {error}") from None


def _with_knobs(filter: Filter, picks: Sequence[Pick], values: Mapping[str, Any], strict: bool) -> tuple[Pick, ...]:
    """Picks with the knobs that were given. A variant that cannot take one is an error where it was asked for, else it
    is left out, and this is said."""
    kept = []
    for pick in picks:
        try:
            kept.append(replace(pick, knobs=knobs_of(filter.variant(pick.variant), values)))
        except ParamError as error:
            if strict:
                raise
            streams.say(f"left out: {error}")
    return tuple(kept)


def read_kernel(path: str) -> str:
    """The text of somebody's kernel file. Raises InputError."""
    require_regular(Path(path), "a kernel")
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_KERNEL + 1)
        text = data.decode("utf-8")
    except OSError as error:
        reason = str(error.strerror)
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is no UTF-8"
    else:
        reason = f"it is larger than {LARGEST_KERNEL >> 10} KiB" if len(data) > LARGEST_KERNEL else ""
        reason = reason or ("a null character is in it" if "\0" in text else "" if text.strip() else "it is empty")
        if not reason:
            return text
    raise InputError(f"{plain(path)} cannot be read as CUDA C ({reason}); give a text file, such as mine.cu.")
