"""Large PNG images: each way of decoding gives what the usual one gives, or leaves the file to it."""

from __future__ import annotations

import mmap
import os
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from gpu_ops.errors import InputError
from gpu_ops.io import decoder_process, load
from gpu_ops.io.images import png, png_fast
from gpu_ops.io.memory import allocating

GRAY, RGB, PALETTE, RGBA = 0, 2, 3, 6
SAMPLES = {GRAY: 1, RGB: 3, PALETTE: 1, RGBA: 4}
CASES = [(8, GRAY), (8, RGB), (8, RGBA), (16, GRAY), (16, RGB), (16, RGBA)]
HEIGHT, WIDTH = 23, 61
WAYS = ("fast", "into")


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def lines(depth: int, colour: int, filters: range = range(5)) -> bytes:
    """Rows of random bytes, each with a filter: any values are a valid picture."""
    random, size = np.random.default_rng(depth + colour), WIDTH * SAMPLES[colour] * depth // 8
    return b"".join(bytes([filters[k * k % len(filters)]]) + random.bytes(size) for k in range(HEIGHT))


def make(depth: int, colour: int, stream: bytes, *extra: bytes, interlaced: int = 0) -> bytes:
    """A PNG whose data are in two chunks, with other chunks before them."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, colour, 0, 0, interlaced))
    data = chunk(b"IDAT", stream[:70]) + chunk(b"IDAT", stream[70:])
    return png.MAGIC + header + b"".join(extra) + data + chunk(b"IEND", b"")


@pytest.fixture(scope="module")
def prepared() -> Iterator[None]:
    pytest.importorskip("imagecodecs")
    png_fast.prepare()
    yield
    png_fast._inflate = None


@pytest.fixture
def decode(prepared: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes, str], np.ndarray]:
    """What one way makes of a PNG, as if it were large. It asserts that no other way was taken."""
    inflate = png_fast._inflate

    def decode(content: bytes, way: str) -> np.ndarray:
        (tmp_path / "x.png").write_bytes(content)
        monkeypatch.setattr(png, "LARGE", 1 << 60 if way == "usual" else 1)
        monkeypatch.setattr(png_fast, "_inflate", inflate if way == "fast" else None)
        return load(tmp_path / "x.png").array

    return decode


def only(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """All ways but one are closed."""
    for name in {"fast": ("imread", "imdecode"), "into": ("imdecode",)}[way]:
        monkeypatch.setattr(cv2, name, lambda *_: pytest.fail(f"it went another way than {way}"))


@pytest.mark.skipif(sys.platform != "linux", reason="there are no files in memory")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("depth, colour", CASES)
def test_every_filter_of_every_type(
    depth: int, colour: int, way: str, decode: Callable[..., np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = [make(depth, colour, zlib.compress(lines(depth, colour, range(k, 5)))) for k in range(5)]
    contents.append(make(depth, colour, zlib.compress(lines(depth, colour)), chunk(b"tEXt", b"a\0b")))
    usual = [decode(content, "usual") for content in contents]
    only(monkeypatch, way)
    monkeypatch.setattr(png_fast, "WORKERS", 4)
    for content, expected in zip(contents, usual, strict=True):
        found = decode(content, way)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_not_plain_is_decoded_as_ever(way: str, decode: Callable[..., np.ndarray]) -> None:
    palette, clear = chunk(b"PLTE", bytes(range(256)) * 3), chunk(b"tRNS", bytes(6))
    plain = zlib.compress(lines(8, RGB))
    half = np.random.default_rng(1).integers(0, 256, (HEIGHT, (WIDTH + 1) // 2), np.uint8)
    cases = [
        make(8, PALETTE, zlib.compress(lines(8, PALETTE)), palette),
        make(8, RGB, plain, clear),
        make(8, RGB, plain, palette),
        make(4, GRAY, zlib.compress(b"".join(b"\0" + row.tobytes() for row in half))),
        cv2.imencode(".png", np.zeros((HEIGHT, WIDTH, 3), np.uint8))[1].tobytes(),
    ]
    for content in cases:
        expected, found = decode(content, "usual"), decode(content, way)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_bands_of_rows_need_no_other_band(prepared: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are undone from the last to the first, where a row that needs the one above it would find zeros."""

    class Backwards(ThreadPoolExecutor):
        def map(self, work: Any, *items: Any, **_: Any) -> Any:
            return map(work, *(reversed(list(each)) for each in items))

    monkeypatch.setattr(png_fast, "ThreadPoolExecutor", Backwards)
    monkeypatch.setattr(png_fast, "WORKERS", 4)
    picture = np.random.default_rng(5).integers(0, 4, (40, 6), np.uint8)
    up = np.diff(picture, axis=0, prepend=np.zeros((1, 6), np.uint8))
    kinds = np.where(np.arange(40)[:, None] % 9, 2, 0).astype(np.uint8)
    rows = np.zeros_like(picture)
    assert png_fast._unfilter(np.hstack((kinds, np.where(kinds, up, picture))), rows, 1)
    np.testing.assert_array_equal(rows, picture)


def _spoilt() -> dict[str, bytes]:
    """Streams that are not as they should be, some of which a decoder may take."""
    whole = lines(8, GRAY)
    stream = zlib.compress(whole)
    again = (whole[: 10 * (1 + WIDTH)] * 3)[: len(whole)]
    return {
        "cut": stream[:-20],
        "sum": stream[:-1] + bytes([stream[-1] ^ 1]),
        "more": zlib.compress(whole + b"123"),
        "less": zlib.compress(whole[:-1]),
        "after": stream + b"123",
        "filter": zlib.compress(b"\x09" + whole[1:]),
        "none": b"",
        "window": b"\x18\x19" + zlib.compress(again)[2:],  # it promises to look back 512 bytes at most
        "dictionary": b"\x78\xbb" + stream[2:],
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", _spoilt())
def test_a_spoilt_stream_is_taken_or_refused_as_ever(
    what: str, way: str, decode: Callable[..., np.ndarray], capfd: pytest.CaptureFixture[str]
) -> None:
    content = make(8, GRAY, _spoilt()[what])
    try:
        expected = decode(content, "usual")
    except InputError as error:
        with pytest.raises(InputError) as refused:
            decode(content, way)
        assert str(refused.value) == str(error)
    else:
        np.testing.assert_array_equal(decode(content, way), expected)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("place, value", [(8, 3), (10, 7), (11, 5), (12, 3)])
def test_a_header_that_opencv_refuses_leaves_nothing_of_an_old_picture(
    place: int, value: int, decode: Callable[..., np.ndarray]
) -> None:
    content = bytearray(make(8, GRAY, zlib.compress(lines(8, GRAY))))
    content[16 + place] = value
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    with pytest.raises(InputError, match="damaged PNG"):
        decode(bytes(content), "into")


@pytest.mark.skipif(sys.platform != "linux", reason="memory has no name there")
def test_a_large_picture_comes_into_the_callers_memory_and_another_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = np.arange(2300 * 2500 * 3, dtype=np.uint32).astype(np.uint8).reshape(2300, 2500, 3)
    png_file, bmp_file = os.fsdecode(bytes(tmp_path) + b"/\xe4\xff.png"), tmp_path / "x.bmp"
    Path(png_file).write_bytes(cv2.imencode(".png", picture[..., ::-1])[1])
    bmp_file.write_bytes(cv2.imencode(".bmp", picture[::-1, :, ::-1])[1])
    monkeypatch.setattr(decoder_process, "here", False)
    given: list[np.ndarray] = []

    def allocate(shape: tuple[int, ...], dtype: np.dtype) -> tuple[np.ndarray, int]:
        descriptor = os.memfd_create("test")
        os.truncate(descriptor, 1 << 25)
        given.append(np.ndarray(shape, dtype, mmap.mmap(descriptor, 1 << 25)))
        return given[-1], descriptor

    with allocating(allocate):
        found = [load(file).array for file in (png_file, bmp_file)]
    own = load(png_file).array
    decoder_process.close()
    assert len(given) == 2 and all(np.shares_memory(a, b) for a, b in zip(found, given, strict=True))
    for array, expected in zip((*found, own), (picture, picture[::-1], picture), strict=True):
        np.testing.assert_array_equal(array, expected)
    assert not list(Path(decoder_process._folder()).glob(f"{decoder_process.PREFIX}*"))
