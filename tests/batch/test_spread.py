"""A batch over workers: what is planned ahead, what a lost worker costs, and the same results as in one process."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_ops import processes
from gpu_ops.batch.events import BatchRun
from gpu_ops.batch.files import Item, find_files, items
from gpu_ops.batch.run import Batch
from gpu_ops.batch.spec import BatchSpec
from gpu_ops.batch.work import Done, Work
from gpu_ops.cli import main
from gpu_ops.errors import DeviceError, InputError, KernelFault, KernelscopeError, LibraryMissing, ParamError
from gpu_ops.io import load, save
from gpu_ops.version import install

distributed = pytest.importorskip("distributed")

from gpu_ops.batch import cluster as clusters  # noqa: E402 - they need Dask
from gpu_ops.batch import overlap, spreading  # noqa: E402
from gpu_ops.batch.cluster import Workers, cluster  # noqa: E402
from gpu_ops.batch.spreading import TRIALS, Ended, Spread, on_workers  # noqa: E402

SPEC = BatchSpec(["in"], "out", "mean", {"window": 3}, variant="scipy", devices=["cpu"], format="npy")


@dataclass(frozen=True)
class Trial(Work):
    """Work that does nothing, except that some files kill their worker, each as often as it is named."""

    def one(self, item: Item, *rest: Any) -> Done:
        if item.name.startswith("fault"):
            raise KernelFault("an illegal address")
        return Done({"name": item.name, "status": "right"}, 0)


class Killed(Exception):
    """Raised by the work of a worker that dies."""


@dataclass
class Client:
    """Dask's client with workers that do a task when it is asked for: each may have one at a time. Files whose name
    is in `deadly` kill the worker, so many times."""

    count: int = 2
    deadly: Counter[str] = field(default_factory=Counter)
    most: int = 0
    status: str = "running"
    lost: list[list[str]] = field(default_factory=list)
    tasks: list[list[str]] = field(default_factory=list)
    open: list[tuple[Any, Callable[[], Any]]] = field(default_factory=list)
    restarted: list[str] = field(default_factory=list)
    scheduler: Any = None
    cluster: Any = None

    def submit(self, function: Callable[..., Any], *args: Any, pure: bool) -> Any:
        future = Outcome()
        names = [item.name for item, _ in args[1]]

        def run() -> Any:
            for name in names:
                if self.deadly[name] > 0:
                    self.deadly[name] -= 1
                    self.lost.append(names)
                    raise distributed.KilledWorker("task", None, 0)
            self.tasks.append(names)
            return function(*args)

        self.open.append((future, run))
        self.most = max(self.most, len(self.open))
        return future

    def work(self) -> None:
        """Do one of the tasks."""
        future, run = self.open.pop(0)
        try:
            future.end("finished", run())
        except distributed.KilledWorker as error:
            future.end("error", error)

    def run(self, function: Callable[..., Any], *args: Any, **how: Any) -> Any:
        assert how["on_error"] == "ignore", "a worker may be gone"
        return asyncio.run(function(*args))

    def restart_workers(self, workers: list[str], raise_for_error: bool) -> None:
        self.restarted += workers

    def nthreads(self) -> dict[str, int]:
        return {"a": 1}

    def cancel(self, futures: list[Any], force: bool) -> None:
        pass


class Outcome(Future):  # type: ignore[type-arg]
    """A future as Dask's: with a status, and errors that do not end the reader."""

    status = "pending"

    def end(self, status: str, value: Any) -> None:
        self.status = status
        (self.set_exception if status == "error" else self.set_result)(value)


def planned(count: int, drawn: list[int] | None = None) -> Iterator[tuple[Item, None]]:
    for k in range(count):
        if drawn is not None:
            drawn.append(k)
        yield Item(k, Path(f"{k:03d}"), Path("out"), f"{k:03d}"), None


def spread(
    client: Client, files: Any, count: int, stop: Callable[[], bool] = lambda: False, **more: Any
) -> list[tuple[Item, Done]]:
    work = Trial(SPEC, "")
    running = Spread(Workers(client, client.count, work, {}, ("cpu",)), work, files, count, **more)
    found, results = [], running.results(stop)
    take = running._take

    def after_work() -> Any:
        if client.open:
            client.work()
        return take()

    running._take = after_work  # type: ignore[method-assign]
    for one in results:
        found.append(one)
    return found


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "get_worker", lambda: type("", (), {"address": "tcp://a"})())


def test_few_tasks_are_planned_ahead_and_each_file_comes_once() -> None:
    client, drawn = Client(2), list[int]()
    found = spread(client, planned(3000, drawn), 3000)
    assert sorted(item.place for item, _ in found) == list(range(3000))
    assert client.most == 4, "two for each worker"
    sizes = [len(names) for names in client.tasks]
    assert sizes[0] == 1 and max(sizes) == spreading.MOST, "the first ones measure how long a file takes"

    drawn.clear()
    client = Client(2)
    list(islice(_lazily(client, planned(3000, drawn)), 1))
    assert len(drawn) <= 2 * 2 * spreading.MOST, "files are drawn from the plan when they are needed"


def _lazily(client: Client, files: Any) -> Iterator[Any]:
    work = Trial(SPEC, "")
    running = Spread(Workers(client, client.count, work, {}, ("cpu",)), work, files, 3000)
    running._submit()
    client.work()
    yield from running._take()


def test_every_worker_has_some_of_few_files() -> None:
    client = Client(4)
    spread(client, planned(32), 32)
    assert max(map(len, client.tasks)) <= 2


def test_only_the_files_of_a_lost_worker_are_computed_again() -> None:
    client, told = Client(2, Counter({"150": 1})), list[str]()
    found = spread(client, planned(400), 400, tell=told.append)
    assert sorted(item.place for item, _ in found) == list(range(400)) and all(done.code == 0 for _, done in found)
    (lost,) = client.lost
    assert told == [f"A worker died; what it had is computed again: {len(lost)} files."]
    again = [names for names in client.tasks if set(names) & set(lost)]
    assert sorted(again) == [[name] for name in sorted(lost)], "each alone, and no others"
    often = Counter(name for names in client.tasks for name in names)
    assert set(often.values()) == {1}


def test_a_file_that_always_kills_its_worker_is_reported_and_stops_no_other() -> None:
    client = Client(2, Counter({"037": 99, "201": 99}))
    found = spread(client, planned(300), 300)
    failed = {item.name: done for item, done in found if done.code}
    assert set(failed) == {"037", "201"} and len(found) == 300
    assert (
        failed["037"].row["sentence"].startswith(f"its worker died {TRIALS} times while it worked on this file alone")
    )
    assert failed["037"].code == 2
    assert 99 - client.deadly["037"] == TRIALS + 1, "once among others, and then alone"


def test_a_suspect_is_alone_in_its_worker_and_none_has_two() -> None:
    """Else a file that is innocent would be blamed for the one beside it."""
    client = Client(2, Counter({"037": 99}))
    seen = []
    begin = Spread._begin

    def watched(self: Spread, task: Any, is_alone: bool = False) -> None:
        seen.append((is_alone, [a for _, a in self._running.values()]))
        begin(self, task, is_alone)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Spread, "_begin", watched)
        spread(client, planned(300), 300)
    assert any(alone for alone, _ in seen)
    assert all(all(others) and len(others) < 2 for alone, others in seen if alone)
    assert not any(any(others) for alone, others in seen if not alone)


def test_a_fault_of_the_device_restarts_the_worker_and_the_others_go_on() -> None:
    client = Client(2)
    files = [(item._replace(name="fault") if k == 250 else item, None) for k, (item, _) in enumerate(planned(400))]
    found = {item.name: done for item, done in spread(client, files, 400)}
    assert {name for name, done in found.items() if done.code} == {"fault"} and len(found) == 400
    assert any("fault" in names and len(names) > 2 for names in client.tasks), "it was among others"
    assert found["fault"].row["sentence"] == "an illegal address" and found["fault"].code == 3
    assert client.restarted == ["tcp://a"]


def test_the_first_fault_is_that_of_its_file_and_not_of_one_that_follows_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The file before it is at work in another thread, and finds a device that is of no use any more."""
    monkeypatch.setattr(overlap, "cores", lambda: 3)
    faulted = threading.Event()

    class Faults(Work):
        def one(self, item: Item, *rest: Any) -> Done:
            if item.place == 1:
                assert faulted.wait(10)
                raise KernelFault("it is lost")
            if item.place == 2:
                threading.Timer(0.05, faulted.set).start()
                raise KernelFault("an illegal address")
            return Done({"name": item.name}, 0)

    ended = spreading.run_task(Faults(SPEC, ""), [*planned(4)], "batch")
    assert (len(ended.done), ended.place, ended.fault) == (1, 2, "an illegal address")


def test_after_a_stop_nothing_begins_and_what_runs_is_taken() -> None:
    client = Client(2)
    found: list[Any] = []
    found += spread(client, planned(3000), 3000, stop=lambda: len(client.tasks) >= 3)
    begun = [name for names in client.tasks for name in names]
    assert {item.name for item, _ in found} <= set(begun) and len(client.tasks) <= 3 + 4


def test_workers_leave_signals_to_the_process_that_started_them() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        clusters._preparation(Work(SPEC, "")).setup(None)
        assert all(signal.getsignal(number) == signal.SIG_IGN for number in before)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_scheduler_that_is_gone_is_a_sentence() -> None:
    client = Client(2, scheduler=type("", (), {"address": "tcp://far:1"})())
    client.status = "closed"
    client.work = lambda: None  # type: ignore[method-assign]
    with pytest.raises(DeviceError, match=r"tcp://far:1 is gone; .* start again with --resume"):
        spread(client, planned(30), 30)


def test_dask_logs_nothing_beside_the_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import logging

    monkeypatch.setattr(distributed, "Client", lambda *args, **how: nullcontext())
    handler = logging.StreamHandler()  # as Dask adds one where there is none
    logging.getLogger("distributed").addHandler(handler)
    try:
        with clusters._client(Work(replace(SPEC, scheduler="tcp://far:1"), ""), distributed):
            assert handler.level == logging.CRITICAL
        assert handler.level == logging.NOTSET
    finally:
        logging.getLogger("distributed").removeHandler(handler)


def test_a_scheduler_that_goes_while_a_result_travels_is_the_same_sentence() -> None:
    class Leaving:
        def result(self) -> None:
            raise distributed.comm.CommClosedError("the connection was reset")

    client = Client(2, scheduler=type("", (), {"address": "tcp://far:1"})())
    watch = spreading._Watch(Workers(client, 2, Trial(SPEC, ""), {}, ("cpu",)))
    with pytest.raises(DeviceError, match=r"tcp://far:1 is gone; .* start again with --resume"):
        spreading._result_of(Leaving(), watch)


# The plan


def test_a_plan_of_many_files_has_their_names_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 20_000
    names = [f"/data/some/folder/of/a/session/image_{k:06d}.tif" for k in range(count)]
    monkeypatch.setattr("gpu_ops.batch.files._meant", lambda name: names)
    monkeypatch.setattr(os.path, "realpath", lambda path, **how: os.fspath(path))
    tracemalloc.start()
    try:
        found = find_files(["pattern"])
        plan = items(found, tmp_path)
        first = next(plan)
        for _ in range(count // 2):
            next(plan)
        own = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "*/gpu_ops/batch/*")])
        assert first.name == "image_000000" and len(found) == count
        assert next(iter(found)) is found[next(iter(found))], "a name and its real path are one text"
        assert sum(one.size for one in own.statistics("filename")) / count < 100, "bytes for each file at most"
    finally:
        tracemalloc.stop()


# Workers that are there


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with cluster(Work(replace(SPEC, workers=2), ""), lambda sentence: None) as found:
        yield found


def test_workers_keep_the_memory_that_they_free(workers: Workers) -> None:
    """Dask's own limit has every array mapped anew, which costs as much as a small filter."""
    found = workers.client.run(os.environ.get, "MALLOC_TRIM_THRESHOLD_")
    assert list(found.values()) == [os.environ.get("MALLOC_TRIM_THRESHOLD_")] * 2


@dataclass(frozen=True)
class Deadly(Work):
    """Work on files of which some end their worker."""

    def one(self, item: Item, *rest: Any) -> Done:
        if item.name.startswith("deadly"):
            os.kill(os.getpid(), signal.SIGKILL)
        if item.name.startswith("slow"):
            time.sleep(0.3)
        return Work.one(self, item, *rest)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    return tmp_path


def files_of(folder: Path, spec: BatchSpec) -> list[tuple[Item, None]]:
    found = {real: os.path.abspath(name) for real, name in find_files(spec.inputs).items()}
    return [(item, None) for item in items(found, folder / "out")]


def test_files_that_kill_workers_among_others(workers: Workers, folder: Path) -> None:
    rng = np.random.default_rng(4)
    for k in range(24):
        save(f"in/{k:02d}.npy", rng.integers(0, 2**16, (20 + k, 30), np.uint16))
    for name in ("deadly1", "deadly2"):
        save(f"in/{name}.npy", np.ones((4, 4), np.uint8))
    Path("in/bad.png").write_bytes(b"no picture")
    work = Deadly(workers.work.spec, "")
    plan = files_of(folder, SPEC)
    found = {item.name: done for item, done in Spread(replace(workers, work=work), work, plan, 27).results()}
    assert len(found) == 27
    assert {name for name, done in found.items() if done.code} == {"deadly1", "deadly2", "bad"}
    assert "its worker died" in found["deadly1"].row["sentence"] and "rename it" in found["bad"].row["sentence"]
    assert sorted(p.name for p in Path("out").iterdir()) == [f"{k:02d}.npy" for k in range(24)]
    assert main(["run", "mean", "--window", "3", "--variant", "scipy", "--device", "cpu", "--format", "npy"]
                + ["--input", "in/*.npy", "--output-dir", "alone"]) == 0  # fmt: skip
    for k in range(24):
        assert Path(f"out/{k:02d}.npy").read_bytes() == Path(f"alone/{k:02d}.npy").read_bytes()


class Lost:
    """A task whose worker dies before it gives its result away, which the scheduler has another one do."""

    status = "lost"

    def add_done_callback(self, put: Callable[[Lost], object]) -> None:
        self.status = "finished"
        put(self)

    def result(self) -> Ended:
        return Ended([Done({"name": "x"}, 0)], 0.1)


def test_a_result_that_is_lost_with_its_worker_is_waited_for_again() -> None:
    work, task, item = Work(SPEC, ""), Lost(), Item(0, Path("x"), Path(), "x")
    spread = Spread(Workers(None, 1, work, {}, ("cpu",)), work, [], 1)
    spread._running[task] = [(item, None)], False
    spread._ended.put(task)
    assert [*spread._take(), *spread._take()] == [(item, Done({"name": "x"}, 0))] and not spread._running


class Travelling(Lost):
    """A task that has ended, whose result is lost on its way, as is the worker that does it again."""

    status = "finished"

    def exception(self, timeout: float | None = None) -> None:
        pass

    def result(self) -> Ended:
        raise distributed.KilledWorker("task", None, 0)


def test_a_result_that_is_lost_on_its_way_costs_its_own_files_a_second_run() -> None:
    work, task, item, told = Work(SPEC, ""), Travelling(), Item(0, Path("x"), Path(), "x"), list[str]()
    spread = Spread(Workers(None, 1, work, {}, ("cpu",)), work, [], 1, tell=told.append)
    spread._running[task] = [(item, None)], False
    spread._ended.put(task)
    assert not list(spread._take()) and list(spread._suspects) == [(item, None)]
    assert told == ["A worker died; what it had is computed again: 1 file."]


def test_a_part_whose_result_is_lost_on_its_way_is_computed_again() -> None:
    futures = [Travelling(), Outcome()]
    futures[1].end("finished", "done")
    client = type("", (), {"submit": lambda *a, **how: futures.pop(0), "cancel": lambda *a, **how: None})()
    found = on_workers(Workers(client, 1, Work(SPEC, ""), {}, ("cpu",)), 1)(str, ["part"])
    assert list(found) == ["done"] and not futures


def test_workers_that_are_stopped_end_what_they_have_and_begin_no_more(workers: Workers, folder: Path) -> None:
    for k in range(40):
        save(f"in/slow{k:02d}.npy", np.full((8, 8), k, np.uint8))
    work = Deadly(workers.work.spec, "")
    ended: list[str] = []
    files = Spread(replace(workers, work=work), work, files_of(folder, SPEC), 40)
    for item, done in files.results(lambda: bool(ended)):
        assert done.code == 0, done
        ended.append(item.name)
    assert 0 < len(ended) < 40
    assert sorted(p.stem for p in Path("out").iterdir()) == sorted(ended), "the report has each result that is there"


@pytest.mark.parametrize("scheduler", ["nonsense", "tcp://host", "host:port", "tcp://a b:1"])
def test_what_is_no_address_is_refused_at_once(
    scheduler: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save("in/x.npy", np.ones((4, 4), np.uint8))
    assert main(["run", "mean", "--input", "in/x.npy", "--output-dir", "out", "--scheduler", scheduler]) == 2
    assert "is no address; give that of a scheduler" in capsys.readouterr().err


@pytest.mark.parametrize("flags", [["--remote", "far"], ["--device", "far/cpu"]])
def test_many_files_are_for_this_machine(flags: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save("in/x.npy", np.ones((4, 4), np.uint8))
    assert main(["run", "mean", "--input", "in/x.npy", "--output-dir", "out", *flags]) == 2
    assert "leave --remote and devices of other machines out" in capsys.readouterr().err
    assert not any(Path("out").iterdir())


@pytest.mark.parametrize(("filter", "suffix"), [("box", "npy"), ("box", "zarr"), ("histogram", "csv")])
def test_the_bands_of_a_large_file_are_shared(workers: Workers, folder: Path, filter: str, suffix: str) -> None:
    save("in/x.npy", np.random.default_rng(2).integers(0, 2**16, (1400, 500), np.uint16))
    spec = replace(SPEC, filter=filter, values={}, variant=None, memory=4_000_000, format=suffix, checks="sample")
    work = Work(spec, "")
    shared = replace(workers, work=replace(work, spec=replace(spec, inputs=(), workers=2)))
    asked: list[Any] = []
    executor = on_workers(shared, 4)

    def watched(function: Any, parts: Any) -> Any:
        for result in executor(function, parts):
            asked.append(function)
            yield result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spreading, "on_workers", lambda *args: watched)
        ((_, done),) = Spread(shared, work, files_of(folder, spec), 1).results()
    assert done.code == 0, done.row["sentence"]
    assert len(asked) > 2 and "bands of" in done.row["notes"][0]
    (item, _), = files_of(folder, spec)  # fmt: skip
    alone = work.one(item._replace(folder=folder)).row
    if suffix == "npy":
        assert alone["output_sha256"] == done.row["output_sha256"]
    if suffix == "zarr":  # it tells when it was made
        np.testing.assert_array_equal(load(alone["output"]).array, load(done.row["output"]).array)
    if suffix == "csv":
        texts = (Path(one["output"]).read_text().splitlines() for one in (alone, done.row))
        ours, theirs = ([line for line in text if not line.startswith("#")] for text in texts)
        assert ours == theirs and len(ours) > 10


@pytest.mark.parametrize("memory", [None, 64])
def test_the_frames_of_a_stack_are_one_result(workers: Workers, folder: Path, memory: int | None) -> None:
    """Of a large stack, which here is one of more than a byte, the workers share the frames."""
    stack = np.random.default_rng(2).integers(0, 2**16, (7, 40, 50), np.uint16)
    save("in/x.npy", stack)
    spec = replace(SPEC, frames=True, memory=memory)
    shared = replace(workers, work=Work(replace(spec, inputs=()), ""))
    asked: list[Any] = []
    executor = on_workers(shared, 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spreading, "on_workers", lambda *args: asked.append(args) or executor)
        ((_, done),) = Spread(shared, Work(spec, ""), files_of(folder, spec), 1).results()
    assert done.code == 0, done.row["sentence"]
    assert (done.row["frames"], len(asked)) == (7, 0 if memory is None else 1)
    result = np.load("out/x.npy")
    for frame in range(7):
        save("one.npy", stack[frame])
        alone = Work(replace(SPEC, inputs=()), "").one(Item(0, Path("one.npy"), folder, "alone"))
        assert alone.code == 0
        np.testing.assert_array_equal(result[frame], np.load("alone.npy"))


def test_a_band_that_kills_its_worker_fails_the_file_alone(workers: Workers) -> None:
    executor = on_workers(workers, 2)
    with pytest.raises(KernelscopeError, match="3 workers died in the same part"):
        list(executor(os._exit, [1]))
    assert list(executor(abs, [-1, -2, -3, -4])) == [1, 2, 3, 4]


def test_a_batch_in_a_thread_tells_what_happens(folder: Path) -> None:
    for k in range(3):
        save(f"in/{k}.npy", np.full((5, 5), k, np.uint8))
    Path("in/bad.png").write_bytes(b"no picture")
    run = BatchRun(SPEC)
    assert run.report == {}
    events = list(run.start().events())
    assert [e.what for e in events if e.what != "started"] == ["planned", *["done"] * 3, "failed", "ended"]
    assert [e.row["name"] for e in events if e.what in ("done", "failed")] == ["0", "1", "2", "bad"]
    assert events[0].pace.count == 4 and events[-1].pace.done == 4 and events[-1].code == 2
    for name in ("0", "1", "2", "bad"):
        own = [e.what for e in events if e.row.get("name") == name]
        assert own == ["started", "failed" if name == "bad" else "done"]
    assert run.report["complete"] and len(run.report["files"]) == 4
    (end,) = BatchRun(replace(SPEC, inputs=["nothing*.png"])).start().events()
    assert (end.what, end.code) == ("ended", 2) and "No file is called like" in end.text
    run = BatchRun(SPEC)
    run.cancel()
    assert [e.what for e in run.start().events()][-1] == "ended" and not run.report["complete"]


# What is wrong


class Cluster:
    """Three supervisors with a worker each, of which the second one starts, and another process; `late` times its end
    takes too long."""

    def __init__(self, late: int) -> None:
        self.done: list[str] = []
        self.late, self.names = late, ("first", "second", "third")
        self.workers = {name: self._nanny(pid, name) for pid, name in enumerate(self.names)}
        self.children = [self._child(pid, name, "Dask Worker process") for pid, name in enumerate(self.names)]
        self.children.append(self._child(2, "other", "a process of the batch"))

    def _nanny(self, pid: int, name: str) -> SimpleNamespace:
        status = SimpleNamespace(name="starting" if name == "second" else "running")
        close = partial(self.done.append, f"{name} starts no other")
        return SimpleNamespace(pid=pid, process=SimpleNamespace(status=status), close_gracefully=close)

    def _child(self, pid: int, name: str, title: str) -> SimpleNamespace:
        return SimpleNamespace(name=title, pid=pid, kill=partial(self.done.append, f"kill {name}"))

    def close(self, timeout: float) -> None:
        self.done.append("close")
        self.late -= 1
        if self.late >= 0:
            raise TimeoutError


@pytest.mark.parametrize("late", [0, 1, 2])
def test_a_cluster_ends_in_order(monkeypatch: pytest.MonkeyPatch, late: int) -> None:
    """No worker is started in place of one that is killed, and only one that starts is killed at once."""
    own = Cluster(late)
    monkeypatch.setattr("multiprocessing.active_children", lambda: own.children)
    clusters._end(own)
    begin = [*(f"{name} starts no other" for name in own.names), "kill second", "close"]
    rest = [*(f"kill {name}" for name in own.names), "close"]
    assert own.done == begin + (rest if late else [])


def test_without_dask_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(LibraryMissing, match=re.escape(install("batch"))), cluster(Work(SPEC, ""), print):
        pass


def test_no_scheduler_and_no_gpu_are_sentences(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save("in/a.npy", np.ones((3, 3), np.uint8))
    monkeypatch.setattr(clusters, "START_S", 3)
    spec = replace(SPEC, scheduler="tcp://127.0.0.1:1")
    with pytest.raises(DeviceError, match="No scheduler of Dask answers at tcp://127.0.0.1:1"):
        list(Batch(spec).run())
    monkeypatch.setattr(clusters, "device_statuses", lambda: [])
    with pytest.raises(DeviceError, match="There is no GPU for --gpus"):
        list(Batch(replace(SPEC, devices=(), gpus="all")).run())


def test_gpus_are_named_as_the_environment_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    there = [type("", (), {"name": f"cuda:{k}", "kind": "cuda", "available": True})() for k in range(2)]
    monkeypatch.setattr(clusters, "device_statuses", lambda: there)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert clusters._gpus("all") == ["0", "1"] and clusters._gpus("1,1") == ["1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-7")
    assert clusters._gpus("all") == ["3", "GPU-7"]
    with pytest.raises(ParamError, match="no GPU 2; choose from 0,1, or all"):
        clusters._gpus("2")


def answers(**packages: str) -> dict[str, Any]:
    host = {"python": f"{sys.version_info[0]}.{sys.version_info[1]}.0.final.0"}
    return {"host": host, "packages": {"distributed": "2026.7.1", **packages}}


@pytest.mark.parametrize(
    ("worker", "kernelscope", "words"),
    [
        (answers(distributed="2020.1"), "0.1.0", "has distributed 2020.1, and here is 2026.7.1"),
        (answers(), "0.0.9", r"has Kernelscope 0.0.9, and here is 0.1.0; install .*kernelscope\[batch\]==0.1.0"),
        (answers(), ModuleNotFoundError("No module named 'gpu_ops'"), "has no Kernelscope"),
    ],
)
def test_other_versions_on_workers(worker: Any, kernelscope: Any, words: str) -> None:
    class Asked:
        def get_versions(self) -> Any:
            return {"client": answers(), "scheduler": answers(), "workers": {"tcp://w": worker}}

        def run(self, *args: Any, **how: Any) -> Any:
            return {"tcp://w": kernelscope}

    with pytest.raises(DeviceError, match=words):
        clusters._check_versions(Asked())


def test_a_worker_without_the_library_of_the_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "missing", lambda names: {name: f"{name}-package" for name in names})
    with pytest.raises(LibraryMissing, match="scipy needs scipy.*install scipy.*-package"):
        clusters.look(Work(SPEC, ""))


def test_a_full_disk_is_said_of_its_file_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    from gpu_ops.io import part_files

    for k in range(4):
        save(f"in/{k}.npy", np.full((5, 5), k, np.uint8))
    sync = os.fsync

    def full(handle: int) -> None:
        if Path("out/1.npy").exists() and not Path("out/2.npy").exists() and not fell:
            fell.append(handle)
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    fell: list[int] = []
    monkeypatch.setattr(part_files.os, "fsync", full)
    work = Work(SPEC, "")
    found = [work.one(item) for item, _ in files_of(folder, SPEC)]
    assert [done.code for done in found] == [0, 0, 2, 0]
    assert "No space left on device); free some space" in found[2].row["sentence"]
    assert sorted(p.name for p in Path("out").iterdir()) == ["0.npy", "1.npy", "3.npy"]


# A cluster that is there, as a queue of jobs starts it


def start(*command: str) -> subprocess.Popen[bytes]:
    environment = {**processes.environment(), "PYTHONWARNINGS": "ignore"}
    return subprocess.Popen([sys.executable, "-m", *command], env=environment, stderr=subprocess.DEVNULL)


@pytest.mark.thorough
def test_a_scheduler_with_its_workers_and_its_end(folder: Path, tmp_path: Path) -> None:
    """The commands are those of a job script of dask-jobqueue: a scheduler here, workers in jobs."""
    for k in range(40):
        save(f"in/{k:02d}.npy", np.full((40, 40), k, np.uint8))
    port = 20_000 + os.getpid() % 20_000
    address = f"tcp://127.0.0.1:{port}"
    scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    job = ("distributed.cli.dask_worker", address, "--nthreads", "1", "--nanny", "--death-timeout", "60")
    jobs = [start(*job, "--name", f"job-{k}", "--local-directory", str(tmp_path)) for k in range(2)]
    try:
        batch = Batch(replace(SPEC, scheduler=address))
        done = list(batch.run())
        assert batch.exit_code == 0 and len(done) == 40 and batch.complete
        assert np.load("out/07.npy")[3, 3] == 7
        batch = Batch(replace(SPEC, scheduler=address))
        batch.work = Deadly(batch.work.spec, batch.work.command)
        for k in range(40):
            os.rename(f"in/{k:02d}.npy", f"in/slow{k:02d}.npy")
        batch.files = find_files(["in"])
        run = batch.run()
        next(run)
        scheduler.kill()
        with pytest.raises(DeviceError, match="is gone; the report has what is done"):
            list(run)
        rows = json.loads(Path("out/kernelscope-batch.json").read_text())
        assert not rows["complete"] and 1 <= len(rows["files"]) < 40
    finally:
        for process in (scheduler, *jobs):
            process.terminate()
            process.wait(20)


@pytest.mark.thorough
def test_workers_that_are_killed_at_random(folder: Path) -> None:
    rng = np.random.default_rng(6)
    for k in range(600):
        save(f"in/{k:03d}.npy", rng.integers(0, 2**16, (64, 64), np.uint16))
    psutil = pytest.importorskip("psutil")
    killed, started, ended = list[int](), threading.Event(), threading.Event()

    def is_worker(child: Any) -> bool:
        with suppress(psutil.Error):  # it has ended meanwhile
            return "spawn_main" in " ".join(child.cmdline())
        return False

    def kill() -> None:
        dice = random.Random(9)
        started.wait(60)
        while not ended.wait(0.4) and len(killed) < 50:
            found = [child for child in psutil.Process().children(recursive=True) if is_worker(child)]
            if found:
                victim = dice.choice(found)
                victim.kill()
                killed.append(victim.pid)

    batch = Batch(replace(SPEC, workers=2))
    batch.work = Slowly(batch.work.spec, batch.work.command)
    thread = threading.Thread(target=kill)
    thread.start()
    try:
        done = []
        for one in batch.run():
            started.set()
            done.append(one)
    finally:
        started.set()
        ended.set()
        thread.join()
    assert len(killed) >= 10
    assert sorted(one.row["name"] for one in done) == [f"{k:03d}" for k in range(600)], "nothing lost, nothing twice"
    assert batch.exit_code == 0, [row["sentence"] for row in batch.rows if row["sentence"]]
    assert {p.suffix for p in Path("out").iterdir()} == {".npy", ".json"}, "nothing half-written"
    work = Work(SPEC, "")
    for item, _ in files_of(folder, SPEC)[::7]:
        alone = work.one(item._replace(folder=folder)).row
        assert alone["output_sha256"] == batch_row(batch, item.name)["output_sha256"]


def batch_row(batch: Batch, name: str) -> dict[str, Any]:
    return next(row for row in batch.rows if row["name"] == name)


@dataclass(frozen=True)
class Slowly(Work):
    """Work that takes long enough to be interrupted."""

    def one(self, item: Item, *rest: Any) -> Done:
        time.sleep(0.02)
        return Work.one(self, item, *rest)


def test_an_input_in_the_folder_of_the_results_is_not_replaced(folder: Path) -> None:
    save("in/a.npy", np.ones((3, 3), np.uint8))
    os.symlink(folder / "in/a.npy", folder / "out/a.npy")
    ((item, _),) = files_of(folder, SPEC)
    with pytest.raises(InputError, match="is an input itself"):
        item.path(".npy")
    assert item.path(".png").name == "a.png" and load("in/a.npy").array.shape == (3, 3)


@pytest.mark.parametrize(
    ("before", "fault"),
    [
        ("", "would run it again; put its statements under if __name__"),
        ("if __name__ == '__main__':\n ", ""),
        ("def begin():\n ", "would run it again"),
        (None, "save it as a file first"),
    ],
)
def test_a_script_that_workers_would_run_again_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, before: str | None, fault: str
) -> None:
    """Nothing is started for it."""
    text = f"{before or ''}started = run.start()\n" + ("begin()" if before and "def" in before else "")
    if before is not None:
        Path("script.py").write_text(text)
    main, run = ModuleType("__main__"), BatchRun(replace(SPEC, workers=2))
    monkeypatch.setattr(run._thread, "start", lambda: None)
    monkeypatch.setitem(sys.modules, "__main__", main)
    vars(main).update(__file__="script.py", run=run)
    with pytest.raises(KernelscopeError, match=fault) if fault else nullcontext():
        exec(compile(text, "script.py", "exec"), vars(main))
    assert vars(main).get("started") is (None if fault else run)
