"""Turns on an engine host: first come, first served, one at a time, whoever dies or floods."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from remote_machines import wait_until

from gpu_ops.engine.messages import Failed, Finished, Progress, RunRequest, SampleRequest
from gpu_ops.errors import DeviceError
from gpu_ops.remote import turns
from gpu_ops.remote.turns import Turns, turn
from gpu_ops.types import Pick

HOLDER = """
import sys, time
from gpu_ops.remote.turns import turn
with turn(sys.argv[1], lambda n: None):
    print("mine", flush=True)
    time.sleep(60)
"""


RUN, WINDOWS = 0.02, 30
"""Seconds of a run of the fake device, and windows that use it."""
PATIENCE = 120.0


def _request(job: int, *devices: str) -> RunRequest:
    picks = tuple(Pick("serial", device) for device in devices)
    return RunRequest(job, 0, None, "mean2d", {}, picks)  # type: ignore[arg-type]


def test_one_at_a_time_in_the_order_of_asking() -> None:
    order: list[int] = []
    inside: list[int] = []
    threads = []

    def work(n: int) -> None:
        with turn("cuda:0", lambda before: None):
            inside.append(n)
            assert len(inside) == 1
            time.sleep(0.02)
            order.append(n)
            inside.remove(n)

    with turn("cuda:0", lambda before: None):
        for n in range(8):
            threads.append(threading.Thread(target=work, args=(n,)))
            threads[-1].start()
            wait_until(lambda n=n: len(list(turns._folder().glob("cuda-0.*"))) == n + 2)  # type: ignore[misc]
    for thread in threads:
        thread.join()
    assert order == list(range(8))


def test_other_devices_do_not_wait() -> None:
    with turn("cuda:0", lambda before: None), turn("cuda:1", lambda before: pytest.fail("it waited")):
        pass


def test_a_killed_process_loses_its_turn() -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, "cuda:0"], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"mine\n"
        waited: list[int] = []
        threading.Timer(0.3, lambda: os.kill(holder.pid, signal.SIGKILL)).start()
        with turn("cuda:0", waited.append):
            assert waited and set(waited) == {1}


def test_a_user_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELSCOPE_TURNS_PER_USER", "2")
    with turn("cuda:0", lambda n: None):
        other = threading.Thread(target=_wait_in_vain)
        other.start()
        wait_until(lambda: len(list(turns._folder().glob("cuda-0.*"))) == 2)
        with (
            pytest.raises(DeviceError, match="2 jobs of .* already wait for cuda:0 here, and 2 may"),
            turn("cuda:0", print),
        ):
            pass
    other.join()


def _wait_in_vain() -> None:
    with turn("cuda:0", lambda n: None):
        pass


def test_a_window_waits_for_its_turn_and_may_leave() -> None:
    passed: list[Any] = []
    answers: SimpleQueue[Any] = SimpleQueue()
    queue = Turns(passed.append, answers.put)
    with turn("cuda:0", lambda n: None):
        queue.submit(_request(1, "cuda:0"))
        queue.submit(_request(2, "cuda:0"))
        queue.submit(SampleRequest(3, "noise"))
        assert [r.job for r in passed] == [3]  # it needs no device
        assert answers.get(timeout=9) == Progress(1, "waiting for 1 other job on this machine")
        assert queue.cancel(2) and answers.get(timeout=9) == Finished(2, cancelled=True)
    wait_until(lambda: [r.job for r in passed] == [3, 1])
    assert not queue.cancel(1)  # the engine's
    queue.submit(_request(4, "cuda:0"))
    time.sleep(0.1)
    assert [r.job for r in passed] == [3, 1]
    queue.end(1)
    wait_until(lambda: [r.job for r in passed] == [3, 1, 4])
    queue.close()


def test_a_waiting_job_that_is_cancelled_gives_its_ticket_back() -> None:
    passed: list[Any] = []
    answers: SimpleQueue[Any] = SimpleQueue()
    queue = Turns(passed.append, answers.put)
    with turn("cpu", lambda n: None):
        queue.submit(_request(1, "cpu"))
        answers.get(timeout=9)
        assert queue.cancel(1)
        assert answers.get(timeout=9) == Finished(1, cancelled=True)
    assert passed == [] and not list(Path(turns._folder()).glob("cpu.*"))
    queue.close()


def test_a_flood_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MOST_WAITING", 5)
    answers: SimpleQueue[Any] = SimpleQueue()
    queue = Turns(lambda request: None, answers.put)
    with turn("cpu", lambda n: None):
        for job in range(1, 20):
            queue.submit(_request(job, "cpu"))
        wait_until(lambda: answers.qsize() >= 13)
    found = [answers.get() for _ in range(answers.qsize())]
    assert any(isinstance(a, Failed) and "jobs of this window wait" in a.sentence for a in found)
    queue.close()


class FakeDevice:
    """A window's turns, and an engine for it that takes RUN seconds for each job on a device that only one may use."""

    busy = threading.Lock()

    def __init__(self) -> None:
        self.ended: dict[int, float] = {}
        self.queue = Turns(self._submit, self._hear)

    def _submit(self, request: Any) -> None:
        threading.Thread(target=self._run, args=(request.job,), daemon=True).start()

    def _run(self, job: int) -> None:
        assert self.busy.acquire(blocking=False), "two jobs had the device at once"
        time.sleep(RUN)
        self.busy.release()
        self._hear(Finished(job))
        self.queue.end(job)

    def _hear(self, answer: Any) -> None:
        assert not isinstance(answer, Failed), answer.sentence
        if isinstance(answer, Finished):
            self.ended[answer.job] = time.monotonic()

    def do(self, job: int) -> float:
        """Seconds until a job is done."""
        begun = time.monotonic()
        self.queue.submit(_request(job, "cuda:0"))
        wait_until(lambda: job in self.ended)
        return self.ended[job] - begun


def test_thirty_windows_share_a_device_fairly() -> None:
    """One floods and one is killed while it has its turn; nobody else waits longer for it than one turn of each."""
    windows, waits = [FakeDevice() for _ in range(WINDOWS)], list[float]()
    flooding, others = windows[0], windows[1:]
    with subprocess.Popen([sys.executable, "-c", HOLDER, "cuda:0"], stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None and killed.stdout.readline() == b"mine\n"
        for job in range(1, 200):
            flooding.queue.submit(_request(job, "cuda:0"))

        def use(window: FakeDevice) -> None:
            for job in (1, 2, 3):
                waits.append(window.do(job))

        threads = [threading.Thread(target=use, args=(window,)) for window in others]
        begun = time.monotonic()
        for thread in threads:
            thread.start()
        time.sleep(0.2)
        killed.kill()
    for thread in threads:
        thread.join(PATIENCE)
    whole = time.monotonic() - begun
    assert len(waits) == 3 * len(others)
    length = whole / (3 * WINDOWS)  # of a turn, as all of them took it on this machine; the flooding one had its own
    print(f"longest wait {max(waits):.2f} s, {max(waits) / length:.0f} turns of {length * 1000:.0f} ms")
    assert max(waits) < 0.5 + 1.6 * WINDOWS * length
    assert len(flooding.ended) < 10  # it had its turns as the others had theirs
    for window in windows:
        window.queue.close()
