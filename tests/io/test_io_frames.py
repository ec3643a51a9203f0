"""GIF, WebP and DICOM: values, frames and steps compared with other readers, and damage before it reaches a decoder."""

import io
import struct
import subprocess
import sys

import cv2
import numpy as np
import pytest
from PIL import Image

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import from_origin, load, survey
from gpu_ops.types import Pixel

CHANCE = np.random.default_rng(5)
GRAYS = CHANCE.integers(0, 8, (3, 12, 17), np.uint8) * 30
COLOURS = CHANCE.integers(0, 256, (3, 12, 17, 3), np.uint8)


def write(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


def encode(frames, format, **how):
    """The bytes of pictures in a format of Pillow."""
    images = [frame if isinstance(frame, Image.Image) else Image.fromarray(frame) for frame in frames]
    file = io.BytesIO()
    several = {"save_all": True, "append_images": images[1:]} if len(images) > 1 else {}
    images[0].save(file, format, **several, **how)
    return file.getvalue()


def indexed(colours, seed=1):
    """A picture of numbers of colours (N, 3), and the numbers."""
    numbers = np.random.default_rng(seed).integers(0, len(colours), (12, 17), np.uint8)
    image = Image.frombytes("P", (17, 12), numbers.tobytes())
    image.putpalette(colours.tobytes())
    return image, numbers


class TestGif:
    def test_gray_frames(self, tmp_path):
        path = write(tmp_path, "x.gif", encode(GRAYS, "GIF"))
        for k in (0, 2, 1):
            found = load(path, frame=k)
            np.testing.assert_array_equal(found.array, GRAYS[k])
        assert (found.axes, found.facts.frames, found.origin["steps"]) == ("yx", 3, [{"step": "palette"}])
        assert np.array_equal(from_origin(found.origin).array, GRAYS[1])
        np.testing.assert_array_equal(load(path, project="max").array, GRAYS.max(axis=0))
        assert survey(path).frames == 3 and ("frames", "3") in survey(path).facts
        with pytest.raises(ParamError, match="has 3 frames; choose one from 0 to 2, not 3"):
            load(path, frame=3)

    def test_colours_as_opencv_reads_them(self, tmp_path):
        colours = CHANCE.integers(0, 256, (16, 3), np.uint8)
        image, numbers = indexed(colours)
        path = write(tmp_path, "x.gif", encode([image], "GIF"))
        found = load(path).array
        np.testing.assert_array_equal(found, colours[numbers])
        np.testing.assert_array_equal(found, cv2.imread(str(path))[..., ::-1])

    def test_transparency(self, tmp_path):
        colours = CHANCE.integers(0, 256, (16, 3), np.uint8)
        image, numbers = indexed(colours)
        found = load(write(tmp_path, "x.gif", encode([image], "GIF", transparency=3))).array
        np.testing.assert_array_equal(found[..., 3], np.where(numbers == 3, 0, 255))
        np.testing.assert_array_equal(found[numbers != 3][:, :3], colours[numbers][numbers != 3])

    def test_frames_over_one_another(self, tmp_path):
        """Only the part of a frame that changes is stored."""
        second = GRAYS[0].copy()
        second[3:6, 4:9] = 210 - second[3:6, 4:9]
        path = write(tmp_path, "x.gif", encode([GRAYS[0], second], "GIF"))
        np.testing.assert_array_equal(load(path, frame=1).array, second)

    def test_every_cut_is_found(self, tmp_path):
        content = encode(GRAYS, "GIF")
        for length in range(6, len(content), 9):
            with pytest.raises(InputError, match="is cut short|is a damaged GIF|holds "):
                load(write(tmp_path, "x.gif", content[:length]))

    @pytest.mark.parametrize(
        ("place", "value", "words"),
        [(6, b"\xff\xff\xff\xff", "over the limit"), (6, b"\x00\x80\x00\x40", "cut short: .* cannot hold 536,870,912"),
         (6, b"\0\0", "damaged GIF"), (6, b"\x05\0", "damaged GIF")],
    )  # fmt: skip
    def test_lying_sizes(self, tmp_path, place, value, words, capfd):
        content = bytearray(encode(GRAYS[:1], "GIF"))
        content[place : place + len(value)] = value
        with pytest.raises(InputError, match=words):
            load(write(tmp_path, "x.gif", content))
        assert capfd.readouterr() == ("", "")


class TestWebp:
    @pytest.mark.parametrize("channels", [3, 4])
    @pytest.mark.parametrize("lossless", [False, True])
    def test_as_opencv_reads_it(self, tmp_path, channels, lossless):
        array = np.random.default_rng(2).integers(0, 256, (12, 17, channels), np.uint8)
        path = write(tmp_path, "x.webp", encode([array], "WEBP", lossless=lossless, exact=True))
        found = load(path)
        order = cv2.COLOR_BGR2RGB if channels == 3 else cv2.COLOR_BGRA2RGBA
        np.testing.assert_array_equal(found.array, cv2.cvtColor(cv2.imread(str(path), cv2.IMREAD_UNCHANGED), order))
        if lossless:
            np.testing.assert_array_equal(found.array, array)
        assert found.facts.frames == 1

    def test_frames(self, tmp_path):
        path = write(tmp_path, "x.webp", encode(COLOURS, "WEBP", lossless=True, duration=40))
        for k in (0, 2, 1):
            np.testing.assert_array_equal(load(path, frame=k).array, COLOURS[k])
        assert survey(path).frames == load(path).facts.frames == 3
        np.testing.assert_allclose(load(path, project="mean").array, COLOURS.mean(axis=0), rtol=1e-6)

    def test_orientation(self, tmp_path):
        exif = Image.Exif()
        exif[274] = 6
        path = write(tmp_path, "x.webp", encode(COLOURS[:1], "WEBP", lossless=True, exif=exif.tobytes()))
        found = load(path)
        np.testing.assert_array_equal(found.array, np.rot90(COLOURS[0], -1))
        assert found.origin["steps"] == [{"step": "upright", "orientation": 6}]

    @pytest.mark.parametrize("frames", [1, 3])
    def test_every_cut_is_found(self, tmp_path, frames, capfd):
        content = encode(COLOURS[:frames], "WEBP", lossless=True)
        for length in range(12, len(content) - 1, 23):
            with pytest.raises(InputError, match="is cut short: .* bytes are missing"):
                load(write(tmp_path, "x.webp", content[:length]))
        assert capfd.readouterr() == ("", "")

    def test_a_canvas_beyond_its_data(self, tmp_path):
        content = bytearray(encode(COLOURS, "WEBP", lossless=True))
        assert content[12:16] == b"VP8X"
        content[24:30] = struct.pack("<I", 20_000)[:3] + struct.pack("<I", 16_000)[:3]
        with pytest.raises(InputError, match="cut short: .* bytes cannot hold 320,036,001 pixels"):
            load(write(tmp_path, "x.webp", content))
        content[24:30] = b"\xff" * 6
        with pytest.raises(InputError, match="is a damaged WebP file"):
            load(write(tmp_path, "x.webp", content))
        with pytest.raises(InputError, match="over the limit of 100"):
            load(write(tmp_path, "x.webp", encode(COLOURS, "WEBP", lossless=True)), limit=100)


def make_dicom(path, array, meaning="MONOCHROME2", frames=1, compress=False, **tags):
    """A DICOM file by pydicom."""
    pydicom = pytest.importorskip("pydicom")
    head = pydicom.Dataset()
    head.file_meta = pydicom.dataset.FileMetaDataset()
    head.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    head.file_meta.MediaStorageSOPClassUID = head.SOPClassUID = pydicom.uid.SecondaryCaptureImageStorage
    head.file_meta.MediaStorageSOPInstanceUID = head.SOPInstanceUID = "1.2.3"
    shape = array.shape[1:] if frames > 1 else array.shape
    head.Rows, head.Columns = shape[:2]
    head.SamplesPerPixel = shape[2] if len(shape) == 3 else 1
    if len(shape) == 3:
        head.PlanarConfiguration = 0
    head.PhotometricInterpretation = meaning
    head.BitsAllocated = head.BitsStored = array.itemsize * 8
    head.HighBit, head.PixelRepresentation = head.BitsStored - 1, int(array.dtype.kind == "i")
    head.PixelData = array.tobytes()
    if frames > 1:
        head.NumberOfFrames = frames
    for name, value in tags.items():
        setattr(head, name, value)
    if compress:
        head.compress(pydicom.uid.RLELossless)
    head.save_as(path, enforce_file_format=True)
    return path


class TestDicom:
    @pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16"])
    @pytest.mark.parametrize("compress", [False, True])
    def test_gray_frames(self, tmp_path, dtype, compress):
        info = np.iinfo(dtype)
        array = np.random.default_rng(3).integers(info.min, info.max, (4, 10, 12), dtype)
        path = make_dicom(tmp_path / "x.dcm", array, frames=4, compress=compress, PixelSpacing=[0.5, 0.25])
        for k in (3, 0, 1):
            found = load(path, frame=k)
            assert (found.array.dtype, found.origin["steps"]) == (dtype, [])
            np.testing.assert_array_equal(found.array, array[k])
        assert (found.facts.frames, found.facts.pixel) == (4, Pixel(0.5, 0.25, "mm"))
        np.testing.assert_array_equal(load(path, project="max").array, array.max(axis=0))
        said = survey(path)
        assert said.frames == 4 and ("size", f"12 × 10, {dtype}") in said.facts
        assert ("pixel", "0.25 × 0.5 mm") in said.facts and said.facts[2][1].startswith("MONOCHROME2")

    def test_scaled(self, tmp_path):
        array = np.random.default_rng(3).integers(0, 4096, (10, 12), np.uint16)
        path = make_dicom(tmp_path / "x.dcm", array, RescaleSlope=2, RescaleIntercept=-1024)
        found = load(path)
        assert found.array.dtype == np.float32
        np.testing.assert_array_equal(found.array, 2 * array.astype(float) - 1024)
        assert found.origin["steps"] == [{"step": "rescale", "slope": 2.0, "intercept": -1024.0}]
        assert np.array_equal(from_origin(found.origin).array, found.array)
        make_dicom(path, array, RescaleSlope=1, RescaleIntercept=0)
        assert load(path).array.dtype == np.uint16 and load(path).origin["steps"] == []

    def test_white_is_zero(self, tmp_path):
        array = np.random.default_rng(3).integers(0, 256, (10, 12), np.uint8)
        found = load(make_dicom(tmp_path / "x.dcm", array, "MONOCHROME1"))
        np.testing.assert_array_equal(found.array, 255 - array)
        assert found.origin["steps"] == [{"step": "white is zero"}]
        scaled = load(make_dicom(tmp_path / "x.dcm", array, "MONOCHROME1", RescaleSlope=3, RescaleIntercept=0))
        np.testing.assert_array_equal(scaled.array, array * 3.0)

    def test_colour(self, tmp_path):
        array = np.random.default_rng(3).integers(0, 256, (10, 12, 3), np.uint8)
        np.testing.assert_array_equal(load(make_dicom(tmp_path / "x.dcm", array, "RGB")).array, array)
        gray = np.repeat(array[..., :1], 3, axis=2)
        gray[..., 1:] = 128  # no difference of colour
        found = load(make_dicom(tmp_path / "x.dcm", gray, "YBR_FULL"))
        np.testing.assert_array_equal(found.array, np.repeat(array[..., :1], 3, axis=2))
        assert found.origin["steps"] == [{"step": "ycbcr"}]

    def test_palette(self, tmp_path):
        array = np.random.default_rng(3).integers(0, 256, (10, 12), np.uint8)
        tables = np.random.default_rng(4).integers(0, 65536, (3, 256), np.uint16)
        colours = ("Red", "Green", "Blue")
        tags = {f"{colour}PaletteColorLookupTableDescriptor": [256, 0, 16] for colour in colours}
        tags |= {f"{c}PaletteColorLookupTableData": table.tobytes() for c, table in zip(colours, tables, strict=True)}
        found = load(make_dicom(tmp_path / "x.dcm", array, "PALETTE COLOR", **tags))
        np.testing.assert_array_equal(found.array, tables.T[array])
        assert found.origin["steps"] == [{"step": "palette"}]

    def test_what_cannot_be_shown_is_said(self, tmp_path):
        array = np.zeros((10, 12), np.uint16)
        path = make_dicom(tmp_path / "x.dcm", array, "SOMETHING")
        with pytest.raises(InputError, match="1 samples per pixel that mean 'SOMETHING', which cannot be converted"):
            load(path)
        make_dicom(path, array, Rows=0)
        with pytest.raises(InputError, match="holds no image, as DICOM reports and plans do"):
            load(path)
        make_dicom(path, array, Rows=60_000, Columns=60_000)
        with pytest.raises(InputError, match="over the limit"):
            load(path)
        make_dicom(path, array, Rows=6000)
        with pytest.raises(InputError, match=r"is cut short: it has [\d,]+ bytes, its picture alone 144,000"):
            load(path)

    def test_the_library_that_is_missing_is_named(self, tmp_path):
        write(tmp_path, "x.dcm", bytes(128) + b"DICM" + bytes(40))
        code = (
            "import sys; sys.modules['pydicom'] = None\nfrom gpu_ops.io import decoder_process, load\n"
            "decoder_process.here = True\n"
            "try: load('x.dcm')\nexcept Exception as error: print(type(error).__name__, error)"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        expected = "InputError x.dcm is DICOM, which needs the library pydicom; install kernelscope[formats]."
        assert done.stdout.strip() == expected
