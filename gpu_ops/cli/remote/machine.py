"""What the flags of a command mean on another machine: its devices, an input that is here or there, and the picks."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gpu_ops.batch.choosing import with_knobs
from gpu_ops.cli import streams
from gpu_ops.cli.inputs import check_flags, checked_values, current_ids, read_input
from gpu_ops.device_names import on_host
from gpu_ops.engine.messages import Loaded, LoadRequest
from gpu_ops.engine.shared import SharedInput
from gpu_ops.errors import DeviceError, InputError, ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.io.opening import CHOICES
from gpu_ops.params import Value
from gpu_ops.remote.destination import location
from gpu_ops.remote.talk import Talk
from gpu_ops.running.runner import default_picks
from gpu_ops.running.suitable import check_type
from gpu_ops.types import Filter, Input, Pick

UNKNOWN = ("frames", "kernel", "memory", "device_memory", "output_dir")
"""Flags for devices of this machine only."""


class Asked(NamedTuple):
    """What the flags ask for. An input of a file there is `shared` already; its array here has no values yet, and only
    its form is used. `values` are those of all flags."""

    input: Input
    shared: SharedInput | None
    filter: Filter
    values: dict[str, Any]
    params: dict[str, Value]


class Machine:
    """Another machine that a command runs on. Raises DeviceError, which says what to do, where it cannot be used."""

    def __init__(self, args: argparse.Namespace, talk: Talk) -> None:
        for name in UNKNOWN:
            if getattr(args, name, None) is not None:
                flag = f"--{name.replace('_', '-')}"
                raise ParamError(f"{flag} is for devices of this machine; leave it out with {talk.client.label}.")
        self.args, self.talk, self.label = args, talk, talk.client.label
        self.statuses = {status.name: status for status in talk.ready().devices}

    def devices(self) -> list[str]:
        """The named devices, else all but a simulated GPU. Raises DeviceError for one that is not available."""
        found = [name for name, status in self.statuses.items() if status.available and status.kind != "sim"]
        names = [on_host(self.label, name) for name in self.args.device] or found
        for name in names:
            known = self.statuses.get(name) or self.statuses.get(name.rpartition(":")[0])
            if known is None or not known.available:
                why = known.reason if known else f"it has {', '.join(self.statuses)}"
                raise DeviceError(f"Device {plain(name, 60)} is not available: {plain(why)}.")
        return list(dict.fromkeys(names))

    def asked(self, overrides: Mapping[str, str] = {}) -> Asked:  # noqa: B006 - never changed
        """What the flags ask for, with `overrides` of their values, each value checked."""
        shared = None
        if self.args.input is not None and location(self.args.input):
            shared = self._load(overrides)
            meta = (shared.axes, shared.name, shared.origin, shared.rate)
            array = self.talk.pool.array(shared.array)
            input = Input(shared.kind, array, *meta, finite=shared.finite, facts=shared.facts)
        else:
            input = read_input(self.args, overrides)
        filter = FILTERS.find(self.args.filter, input.kind)
        check_type(filter, input)
        return Asked(input, shared, filter, *checked_values(self.args, filter, overrides))

    def _load(self, overrides: Mapping[str, str]) -> SharedInput:
        """A file of that machine, read by its engine."""
        args, place = self.args, location(self.args.input)
        assert place is not None
        if args.step or "noise" in vars(args) and args.param_noise is not None:
            raise ParamError("--step and --noise are for files of this machine; leave them out, or copy the file here.")
        given = {"kind": args.kind, "limit": args.limit, "nonfinite": args.nonfinite, "dtype": args.dtype}
        given |= {p.name: getattr(args, f"param_{p.name}", None) for p in CHOICES}
        given |= {name: overrides[name] for name in given if name in overrides}
        options = {name: value for name, value in given.items() if value is not None}
        for answer in self.talk.ask(LoadRequest(self.talk.number(), place[1], options)):
            if isinstance(answer, Loaded):
                return answer.input
        raise InputError(f"{plain(args.input)} was not read; try again.")

    def picks(self, asked: Asked, devices: Sequence[str], overrides: Mapping[str, str] = {}) -> tuple[Pick, ...]:  # noqa: B006
        """The named variants, or all, on each device that runs them, with their knobs."""
        input, _, filter, values, _ = asked
        variants = current_ids(self.args, filter, self.args.variant, input.meta, values)
        picks = default_picks(filter, devices, variants)
        if not picks:
            where = ", ".join(devices)
            raise ParamError(f"No such variant of {filter.id} runs on {where}; kernelscope list {filter.id}.")
        check_flags(self.args, filter, (filter.variant(p.variant) for p in picks), overrides)
        kept, errors = with_knobs(filter, picks, values, strict=bool(variants))
        for error in errors:
            streams.say(f"left out: {error}")
        return tuple(kept)
