"""Over a link with 50 ms and 20 Mbit/s, and over one that breaks: what is seen comes first, and nothing is lost."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from remote_machines import Window, engines_of, wait_until

from gpu_ops.engine.messages import Finished, Progress, RunUpdate
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.host import PATIENCE
from gpu_ops.remote.news import LinkState

Open = Callable[[Destination], Window]


@pytest.fixture(params=["fake", "real"])
def slow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Destination:
    machine: Destination = request.getfixturevalue(request.param)
    monkeypatch.setenv("FAKE_SSH_DELAY", "0.025")  # each way: a round trip takes 50 ms
    monkeypatch.setenv("FAKE_SSH_RATE", "2500000")
    return machine


def _first_sight(window: Window, request: object) -> tuple[float, float, float, RunUpdate]:
    """Seconds from the request to the result's first sight, of which those that the engine took; bytes per pixel are
    not asked for. The engine's own time is that between its first and last word before the result."""
    begun = time.monotonic()
    words: list[float] = []
    window.talk._say = lambda text: words.append(time.monotonic())
    update = next(a for a in window.talk.ask(request) if isinstance(a, RunUpdate))
    end = time.monotonic()
    return end - begun, words[-1] - words[0], end - words[-1], update


@pytest.mark.thorough
def test_a_large_result_is_seen_soon(
    slow: Destination, open_window: Open, record_property: Callable[..., None]
) -> None:
    window = open_window(slow)
    input = window.noise(4096)
    window.image(window.run(window.noise(64), 3, variant="opencv"))
    took, computing, after, update = _first_sight(window, window.request(input, 3, variant="opencv"))
    shared = update.outputs["image"].array
    mirror = window.talk.client.mirror(shared.segment)
    assert mirror is not None and mirror.step == 11
    seen = time.monotonic()
    window.talk.client.look(shared.segment)
    wait_until(lambda: mirror.step == 5)
    filled = time.monotonic() - seen
    record_property("first sight after the last word", after)
    record_property("pane filled after that", filled)
    print(f"sight {after:.3f} s after the engine's last word (all {took:.2f} s), 820² cells {filled:.3f} s later")
    for size in (5, 7, 9):
        took, computing, after, update = _first_sight(window, window.request(input, size, variant="opencv"))
        print(f"slider: {took:.3f} s, of which the engine {computing:.3f} s")
        window.talk.pool.release(update.outputs["image"].array.segment)


@pytest.mark.thorough
def test_a_hundred_lost_connections_lose_nothing(fake: Destination, open_window: Open) -> None:
    window, chance = open_window(fake), random.Random(5)
    input = window.noise(700)
    values = window.talk.pool.array(input.array).copy()
    talk, client = window.talk, window.talk.client
    expected = {size: window.image(window.run(input, size)) for size in (3, 5, 7)}
    session = client._session
    lost, over = [0], threading.Event()

    def break_it() -> None:
        while lost[0] < 100 and not over.is_set():
            time.sleep(chance.uniform(0.0, 0.4))
            if client._line.connected:
                client._line.drop()
                lost[0] += 1

    breaker = threading.Thread(target=break_it)
    breaker.start()
    runs = 0
    try:
        while lost[0] < 100:
            size = chance.choice((3, 5, 7))
            np.testing.assert_array_equal(window.image(window.run(input, size)), expected[size])
            runs += 1
    finally:
        over.set()
        breaker.join()
    assert client._session == session and runs >= 3  # always the same engine
    np.testing.assert_array_equal(talk.pool.array(input.array), values)
    print(f"{runs} runs over {lost[0]} lost connections")
    _vanish(window)
    wait_until(lambda: not engines_of(session), 30.0)


def _vanish(window: Window) -> None:
    """The window is gone without a goodbye."""
    client = window.talk.client
    client._closed = True
    client._line.drop()


def test_no_engine_stays_without_its_window(fake: Destination) -> None:
    window = Window(fake)
    window.talk.ready()
    session = window.talk.client._session
    _vanish(window)
    time.sleep(1)
    assert engines_of(session)  # it waits for a window that comes back
    wait_until(lambda: not engines_of(session), PATIENCE + 10)
    window.talk.client._closed = False
    window.talk.__exit__()


def test_a_window_hears_that_the_connection_is_lost_and_back(fake: Destination, open_window: Open) -> None:
    window = open_window(fake)
    window.talk.ready()
    heard: list[str] = []
    client, answer = window.talk.client, window.talk.client._on_answer

    def hear(found: object) -> None:
        if isinstance(found, LinkState):
            heard.append(found.stage)
        answer(found)

    client._on_answer = hear
    client._line.drop()
    wait_until(lambda: heard[-1:] == ["ready"])
    assert heard == ["lost", "ready"]


def test_a_job_is_cancelled_while_there_is_no_connection(
    fake: Destination, open_window: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNELSCOPE_FAULT", "slow")
    window = open_window(fake)
    window.talk.ready()
    client = window.talk.client
    request = window.request(window.noise())
    client.submit(request)
    while not isinstance(window.talk._answers.get(timeout=60), Progress):
        pass
    monkeypatch.setenv("KERNELSCOPE_SSH", "false")
    client._line.drop()
    client.cancel(request.job)
    while not isinstance(answer := window.talk._answers.get(timeout=5), Finished):
        pass
    assert answer == Finished(request.job, cancelled=True)


@pytest.mark.thorough
def test_windows_share_a_machine_fairly(fake: Destination) -> None:
    """Engines of KERNELSCOPE_WINDOWS windows; one floods, one is killed. `test_turns` has thirty on a fake device."""
    windows = [Window(fake) for _ in range(int(os.environ.get("KERNELSCOPE_WINDOWS", 5)))]
    try:
        for window in windows:
            window.talk.ready()
        inputs = [window.noise(64) for window in windows]
        for window, input in zip(windows, inputs, strict=True):
            window.image(window.run(input))  # everything is loaded
        flooding, killed = windows[0], windows[1]
        for size in range(3, 203, 2):
            flooding.talk.client.submit(flooding.request(inputs[0], size))
        waits: dict[int, list[float]] = {}

        def use(n: int) -> None:
            for size in (3, 5, 7):
                begun = time.monotonic()
                windows[n].image(windows[n].run(inputs[n], size))
                waits.setdefault(n, []).append(time.monotonic() - begun)

        threads = [threading.Thread(target=use, args=(n,)) for n in range(2, len(windows))]
        begun = time.monotonic()
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        for pid in engines_of(killed.talk.client._session):
            os.kill(pid, signal.SIGKILL)
        for thread in threads:
            thread.join(300)
        whole = time.monotonic() - begun
        each = [wait for found in waits.values() for wait in found]
        assert len(each) == 3 * (len(windows) - 2)
        turn = whole / (3 * len(windows))  # the length of a turn, measured over all of them
        print(f"waits: longest {max(each):.2f} s, mean {np.mean(each):.2f} s; a turn {turn:.3f} s of {whole:.1f} s")
        assert max(each) < 2.5 * len(windows) * turn  # every window once, and its own run
    finally:
        for window in windows:
            window.talk.__exit__()
