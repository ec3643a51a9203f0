"""The metadata of a PNG in addition to its colours: one transparent gray, and the pixel size, kept from file to
file."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpu_ops.cli import main
from gpu_ops.io import load, save
from gpu_ops.io.images import png
from gpu_ops.types import Pixel


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def gray_png(depth, values, *extra):
    """A PNG of grays (H, W) of so many bits."""
    height, width = values.shape
    if depth == 16:
        rows = values.astype(">u2").view(np.uint8)
    else:
        bits = np.unpackbits(values.astype(np.uint8)[..., None], axis=2)[..., 8 - depth :].reshape(height, -1)
        rows = np.packbits(bits, axis=1)
    data = b"".join(b"\0" + row.tobytes() for row in rows)
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0))
    return png.MAGIC + header + b"".join(extra) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
def test_a_transparent_gray_becomes_alpha(tmp_path, depth, large, monkeypatch):
    if large:
        monkeypatch.setattr("gpu_ops.io.decoder_process.here", True)
        monkeypatch.setattr(png, "LARGE", 1)
    values = np.random.default_rng(depth).integers(0, 2**depth, (9, 21))
    key = int(values[3, 4])
    path = tmp_path / "x.png"
    path.write_bytes(gray_png(depth, values, chunk(b"tRNS", struct.pack(">H", key))))
    found = load(path)
    top = 2 ** max(depth, 8) - 1
    expected = np.full((9, 21, 4), top, np.uint16 if depth == 16 else np.uint8)
    expected[..., :3] = (values * (top // (2**depth - 1)))[..., None]
    expected[values == key, 3] = 0
    assert found.array.dtype == expected.dtype and np.array_equal(found.array, expected)
    steps = [step["step"] for step in found.origin["steps"]]
    assert steps == (["stretch", "gray alpha"] if depth < 8 else ["gray alpha"])
    if depth == 8:
        with Image.open(path) as picture:
            assert np.array_equal(found.array, np.asarray(picture.convert("RGBA")))


def test_a_chunk_of_another_length_says_nothing(tmp_path):
    values = np.arange(12).reshape(3, 4)
    (tmp_path / "x.png").write_bytes(gray_png(8, values, chunk(b"tRNS", b"\1")))
    assert np.array_equal(load(tmp_path / "x.png").array, values)


def dots(across, down, unit=1):
    return chunk(b"pHYs", struct.pack(">IIB", across, down, unit))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ((2_000_000, 1_000_000), Pixel(1.0, 0.5, "µm")),
        ((333_333, 333_333), Pixel(3.0, 3.0, "µm")),
        ((500, 500), Pixel(2.0, 2.0, "mm")),
        ((11811, 11811), Pixel(84.667, 84.667, "µm")),
        ((2835, 2835), None),
        ((3780, 3780), None),
        ((5669, 5669), None),
        ((500, 500, 0), None),
        ((0, 500), None),
    ],
)
def test_the_size_of_a_pixel_is_read(tmp_path, content, expected):
    (tmp_path / "x.png").write_bytes(gray_png(8, np.zeros((3, 4)), dots(*content)))
    assert load(tmp_path / "x.png").facts.pixel == expected


def test_a_picture_that_is_turned_upright_has_its_sides_exchanged(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("L", (4, 3)).save(tmp_path / "x.png", exif=exif)
    content = (tmp_path / "x.png").read_bytes()
    (tmp_path / "x.png").write_bytes(content[:33] + dots(1000, 500) + content[33:])
    found = load(tmp_path / "x.png")
    assert found.array.shape == (4, 3) and found.facts.pixel == Pixel(1.0, 2.0, "mm")


@pytest.mark.parametrize("pixel", [Pixel(0.325, 0.65, "µm"), Pixel(2.0, 0.5, "mm"), Pixel(5.0, 5.0, "nm")])
def test_the_size_is_written_as_other_readers_take_it(tmp_path, pixel):
    save(tmp_path / "x.png", np.arange(12, dtype=np.uint8).reshape(3, 4), pixel=pixel)
    found = load(tmp_path / "x.png").facts.pixel
    scale = {"nm": 1e-3, "µm": 1.0, "mm": 1000.0}
    micrometres = [side * scale[own.unit] for own in (pixel, found) for side in own[:2]]
    assert micrometres[:2] == pytest.approx(micrometres[2:], rel=1e-3)
    with Image.open(tmp_path / "x.png") as picture:
        across = picture.info["dpi"][0]
    assert across == pytest.approx(25400 / micrometres[1], rel=1e-3)


@pytest.mark.parametrize("pixel", [Pixel(400.0, 400.0, "mm"), Pixel(1.0, 0.1, "pm"), Pixel(1.0, 1.0, "px"), None])
def test_a_size_that_a_png_cannot_say_is_left_out(tmp_path, pixel):
    save(tmp_path / "x.png", np.zeros((3, 4), np.uint8), pixel=pixel)
    with Image.open(tmp_path / "x.png") as picture:
        assert load(tmp_path / "x.png").facts.pixel is None and "dpi" not in picture.info


@pytest.mark.parametrize("source", ["tif", "png"])
def test_results_of_a_batch_keep_it(tmp_path, source, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    image = np.random.default_rng(1).integers(0, 256, (12, 14), np.uint8)
    for name in "ab":
        save(f"in/{name}.{source}", image, pixel=Pixel(0.5, 0.25, "µm"))
    run = ["run", "mean", "--device", "cpu", "--input", "in", "--output-dir", "out", "--format", "png"]
    assert main(run) == 0, capsys.readouterr().err
    for name in "ab":
        assert load(f"out/{name}.png").facts.pixel == Pixel(0.5, 0.25, "µm")
