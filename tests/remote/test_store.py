"""The inputs that a window has sent to an engine host."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray
from gpu_ops.errors import DeviceMemoryError
from gpu_ops.remote import store as stores
from gpu_ops.remote.store import Store, hash_of
from gpu_ops.remote.wire import WireError

ARRAY = np.arange(1000, dtype=np.uint8)


@pytest.fixture
def store() -> Iterator[Store]:
    pool = SegmentPool()
    yield Store(pool)
    pool.close()


def _send(store: Store, array: np.ndarray, name: str = "", parts: int = 3) -> str:  # type: ignore[type-arg]
    name = name or hash_of(array)
    store.begin(name, array.nbytes)
    for part in np.array_split(array.view(np.uint8), parts):
        store.add(name, part.tobytes())
    return name


def test_an_array_that_was_sent_is_here(store: Store) -> None:
    name = hash_of(ARRAY)
    assert store.missing([name]) == [name]
    _send(store, ARRAY)
    assert store.missing([name]) == []
    here = store.here(SharedArray(name, ARRAY.shape, "uint8"))
    np.testing.assert_array_equal(store._pool.array(here), ARRAY)
    assert store.there(here).segment == name
    assert store.there(SharedArray("kernelscope-1-999", (3,), "uint8")).segment == "kernelscope-1-999"


def test_other_bytes_than_the_hash_says_are_refused(store: Store) -> None:
    with pytest.raises(WireError, match="other bytes than its hash says"):
        _send(store, ARRAY, hash_of(ARRAY + 1))


def test_too_many_bytes_are_refused(store: Store) -> None:
    name = _send(store, ARRAY)
    with pytest.raises(WireError, match="longer than it was said to be"):
        store.add(name, b"x")
    with pytest.raises(WireError, match="without its hash"):
        store.begin("kernelscope-1-2", 4)


def test_half_an_array_is_missing_and_not_used(store: Store) -> None:
    name = hash_of(ARRAY)
    store.begin(name, ARRAY.nbytes)
    store.add(name, ARRAY[:500].tobytes())
    assert store.missing([name]) == [name]
    with pytest.raises(DeviceMemoryError, match="no memory for this input"):
        store.here(SharedArray(name, ARRAY.shape, "uint8"))
    _send(store, ARRAY)  # begun anew
    assert store.missing([name]) == []


def test_unused_arrays_leave_when_there_are_many(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "CACHE", 2500)
    names = [_send(store, ARRAY + n) for n in range(2)]
    for name in names:
        store.unused(name)
    used = _send(store, ARRAY + 2)
    assert store.missing([*names, used]) == names[:1]
