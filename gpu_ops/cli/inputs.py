"""From arguments to inputs and experiments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpu_ops.devices import device_statuses, open_device
from gpu_ops.errors import InputError, ParamError
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.io import SAMPLES, convert, load, sample
from gpu_ops.measuring.runner import default_picks
from gpu_ops.params import Param, Value, Values
from gpu_ops.types import Experiment, Filter, Input, Pick, Variant

DEFAULT_SAMPLES = {"image": "camera", "signal": "ecg"}


def given(args: argparse.Namespace) -> dict[str, str]:
    """The parameter, knob and sample flags that were given, still as text."""
    found = {k.removeprefix("param_"): v for k, v in vars(args).items() if k.startswith("param_")}
    return {k: v for k, v in found.items() if v is not None}


def read_input(args: argparse.Namespace, overrides: Mapping[str, str] = {}) -> Input:  # noqa: B006 - never changed
    """The input that the flags name; `overrides` are further sample options and dtype, as text."""
    values = {**given(args), **overrides}
    dtype = overrides.get("dtype", args.dtype)
    if args.input:
        options: dict[str, Any] = {} if args.limit is None else {"limit": args.limit}
        loaded = load(args.input, kind=args.kind, nonfinite=args.nonfinite, **options)
        return convert(loaded, dtype) if dtype else loaded
    name = args.sample or _default_sample(args.filter)
    chosen = next(s for s in SAMPLES if s.id == name)
    made_with = {p.name: p.check(values[p.name]) for p in chosen.params if p.name in values}
    known = {p.name for p in chosen.params}
    own = (
        known
        | {p.name for f in FILTERS for p in f.params}
        | {k.name for f in FILTERS for v in f.variants for k in v.knobs}
    )
    stray = sorted(set(values) - own - {"dtype"})
    if stray:
        options_text = ", ".join(sorted(known)) or "none"
        raise ParamError(f"Sample {name} has no option {stray[0]!r}; it has {options_text}.")
    if dtype and "dtype" in known:
        made_with["dtype"] = dtype
        return sample(name, **made_with)
    made = sample(name, **made_with)
    return convert(made, dtype) if dtype else made


def _default_sample(name: str) -> str:
    filters = [f for f in FILTERS if name in (f.id, f.family)]
    if not filters:
        find_filter(name)  # raises, naming what there is
    kinds = [f.accepts for f in filters]
    return DEFAULT_SAMPLES["image" if "image" in kinds else "signal"]


def preset(args: argparse.Namespace, filter: Filter) -> Values:
    """The values of the preset that is named; none where none is. Raises ParamError naming those there are."""
    name = getattr(args, "preset", None)
    return filter.preset(name) if name else {}


def make_experiment(args: argparse.Namespace, overrides: Mapping[str, str] = {}, **how: Any) -> Experiment:  # noqa: B006
    """The experiment that the flags describe, with every value checked."""
    made = read_input(args, overrides)
    filter = find_filter(args.filter, made.kind)
    values = {**preset(args, filter), **given(args), **overrides}
    params = {p.name: p.check(values[p.name]) for p in filter.params if p.name in values}
    check_knobs(filter, values)
    # A simulated GPU is only taken when it is asked for: it is a thousand times slower, and has no time to tell.
    devices = args.device or [s.name for s in device_statuses() if s.available and s.kind != "sim"]
    for device in devices:
        open_device(device)  # raises for what is not there
    picks = default_picks(filter, devices, args.variant)
    if not picks:
        raise ParamError(_no_picks(filter, devices, args.variant))
    picks = _with_knobs(filter, picks, values, strict=bool(args.variant))
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
            print(f"kernelscope: left out: {error}", file=sys.stderr)
    return tuple(kept)


def read_kernel(path: str) -> str:
    """The text of somebody's kernel file. Raises InputError."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as CUDA C ({error}); give a text file, such as mine.cu.") from error
