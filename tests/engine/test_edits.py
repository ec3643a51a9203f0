"""Limits of edited kernels in the engine."""

from __future__ import annotations

import os
import resource
import time

import pytest

from gpu_ops.engine import edits
from gpu_ops.engine.client_jobs import ClientJob
from gpu_ops.engine.edits import SILENCE, has_edits, limits_of_edits
from gpu_ops.engine.messages import DoctorRequest
from gpu_ops.errors import LimitReached
from gpu_ops.processes import STARVED
from gpu_ops.progress import advance, is_limited
from gpu_ops.types import Pick

SHIPPED = Pick("naive", "sim")
EDITED = Pick("naive", "sim", edits={"mean1d/1_naive.cu": "int x;"})


class Request:
    """A request with picks, in the places that requests have for them."""

    def __init__(self, **places: object) -> None:
        self.__dict__.update(places)


def test_an_edited_kernel_has_limits_and_a_shipped_one_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with limits_of_edits(SHIPPED):
        assert not is_limited() and resource.getrlimit(resource.RLIMIT_AS) == before
    with limits_of_edits(EDITED):
        assert is_limited() and resource.getrlimit(resource.RLIMIT_AS) != before
    assert resource.getrlimit(resource.RLIMIT_AS) == before and not is_limited()
    monkeypatch.setattr(edits, "SECONDS", 0.0)
    with pytest.raises(LimitReached) as late, limits_of_edits(EDITED):
        advance(0, 1)
    assert str(late.value) == "The edited kernel of naive took more than 0 s."


def test_memory_beyond_the_limit_is_a_sentence() -> None:
    with pytest.raises(LimitReached) as full, limits_of_edits(EDITED):
        bytearray(1 << 40)
    assert str(full.value) == "The edited kernel of naive took more than 2048 MiB of memory."


def test_the_window_waits_less_for_an_edited_kernel() -> None:
    requests = {
        False: (Request(picks=(SHIPPED,)), Request(pick=SHIPPED, against=None), DoctorRequest(1)),
        True: (Request(picks=(SHIPPED, EDITED)), Request(pick=EDITED), Request(pick=SHIPPED, against=EDITED)),
    }
    for expected, several in requests.items():
        for request in several:
            assert has_edits(request) is expected
            assert ClientJob(request, ()).patience(60.0) == (SILENCE if expected else 60.0)  # type: ignore[arg-type]
    assert ClientJob(requests[True][0], ()).patience(0.5) == 0.5  # type: ignore[arg-type]


def test_a_loaded_machine_is_no_silence() -> None:
    """An engine at work on an edited kernel that had no processor may be silent for longer, but not for ever."""
    edited, shipped = (ClientJob(Request(pick=pick), ()) for pick in (EDITED, SHIPPED))  # type: ignore[arg-type]
    for job in (edited, shipped):
        job.note_life(os.getpid())
    time.sleep(0.06)  # this process, which stands for the engine, does not work
    assert shipped.is_stuck(0.05, os.getpid()) and not edited.is_stuck(0.05, os.getpid())
    assert edited.next_look(0.05) > time.monotonic()
    time.sleep(STARVED * 0.05)
    assert edited.is_stuck(0.05, os.getpid())
