"""Long work says how far it is and can be stopped; what cannot be asked is distinguished from what hangs."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from tasks import on
from test_engine import PATIENCE, SERIAL, Talk

from gpu_ops import progress
from gpu_ops.devices import open_device
from gpu_ops.devices.cuda.current import FAULTS, LOST, as_error
from gpu_ops.engine import job_channel, server
from gpu_ops.engine.about import is_of_frame
from gpu_ops.engine.job_channel import JobChannel
from gpu_ops.engine.live.messages import LiveRequest
from gpu_ops.engine.messages import Failed, Finished, Progress, Ready, RunRequest, RunUpdate, SaveRequest
from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedInput
from gpu_ops.engine.statistics import statistics
from gpu_ops.errors import DeviceError, DeviceLost, KernelFault
from gpu_ops.filters import find_filter
from gpu_ops.filters.mean import host, reference, serial
from gpu_ops.io import load, sample, save
from gpu_ops.io.live.source import LiveSource
from gpu_ops.plan import Call, Plan
from gpu_ops.progress import Cancelled, advance, finite, in_finite_call, listening, stage
from gpu_ops.running import verify
from gpu_ops.running.roofline import roofs
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Task
from gpu_ops.types import Experiment

LONG = {"window": 63, "border": "reflect"}
SIZE = "1500x1500"
"""With that window about ten seconds of one core: 9e9 additions."""


@pytest.fixture
def talk() -> Iterator[Talk]:
    talk = Talk(pool=SegmentPool(cache_bytes=0), cancel_grace=PATIENCE)  # whoever is cancelled must stop by itself
    yield talk
    talk.client.close()
    talk.client.pool.close()


def _long(talk: Talk, made: SharedInput, **how: Any) -> RunRequest:
    return RunRequest(talk.job(), 1, made, "mean2d", LONG, (SERIAL,), **{"protocol": "none", "checks": "off", **how})


def _begun(talk: Talk, words: str) -> list[Progress]:
    """What was said up to the third word of how far something is."""
    found: list[Progress] = []
    while len({p.done for p in found if words in p.text}) < 3:
        found.append(talk.until(Progress)[-1])
    return found


# In the engine.


def test_a_long_serial_run_says_how_far_it_is_and_stops_when_told(talk: Talk) -> None:
    made = talk.sample(size=SIZE)
    pid, before = talk.client.pid, talk.client.pool.nbytes
    request = _long(talk, made)
    talk.client.submit(request)
    said = _begun(talk, "computing CPU, one core")
    assert [p.done for p in said] == sorted(p.done for p in said)
    assert all(0 <= p.done <= p.total for p in said) and 0 < said[-1].done < said[-1].total
    talk.client.cancel(request.job)
    rest = talk.until((Finished, Failed))
    assert rest[-1] == Finished(request.job, cancelled=True)
    assert not [a for a in rest if isinstance(a, RunUpdate)]
    assert (talk.client.pid, talk.client.pool.nbytes) == (pid, before)
    again = talk.do(talk.request(made))
    assert [a.row.ok for a in again if isinstance(a, RunUpdate)] == [None, True]
    assert talk.client.pid == pid


def test_a_long_timing_stops_in_the_middle_of_a_sample(talk: Talk) -> None:
    made = talk.sample(size="700x700")
    pid = talk.client.pid
    request = _long(talk, made, protocol="quick")
    talk.client.submit(request)
    while "timing" not in talk.until(Progress)[-1].text:
        pass
    talk.client.cancel(request.job)
    assert talk.until((Finished, Failed))[-1] == Finished(request.job, cancelled=True)
    assert talk.client.pid == pid


@pytest.mark.thorough
def test_a_reference_longer_than_the_deadline_is_not_killed(talk: Talk) -> None:
    made = talk.sample(length=400_000)
    talk.do(RunRequest(talk.job(), 1, made, "mean1d", {"window": 3}, (SERIAL,), "none"))  # imports take their time
    talk.client._deadline = 2.0  # four signs of life: one may be late on a loaded machine
    pid = talk.client.pid
    params = {"window": 4095, "border": "wrap"}
    found = talk.do(RunRequest(talk.job(), 1, made, "mean1d", params, (SERIAL,), "none"))
    assert isinstance(found[-1], Finished), found[-1]
    assert [a.row.ok for a in found if isinstance(a, RunUpdate)] == [None, True]
    assert len({a.done for a in found if isinstance(a, Progress) and "verifying" in a.text}) > 2
    assert talk.client.pid == pid


def _faulty(talk: Talk, fault: str, monkeypatch: pytest.MonkeyPatch) -> RunRequest:
    made = talk.sample()
    monkeypatch.setenv("KERNELSCOPE_FAULT", fault)
    talk.kill()
    talk.until(Ready)
    talk.client._deadline = server.SLOW / 2
    return talk.request(made)


def test_a_call_longer_than_the_deadline_is_not_killed(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    found = talk.do(_faulty(talk, "slow", monkeypatch))
    assert isinstance(found[-1], Finished), found[-1]
    assert sum(isinstance(a, Progress) and a.text == "beginning" for a in found) > 2  # the signs of life


def test_what_hangs_is_killed_at_the_deadline(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = talk.do(_faulty(talk, "hang", monkeypatch))[-1]
    assert isinstance(failed, Failed) and "said nothing for 1.5 s" in failed.sentence


def test_a_call_that_cannot_stop_is_killed_when_cancelled(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    request = _faulty(talk, "slow", monkeypatch)
    monkeypatch.delenv("KERNELSCOPE_FAULT")
    talk.client._cancel_grace = 0.1
    talk.client.submit(request)
    talk.until(Progress)
    pid = talk.client.pid
    talk.client.cancel(request.job)
    assert talk.until((Finished, Failed))[-1] == Finished(request.job, cancelled=True)
    assert isinstance(talk.do(talk.request(request.input))[-1], Finished)
    assert talk.client.pid != pid


def test_asking_alone_stops_between_pieces_and_kills_nothing(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    request = _faulty(talk, "slow", monkeypatch)
    talk.client._cancel_grace = 0.0
    talk.client.submit(request)
    talk.until(Progress)
    pid = talk.client.pid
    talk.client.cancel(request.job, kill=False)
    assert talk.until((Finished, Failed))[-1] == Finished(request.job, cancelled=True)
    assert talk.client.pid == pid


def test_a_lost_device_ends_the_engine_as_a_fault_does(monkeypatch: pytest.MonkeyPatch) -> None:
    class Connection:
        sent: list[Any] = []

        def send(self, message: Any) -> None:
            self.sent.append(message)

    left: list[int] = []
    monkeypatch.setattr(server, "_leave", left.append)
    channel = JobChannel(Connection())  # type: ignore[arg-type]
    for error, leaves in ((as_error(719, ""), True), (as_error(214, "ECC"), True), (as_error(1, "bad"), False)):
        left.clear()

        def fail(channel: JobChannel, job: Any, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(server, "work", fail)
        server._do(channel, SaveRequest(1, "x", None, None))  # type: ignore[arg-type]
        assert isinstance(Connection.sent[-1], Failed)
        assert bool(left) is leaves


def test_every_code_that_loses_the_context_is_told_from_the_others() -> None:
    assert not set(FAULTS) & LOST
    assert all(isinstance(as_error(code, "x"), KernelFault) for code in FAULTS)
    assert all(isinstance(as_error(code, "x"), DeviceLost) for code in LOST)
    plain = as_error(2, "out of memory")
    assert isinstance(plain, DeviceError) and not isinstance(plain, DeviceLost)


# In this process.


def _noise(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray[Any, Any]:
    return (np.random.default_rng(2).random(shape) * 200).astype(dtype)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("form", ["serial", "parallel"])
@pytest.mark.parametrize(
    ("axes", "shape"), [(2, (61, 47)), (2, (3, 900)), (2, (40, 30, 3)), (1, (20_011,)), (1, (77, 3))]
)
def test_bands_do_not_change_a_bit(
    form: str, axes: int, shape: tuple[int, ...], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = _noise(shape, dtype)
    function: Callable[..., None] = getattr(host, f"mean{axes}d_{form}")
    for window in (3, 31):
        whole, bands = np.zeros_like(x), np.zeros_like(x)
        function(x, whole, window, "reflect")
        events: list[float] = []
        with monkeypatch.context() as patch, listening(None, events.append):
            patch.setattr(serial, "TAPS", 300)
            patch.setattr(host, "BAND", 500)
            patch.setattr(progress, "EVERY", 0.0)
            function(x, bands, window, "reflect")
        assert bands.tobytes() == whole.tobytes()
        assert events == sorted(events) and all(0 < part < 1 for part in events)
        assert events or form == "parallel"


def _reference(array: np.ndarray) -> object:
    return reference.reference2d(on(find_filter("mean2d"), array, {"window": 63, "border": "zero"}))


WORK: dict[str, Callable[[Path], object]] = {
    "serial": lambda path: host.mean2d_serial(_noise((300, 300)), np.empty((300, 300), np.float32), 31, "zero"),
    "reference": lambda path: _reference(_noise((2000, 2000))),
    "statistics": lambda path: statistics(_noise((3000, 1000))),
    "roofs": lambda path: roofs.__wrapped__("cpu"),
    "load": lambda path: load(path / "made.npy"),
    "load text": lambda path: load(path / "made.txt"),
    "save": lambda path: save(path / "new.npy", _noise((3000, 2000))),
}


@pytest.mark.parametrize("what", WORK)
def test_all_long_work_stops_when_told(what: str, tmp_path: Path) -> None:
    save(tmp_path / "made.npy", _noise((3000, 2000)))
    save(tmp_path / "made.txt", _noise((9000,), "float64"))
    asked: list[bool] = []
    there = set(tmp_path.iterdir())

    def stop() -> bool:
        asked.append(True)
        return len(asked) == 2

    with pytest.raises(Cancelled), listening(stop):
        WORK[what](tmp_path)
    assert len(asked) == 2
    assert set(tmp_path.iterdir()) == there  # nothing half written


def test_a_stopped_experiment_gives_no_result() -> None:
    experiment = Experiment("mean2d", sample("noise", size="600x600"), LONG, (SERIAL,), "none")
    events: list[tuple[str, int, int]] = []

    def stop() -> bool:
        return any(done > 0 for _, done, _ in events)

    with pytest.raises(Cancelled):
        for run in run_experiment(experiment, stop=stop, progress=lambda *what: events.append(what)):
            raise AssertionError(run.stage)
    assert events[-1][0] == "computing serial on cpu"


def test_the_scale_is_the_first_half_of_a_check_of_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    filter, input = find_filter("mean2d"), sample("noise", size="600x600")
    task = Task.of(input.meta, {"window": 3, "border": "zero"})
    outputs, events = {"image": filter.reference(task.on(input.array))["image"]}, []
    plain = verify._scale
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(verify, "_scale", lambda *of: advance(1, 2) or plain(*of))
    with listening(None, events.append):
        verify.verify(filter, filter.variant("serial"), input, task, outputs, "sample")
    assert events[0] == 0.25 and 0.5 < events[-1] < 1


def test_stages_share_the_whole_and_nobody_need_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    events: list[float] = []

    def work() -> None:
        with stage(0, 2):
            advance(1, 2)
        with stage(1, 2):
            with stage(0, 2):
                advance(1, 1)
            advance(0, 1)  # never less than before
            advance(1, 1)

    work()
    with listening(None, events.append):
        work()
    assert events == [0.25, 0.75, 0.75, 1.0]


def test_cpu_steps_count_as_finite_and_nothing_else_does() -> None:
    seen: list[bool] = []
    device = open_device("cpu")
    plan = Plan((Call(lambda: seen.append(in_finite_call()), ()),), {})
    device.execute(plan)
    device.sampler([plan], "wall").sample()
    assert all(seen) and len(seen) > 1 and not in_finite_call()
    with pytest.raises(ValueError), finite(), finite():
        raise ValueError
    assert not in_finite_call()


def test_a_finite_call_that_is_overdue_no_longer_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with finite(60):
        assert in_finite_call()
        now[0] += 61
        assert not in_finite_call()
        with finite():
            assert in_finite_call()
        assert not in_finite_call()


def test_a_reference_goes_with_its_input() -> None:
    filter = find_filter("mean2d")
    made = sample("noise", size="50x40")
    experiment = Experiment("mean2d", made, {"window": 3, "border": "zero"}, (SERIAL,))
    key = id(made)
    task = Task.of(made.meta, experiment.params)
    first = verify.reference(filter, made, task)
    assert verify.reference(filter, made, task) is first
    assert any(known[0] == key for known in verify._references)
    del made, experiment
    gc.collect()
    assert not any(known[0] == key for known in verify._references)


def test_a_channel_lets_go_of_an_input_whose_segment_is_gone_or_used_anew() -> None:
    with_pool = SegmentPool()
    channel = JobChannel(None)  # type: ignore[arg-type]
    filter, array = find_filter("mean2d"), _noise((40, 50))
    for renew in (False, True):
        shared = _shared(with_pool, array, "first")
        input = channel.input(shared)
        key = id(input)
        verify.reference(filter, input, Task.of(input.meta, {"window": 3, "border": "zero"}))
        del input
        assert any(known[0] == key for known in verify._references)
        if renew:
            second = channel.input(SharedInput(**{**vars(shared), "name": "second"}))
            assert second.name == "second"
        else:
            channel.forget(shared.array.segment)
        gc.collect()
        assert not any(known[0] == key for known in verify._references)
    with_pool.close()


def _shared(pool: SegmentPool, array: np.ndarray[Any, Any], name: str) -> SharedInput:
    from gpu_ops.engine.shared import SharedArray

    shared = SharedArray(pool.take(array.nbytes), array.shape, array.dtype.name)
    np.copyto(pool.array(shared, writeable=True), array)
    return SharedInput("image", shared, "yx", name, {}, None, True, statistics(array))


def test_a_channel_repeats_itself_only_inside_finite_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    class Connection:
        def __init__(self) -> None:
            self.sent: list[Any] = []

        def send(self, message: Any) -> None:
            self.sent.append(message)

    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        channel._last_sent = -1e9  # long ago
        if len(naps) > 3:
            raise OSError  # nobody is there any more

    connection = Connection()
    channel = JobChannel(connection)  # type: ignore[arg-type]
    channel.begin(4)
    monkeypatch.setattr(time, "sleep", nap)
    channel.beat()
    assert connection.sent == []
    naps.clear()
    with finite():
        channel.beat()
    assert connection.sent == [Progress(4, "beginning")] * 3


def test_a_sign_of_life_never_repeats_what_newer_progress_has_overtaken() -> None:
    """Its thread waits for the connection while the work sends on."""
    sent: list[Progress] = []
    channel = JobChannel(SimpleNamespace(send=sent.append))  # type: ignore[arg-type]
    channel.begin(4)
    waits, lock = threading.Event(), threading.Lock()

    class Lock:
        """Says that somebody waits for it."""

        def __enter__(self) -> None:
            waits.set()
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()

    channel._sending = Lock()  # type: ignore[assignment]
    with lock:
        beating = threading.Thread(target=channel._repeat)
        beating.start()
        assert waits.wait(60)
        channel._last = Progress(4, "computing", 3, 9)
        sent.append(channel._last)
    beating.join()
    assert [p.done for p in sent] == [3, 3]


def test_a_job_of_one_frame_says_its_steps_only_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be cancelled all the same."""
    sent: list[Progress] = []
    channel, now = JobChannel(SimpleNamespace(send=sent.append)), [100.0]  # type: ignore[arg-type]
    monkeypatch.setattr(job_channel, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for of_frame, said in ((False, ["reading", "computing"]), (True, ["computing"])):
        channel.begin(4, of_frame)
        channel.progress("reading")
        now[0] += job_channel.BRIEF
        channel.progress("computing")
        assert [p.text for p in sent] == said
        sent.clear()
    channel.begin(5, of_frame=True)
    channel.cancelled_job = 5
    with pytest.raises(Cancelled):
        channel.progress("reading")


def test_what_runs_or_reads_one_frame_of_many_is_told_from_other_jobs() -> None:
    run = RunRequest(1, 1, cast(Any, None), "mean2d", {}, (), "none", checks="off")
    frame = LiveRequest(1, LiveSource("camera", "0"))
    others = [replace(run, checks="sample"), replace(run, protocol="quick"), replace(frame, do="close")]
    assert all(map(is_of_frame, (run, frame))) and not any(map(is_of_frame, others))
