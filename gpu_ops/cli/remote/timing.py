"""bench and sweep on devices of another machine: its engine times, and its provenance is the report's."""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpu_ops.cli import streams
from gpu_ops.cli.inputs import current_ids
from gpu_ops.cli.remote.machine import Asked, Machine
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.messages import RunRequest, RunUpdate
from gpu_ops.errors import ParamError
from gpu_ops.remote.talk import Talk
from gpu_ops.report.rows import Row
from gpu_ops.types import Experiment


class TimedThere:
    """Another machine as the place where rows are measured. `found` is its provenance as far as it is known."""

    def __init__(self, args: argparse.Namespace, talk: Talk) -> None:
        if any(map(is_simulated, args.device)):
            raise ParamError(
                "A simulated GPU counts the same on every machine and has no times; name it without a host: sim."
            )
        if getattr(args, "gpu", None):
            raise ParamError("--gpu needs no other machine: call sweep again without one for theoretical occupancy.")
        self._args, self._talk = args, talk
        self._machine = Machine(args, talk)
        self._devices = self._machine.devices()
        self._asked: list[Asked] = []
        self.found: Mapping[str, Any] = {}

    def experiment(self, point: Mapping[str, str]) -> Experiment:
        """The experiment of one point of a sweep, with every value checked."""
        asked = self._machine.asked(point)
        self._asked.append(asked)
        input, filter, args = asked.input, asked.filter, self._args
        (args.baseline,) = current_ids(args, filter, [args.baseline], input.meta, asked.params)
        filter.variant(args.baseline)  # raises, and names the variants
        picks = self._machine.picks(asked, self._devices, point)
        protocol = "quick" if args.quick else "careful"
        return Experiment(filter.id, input, asked.params, picks, protocol, args.mode, counted=True)  # type: ignore[arg-type]

    def provenance(self, devices: Sequence[str]) -> dict[str, Any]:
        """The machine, as far as it is known before anything has run there."""
        models = {name: {"model": self._machine.statuses[name].model} for name in devices}
        return {"remote": self._talk.client.label, "devices": models}

    def prepare(self, work: Any) -> None:
        """Its engine compiles what it runs."""

    def rows(self, experiment: Experiment, deadline: float | None) -> Iterator[Row]:
        """The row of each pick once it is timed, or has failed, until the deadline by time.perf_counter."""
        talk = self._talk
        given = next(asked.shared for asked in self._asked if asked.input is experiment.input)
        shared = given or talk.share(experiment.input)
        how: dict[str, Any] = {"protocol": experiment.protocol, "mode": experiment.mode, "checks": experiment.checks}
        job = experiment.filter, experiment.params, experiment.picks
        request = RunRequest(talk.number(), 0, shared, *job, **how, roofs=True, outputs=False)
        timer = None
        if deadline is not None:
            seconds = max(deadline - time.perf_counter(), 0.0)
            timer = threading.Timer(seconds, talk.client.cancel, (request.job,), {"kill": False})
            timer.start()
        try:
            for update in talk.ask(request):
                if isinstance(update, RunUpdate):
                    self.found = update.provenance or self.found
                    if update.stage == "timed" or update.row.failure or update.row.ok is False:
                        yield update.row
        finally:
            streams.rewrite("")
            if timer is not None:
                timer.cancel()
            if given is None:
                talk.pool.release(shared.array.segment)

    def after(self, devices: Sequence[str]) -> dict[str, Any]:
        """What is known about its devices."""
        return {}
