"""The engine names the machine with the first news of a device, and its roofs once they are measured."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_ops import Experiment, Pick, from_array, run_experiment
from gpu_ops.engine import jobs
from gpu_ops.engine.job_channel import JobChannel
from gpu_ops.engine.messages import RunRequest, RunUpdate
from gpu_ops.report import files, provenance
from gpu_ops.running.roofline import Roofs
from gpu_ops.types import Input

KNOWN = Roofs(1e10, 2e10, 1 << 28)
NOISE = from_array(np.random.default_rng(1).integers(0, 255, (30, 40), np.uint8))


@pytest.fixture(autouse=True)
def known_roofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Roofs that nobody has to wait for."""
    for module in (files, provenance):
        monkeypatch.setattr(module, "roofs", lambda name: KNOWN)
    monkeypatch.setattr(files, "roofs_at", lambda name, nbytes: KNOWN)


def sent_machines(channel: JobChannel, sent: list[Any], input: Input, roofs: bool) -> list[dict[str, Any]]:
    """The machines in the updates of one job."""
    channel.begin(1)
    sent.clear()
    request = RunRequest(1, 1, None, "mean2d", {}, (), outputs=False, roofs=roofs)  # type: ignore[arg-type]
    experiment = Experiment("mean2d", input, {}, [Pick("serial", "cpu")], protocol="quick")
    for run in run_experiment(experiment):
        jobs._send(channel, request, jobs.Piece(run, experiment, jobs.Crop((), (), True), (), False))
    return [dict(one.provenance["devices"]) for one in sent if isinstance(one, RunUpdate) and one.provenance]


def test_roofs_follow_once_they_are_measured() -> None:
    sent: list[Any] = []
    channel = JobChannel(SimpleNamespace(send=sent.append))  # type: ignore[arg-type]
    (plain,) = sent_machines(channel, sent, NOISE, roofs=False)
    assert "roofs" not in plain["cpu"]
    (measured,) = sent_machines(channel, sent, NOISE, roofs=True)
    assert measured["cpu"]["roofs"] == {"copy_bytes_s": 1e10, "read_bytes_s": 2e10, "buffer_bytes": 1 << 28}
    assert [*sent_machines(channel, sent, NOISE, roofs=True), *sent_machines(channel, sent, NOISE, roofs=False)] == []
