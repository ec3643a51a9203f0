"""Damaged files: each one is loaded, or refused in one sentence, and nothing else is heard of it."""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
import soundfile
import tifffile
from PIL import Image

from gpu_ops.errors import InputError
from gpu_ops.io import decoder_process, load

MUTATIONS = 40
MANY = 700
"""Of each of fifteen formats: more than ten thousand files."""
WORDS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1)
PICTURE = np.random.default_rng(1).integers(0, 256, (9, 13, 3), np.uint8)
LENGTHS = ("0", "1", "3", "-1", "2**3", "True", "None", "'a'", f"{2**62}", f"{2**64}", "9" * 4000)
TYPES = ("<f8", ">i2", "|b1", "<f0", "<f16", "|O", "<c8", "a\\nb", "x" * 900, "<f" + "9" * 40)


def _images(suffix: str) -> list[bytes]:
    pictures = [PICTURE, PICTURE[..., 0]] + ([PICTURE * np.uint16(257)] if suffix == ".png" else [])
    return [cv2.imencode(suffix, picture)[1].tobytes() for picture in pictures]


def _arrays() -> list[bytes]:
    found = []
    for array in (np.arange(6.0), np.asfortranarray(np.ones((3, 4, 3), ">i2")), np.zeros((2, 3, 4)), np.zeros(5, "?")):
        np.save(file := io.BytesIO(), array)
        found.append(file.getvalue())
    return found


def _archives() -> list[bytes]:
    found = []
    for write in (np.savez, np.savez_compressed):
        write(file := io.BytesIO(), a=np.arange(20.0))
        found.append(file.getvalue())
    return found


def _encoded(format: str) -> list[bytes]:
    soundfile.write(file := io.BytesIO(), np.linspace(-0.9, 0.9, 40).reshape(20, 2), 8000, format=format)
    return [file.getvalue()]


def _records() -> list[bytes]:
    fields = [("0", 8), ("p", 80), ("r", 80), ("01.01.26", 8), ("00.00.00", 8), ("512", 8), ("", 44), ("3", 8),
              ("1", 8), ("1", 4), ("EEG", 16), ("", 80), ("uV", 8), ("-200", 8), ("200", 8), ("-2048", 8),
              ("2047", 8), ("", 80), ("20", 8), ("", 32)]  # fmt: skip
    return ["".join(text.ljust(width) for text, width in fields).encode() + np.arange(60, dtype="<i2").tobytes()]


TABLES = [b"time,ecg,resp\n0,1.5,2\n0.1,2,3\n0.2,1,\n", b'"a";"b"\r\n"1,5";2\r\n-3;"4"\r\n', b"1 2\t3\n4 5 6\n"]
HEADERS = [b"x 2 360 4\nx.dat 212 200(5)/mV 11\nx.dat 212 200 11 0\n"]


def _sounds() -> list[bytes]:
    found = []
    for subtype in ("PCM_16", "PCM_24", "PCM_32", "FLOAT"):
        soundfile.write(file := io.BytesIO(), np.linspace(-0.9, 0.9, 40).reshape(20, 2), 8000, subtype, format="WAV")
        found.append(file.getvalue())
    return found


def _tiffs() -> list[bytes]:
    found = []
    stack = np.stack([PICTURE[..., 0]] * 4)
    cases: list[tuple[np.ndarray, dict[str, object]]] = [
        (PICTURE, {"photometric": "rgb"}),
        (PICTURE, {"photometric": "rgb", "compression": "deflate", "tile": (16, 16), "bigtiff": True}),
        (stack, {"imagej": True}),
        (stack, {"metadata": None, "byteorder": ">", "photometric": "minisblack"}),
        (stack.astype("f4"), {"ome": True, "compression": "lzma", "photometric": "minisblack"}),
        (stack[0] > 99, {"photometric": "miniswhite"}),
        (stack[0], {"photometric": "palette", "colormap": np.zeros((3, 256), np.uint16)}),
    ]
    for array, how in cases:
        tifffile.imwrite(file := io.BytesIO(), array, **how)
        found.append(file.getvalue())
    return found


def _animations(format: str) -> list[bytes]:
    found = []
    for pictures in ([PICTURE[..., 0] // 16], [PICTURE, PICTURE[::-1]], [PICTURE[..., 1]] * 2):
        images = [Image.fromarray(picture) for picture in pictures]
        images[0].save(file := io.BytesIO(), format, save_all=True, append_images=images[1:])
        found.append(file.getvalue())
    return found


SEEDS: dict[str, Callable[[], list[bytes]]] = {
    ".png": lambda: _images(".png"),
    ".jpg": lambda: _images(".jpg"),
    ".bmp": lambda: _images(".bmp"),
    ".tif": _tiffs,
    ".gif": lambda: _animations("GIF"),
    ".webp": lambda: _animations("WEBP"),
    ".npy": _arrays,
    ".wav": _sounds,
    ".npz": _archives,
    ".flac": lambda: _encoded("FLAC"),
    ".ogg": lambda: _encoded("OGG"),
    ".edf": _records,
    ".csv": lambda: TABLES,
    ".hea": lambda: HEADERS,
    ".txt": lambda: [b"1\n2.5\n-3e4\n", b"nan\ninf\r\n1_0\n", "\ufeff0x1\n١\n".encode()],
}


def _mutate(data: bytes, chance: random.Random) -> bytes:
    """A few bytes changed, put in, taken out or said again; near the start more often, where sizes stand."""
    result = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        place = chance.randrange(min(len(result), chance.choice((64, 10**6))) or 1)
        match chance.randrange(5):
            case 0:
                result[place : place + 4] = struct.pack(chance.choice("<>") + "I", chance.choice(WORDS))
            case 1:
                result[place : place + 1] = chance.randbytes(1)
            case 2:
                del result[place : place + chance.randrange(20)]
            case 3:
                result[place:place] = chance.randbytes(chance.randrange(20))
            case _:
                result[place:place] = result[place : place + chance.randrange(80)]
    return bytes(result)


def _mutate_png(data: bytes, chance: random.Random) -> bytes:
    """Chunks changed under good checksums, exchanged and doubled, which single bytes cannot do."""
    chunks, place = [], 8
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        chunks.append((data[place + 4 : place + 8], data[place + 8 : place + 8 + length]))
        place += 12 + length
    kind, content = chunks.pop(i := chance.randrange(len(chunks)))
    content = _mutate(content, chance) if chance.random() < 0.7 else content
    kind = chance.choice((kind, kind, kind, b"IHDR", b"eXIf", b"iCCP", b"acTL", b"tRNS", b"ABCD"))
    chunks[i:i] = [(kind, content)] * chance.choice((0, 1, 1, 2))
    return data[:8] + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks
    )


def _mutate_npy(data: bytes, chance: random.Random) -> bytes:
    axes = chance.choice((0, 1, 2, 3, 4, 65, 300))
    shape = "(" + "".join(f"{chance.choice(LENGTHS if axes < 5 else ('1',))}, " for _ in range(axes)) + ")"
    fields = f"'descr': '{chance.choice(TYPES)}', 'fortran_order': {chance.choice(('True', 'False', '1or 2'))}"
    header = f"{{{fields}, 'shape': {shape}}}".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header) & 0xFFFF) + header + bytes(24)


STRUCTURED = {".png": _mutate_png, ".npy": _mutate_npy}


@pytest.fixture(params=[MUTATIONS, pytest.param(MANY, marks=pytest.mark.thorough)])
def count(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many files of a format; many are decoded in a separate process, as the product does it."""
    monkeypatch.setattr(decoder_process, "here", request.param == MUTATIONS)
    return int(request.param)


@pytest.mark.parametrize("suffix", SEEDS)
def test_a_damaged_file_is_loaded_or_refused(
    suffix: str, count: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    chance, path = random.Random(f"{suffix}{count}"), tmp_path / f"x{suffix}"
    (tmp_path / "x.dat").write_bytes(bytes(range(12)))  # beside a header
    seeds = SEEDS[suffix]()
    for i in range(count):
        mutate = STRUCTURED.get(suffix, _mutate) if i % 2 else _mutate
        content = mutate(chance.choice(seeds), chance)
        path.write_bytes(content)
        try:
            found = load(path, nonfinite=chance.choice(("refuse", "keep", "zero")))
        except InputError as error:
            message = str(error)
            assert message.isprintable() and message.endswith(".") and len(message) < len(str(path)) + 400, content
            assert "its decoder" not in message, content  # it neither crashed nor hung
        else:
            assert 1 <= found.array.ndim <= 3 and found.array.size, content
    assert capfd.readouterr() == ("", "")
