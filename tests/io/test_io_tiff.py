"""TIFF: every type, layout and compression arrives bit for bit, frames are read alone, and other programs read ours."""

import struct
import subprocess
import sys
import zlib

import cv2
import numpy as np
import pytest
import tifffile
from PIL import Image, ImageOps

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import from_origin, load, save, survey
from gpu_ops.io.images import tiff_page as page_module
from gpu_ops.io.images import tiff_writer as writer_module
from gpu_ops.io.images.tiff import open_tiff, write_tiff
from gpu_ops.io.memory import offset_of, read_at
from gpu_ops.io.opening import Opening
from gpu_ops.progress import Cancelled, listening
from gpu_ops.types import Pixel

TYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"]


def values(dtype, shape, seed=1):
    """Every bit in use; floats are finite."""
    chance, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "f":
        return (chance.standard_normal(shape) * 100).astype(dtype)
    info = np.iinfo(dtype)
    return chance.integers(info.min, info.max, shape, dtype, endpoint=True)


def load_as(tmp_path, array, choices=None, **how):
    tifffile.imwrite(tmp_path / "x.tif", array, **how)
    return load(tmp_path / "x.tif", **(choices or {}))


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


class TestValues:
    @pytest.mark.parametrize("dtype", TYPES)
    @pytest.mark.parametrize(
        "how",
        [{}, {"byteorder": ">"}, {"bigtiff": True}, {"bigtiff": True, "byteorder": ">"}, {"tile": (16, 32)},
         {"rowsperstrip": 7}, {"compression": "deflate"}, {"compression": "deflate", "tile": (16, 16)},
         {"compression": "packbits", "byteorder": ">"}, {"compression": "lzma"}],
    )  # fmt: skip
    def test_gray(self, tmp_path, dtype, how):
        if how.get("compression") == "packbits":
            pytest.importorskip("imagecodecs")  # it writes them
        array = values(dtype, (37, 51))
        same(load_as(tmp_path, array, **how).array, array)

    @pytest.mark.parametrize("compression", ["lzw", "zstd", "deflate"])
    @pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
    @pytest.mark.parametrize("predictor", [False, True])
    def test_predicted(self, tmp_path, dtype, predictor, compression):
        pytest.importorskip("imagecodecs")
        array = values(dtype, (37, 51, 3))
        same(load_as(tmp_path, array, compression=compression, predictor=predictor, photometric="rgb").array, array)

    @pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
    @pytest.mark.parametrize("channels", [3, 4])
    @pytest.mark.parametrize("how", [{}, {"tile": (16, 16)}, {"compression": "deflate"}])
    @pytest.mark.parametrize("separate", [False, True])
    def test_colour(self, tmp_path, dtype, channels, separate, how):
        array = values(dtype, (20, 33, channels))
        stored = np.ascontiguousarray(np.moveaxis(array, 2, 0)) if separate else array
        planes = "separate" if separate else "contig"
        extra = ["unassalpha"] if channels == 4 else None
        found = load_as(tmp_path, stored, photometric="rgb", planarconfig=planes, extrasamples=extra, **how)
        assert (found.axes, found.facts.frames, found.origin["steps"]) == ("yxc", 1, [])
        same(found.array, array)

    def test_jpeg(self, tmp_path):
        pytest.importorskip("imagecodecs")
        y, x = np.mgrid[:64, :48]
        array = np.stack([x * 4, y * 3, 255 - x * 4], axis=-1).astype(np.uint8)
        tifffile.imwrite(tmp_path / "x.tif", array, photometric="rgb", compression="jpeg")
        expected = np.asarray(Image.open(tmp_path / "x.tif"))
        assert np.abs(load(tmp_path / "x.tif").array.astype(int) - expected).max() <= 2  # decoders round differently
        assert ("compression", "JPEG") in survey(tmp_path / "x.tif").facts

    @pytest.mark.parametrize("white_zero", [False, True])
    @pytest.mark.parametrize("width", [8, 13])
    def test_one_bit(self, tmp_path, width, white_zero):
        array = values("uint8", (9, width)) > 99
        found = load_as(tmp_path, array, photometric="miniswhite" if white_zero else "minisblack")
        same(found.array, np.asarray(Image.open(tmp_path / "x.tif").convert("L")))
        steps = [{"step": "stretch", "bits": 1}] + [{"step": "white is zero"}] * white_zero
        assert found.origin["steps"] == steps and np.array_equal(from_origin(found.origin).array, found.array)

    def test_white_is_zero(self, tmp_path):
        array = values("uint16", (5, 6))
        same(load_as(tmp_path, array, photometric="miniswhite").array, np.uint16(65535) - array)

    @pytest.mark.parametrize("bits", [8, 16])
    def test_palette(self, tmp_path, bits):
        colours = np.random.default_rng(3).integers(0, 256, (3, 256), np.uint8).astype(np.uint16)
        colours = colours * 257 if bits == 8 else colours * 257 + 1
        array = values("uint8", (9, 12))
        found = load_as(tmp_path, array, photometric="palette", colormap=colours)
        expected = colours.T[array]
        same(found.array, (expected >> 8).astype(np.uint8) if bits == 8 else expected)
        assert found.origin["steps"] == [{"step": "palette"}]
        if bits == 8:
            same(found.array, np.asarray(Image.open(tmp_path / "x.tif").convert("RGB")))

    def test_a_palette_of_grays_is_gray(self, tmp_path):
        colours = np.tile(np.arange(255, -1, -1, dtype=np.uint16) * 257, (3, 1))
        array = values("uint8", (9, 12))
        same(load_as(tmp_path, array, photometric="palette", colormap=colours).array, 255 - array)

    def test_printing_colours(self, tmp_path):
        array = values("uint8", (30, 40, 4))
        found = load_as(tmp_path, array, photometric="separated")
        same(found.array, np.asarray(Image.open(tmp_path / "x.tif").convert("RGB")))
        assert found.origin["steps"] == [{"step": "cmyk"}]
        wide = array.astype(np.uint16) * 257
        wide[0, 0] = (65535, 0, 65535, 0)
        exact = (65535 - wide[..., :3].astype(float)) * (65535 - wide[..., 3:].astype(float)) / 65535
        near = load_as(tmp_path, wide, photometric="separated").array
        assert near.dtype == np.uint16 and np.abs(near - exact).max() <= 0.5

    def test_gray_with_alpha(self, tmp_path):
        array = values("uint16", (5, 7, 2))
        found = load_as(tmp_path, array, photometric="minisblack", planarconfig="contig", extrasamples=["unassalpha"])
        same(found.array, array[..., [0, 0, 0, 1]])
        assert found.origin["steps"] == [{"step": "gray alpha"}]

    @pytest.mark.parametrize("samples", [2, 5])
    def test_samples_that_are_no_colours_are_frames(self, tmp_path, samples):
        array = values("uint16", (5, 7, samples))
        tifffile.imwrite(tmp_path / "x.tif", array, photometric="minisblack", planarconfig="contig")
        for k in range(samples):
            found = load(tmp_path / "x.tif", frame=k)
            same(found.array, array[..., k])
            assert found.facts.frames == samples

    @pytest.mark.parametrize("orientation", range(1, 9))
    @pytest.mark.parametrize("colour", [False, True])
    def test_orientation(self, tmp_path, orientation, colour):
        array = values("uint8", (6, 9, 3) if colour else (6, 9))
        tag = [(274, "H", 1, orientation, False)]
        found = load_as(tmp_path, array, photometric="rgb" if colour else "minisblack", extratags=tag)
        same(found.array, ImageUpright(orientation)(array))
        assert found.origin["steps"] == ([{"step": "upright", "orientation": orientation}] if orientation > 1 else [])

    def test_what_has_no_meaning_here_is_said(self, tmp_path):
        for how, words in (
            ({"photometric": "cielab"}, r"holds CIE L\*a\*b\*, which cannot be converted; save it as gray or RGB"),
            ({"photometric": "ycbcr"}, "holds YCbCr without JPEG compression"),
        ):
            with pytest.raises(InputError, match=words):
                load_as(tmp_path, values("uint8", (4, 4, 3)), **how)
        with pytest.raises(InputError, match="holds samples of 64 bits in format 6"):
            load_as(tmp_path, np.zeros((4, 4), np.complex64))

    def test_without_imagecodecs_common_compressions_are_read_by_opencv(self, tmp_path):
        """OpenCV turns pictures upright by itself, which must not be done twice."""
        pytest.importorskip("imagecodecs")
        cases = [
            (dtype, shape, orientation, predictor)
            for dtype in ("uint8", "uint16", "float32")
            for shape in ((6, 9), (6, 9, 3))
            for orientation in ((1, 2, 3, 4, 5, 6, 7, 8) if dtype == "uint8" else (1, 6))
            for predictor in (False, True)
        ]
        for i, (dtype, shape, orientation, predictor) in enumerate(cases):
            array = values(dtype, (2, *shape), i)
            np.save(tmp_path / f"{i}.npy", [ImageUpright(orientation)(frame) for frame in array])
            how = {"photometric": "rgb" if len(shape) == 3 else "minisblack", "predictor": predictor}
            tag = [(274, "H", 1, orientation, False)]
            tifffile.imwrite(tmp_path / f"{i}.tif", array, compression="lzw", metadata=None, extratags=tag, **how)
        array = values("uint8", (40, 50))
        tifffile.imwrite(tmp_path / "zstd.tif", array, compression="zstd")
        bomb = bytearray(tifffile_bytes(tmp_path, np.zeros((300, 300), np.uint8)))
        bomb_data = zlib.compress(bytes(1 << 22))
        bomb += bomb_data
        (tmp_path / "bomb.tif").write_bytes(patch(bomb, {273: len(bomb) - len(bomb_data), 279: len(bomb_data)}))
        code = f"""
import sys; sys.modules["imagecodecs"] = None
import numpy as np
from gpu_ops.io import decoder_process, load
from gpu_ops.errors import InputError
decoder_process.here = True
for i in range({len(cases)}):
    found = np.stack([load(f"{{i}}.tif", frame=k).array for k in (0, 1)])
    expected = np.load(f"{{i}}.npy")
    assert found.dtype == expected.dtype and np.array_equal(found, expected), i
for name in ("zstd.tif", "bomb.tif"):
    try: load(name)
    except InputError as error: print(error)
"""
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert (
            "zstd.tif has the compression ZSTD, which needs the library imagecodecs; install the extra" in done.stdout
        )
        assert "bomb.tif is a damaged TIFF file" in done.stdout


class ImageUpright:
    """Pillow's own turning, of arrays of any type: it turns the places of pixels."""

    def __init__(self, orientation):
        self.orientation = orientation

    def __call__(self, array):
        places = Image.fromarray(np.arange(array.shape[0] * array.shape[1], dtype=np.int32).reshape(array.shape[:2]))
        places.getexif()[274] = self.orientation
        return array.reshape(-1, *array.shape[2:])[np.asarray(ImageOps.exif_transpose(places))]


def tifffile_bytes(tmp_path, array, compression="deflate"):
    tifffile.imwrite(tmp_path / "y.tif", array, compression=compression, metadata=None, rowsperstrip=len(array))
    return (tmp_path / "y.tif").read_bytes()


def patch(content, tags, count=1):
    """A little-endian classic TIFF whose first page has other values of some tags."""
    content = bytearray(content)
    place = struct.unpack_from("<I", content, 4)[0]
    for k in range(struct.unpack_from("<H", content, place)[0]):
        at = place + 2 + k * 12
        tag = struct.unpack_from("<H", content, at)[0]
        if tag in tags:
            struct.pack_into("<HII", content, at + 2, 4, count, tags[tag])
    return bytes(content)


class TestFrames:
    @pytest.mark.parametrize(
        "how",
        [{}, {"metadata": None}, {"imagej": True}, {"ome": True}, {"compression": "deflate", "tile": (16, 16)},
         {"bigtiff": True, "byteorder": ">", "metadata": None}, {"ome": True, "compression": "deflate"}],
    )  # fmt: skip
    def test_each_frame_and_projections(self, tmp_path, how):
        array = values("uint16", (5, 20, 30))
        tifffile.imwrite(tmp_path / "x.tif", array, photometric="minisblack", **how)
        for k in (3, 0, 4):
            found = load(tmp_path / "x.tif", frame=k)
            same(found.array, array[k])
            assert (found.kind, found.facts.frames) == ("image", 5)
            assert found.origin.get("choices", {}) == ({"frame": k} if k else {})
        largest = load(tmp_path / "x.tif", project="max")
        same(largest.array, array.max(axis=0))
        assert np.array_equal(from_origin(largest.origin).array, largest.array)
        np.testing.assert_allclose(load(tmp_path / "x.tif", project="mean").array, array.mean(axis=0), rtol=1e-6)
        with pytest.raises(ParamError, match="has 5 frames; choose one from 0 to 4, not 5"):
            load(tmp_path / "x.tif", frame=5)

    def test_axes_of_ome(self, tmp_path):
        array = values("uint8", (2, 3, 4, 6, 7))
        notes = {"axes": "TCZYX", "PhysicalSizeX": 325, "PhysicalSizeXUnit": "nm", "PhysicalSizeY": 0.5}
        tifffile.imwrite(tmp_path / "x.ome.tif", array, metadata=notes, photometric="minisblack")
        for k, expected in enumerate(array.reshape(24, 6, 7)):
            same(load(tmp_path / "x.ome.tif", frame=k).array, expected)
        found = survey(tmp_path / "x.ome.tif")
        assert found.frames == 24 and ("frames", "24 (time 2, channel 3, depth 4)") in found.facts
        assert load(tmp_path / "x.ome.tif").facts.pixel == Pixel(0.5, 0.325, "µm")

    def test_colour_frames(self, tmp_path):
        array = values("uint16", (3, 6, 7, 3))
        tifffile.imwrite(tmp_path / "x.tif", array, photometric="rgb", ome=True)
        for k in range(3):
            same(load(tmp_path / "x.tif", frame=k).array, array[k])

    def test_volumes(self, tmp_path):
        array = values("uint8", (2, 3, 20, 30))
        tifffile.imwrite(tmp_path / "x.tif", array, volumetric=True, tile=(16, 16, 16), photometric="minisblack")
        for k, expected in enumerate(array.reshape(6, 20, 30)):
            same(load(tmp_path / "x.tif", frame=k).array, expected)

    def test_an_empty_tile_is_black(self, tmp_path):
        """Programs for maps leave out tiles where nothing is."""
        tile = values("uint8", (16, 16))
        how = {"shape": (16, 48), "dtype": np.uint8, "tile": (16, 16), "compression": "deflate"}
        tifffile.imwrite(tmp_path / "x.tif", iter([tile, None, tile]), photometric="minisblack", **how)
        same(load(tmp_path / "x.tif").array, np.hstack([tile, np.zeros_like(tile), tile]))

    def test_pages_of_another_size_are_another_series(self, tmp_path):
        with tifffile.TiffWriter(tmp_path / "x.tif") as writer:
            for side in (20, 10, 20):
                writer.write(np.full((side, side), side, np.uint8), metadata=None)
        found = survey(tmp_path / "x.tif")
        assert found.frames == 2 and found.allowed == {"series": (0, 1)} and found.found == {"series": 0}
        assert ("series 1", "10 × 10, uint8") in found.facts
        small = load(tmp_path / "x.tif", series=1)
        same(small.array, np.full((10, 10), 10, np.uint8))
        assert from_origin(small.origin).array.shape == (10, 10)
        with pytest.raises(ParamError, match="has 2 series of frames; choose one from 0 to 1, not 2"):
            load(tmp_path / "x.tif", series=2)

    def test_one_frame_is_read_alone(self, tmp_path, monkeypatch):
        array = values("uint16", (4, 64, 64))
        tifffile.imwrite(tmp_path / "x.tif", array, metadata=None, photometric="minisblack")
        read = []

        def note(path, name, place, shape, dtype):
            read.append((shape, dtype))
            return read_at(path, name, place, shape, dtype)

        monkeypatch.setattr("gpu_ops.io.files.read_at", note)
        same(load(tmp_path / "x.tif", frame=2).array, array[2])
        assert read == [((64, 64), np.dtype(np.uint16))]

    @pytest.mark.parametrize("byteorder", "<>")
    @pytest.mark.parametrize("colour", [False, True])
    def test_what_lies_in_the_file_as_it_is_is_mapped(self, tmp_path, byteorder, colour):
        array = values("float32", (3, 20, 30, 3) if colour else (3, 20, 30))
        how = {"photometric": "rgb" if colour else "minisblack", "byteorder": byteorder}
        tifffile.imwrite(tmp_path / "x.tif", array, metadata=None, **how)
        stack = open_tiff(Opening(tmp_path / "x.tif", "x.tif", 10_000))
        found = stack.read(1)
        np.testing.assert_array_equal(found, array[1])
        assert found.dtype == f"{byteorder}f4" and offset_of(found) is not None
        same(load(tmp_path / "x.tif", frame=1).array, array[1])

    def test_a_projection_can_be_stopped(self, tmp_path):
        tifffile.imwrite(tmp_path / "x.tif", values("uint8", (9, 6, 7)), metadata=None, photometric="minisblack")
        asked = []
        with pytest.raises(Cancelled), listening(lambda: asked.append(1) or len(asked) > 12):
            load(tmp_path / "x.tif", project="max")


class TestPixel:
    @pytest.mark.parametrize(
        ("resolution", "unit", "expected"),
        [((20000, 10000), "CENTIMETER", Pixel(1.0, 0.5, "µm")), ((254, 254), "INCH", Pixel(0.1, 0.1, "mm")),
         ((72, 72), "INCH", None), ((100, 100), "NONE", None), ((0, 100), "CENTIMETER", None)],
    )  # fmt: skip
    def test_tags(self, tmp_path, resolution, unit, expected):
        found = load_as(tmp_path, values("uint8", (4, 5)), resolution=resolution, resolutionunit=unit)
        assert found.facts.pixel == expected

    @pytest.mark.parametrize(
        ("unit", "expected"), [("micron", Pixel(0.25, 0.5, "µm")), ("mm", Pixel(0.25, 0.5, "mm")), ("pixel", None)]
    )
    def test_imagej(self, tmp_path, unit, expected):
        found = load_as(tmp_path, values("uint8", (4, 5)), imagej=True, resolution=(2, 4), metadata={"unit": unit})
        assert found.facts.pixel == expected


class TestDamage:
    def test_every_cut_is_found(self, tmp_path):
        for how in ({}, {"compression": "deflate", "rowsperstrip": 5}):
            tifffile.imwrite(tmp_path / "y.tif", values("uint8", (3, 20, 30)), photometric="minisblack", **how)
            content = (tmp_path / "y.tif").read_bytes()
            path = tmp_path / "x.tif"
            for length in range(4, len(content) - 40, 31):
                path.write_bytes(content[:length])
                with pytest.raises(InputError, match=r"is cut short|is a damaged TIFF"):
                    load(path, project="max")

    @pytest.mark.parametrize("bigtiff", [False, True])
    def test_pages_in_a_circle(self, tmp_path, bigtiff):
        array = values("uint8", (3, 4, 5))
        tifffile.imwrite(tmp_path / "x.tif", array, metadata=None, bigtiff=bigtiff, photometric="minisblack")
        content = bytearray((tmp_path / "x.tif").read_bytes())
        place, count, entry, offset = (8, "<Q", 20, "<Q") if bigtiff else (4, "<H", 12, "<I")
        first = at = struct.unpack_from(offset, content, place)[0]
        for _ in range(3):
            after = at + struct.calcsize(count) + struct.unpack_from(count, content, at)[0] * entry
            at = struct.unpack_from(offset, content, after)[0]
        assert at == 0
        struct.pack_into(offset, content, after, first)
        (tmp_path / "x.tif").write_bytes(content)
        with pytest.raises(InputError, match="is a damaged TIFF file"):
            load(tmp_path / "x.tif")

    @pytest.mark.parametrize(
        ("tags", "words"),
        [({256: 2**31, 257: 2**31}, "over the limit"), ({256: 0}, "damaged TIFF"), ({256: 3000}, "damaged TIFF"),
         ({273: 2**32 - 1}, "cut short"), ({279: 2**31}, "cut short"), ({279: 0}, "damaged TIFF"),
         ({258: 200}, "damaged|cannot be read|needs the library"), ({259: 9999}, "damaged|cannot|needs the library")],
    )  # fmt: skip
    def test_lying_headers(self, tmp_path, tags, words):
        content = tifffile_bytes(tmp_path, values("uint8", (20, 30)))
        (tmp_path / "x.tif").write_bytes(patch(content, tags))
        with pytest.raises(InputError, match=words):
            load(tmp_path / "x.tif")

    def test_more_pixels_than_the_data_can_be(self, tmp_path):
        content = tifffile_bytes(tmp_path, values("uint8", (20, 30)))
        (tmp_path / "x.tif").write_bytes(patch(content, {256: 30_000, 257: 30_000, 278: 30_000}))
        with pytest.raises(InputError, match="cut short: .* bytes cannot hold 30000 × 30000 pixels"):
            load(tmp_path / "x.tif")
        black = np.zeros((3000, 3000), np.uint8)  # as small as it gets
        same(load_as(tmp_path, black, compression="deflate", rowsperstrip=3000).array, black)

    def test_more_pages_than_anybody_has(self, tmp_path, monkeypatch):
        monkeypatch.setattr("gpu_ops.io.images.tiff_chain.MOST_PAGES", 3)
        tifffile.imwrite(tmp_path / "x.tif", values("uint8", (5, 6, 7)), metadata=None, photometric="minisblack")
        with pytest.raises(InputError, match="has more than 3 pages; split it into files of fewer"):
            load(tmp_path / "x.tif")

    def test_a_stack_that_says_more_frames_than_it_has(self, tmp_path):
        tifffile.imwrite(tmp_path / "x.tif", values("uint8", (5, 6, 7)), imagej=True)
        with tifffile.TiffFile(tmp_path / "x.tif") as file:
            end = file.series[0].dataoffset + 5 * 42
        content = bytearray((tmp_path / "x.tif").read_bytes())
        (place,) = struct.unpack_from("<I", content, 4)
        after = place + 2 + struct.unpack_from("<H", content, place)[0] * 12
        content[after : after + 4] = bytes(4)  # ImageJ writes long stacks with one page
        (tmp_path / "x.tif").write_bytes(content[:end])
        assert load(tmp_path / "x.tif", frame=4).facts.frames == 5
        (tmp_path / "x.tif").write_bytes(content[: end - 10])
        with pytest.raises(InputError, match="is cut short: 10 bytes are missing"):
            load(tmp_path / "x.tif")

    def test_the_limit_is_that_of_a_frame(self, tmp_path):
        tifffile.imwrite(tmp_path / "x.tif", values("uint8", (5, 6, 7)), photometric="minisblack")
        assert load(tmp_path / "x.tif", limit=42).array.size == 42
        with pytest.raises(InputError, match="holds 42 values, over the limit of 41"):
            load(tmp_path / "x.tif", limit=41)

    def test_nothing_is_heard_of_tifffile(self, tmp_path, capfd):
        content = tifffile_bytes(tmp_path, values("uint8", (20, 30)))
        (tmp_path / "x.tif").write_bytes(patch(content, {258: 2**31, 262: 77, 277: 2**20}))
        with pytest.raises(InputError):
            load(tmp_path / "x.tif")
        assert capfd.readouterr() == ("", "")


class TestWriting:
    @pytest.mark.parametrize("dtype", TYPES)
    @pytest.mark.parametrize("shape", [(1, 1), (13, 7), (5, 6, 3), (5, 6, 4), (4, 6, 5), (2, 6, 5, 3)])
    @pytest.mark.parametrize("big", [False, True])
    def test_another_reader_reads_the_same(self, tmp_path, monkeypatch, dtype, shape, big):
        monkeypatch.setattr(writer_module, "CLASSIC", 0 if big else 2**32)
        array, path = values(dtype, shape), tmp_path / "x.tif"
        save(path, array, pixel=Pixel(0.5, 0.325, "µm"))
        with tifffile.TiffFile(path) as file:
            assert file.is_bigtiff == big
            same(file.asarray(), array)
        found = load(path, frame=0)
        assert found.facts.pixel == Pixel(0.5, 0.325, "µm")
        same(found.array, array if found.facts.frames == 1 else array[0])

    @pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint64", "int64", "float32"])
    @pytest.mark.parametrize("shape", [(13, 7), (5, 6, 3)])
    def test_opencv_reads_the_same(self, tmp_path, dtype, shape):
        array = values(dtype, shape)
        save(tmp_path / "x.tif", array[::-1])
        found = cv2.imread(str(tmp_path / "x.tif"), cv2.IMREAD_UNCHANGED)
        same(found if len(shape) == 2 else np.ascontiguousarray(found[..., ::-1]), array[::-1])

    def test_pillow_reads_frames_size_and_words(self, tmp_path):
        array = values("uint8", (3, 6, 9))
        with open(tmp_path / "x.tif", "wb") as file:
            write_tiff(file, array, None, "x.tif", Pixel(0.1, 0.1, "mm"), "0…1 became 0…255 ÿ")
        image = Image.open(tmp_path / "x.tif")
        assert (
            image.n_frames == 3 and image.info["dpi"] == (254, 254) and image.tag_v2[270] == "0 to 1 became 0 to 255 ?"
        )
        image.seek(2)
        same(np.asarray(image), array[2])
        image.close()

    def test_frames_one_after_the_other(self, tmp_path):
        array = values("float32", (3, 6, 9))
        with open(tmp_path / "x.tif", "wb") as file:
            writer = writer_module.TiffWriter(file, (6, 9), array.dtype, 3, "x.tif")
            for frame in array:
                writer.write_rows(frame)
            with pytest.raises(ValueError, match="do not go on with 0 rows"):
                writer.write_rows(array[0])
        same(tifffile.imread(tmp_path / "x.tif"), array)

    @pytest.mark.parametrize("pixel", [None, Pixel(1, 1, "px"), Pixel(0, 1, "mm"), Pixel(1e-300, 1, "mm")])
    def test_no_size_that_can_be_said(self, tmp_path, pixel):
        save(tmp_path / "x.tif", values("uint8", (4, 5)), pixel=pixel)
        assert load(tmp_path / "x.tif").facts.pixel is None

    @pytest.mark.parametrize("dtype", ["complex64", "bool"])
    def test_other_types_are_refused(self, tmp_path, dtype):
        with pytest.raises(InputError, match=f"cannot hold {dtype}; convert to uint8, int8, .* or save as .npy"):
            save(tmp_path / "x.tif", np.zeros((3, 3), dtype))
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("shape", [(5,), (2, 3, 4, 5), (2, 2, 2, 2, 3)])
    def test_other_shapes_are_refused(self, tmp_path, shape):
        with pytest.raises(InputError, match=r"a TIFF is .* save as .npy"):
            save(tmp_path / "x.tif", np.zeros(shape, np.uint8))

    def test_the_library_that_is_missing_is_named_for_odd_bits(self, tmp_path, monkeypatch):
        content = tifffile_bytes(tmp_path, values("uint8", (20, 30)), None)
        (tmp_path / "x.tif").write_bytes(patch(content, {258: 4}))
        monkeypatch.setattr(page_module, "has_imagecodecs", lambda: False)
        with pytest.raises(InputError, match="samples of 4 bits, which needs the library imagecodecs; install"):
            load(tmp_path / "x.tif")
