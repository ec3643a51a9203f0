"""Images: every bit depth and colour type arrives as it was stored, and damage is reported before decoding."""

import io
import os
import struct
import subprocess
import sys
import warnings
import zlib

import cv2
import imageio.v3 as imageio
import numpy as np
import pytest
from PIL import Image, ImageOps

from gpu_ops.errors import InputError
from gpu_ops.io import convert, decoder_process, from_origin, load, save
from gpu_ops.io.codec import codec

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
        steps = load(tmp_path / "x.png").origin["steps"]
        assert steps == ([{"step": "stretch", "bits": depth}] if depth < 8 else [])

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
        found = load(write(tmp_path, make_png(values, depth, GRAY_ALPHA)))
        np.testing.assert_array_equal(found.array, values[..., [0, 0, 0, 1]])
        assert found.origin["steps"] == [{"step": "gray alpha"}]

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
        found = load(path, limit=expected.size)
        np.testing.assert_array_equal(found.array, expected)
        assert found.origin["steps"] == [{"step": "palette"}]
        assert np.array_equal(from_origin(found.origin).array, expected)
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
        with pytest.raises(
            InputError, match="9,000,000,000 values, over the limit of 1,073,741,824; add --limit 9000000000"
        ):
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

    @pytest.mark.parametrize("progressive", [False, True])
    def test_jpeg_of_printing_colours(self, tmp_path, progressive):
        inks = Image.fromarray(np.dstack([picture(), picture()[::-1, :, 0]]), "CMYK")
        inks.save(tmp_path / "x.jpg", quality=98, progressive=progressive)
        found = load(tmp_path / "x.jpg")
        np.testing.assert_array_equal(found.array, np.asarray(Image.open(tmp_path / "x.jpg").convert("RGB")))
        assert found.origin["steps"] == [{"step": "cmyk"}]
        assert np.array_equal(from_origin(found.origin).array, found.array)
        assert np.abs(found.array.astype(int) - np.asarray(inks.convert("RGB"))).mean() < 5

    def test_ink_without_adobes_mark_is_ink(self, tmp_path):
        """Adobe stores how much light an ink leaves; the same bytes without its mark are the other way round."""
        inks = np.full((16, 16, 4), (10, 60, 200, 30), np.uint8)
        Image.fromarray(inks, "CMYK").save(tmp_path / "x.jpg", quality=100, subsampling=0)
        content = (tmp_path / "x.jpg").read_bytes()
        start = content.index(b"\xff\xee")
        length = struct.unpack_from(">H", content, start + 2)[0]
        (tmp_path / "y.jpg").write_bytes(content[:start] + content[start + 2 + length :])
        for name, expected in (("x.jpg", inks), ("y.jpg", 255 - inks)):
            rgb = (255 - expected[..., :3].astype(int)) * (255 - expected[..., 3:].astype(int)) / 255
            assert np.abs(load(tmp_path / name).array - rgb).max() <= 3

    @pytest.mark.parametrize("gray", [False, True])
    def test_bmp(self, tmp_path, gray):
        array = picture()[..., 0] if gray else picture()
        path = write(tmp_path, encode(".bmp", array), "x.bmp")
        found = load(path, limit=array.size)
        np.testing.assert_array_equal(found.array, array)
        assert found.origin["steps"] == ([{"step": "palette"}] if gray else [])
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
        others = ".npy" if dtype == "bool" else ".tif or .npy"
        with pytest.raises(InputError, match=f"cannot hold {dtype}; convert to uint8 or uint16, or save as {others}"):
            save(tmp_path / "x.png", np.zeros((3, 3), dtype))

    @pytest.mark.parametrize("shape", [(5,), (3, 3, 2), (2, 3, 3, 3)])
    def test_other_shapes_are_refused(self, tmp_path, shape):
        with pytest.raises(InputError, match=r"a PNG is .* save as .npy"):
            save(tmp_path / "x.png", np.zeros(shape, np.uint8))

    @pytest.mark.parametrize("name", ["x.jpg", "x.bmp", "x.gif", "x"])
    def test_other_formats_are_refused(self, tmp_path, name):
        with pytest.raises(
            InputError, match=r"choose one of .png .tif .tiff .npy .h5 .hdf5 .wav .flac .txt .dat .csv .tsv .zarr"
        ):
            save(tmp_path / name, np.zeros((3, 3), np.uint8))
        assert list(tmp_path.iterdir()) == []


def exif(orientation, order="<", type=3, count=1, place=8):
    """An Exif block of two entries: some other tag, and how the camera was held."""
    entries = struct.pack(f"{order}HHII", 0x0100, 4, 1, 60)
    entries += struct.pack(f"{order}HHIHH", 0x0112, type, count, orientation, 0)
    return (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(f"{order}IH", place, 2) + entries + b"\0" * 4


def with_exif(jpeg, block):
    """After the first segment, as cameras write it."""
    content = b"Exif\0\0" + block
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content + jpeg[2:]


class TestOrientation:
    """Pillow's own turning is the judge."""

    @pytest.mark.parametrize("order", "<>")
    @pytest.mark.parametrize("orientation", range(1, 9))
    @pytest.mark.parametrize("gray", [False, True])
    def test_jpeg(self, tmp_path, orientation, order, gray):
        content = with_exif(encode(".jpg", picture()[..., 0] if gray else picture()), exif(orientation, order))
        found = load(write(tmp_path, content, "x.jpg"))
        upright = ImageOps.exif_transpose(Image.open(io.BytesIO(content)))
        np.testing.assert_array_equal(found.array, np.asarray(upright))
        assert found.array.flags.c_contiguous
        steps = [] if orientation == 1 else [{"step": "upright", "orientation": orientation}]
        assert found.origin["steps"] == steps
        again = from_origin(found.origin)
        assert again.origin == found.origin and np.array_equal(again.array, found.array)

    @pytest.mark.parametrize("depth", [8, 16])
    @pytest.mark.parametrize("orientation", [3, 6, 8])
    def test_png_keeps_every_bit(self, tmp_path, depth, orientation):
        values = random_values(depth, RGB)
        content = make_png(values, depth, RGB, chunk(b"eXIf", exif(orientation, ">")))
        found = load(write(tmp_path, content)).array
        assert found.dtype == f"uint{depth}"
        np.testing.assert_array_equal(found, np.rot90(values, {3: 2, 6: -1, 8: 1}[orientation]))

    def test_with_another_step(self, tmp_path):
        content = make_png(random_values(8, GRAY), 8, GRAY, chunk(b"eXIf", exif(5)))
        found = convert(load(write(tmp_path, content)), "float32")
        assert [step["step"] for step in found.origin["steps"]] == ["upright", "convert"]
        np.testing.assert_array_equal(from_origin(found.origin).array, found.array)

    @pytest.mark.parametrize(
        "block",
        [b"", b"II*", b"II*\0\xff\xff\xff\xff", exif(0), exif(9), exif(6, type=2), exif(6, place=9),
         exif(6, place=2**32 - 1), exif(6)[:24], b"XX" + exif(6)[2:]],
    )  # fmt: skip
    def test_what_makes_no_sense_is_upright(self, tmp_path, block):
        found = load(write(tmp_path, with_exif(encode(".jpg", picture()), block), "x.jpg"))
        assert found.array.shape == picture().shape and found.origin["steps"] == []


class TestHostile:
    """What costs time or memory beyond its size, and what decoders stumble over."""

    def png(self, *chunks):
        return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, GRAY, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress(b"\0ab"))
    end = chunk(b"IEND", b"")

    @pytest.mark.parametrize("name", [b"tEXt", b"IDAT", b"aaAa"])
    def test_a_hundred_thousand_chunks(self, tmp_path, name):
        """They take the time that their bytes take."""
        content = self.png(self.header, chunk(name, b"") * 100_000, self.data, self.end)
        assert load(write(tmp_path, content)).array.tobytes() == b"ab"

    def test_chunks_that_are_no_picture_are_not_decoded(self, tmp_path, capfd):
        rubbish = [chunk(name, b"rubbish") for name in (b"gAMA", b"iCCP", b"zTXt", b"acTL", b"fcTL", b"sBIT", b"hIST")]
        found = load(write(tmp_path, self.png(self.header, *rubbish, self.data, self.end))).array
        assert found.tobytes() == b"ab" and capfd.readouterr().err == ""

    @pytest.mark.parametrize(
        "chunks",
        [(header, header, data, end), (data, header, end), (header, end), (header, data, data[:-4] + b"xxxx", end),
         (header, data, chunk(b"tEXt", b"a"), data, end), (header, chunk(b"ABCD", b""), data, end),
         (header, chunk(b"PLTE", b"abc"), chunk(b"PLTE", b"abc"), data, end), (header, chunk(b"\0\0\0\0", b""), end)],
    )  # fmt: skip
    def test_chunks_out_of_order(self, tmp_path, chunks, capfd):
        with pytest.raises(InputError, match="is a damaged PNG file"):
            load(write(tmp_path, self.png(*chunks)))
        assert capfd.readouterr().err == ""

    def test_more_pixels_than_the_data_can_be(self, tmp_path):
        header = chunk(b"IHDR", struct.pack(">IIBBBBB", 13, 2_424_841, 8, GRAY, 0, 0, 0))
        with pytest.raises(InputError, match="cut short: .* bytes cannot hold 13 × 2424841 pixels"):
            load(write(tmp_path, self.png(header, self.data, self.end)))
        black = np.zeros((3000, 3000), np.uint8)  # as small as it gets
        save(tmp_path / "black.png", black)
        assert (tmp_path / "black.png").stat().st_size < black.size / 500
        np.testing.assert_array_equal(load(tmp_path / "black.png").array, black)

    @pytest.mark.parametrize("progressive", [False, True])
    def test_a_jpeg_of_more_pixels_than_its_data_can_be(self, tmp_path, progressive):
        gray = encode(".jpg", np.full((2000, 2000), 128, np.uint8), progressive=progressive, quality=1)
        assert load(write(tmp_path, gray, "x.jpg")).array.size == 2000**2  # as small as it gets
        content = bytearray(encode(".jpg", picture(), progressive=progressive))
        frame = content.index(b"\xff\xc2" if progressive else b"\xff\xc0")
        content[frame + 5 : frame + 9] = struct.pack(">HH", 30_000, 11_000)
        with pytest.raises(InputError, match="cut short: .* bytes cannot hold 11000 × 30000 pixels"):
            load(write(tmp_path, content, "x.jpg"))

    @pytest.mark.parametrize(
        ("part", "pattern"),
        [(b"\xff\xe2\0\2" * 20_000, ""), (b"\xff" * 10**6, ""), (b"\xff\xd8" * 20_000, ""),
         (b"\xff\xfe\0\0", "damaged|cut short"), (b"junk", "damaged JPEG")],
    )  # fmt: skip
    def test_jpeg_segments(self, tmp_path, part, pattern):
        content = encode(".jpg", picture())
        path = write(tmp_path, content[:20] + part + content[20:], "x.jpg")  # behind the first segment
        if not pattern:  # any number of these is allowed
            assert load(path).array.shape == picture().shape
            return
        with pytest.raises(InputError, match=pattern):
            load(path)

    def test_a_decoder_that_is_kept_busy_is_ended(self, tmp_path, monkeypatch):
        """Every scan of a progressive JPEG goes over the whole picture."""
        monkeypatch.setattr(decoder_process, "here", False)
        load(write(tmp_path, encode(".jpg", picture()), "x.jpg"))  # its start is not counted
        monkeypatch.setattr(decoder_process, "DEADLINE", 1.0)
        content = encode(".jpg", np.zeros((4000, 6000), np.uint8), progressive=True)
        scan = content[content.rindex(b"\xff\xda") : -2]
        with pytest.raises(InputError, match="its decoder did not respond for 1 s and was ended"):
            load(write(tmp_path, content[:-2] + scan * 1000 + b"\xff\xd9", "x.jpg"))

    def test_notes_are_not_decoded(self, tmp_path):
        content = encode(".jpg", picture())
        plain = load(write(tmp_path, content, "x.jpg")).array
        notes = b"".join(
            b"\xff" + bytes([marker]) + struct.pack(">H", 40) + (start + b"\xff" * 40)[:38]
            for marker, start in ((0xE1, b"Exif\0\0MM\0*"), (0xE2, b"ICC_PROFILE\0"), (0xE2, b"MPF\0"), (0xFE, b""))
        )
        np.testing.assert_array_equal(load(write(tmp_path, content[:20] + notes + content[20:], "x.jpg")).array, plain)

    @pytest.mark.parametrize(("width", "height"), [(-60, 40), (0, 40), (60, 0), (-(2**31), 1), (2**31 - 1, -(2**31))])
    def test_bmp_sides(self, tmp_path, width, height, capfd):
        content = bytearray(encode(".bmp", picture()))
        content[18:26] = struct.pack("<ii", width, height)
        with pytest.raises(InputError, match="is a damaged BMP file|over the limit"):
            load(write(tmp_path, content, "x.bmp"))
        assert capfd.readouterr().err == ""

    def test_bmp_from_the_top(self, tmp_path):
        content = bytearray(encode(".bmp", picture()))
        content[22:26] = struct.pack("<i", -40)
        np.testing.assert_array_equal(load(write(tmp_path, content, "x.bmp")).array, picture()[::-1])

    def test_decoders_lines_stay_their_own(self, tmp_path, capfd):
        cmyk = io.BytesIO()
        Image.fromarray(np.zeros((64, 64, 4), np.uint8), "CMYK").save(cmyk, "JPEG")
        start = cmyk.getvalue().index(b"\xff\xda") + 20
        load(write(tmp_path, cmyk.getvalue()[:start] + b"\xff\xd9", "x.jpg"))  # "premature end of data segment"
        content = make_png(random_values(16, RGB), 16, RGB)
        place = content.index(b"IDAT") - 4
        with pytest.raises(InputError, match="damaged PNG"):
            load(write(tmp_path, content[:place] + chunk(b"IDAT", b"no") + chunk(b"IEND", b"")))
        os.write(2, b"heard")
        assert capfd.readouterr().err == "heard"


class TestCodec:
    failure = InputError("x is damaged.")

    @pytest.mark.parametrize("error", [RuntimeError("a"), OverflowError(), KeyError(1), struct.error(), SystemError()])
    def test_whatever_it_raises_is_ours(self, error):
        with pytest.raises(InputError) as raised, codec(self.failure):
            raise error
        assert raised.value is self.failure

    def test_memory_is_no_damage(self, tmp_path, monkeypatch):
        short = cv2.error("a")
        short.code = cv2.Error.StsNoMem
        for error in (MemoryError(), short):
            with pytest.raises(MemoryError), codec(self.failure):
                raise error

        def fail(*arguments):
            raise short

        monkeypatch.setattr(cv2, "imdecode", fail)
        with pytest.raises(InputError, match="does not fit in memory; load a smaller file"):
            load(write(tmp_path, make_png(random_values(16, GRAY), 16, GRAY)))

    def test_what_is_missing_and_who_stops_it_are_no_damage(self):
        for error in (ImportError("no cv2"), KeyboardInterrupt()):
            with pytest.raises(type(error)), codec(self.failure):
                raise error

    def test_mistakes_of_ours_are_not_hidden(self, tmp_path, monkeypatch):
        def fail(*arguments):
            raise ZeroDivisionError

        monkeypatch.setattr("gpu_ops.io.images.jpeg_bmp.turn_upright", fail)
        with pytest.raises(ZeroDivisionError):
            load(write(tmp_path, make_png(random_values(8, GRAY), 8, GRAY)))

    def test_standard_error_comes_back(self, capfd):
        with pytest.raises(InputError), codec(self.failure):
            os.write(2, b"libpng warning")
            warnings.warn("as Python says it", stacklevel=1)
            raise ValueError
        os.write(2, b"after")
        assert capfd.readouterr().err == "after"

    def test_without_standard_error(self):
        code = (
            "import os; os.close(2); from gpu_ops.errors import InputError; from gpu_ops.io.codec import codec\n"
            "with codec(InputError('x')): pass\n"
            "try: os.fstat(2)\nexcept OSError: print('closed')"
        )
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert (done.returncode, done.stdout.strip()) == (0, "closed")


class TestDeepJpeg:
    """More than 8 bits per sample, which only imagecodecs decodes."""

    @pytest.mark.parametrize("shape", [(24, 31), (24, 31, 3)])
    @pytest.mark.parametrize(("bits", "lossless"), [(12, False), (12, True), (16, True)])
    def test_samples_are_kept(self, tmp_path, shape, bits, lossless):
        imagecodecs = pytest.importorskip("imagecodecs")
        values = np.linspace(0, 2**bits - 1, int(np.prod(shape))).reshape(shape).astype(np.uint16)
        how = {"lossless": True} if lossless else {"level": 100, "subsampling": "444"}
        (tmp_path / "x.jpg").write_bytes(imagecodecs.jpeg_encode(values, bitspersample=bits, **how))
        found = load(tmp_path / "x.jpg").array
        assert found.dtype == np.uint16 and found.shape == shape
        assert np.abs(found.astype(int) - values).max() <= (0 if lossless else 12)

    def test_without_the_library_it_is_named(self, tmp_path, monkeypatch):
        imagecodecs = pytest.importorskip("imagecodecs")
        (tmp_path / "x.jpg").write_bytes(imagecodecs.jpeg_encode(np.zeros((9, 9), np.uint16), bitspersample=12))
        monkeypatch.setattr("gpu_ops.io.decoder_process.here", True)
        monkeypatch.setitem(sys.modules, "imagecodecs", None)
        with pytest.raises(InputError, match="samples of 12 bits, which needs the library imagecodecs; install the ex"):
            load(tmp_path / "x.jpg")

    def test_a_cut_one_is_found(self, tmp_path):
        imagecodecs = pytest.importorskip("imagecodecs")
        content = imagecodecs.jpeg_encode(np.zeros((99, 99), np.uint16), bitspersample=12)
        for end in (len(content) - 2, len(content) // 2, 90):
            (tmp_path / "x.jpg").write_bytes(content[:end])
            with pytest.raises(InputError, match="cut short|damaged"):
                load(tmp_path / "x.jpg")
