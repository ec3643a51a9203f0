"""Memory that one file after the other is read into."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_ops.io import load, memory, save
from gpu_ops.io.memory import LARGE, ReusedMemory, allocating

U8 = np.dtype(np.uint8)
pytestmark = pytest.mark.thorough


class Watched(ReusedMemory):
    """It keeps what it had prepared and released."""

    def __init__(self) -> None:
        self.prepared, self.released = list[Any](), list[Any]()
        super().__init__(lambda new: self.prepared.append(address(new)), lambda old: self.released.append(address(old)))


def address(array: Any) -> int:
    return int(array.ctypes.data)


def test_memory_is_used_again_after_its_block_and_never_inside_it() -> None:
    reused = Watched()
    with reused.lending() as allocate:
        a, b = (allocate((3, 1 << 20), np.dtype(np.float32))[0] for _ in range(2))
        a[:], b[:] = 1, 2
        assert (a == 1).all() and a.shape == (3, 1 << 20) and a.dtype == np.float32
        with reused.lending() as other:
            assert address(other((3 << 22,), U8)[0]) not in (address(a), address(b))
    with reused.lending() as allocate:
        again = [address(allocate((3 << 22,), U8)[0]) for _ in range(3)]
    assert len(set(again)) == 3 and sorted(again) == sorted(reused.prepared) and not reused.released


@pytest.mark.parametrize(
    ("nbytes", "is_used"), [(1 << 20, True), (1 << 19, True), ((1 << 19) - 1, False), ((1 << 20) + 1, False)]
)
def test_memory_is_used_again_where_it_is_filled_at_least_to_half(nbytes: int, is_used: bool) -> None:
    reused = Watched()
    with reused.lending() as allocate:
        first = address(allocate((1 << 20,), U8)[0])
    with reused.lending() as allocate:
        assert (address(allocate((nbytes,), U8)[0]) == first) is is_used


def test_only_a_share_of_what_is_free_is_kept_and_the_rest_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: memory.KEPT_SHARE * 2 << 20)
    reused, before = Watched(), _open_files()
    with reused.lending() as allocate:
        for _ in range(5):
            allocate((1 << 20,), U8)
        assert not reused.released
    assert len(reused.released) == 3
    assert _open_files() - before <= 2 * 2, "the descriptor of a file and the one of its mapping"


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def test_threads_never_have_the_same_memory() -> None:
    reused, wrong = Watched(), list[int]()

    def work(number: int) -> None:
        for _ in range(50):
            with reused.lending() as allocate:
                array = allocate((1 << 12,), U8)[0]
                array[:] = number
                if (array != number).any():
                    wrong.append(number)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(reused.prepared) <= 6


@pytest.mark.parametrize("suffix", [".npy", ".tif", ".png"])
def test_a_large_file_is_read_into_it(tmp_path: Path, suffix: str) -> None:
    array = np.random.default_rng(1).integers(0, 255, (4096, 4100), np.uint8)
    assert array.nbytes >= LARGE
    save(tmp_path / f"a{suffix}", array)
    save(tmp_path / f"b{suffix}", array[::-1])
    reused, places = Watched(), []
    for name, values in (("a", array), ("b", array[::-1])):
        with reused.lending() as allocate, allocating(allocate):
            found = load(tmp_path / f"{name}{suffix}").array
            assert np.array_equal(found, values)
            places.append(address(found))
    assert places[0] == places[1] == reused.prepared[0] and len(reused.prepared) == 1
