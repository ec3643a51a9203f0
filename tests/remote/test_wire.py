"""What travels between two machines: only what the protocol has, whatever arrives."""

from __future__ import annotations

import tracemalloc
import zlib
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_ops.engine import messages
from gpu_ops.engine.messages import Failed, LoadRequest, NonFinite, Progress, RunRequest
from gpu_ops.engine.shared import SharedArray, SharedInput, Statistics
from gpu_ops.remote import wire
from gpu_ops.remote.cells import cells_of, paint, real, step_for
from gpu_ops.remote.codec import DEEPEST, decoded, encoded, known_types
from gpu_ops.remote.sending import PART, frames_of, unpacked
from gpu_ops.remote.wire import HEAD, LARGEST_BUFFER, LONGEST_HEAD, MESSAGE, SIGN, WIRE, Decoder, Frame, WireError
from gpu_ops.types import Pick

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)
INPUT = SharedInput(
    *("image", SharedArray("kernelscope-1-2", (3, 4), "uint8"), "yx", "n", {"path": "a"}, None, True),
    Statistics(0, 255, 12.5, {0.1: 1, 50.0: float("inf")}, (1, 2), 0, 0),
)


@given(PLAIN)
def test_values_arrive_as_they_were(value: Any) -> None:
    message = LoadRequest(3, "a/b", {"value": value})
    assert repr(decoded(encoded(message))) == repr(message)


def test_a_whole_request_arrives_as_it_was() -> None:
    request = RunRequest(
        4,
        2,
        INPUT,
        "mean2d",
        {"window": np.int64(5)},
        (Pick("a", "cuda:0", {"rows": 8}, {"f.cu": "x"}),),
        view=((0, 5),),
    )
    assert decoded(encoded(request)) == request
    failed = Failed(1, "no", nonfinite=NonFinite(1, 2, ("keep", "zero")))
    assert decoded(encoded(failed)) == failed


def test_every_message_is_known() -> None:
    names = {n for n, kind in vars(messages).items() if is_dataclass(kind) and kind.__module__ == messages.__name__}
    assert len(names) >= 30 and names - {"SegmentGrant", "SegmentRelease", "SegmentRequest"} <= set(known_types())


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", np.zeros(3), 1j, lambda: None])
def test_what_cannot_travel_says_so(value: Any) -> None:
    with pytest.raises(WireError, match="cannot travel"):
        encoded(LoadRequest(1, "a", {"x": value}))


def test_a_path_travels_as_text() -> None:
    assert decoded(encoded(LoadRequest(1, "a", {"x": Path("b/c")}))).options == {"x": "b/c"}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe",
        b"[",
        b'{"os.system": ["rm"]}',
        b'{"Path": ["x"]}',
        b'{"Progress": [1]}',
        b'{"Progress": [1, "a", 0, 0, 0]}',
        b'{"Progress": {}}',
        b'{"d": [[1]]}',
        b'{"d": [[[], 1]]}',
        b'{"f": "x"}',
        b'{"f": []}',
        b'{"a": 1, "b": 2}',
        b"{}",
        b"NaN",
        b"[" * 100_000,
        b'{"t": [' * (DEEPEST + 1) + b"]}" * (DEEPEST + 1),
    ],
)
def test_what_is_no_message_is_an_error(text: bytes) -> None:
    with pytest.raises(WireError):
        decoded(text)


@given(st.binary(max_size=400))
@settings(max_examples=300)
def test_no_bytes_are_a_message_by_chance(data: bytes) -> None:
    try:
        decoded(data)
    except WireError:
        return
    assert data.strip()[:1] in b'0123456789-"tfn[{'


@given(st.lists(st.tuples(st.integers(0, 3), st.binary(max_size=99), st.binary(max_size=99)), max_size=9), st.data())
def test_frames_arrive_in_pieces_of_any_size(parts: list[tuple[int, bytes, bytes]], data: st.DataObject) -> None:
    frames = [Frame(*part, number=n, seen=n) for n, part in enumerate(parts)]
    stream, decoder, found = b"".join(f.bytes(f.seen) for f in frames), Decoder(), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += list(decoder.add(stream[:size]))
        stream = stream[size:]
    assert found == frames and not decoder.begun


@given(st.binary(min_size=HEAD.size, max_size=200))
def test_garbage_is_an_error_at_once(data: bytes) -> None:
    if not data.startswith(SIGN):
        with pytest.raises(WireError, match="no frame"):
            list(Decoder().add(data))


@pytest.mark.parametrize(
    ("head", "buffer"), [(2**32 - 1, 0), (0, 2**32 - 1), (LONGEST_HEAD + 1, 0), (0, LARGEST_BUFFER + 1)]
)
def test_a_huge_length_takes_no_memory(head: int, buffer: int) -> None:
    data = HEAD.pack(SIGN, WIRE, MESSAGE, 0, head, buffer, 1, 0)
    tracemalloc.start()
    try:
        with pytest.raises(WireError, match="at most"):
            list(Decoder().add(data))
        assert tracemalloc.get_traced_memory()[1] < 1 << 16
    finally:
        tracemalloc.stop()


def test_another_version_of_frames_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "WIRE", 9)
    data = Frame(MESSAGE, b"{}").bytes()
    monkeypatch.undo()
    with pytest.raises(WireError, match="frames of version 9, and this one reads 1"):
        list(Decoder().add(data))


def test_a_frame_that_is_cut_off_waits() -> None:
    data = Frame(MESSAGE, encoded(Progress(1, "a")), b"123").bytes()
    for cut in range(len(data)):
        assert list(Decoder().add(data[:cut])) == []
    assert len(list(Decoder().add(data))) == 1


def test_a_part_never_unpacks_to_more_than_it_may() -> None:
    bomb = zlib.compress(b"\0" * (1 << 26))
    assert len(unpacked({"packed": True}, bomb)) <= PART


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "float32", "float64", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(700, 900), (701, 899, 3), (100_003,), (3, 50_000)])
def test_cells_show_the_means(dtype: str, shape: tuple[int, ...]) -> None:
    smooth = np.add.outer(np.arange(shape[0]), np.arange(shape[1]) if len(shape) > 1 else np.zeros(1)) % 1000
    array = np.broadcast_to(smooth.reshape(shape[:2] + (1,) * (len(shape) - 2)), shape).astype(dtype)
    array = np.ascontiguousarray(array)
    values = real(array)
    step = step_for(values.shape, 5000)
    cells = cells_of(values, step)
    assert cells.codes.size <= 5000 < 40 * cells.codes.size
    seen = np.zeros_like(array)
    paint(cells, real(seen))
    assert abs(seen.astype(complex).mean() - array.astype(complex).mean()) < 0.01 * max(abs(array).max(), 30)


def test_cells_without_a_value_are_nan() -> None:
    array = np.full((64, 64), np.nan, np.float32)
    array[:32] = 5
    seen = np.zeros_like(array)
    paint(cells_of(array, 8), seen)
    assert (seen[:32] == 5).all() and np.isnan(seen[32:]).all()


def test_an_array_arrives_whole_in_parts() -> None:
    array = np.random.default_rng(0).integers(0, 9, 300_000).astype(np.uint16)
    parts = [(f.content(), f.buffer) for f in frames_of("s", array)]
    assert b"".join(unpacked(*part) for part in parts) == array.tobytes()
    assert all(len(buffer) <= PART for _, buffer in parts)
