"""What a worker of a batch has ready, how much it does at a time, and how it ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_ops.batch import overlap, work
from gpu_ops.batch.files import Item
from gpu_ops.batch.spec import BatchSpec
from gpu_ops.batch.work import Work
from gpu_ops.io import load, save
from gpu_ops.io.memory import LARGE, ReusedMemory

distributed = pytest.importorskip("distributed")

from gpu_ops.batch import cluster as clusters  # noqa: E402 - it needs Dask
from gpu_ops.batch.cluster import Workers, cluster  # noqa: E402

SPEC = BatchSpec(["in"], "out", "mean", {"window": 3}, variant="scipy", devices=["cpu"], format="npy", checks="off")
pytestmark = pytest.mark.thorough


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of new memory for inputs and results."""
    sizes = list[int]()
    own = ReusedMemory(lambda new: sizes.append(new.nbytes), lambda old: None)
    monkeypatch.setattr(work, "_host_memory", lambda device: own)
    return sizes


def item_of(place: int, folder: Path, array: Any, suffix: str = ".npy") -> Item:
    save(folder / f"{place}{suffix}", array)
    return Item(place, folder / f"{place}{suffix}", folder / "out", f"{place}")


def test_one_file_after_the_other_has_the_same_memory(tmp_path: Path, prepared: list[int]) -> None:
    (tmp_path / "out").mkdir()
    side = int(LARGE**0.5)
    arrays = [np.random.default_rng(k).integers(0, 255, (side + k, side), np.uint8) for k in (3, 2, 1)]
    for place, array in enumerate(arrays):
        assert Work(SPEC, "").one(item_of(place, tmp_path, array)).row["status"] == "unverified"
    assert prepared == [arrays[0].nbytes] * 2, "of the first input and of its result"
    save(tmp_path / "alone.npy", arrays[2])
    for place in (0, 1, 2):
        again = Work(SPEC, "").one(item_of(7, tmp_path, arrays[place])).row
        assert np.array_equal(load(tmp_path / "out" / f"{place}.npy").array, load(again["output"]).array)


def test_frames_of_a_stack_do_not_fill_memory(tmp_path: Path, prepared: list[int]) -> None:
    (tmp_path / "out").mkdir()
    frame = np.random.default_rng(1).integers(0, 255, (int(LARGE**0.5) + 1,) * 2, np.uint8)
    item = item_of(0, tmp_path, np.stack([frame] * 5), ".tif")
    row = Work(replace(SPEC, frames="all"), "").one(item).row
    assert row["frames"] == 5 and len(prepared) <= 1
    written = np.load(tmp_path / "out" / "0.npy")
    assert all(np.array_equal(one, written[0]) for one in written)


ONE, TWO = replace(SPEC, workers=1), replace(SPEC, workers=2)


@pytest.mark.parametrize(
    ("spec", "nbytes", "free", "count"),
    [
        (TWO, 1 << 26, 1 << 38, overlap.MOST_AT_ONCE),
        (TWO, 1 << 30, 1 << 38, overlap.AT_ONCE),  # each could need 64 GiB
        (TWO, 1 << 30, 5 << 37, 5),
        (TWO, 1 << 26, 1 << 33, overlap.AT_ONCE),
        (ONE, 1 << 26, 1 << 38, overlap.MOST_AT_ONCE),
        (ONE, 1 << 30, 1 << 38, 4),
        (ONE, 1 << 26, 1 << 33, 2),
        (ONE, 1 << 30, 1 << 34, 1),
        (replace(ONE, memory=1 << 33), 1 << 26, 1 << 38, 2),
    ],
)
def test_files_at_a_time_by_memory(
    monkeypatch: pytest.MonkeyPatch, spec: BatchSpec, nbytes: int, free: int, count: int
) -> None:
    monkeypatch.setattr(overlap, "free_memory", lambda: free)
    assert [overlap.fits(spec, [nbytes] * n) for n in range(1, 9)] == [n <= count for n in range(1, 9)]


@pytest.mark.parametrize(("cores", "workers", "count"), [(32, 2, 8), (2, 2, 2), (8, 2, 5), (1, 1, 2), (2, 1, 3)])
def test_files_at_a_time_by_cores(monkeypatch: pytest.MonkeyPatch, cores: int, workers: int, count: int) -> None:
    monkeypatch.setattr(overlap, "cores", lambda: cores)
    assert overlap.at_once(replace(SPEC, workers=workers)) == count


@pytest.fixture
def workers() -> Iterator[Workers]:
    with cluster(Work(replace(SPEC, workers=2), ""), lambda sentence: None) as found:
        yield found


def test_a_worker_that_starts_again_is_ready_for_its_device(workers: Workers) -> None:
    client = workers.client
    before = client.run(os.getpid)
    client.restart_workers([*before], raise_for_error=True)
    found = client.run(_state)
    assert len(found) == 2 and not {*before.values()} & {pid for pid, _, _ in found.values()}
    assert all(is_ready and ignores for _, is_ready, ignores in found.values())


def _state() -> tuple[int, bool, bool]:
    from gpu_ops.batch import work

    return os.getpid(), work._machine.cache_info().currsize > 0, signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_a_worker_whose_start_is_not_told_does_not_delay_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask's supervisor takes the news of a start from the wrong queue where a worker dies while it starts."""
    from distributed.nanny import WorkerProcess

    async def never_told(self: Any, uid: str) -> None:
        while self.status.name == "starting":
            await distributed.utils.asyncio.sleep(0.01)

    with cluster(Work(replace(SPEC, workers=2), ""), lambda sentence: None) as found:
        own = found.client.cluster
        monkeypatch.setattr(WorkerProcess, "_wait_until_connected", never_told)
        nanny = next(iter(own.workers.values()))
        before = nanny.pid
        os.kill(before, signal.SIGKILL)
        until = time.monotonic() + 10
        while time.monotonic() < until and nanny.pid in (before, None):
            time.sleep(0.02)
        assert nanny.process.status.name == "starting"
        began = time.monotonic()
    assert time.monotonic() - began < clusters.CLOSE_S / 2
    assert not [child for child in multiprocessing.active_children() if child.pid == nanny.pid]
