"""Shared memory: made, reused, removed, never lost – and full memory is a sentence."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from gpu_ops.engine import segments
from gpu_ops.engine.segments import Attachments, SegmentPool, clean_stale
from gpu_ops.engine.shared import SharedArray
from gpu_ops.errors import DeviceMemoryError

PAGE = 4096


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two directories in the place of the machine's."""
    found = tmp_path / "memory", tmp_path / "temporary"
    for path in found:
        path.mkdir()
    monkeypatch.setattr(segments, "directories", lambda: found)
    return found


def _names(places: tuple[Path, Path]) -> list[str]:
    return sorted(p.name for place in places for p in place.iterdir())


def test_both_sides_see_the_same_array(places: tuple[Path, Path]) -> None:
    pool, other = SegmentPool(), Attachments()
    shared = SharedArray(pool.take(7 * 5 * 4), (7, 5), "float32")
    other.array(shared, writeable=True)[:] = np.arange(35, dtype=np.float32).reshape(7, 5)
    mine = pool.array(shared)
    assert mine[6, 4] == 34
    assert not mine.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        mine[0, 0] = 1
    assert len(shared.segment) <= 30
    pool.close()
    assert mine[6, 4] == 34  # what is mapped stays
    assert _names(places) == []


def test_a_free_segment_of_similar_size_is_reused() -> None:
    pool = SegmentPool()
    name = pool.take(10 * PAGE)
    assert pool.take(10 * PAGE) != name
    pool.release(name)
    assert pool.take(4 * PAGE) != name  # more than twice too large
    assert pool.take(11 * PAGE) != name
    assert pool.take(5 * PAGE) == name
    pool.close()


def test_what_is_held_is_not_reused_until_the_last_holder_lets_go() -> None:
    pool = SegmentPool()
    name = pool.take(100)
    pool.hold(name)
    pool.release(name)
    assert pool.take(100) != name
    pool.release(name)
    assert pool.take(100) == name
    pool.close()


def test_holding_what_is_free_or_gone_is_an_error() -> None:
    pool = SegmentPool()
    name = pool.take(100)
    pool.release(name)
    with pytest.raises(KeyError):
        pool.hold(name)
    with pytest.raises(KeyError):
        pool.hold("kernelscope-1-1")
    with pytest.raises(ValueError, match="more often"):
        pool.release(name)
    pool.close()
    pool.release(name)  # closing has released everything


def test_free_segments_beyond_the_cap_go_oldest_first(places: tuple[Path, Path]) -> None:
    pool = SegmentPool(cache_bytes=2 * PAGE)
    gone: list[str] = []
    pool.watch(gone.append)
    names = [pool.take(PAGE) for _ in range(4)]
    assert pool.nbytes == 4 * PAGE
    for name in (names[2], names[0], names[1]):
        pool.release(name)
    assert gone == [names[2]]
    assert pool.nbytes == 3 * PAGE
    assert names[2] not in _names(places)
    pool.unwatch(gone.append)
    pool.close()
    assert gone == [names[2]]
    assert _names(places) == []


def test_a_full_memory_directory_means_the_temporary_one(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _full(monkeypatch, places[0])
    pool, other = SegmentPool(), Attachments()
    shared = SharedArray(pool.take(8), (1,), "float64")
    assert [p.name for p in places[1].iterdir()] == [shared.segment]
    pool.array(shared, writeable=True)[0] = 5
    assert other.array(shared)[0] == 5
    pool.close()
    assert _names(places) == []


def test_full_directories_are_one_sentence_and_nothing_is_lost(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = SegmentPool()
    held, free = pool.take(PAGE), pool.take(PAGE)
    pool.release(free)
    with monkeypatch.context() as patch:
        _full(patch, *places)
        with pytest.raises(DeviceMemoryError, match="cannot hold 12,288 bytes more; close results"):
            pool.take(3 * PAGE)
    assert _names(places) == [held]  # what was free made room
    pool.release(held)
    assert pool.take(PAGE) == held
    pool.close()


def _full(monkeypatch: pytest.MonkeyPatch, *full: Path) -> None:
    def reserve(handle: int, path: Path, size: int) -> None:
        if path.parent in full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.truncate(handle, size)

    monkeypatch.setattr(segments, "_reserve", reserve)


def test_a_size_beyond_everything_is_a_sentence(places: tuple[Path, Path]) -> None:
    pool = SegmentPool()
    with pytest.raises(DeviceMemoryError, match="cannot hold"):
        pool.take(1 << 60)
    assert _names(places) == []
    pool.close()


@pytest.mark.parametrize("code", [errno.EINVAL, errno.EOPNOTSUPP])
def test_file_systems_that_cannot_reserve_still_serve(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(handle: int, offset: int, size: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    with_segment = SegmentPool()
    shared = SharedArray(with_segment.take(100), (100,), "uint8")
    assert with_segment.array(shared).sum() == 0
    with_segment.close()


def test_systems_without_reservation_look_at_the_space_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    pool = SegmentPool()
    pool.take(100)
    with pytest.raises(DeviceMemoryError):
        pool.take(1 << 50)
    pool.close()


def test_a_name_that_is_taken_is_passed_over(places: tuple[Path, Path]) -> None:
    pool = SegmentPool()
    number = int(pool.take(1).rsplit("-", 1)[1])
    (places[0] / f"kernelscope-{os.getpid()}-{number + 1}").write_bytes(b"another's")
    assert pool.take(1).endswith(f"-{number + 2}")
    pool.close()


def test_opening_and_closing_leaves_nothing(places: tuple[Path, Path]) -> None:
    handles = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(50):
        pool = SegmentPool()
        for size in (1, PAGE, 100_000):
            pool.array(SharedArray(pool.take(size), (size,), "uint8"), writeable=True)[:] = 1
        pool.close()
        pool.close()
    assert _names(places) == []
    if handles:
        assert len(os.listdir("/proc/self/fd")) <= handles + 1


def test_a_pool_that_nobody_closes_cleans_up_after_itself(places: tuple[Path, Path]) -> None:
    pool = SegmentPool()
    pool.take(1)
    del pool
    assert _names(places) == []


def test_threads_may_share_a_pool(places: tuple[Path, Path]) -> None:
    pool = SegmentPool(cache_bytes=4 * PAGE)

    def work() -> None:
        for size in range(1, 8 * PAGE, 3000):
            name = pool.take(size)
            pool.hold(name)
            pool.array(SharedArray(name, (size,), "uint8"), writeable=True)[-1] = 1
            pool.release(name)
            pool.release(name)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pool.nbytes <= 4 * PAGE
    pool.close()
    assert _names(places) == []


DIES = """
import os, sys
from pathlib import Path
from gpu_ops.engine import segments
segments.directories = lambda: (Path(sys.argv[1]),)
pool = segments.SegmentPool()
print(pool.take(100), flush=True)
if sys.argv[2] == "dies":
    os._exit(1)
sys.stdin.read()
"""


def test_what_dead_processes_left_is_cleaned_away_and_nothing_else(places: tuple[Path, Path]) -> None:
    pool = SegmentPool()
    mine = pool.take(1)
    (places[0] / "kernelscope-notes.txt").write_text("not ours")
    (places[0] / f"kernelscope-{os.getpid()}-999999").write_bytes(b"of a dead process with our number")
    command = [sys.executable, "-c", DIES, str(places[0])]
    dead = subprocess.run([*command, "dies"], capture_output=True, text=True).stdout.strip()
    with subprocess.Popen([*command, "lives"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as living:
        assert living.stdout is not None
        alive = living.stdout.readline().strip()
        assert {dead, alive, mine} <= set(_names(places))
        assert clean_stale() == 2
        assert _names(places) == sorted([alive, mine, "kernelscope-notes.txt"])
        living.communicate()
    assert alive not in _names(places)
    pool.close()


def test_what_is_gone_or_no_segment_cannot_be_attached(places: tuple[Path, Path]) -> None:
    (places[0] / "secret").write_bytes(b"x" * 100)
    other = Attachments()
    for name in ("kernelscope-1-1", "secret", "../memory/secret"):
        with pytest.raises(FileNotFoundError):
            other.attach(name)


def test_what_is_forgotten_is_unmapped_with_its_last_array() -> None:
    pool, other = SegmentPool(), Attachments()
    shared = SharedArray(pool.take(8), (8,), "uint8")
    first = other.attach(shared.segment)
    assert other.attach(shared.segment) is first
    array = other.array(shared)
    other.forget(shared.segment)
    pool.close()
    assert array.sum() == 0
    with pytest.raises(FileNotFoundError):
        other.attach(shared.segment)
