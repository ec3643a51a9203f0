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
CHANGES = 5


ROUND_TRIP, RATE = 0.05, 2.5e6
"""Seconds, and bytes per second, of the slow link."""
PIXELS = 480 * 480


@pytest.fixture(params=["fake", "real"])
def machine(request: pytest.FixtureRequest) -> Destination:
    found: Destination = request.getfixturevalue(request.param)
    return found


class Slider:
    """A window whose pane shows the results of a large input, one after the other."""

    def __init__(self, window: Window) -> None:
        self.window, self.segment = window, ""
        self.input = window.noise(2048)
        self.seconds: list[float] = []
        self.change(21)

    def change(self, size: int) -> float:
        """Seconds from a change to the moment at which the pane shows all that it can."""
        client, begun = self.window.talk.client, time.monotonic()
        request = self.window.request(self.input, size, variant="opencv", pixels=PIXELS)
        update = next(a for a in self.window.talk.ask(request) if isinstance(a, RunUpdate) and a.outputs)
        shown, self.segment = self.segment, update.outputs["image"].array.segment
        client.look(self.segment, (), PIXELS)
        if shown:
            self.window.talk.pool.release(shown)
        mirror = client.mirror(self.segment)
        assert mirror is not None
        wait_until(lambda: mirror.shows((), PIXELS))
        self.seconds.append(time.monotonic() - begun)
        return self.seconds[-1]


@pytest.mark.thorough
def test_a_slider_waits_for_little_more_than_its_bytes(
    machine: Destination, open_window: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the same changes over a link without delay, in turns, so that a busy machine is slow in both."""
    quick = Slider(open_window(machine))
    monkeypatch.setenv("FAKE_SSH_DELAY", str(ROUND_TRIP / 2))
    monkeypatch.setenv("FAKE_SSH_RATE", str(RATE))
    slow = Slider(open_window(machine))
    del quick.seconds[:], slow.seconds[:]
    for size in range(3, 3 + 2 * CHANGES, 2):
        quick.change(size)
        slow.change(size)
    needed = ROUND_TRIP + PIXELS / RATE  # its cells have a byte each
    cost = float(np.median(slow.seconds) - np.median(quick.seconds))
    print(f"slider: {np.median(slow.seconds):.3f} s, without delay {np.median(quick.seconds):.3f} s; {needed:.3f} s")
    assert cost < 3 * needed
    values = threading.Event()
    slow.window.talk.client.whole(slow.segment, lambda come: values.set())
    time.sleep(0.3)
    busy = slow.change(51)  # the values of the last result are on their way
    print(f"while values travel: {busy:.3f} s")
    assert busy < max(quick.seconds) + 4 * needed and values.is_set()


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
