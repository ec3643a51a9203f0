"""A process with limits: whatever its work does, there is a result or one sentence, and the next request is done."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from gpu_ops import processes, progress
from gpu_ops.errors import LimitReached
from gpu_ops.own_kernels import kernel_process
from gpu_ops.own_kernels.kernel_process import KernelProcess, Outcome, piece
from gpu_ops.progress import Limit


@pytest.fixture(scope="module")
def process() -> Iterator[KernelProcess]:
    made = KernelProcess("works:misbehave")
    yield made
    made.close()


def outcome(process: KernelProcess, what: str) -> Outcome:
    process.start({"what": what}, "a.cu")
    found = process.poll(60)
    assert found is not None and not process.busy
    return found


@pytest.mark.parametrize(
    "what, reason",
    [
        ("spin", "spin: case 1 took more than 0.5 s; --deadline allows more."),
        ("crash", "crash: case 1 ended its process by signal 11. Look for very large arrays, tables and output."),
        ("exit", "exit: case 1 ended its process with code 3. Look for very large arrays, tables and output."),
        ("memory", "memory: case 1 took more than 64 MiB of memory; --memory allows more."),
        ("output", "The result takes more than 64 MiB; print less."),
        ("fault", "an illegal address"),
        ("mistake", "TypeError: an argument"),
    ],
)
def test_what_goes_wrong_is_one_sentence_and_the_next_request_is_done(
    process: KernelProcess, what: str, reason: str
) -> None:
    found = outcome(process, what)
    assert (found.result, found.reason) == (None, reason) and found.reached == (what in ("spin", "memory"))
    assert outcome(process, "right").result


def test_a_process_does_one_request_after_another_and_a_new_one_after_a_fault(process: KernelProcess) -> None:
    first, second = (outcome(process, "right").result for _ in range(2))
    assert first == second and first is not None
    outcome(process, "fault")
    assert outcome(process, "right").result != first


@pytest.mark.skipif(sys.platform == "win32", reason="Windows stops no process")
def test_time_that_other_programs_take_does_not_count(process: KernelProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_process, "GRACE", 0.0)
    process.start({"what": "starved"}, "a.cu")
    assert process.poll(1.5) is None and process.busy, "its limit is half a second of its own"
    os.kill(process._process.pid, signal.SIGCONT)
    found = process.poll(60)
    assert found is not None and found.result, found
    process.start({"what": "starved"}, "a.cu")
    found = process.poll(60)
    assert found is not None and found.reached, "but it ends where it never goes on"


def test_a_limit_is_one_of_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    now, worked = [0.0], [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for module in (processes, progress):
        monkeypatch.setattr(module, "cpu_seconds", lambda pid: worked[0])

    def after(wall: float, cpu: float, **how: Any) -> bool:
        now[0] = worked[0] = 0.0
        limit = Limit(6.0, 1 << 40, **how)
        now[0], worked[0] = wall, cpu
        with suppress(LimitReached):
            limit.check()
        return limit.reached

    assert not after(5.9, 9.0), "several threads work no longer than they take"
    assert after(6.1, 6.1) and not after(12.0, 5.9) and after(31.0, 0.1)
    assert after(6.1, 0.1, computed=False), "a GPU works beside the processor"


def test_a_start_ends_what_goes_on(process: KernelProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_process, "GRACE", 100.0)
    process.start({"what": "spin"}, "a.cu")
    assert process.poll(1.0) is None and process.busy
    assert outcome(process, "right").result and process.poll() is None


def test_nothing_changes_where_nobody_watches() -> None:
    with piece("what", 1.0, 1):
        bytearray(1 << 24)
