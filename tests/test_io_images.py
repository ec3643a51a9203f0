"""Images: every bit depth and colour type arrives as it was stored, and damage is told before decoding."""

import io
import struct
import zlib

import imageio.v3 as imageio
import numpy as np
import pytest

from gpu_ops.errors import InputError
from gpu_ops.io import load, save

GRAY, RGB, PALETTE, GRAY_ALPHA, RGBA = 0, 2, 3, 4, 6
SAMPLES_A_PIXEL = {GRAY: 1, RGB: 3, PALETTE: 1, GRAY_ALPHA: 2, RGBA: 4}


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def make_png(values, depth, colour, extra=b""):
    """A PNG of (H, W, samples) integers, written without any image library."""
    height, width, _ = values.shape
    if depth == 16:
        rows = [row.astype(">u2").tobytes() for row in values]
    else:
        bits = (values.reshape(height, -1, 1) >> np.arange(depth)[::-1]) & 1
        rows = [np.packbits(row.astype(np.uint8)).tobytes() for row in bits.reshape(height, -1)]
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows)))
    return b"\x89PNG\r\n\x1a\n" + header + extra + data + chunk(b"IEND", b"")


def random_values(depth, colour, height=5, width=11):
    return np.random.default_rng(depth * 10 + colour).integers(0, 2**depth, (height, width, SAMPLES_A_PIXEL[colour]))


def write(tmp_path, content, name="x.png"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def picture(height=40, width=60):
    """Smooth, so that JPEG keeps it, with different channels."""
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 4, y * 6, 255 - x * 4], axis=-1).astype(np.uint8)


def encode(extension, array, **options):
    buffer = io.BytesIO()
    imageio.imwrite(buffer, array, extension=extension, **options)
    return buffer.getvalue()


class TestPngDepths:
    @pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
    def test_gray(self, tmp_path, depth):
        values = random_values(depth, GRAY)
        found = load(write(tmp_path, make_png(values, depth, GRAY))).array
        assert found.dtype == (np.uint16 if depth == 16 else np.uint8)
        scale = 1 if depth == 16 else 255 // (2**depth - 1)
        np.testing.assert_array_equal(found, values[..., 0] * scale)

    @pytest.mark.parametrize("colour", [RGB, RGBA])
    @pytest.mark.parametrize("depth", [8, 16])
    def test_colour(self, tmp_path, depth, colour):
        values = random_values(depth, colour)
        found = load(write(tmp_path, make_png(values, depth, colour)))
        assert (found.kind, found.axes, found.array.dtype) == ("image", "yxc", np.dtype(f"uint{depth}"))
        np.testing.assert_array_equal(found.array, values)

    @pytest.mark.parametrize("depth", [8, 16])
    def test_gray_with_alpha_becomes_rgba(self, tmp_path, depth):
        values = random_values(depth, GRAY_ALPHA)
        found = load(write(tmp_path, make_png(values, depth, GRAY_ALPHA))).array
        np.testing.assert_array_equal(found, values[..., [0, 0, 0, 1]])

    @pytest.mark.parametrize("alpha", [False, True])
    @pytest.mark.parametrize("depth", [1, 2, 4, 8])
    def test_palette(self, tmp_path, depth, alpha):
        colours = np.random.default_rng(1).integers(0, 256, (2**depth, 4)).astype(np.uint8)
        extra = chunk(b"PLTE", colours[:, :3].tobytes())
        if alpha:
            extra += chunk(b"tRNS", colours[:, 3].tobytes())
        values = random_values(depth, PALETTE)
        path = write(tmp_path, make_png(values, depth, PALETTE, extra))
        expected = colours[values[..., 0]][..., : 4 if alpha else 3]
        np.testing.assert_array_equal(load(path, limit=expected.size).array, expected)
        with pytest.raises(InputError, match=f"{expected.size} values, over the limit"):
            load(path, limit=expected.size - 1)


class TestPngDamage:
    def test_every_flipped_bit_after_the_name_is_found(self, tmp_path):
        content = make_png(random_values(8, RGB), 8, RGB)
        path = tmp_path / "x.png"
        for place in range(8, len(content)):
            damaged = bytearray(content)
            damaged[place] ^= 1 << place % 8
            path.write_bytes(damaged)
            with pytest.raises(InputError, match=r"is a damaged PNG file|is cut short"):
                load(path)

    def test_every_cut_is_found(self, tmp_path):
        content = make_png(random_values(16, GRAY), 16, GRAY)
        path = tmp_path / "x.png"
        for length in range(8, len(content)):
            path.write_bytes(content[:length])
            with pytest.raises(InputError, match="is cut short"):
                load(path)

    def test_bad_data_under_good_checksums(self, tmp_path, capfd):
        content = make_png(random_values(8, GRAY), 8, GRAY)
        start = content.index(b"IDAT") - 4
        bad = content[:start] + chunk(b"IDAT", b"not compressed at all") + chunk(b"IEND", b"")
        with pytest.raises(InputError, match="damaged PNG"):
            load(write(tmp_path, bad))

    @pytest.mark.parametrize("header", [b"", b"\0" * 13, struct.pack(">IIBBBBB", 2, 2, 8, 7, 0, 0, 0)])
    def test_bad_header(self, tmp_path, header, capfd):
        content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IEND", b"")
        with pytest.raises(InputError, match="damaged PNG"):
            load(write(tmp_path, content))

    def test_huge_picture_is_refused_by_its_header(self, tmp_path):
        header = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 50_000, 8, RGB, 0, 0, 0))
        path = write(tmp_path, b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", b"") + chunk(b"IEND", b""))
        with pytest.raises(InputError, match="9000000000 values, over the limit of 1073741824; add --limit 9000000000"):
            load(path)


class TestOtherFormats:
    @pytest.mark.parametrize("name", ["x.jpg", "x.JPEG"])
    @pytest.mark.parametrize("gray", [False, True])
    def test_jpeg(self, tmp_path, name, gray):
        array = picture()[..., 0] if gray else picture()
        path = write(tmp_path, encode(".jpg", array, quality=98), name)
        found = load(path, limit=array.size).array
        assert (found.shape, found.dtype) == (array.shape, np.uint8)
        assert np.abs(found.astype(int) - array).mean() < 3
        with pytest.raises(InputError, match="over the limit"):
            load(path, limit=array.size - 1)

    def test_jpeg_cut_anywhere(self, tmp_path):
        content = encode(".jpg", picture())
        for length in range(3, len(content), 7):
            with pytest.raises(InputError, match=r"is cut short|damaged JPEG"):
                load(write(tmp_path, content[:length], "x.jpg"))

    @pytest.mark.parametrize("gray", [False, True])
    def test_bmp(self, tmp_path, gray):
        array = picture()[..., 0] if gray else picture()
        path = write(tmp_path, encode(".bmp", array), "x.bmp")
        np.testing.assert_array_equal(load(path, limit=array.size).array, array)
        with pytest.raises(InputError, match="over the limit"):
            load(path, limit=array.size - 1)

    @pytest.mark.parametrize("length", [2, 17, 25, 40, 54, 1000, -1])
    def test_bmp_cut(self, tmp_path, length, capfd):
        with pytest.raises(InputError, match=r"is cut short|damaged BMP"):
            load(write(tmp_path, encode(".bmp", picture())[:length], "x.bmp"))
        assert capfd.readouterr().err == ""


class TestSaving:
    @pytest.mark.parametrize("dtype", ["uint8", "uint16"])
    @pytest.mark.parametrize("shape", [(7, 5), (1, 1), (6, 4, 3), (3, 9, 4)])
    def test_round_trip(self, tmp_path, shape, dtype):
        array = np.random.default_rng(2).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
        save(tmp_path / "x.png", array)
        found = load(tmp_path / "x.png").array
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)

    def test_another_reader_sees_the_same_colours(self, tmp_path):
        save(tmp_path / "x.png", picture()[:, ::-1])
        np.testing.assert_array_equal(imageio.imread(tmp_path / "x.png"), picture()[:, ::-1])

    def test_one_channel_is_gray(self, tmp_path):
        save(tmp_path / "x.png", picture()[..., :1])
        np.testing.assert_array_equal(load(tmp_path / "x.png").array, picture()[..., 0])

    @pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bool"])
    def test_other_types_are_refused(self, tmp_path, dtype):
        with pytest.raises(InputError, match=f"cannot hold {dtype}; convert to uint8 or uint16, or save as .npy"):
            save(tmp_path / "x.png", np.zeros((3, 3), dtype))

    @pytest.mark.parametrize("shape", [(5,), (3, 3, 2), (2, 3, 3, 3)])
    def test_other_shapes_are_refused(self, tmp_path, shape):
        with pytest.raises(InputError, match=r"a PNG is .* save as .npy"):
            save(tmp_path / "x.png", np.zeros(shape, np.uint8))

    @pytest.mark.parametrize("name", ["x.jpg", "x.bmp", "x.tif", "x"])
    def test_other_formats_are_refused(self, tmp_path, name):
        with pytest.raises(InputError, match=r"choose one of .png .npy .wav .txt .dat .csv"):
            save(tmp_path / name, np.zeros((3, 3), np.uint8))
        assert list(tmp_path.iterdir()) == []
