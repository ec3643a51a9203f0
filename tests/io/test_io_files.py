"""Files: NPY and WAV, wrong names and contents, whole-or-nothing writing."""

import contextlib
import hashlib
import os
import pickle
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import soundfile

from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.io import convert, from_array, from_origin, load, require_regular, save
from gpu_ops.io.formats import BY_SUFFIX
from gpu_ops.io.inputs import MOST_CHANNELS


def write(tmp_path, content, name):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def npy(tmp_path, array, **options):
    path = tmp_path / "x.npy"
    np.save(path, array, **options)
    return path


def raw_npy(tmp_path, header, data=b""):
    header = header.encode()
    return write(tmp_path, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data, "x.npy")


def refused(path, pattern, **options):
    """The one sentence, which starts with the file's name and is no library's."""
    with pytest.raises(InputError, match=pattern) as error:
        load(path, **options)
    message = str(error.value)
    assert message.startswith(str(path)) and message.endswith(".") and "\n" not in message
    return message


class TestNpy:
    @pytest.mark.parametrize("dtype", ["u1", "<u2", ">u2", "<i4", ">i8", "<f2", "<f4", ">f4", "<f8", ">f8", "<u8"])
    def test_real_types(self, tmp_path, dtype):
        array = np.arange(24).reshape(2, 3, 4).astype(dtype)[0, 0]
        found = load(npy(tmp_path, array)).array
        assert found.dtype == np.dtype(dtype).newbyteorder("=") and found.dtype.isnative
        np.testing.assert_array_equal(found, array)

    @pytest.mark.parametrize(
        ("shape", "kind", "axes"),
        [((5,), "signal", "t"), ((4, 6), "image", "yx"), ((4, 6, 1), "image", "yxc"), ((4, 6, 3), "image", "yxc"),
         ((4, 6, 4), "image", "yxc")],
    )  # fmt: skip
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_shapes(self, tmp_path, shape, kind, axes, order):
        array = np.asarray(np.arange(np.prod(shape), dtype=np.float32).reshape(shape), order=order)
        found = load(npy(tmp_path, array))
        assert (found.kind, found.axes, found.name) == (kind, axes, "x.npy")
        assert found.array.flags.c_contiguous
        np.testing.assert_array_equal(found.array, array)

    def test_kind_overrules_the_shape(self, tmp_path):
        assert load(npy(tmp_path, np.zeros((9, 2))), kind="signal").axes == "tc"
        refused(npy(tmp_path, np.zeros(9)), r"shape \(9,\), but an image is .*; use it as kind signal", kind="image")
        refused(npy(tmp_path, np.zeros((2, 9, 3))), "a signal is .*; use it as kind image", kind="signal")

    def test_true_is_white(self, tmp_path):
        found = load(npy(tmp_path, np.eye(3, dtype=bool))).array
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, np.eye(3) * 255)

    @pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
    def test_versions(self, tmp_path, version):
        with open(tmp_path / "x.npy", "wb") as file:
            np.lib.format.write_array(file, np.arange(5.0), version=version)
        np.testing.assert_array_equal(load(tmp_path / "x.npy").array, np.arange(5.0))

    def test_limit(self, tmp_path):
        path = npy(tmp_path, np.zeros((3, 4, 3), np.uint8))
        assert load(path, limit=36).array.size == 36
        refused(path, "holds 36 values, over the limit of 35; add --limit 36", limit=35)

    def test_huge_header_is_refused_before_anything_is_allocated(self, tmp_path):
        path = raw_npy(tmp_path, "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}")
        refused(path, "1,000,000,000,000 values, over the limit")
        refused(path, "is cut short: it holds 0 of 8,000,000,000,000 bytes", limit=10**13)

    def test_cut_anywhere(self, tmp_path):
        path = npy(tmp_path, np.arange(10.0))
        content = path.read_bytes()
        for length in range(6, len(content), 3):
            path.write_bytes(content[:length])
            refused(path, "is cut short" if length >= 128 else "is cut short|damaged NPY header")

    def test_never_unpickles(self, tmp_path):
        class Bomb:
            def __reduce__(self):
                return os.mkdir, (str(tmp_path / "unpickled"),)

        path = npy(tmp_path, np.array([Bomb(), None], dtype=object), allow_pickle=True)
        refused(path, "holds pickled Python objects; only real numbers")
        refused(write(tmp_path, pickle.dumps(Bomb()), "y.npy"), "holds binary data, not a NumPy array")
        assert not (tmp_path / "unpickled").exists()

    @pytest.mark.parametrize("dtype", ["c8", "S3", "U2", "M8[s]", [("a", "f4")]])
    def test_other_types(self, tmp_path, dtype):
        refused(npy(tmp_path, np.zeros(3, dtype)), "holds values of type .*; only real numbers can be read")

    @pytest.mark.parametrize(
        "header",
        ["", "{", "[]", "{'descr': '<f8'}", "{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}", "(" * 5000,
         "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "{'descr': 'f8', 'fortran_order': 2, 'shape': ()}",
         "{'descr': '<f8', 'fortran_order': False, 'shape': 3}", "\\d", "x" * 20_000, "print('x')"],
    )  # fmt: skip
    def test_bad_headers(self, tmp_path, header):
        refused(raw_npy(tmp_path, header, b"\0" * 64), "damaged NPY header; save the array again")

    @pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4, 3)])
    def test_empty(self, tmp_path, shape):
        refused(npy(tmp_path, np.zeros(shape)), "is empty, shape")

    def test_no_axes_and_too_many(self, tmp_path):
        refused(npy(tmp_path, np.float64(3)), "single number without axes")

    @pytest.mark.parametrize(
        "shape, kind",
        [
            ((8, 6, 7), "signal"),
            ((4, 6, 2), "image"),
            ((2, 2, 2, 3), "signal"),
            ((2, 2, 2, 2), None),
            ((1,) * 64, None),
        ],
    )
    def test_arrays_of_other_axes_are_refused_before_they_are_read(self, tmp_path, shape, kind):
        path = npy(tmp_path, np.zeros(shape, np.uint8))
        os.truncate(path, path.stat().st_size - np.zeros(shape, np.uint8).size)  # its data is gone
        message = refused(path, f" has {len(shape)} axes, shape .{shape[0]}, {shape[1]}, ", kind=kind)
        assert "save a part of it, or choose another kind" in message
        assert len(message) < len(str(path)) + 260

    @pytest.mark.parametrize("shape", [(1,) * 65, (0, 2**62), (0,) * 65, (2**62, 0)])
    def test_axes_beyond_any_array(self, tmp_path, shape):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}"
        refused(raw_npy(tmp_path, header, b"\0" * 8), " has 65 axes" if 1 in shape else "is empty, shape")

    @pytest.mark.parametrize("sides", [(2**63,), (10**4000,) * 2, (2**62, 2**62), (2**62, 2**62, 3)])
    def test_sizes_beyond_the_machine(self, tmp_path, sides):
        path = raw_npy(tmp_path, f"{{'descr': '<f8', 'fortran_order': False, 'shape': {sides}}}", b"\0" * 64)
        refused(path, "damaged NPY header|values, over the limit")
        refused(path, "damaged NPY header|is cut short", limit=2**200)

    @pytest.mark.parametrize("descr", ["'a\\nb'", "'<f8\\x1b[31m'", f"'{'x' * 3000}'", "'\\u202e'", "'<f16'"])
    def test_a_type_is_quoted_short_and_plain(self, tmp_path, descr):
        path = raw_npy(tmp_path, f"{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}", b"\0" * 16)
        message = refused(path, "holds values of type" if descr == "'<f16'" else "damaged NPY header")
        assert message.isprintable() and len(message) < len(str(path)) + 150

    def test_a_careless_header_warns_nobody(self, tmp_path, recwarn, capfd):
        refused(raw_npy(tmp_path, r"{'descr': '\d', 'fortran_order': 1or 2, 'shape': (1,)}"), "damaged NPY header")
        assert not recwarn.list and capfd.readouterr().err == ""

    def test_too_many_channels(self, tmp_path):
        assert load(npy(tmp_path, np.zeros((3, MOST_CHANNELS))), kind="signal").axes == "tc"
        path = npy(tmp_path, np.zeros((3, MOST_CHANNELS + 1)))
        assert load(path).kind == "image"
        refused(path, r"has 257 channels, and a signal \(N, C\) has at most 256; save fewer", kind="signal")

    @pytest.mark.parametrize("array", [np.zeros((2, 3, 4, 5)), np.zeros(3, complex), np.arange(4, dtype=">i2")])
    def test_save_keeps_any_numbers(self, tmp_path, array):
        save(tmp_path / "x.npy", array)
        found = np.load(tmp_path / "x.npy")
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)

    def test_save_refuses_objects(self, tmp_path):
        with pytest.raises(InputError, match="cannot hold Python objects"):
            save(tmp_path / "x.npy", np.array([None]))


class TestNonfinite:
    def test_refuse_counts_and_places(self, tmp_path):
        array = np.zeros((3, 4), np.float32)
        array[1, 2], array[2, 0], array[2, 1] = np.nan, np.inf, -np.inf
        message = refused(npy(tmp_path, array), "holds 1 NaN and 2 infinite values, the first at index \\(1, 2\\)")
        assert "--nonfinite keep" in message and "--nonfinite zero" in message
        refused(write(tmp_path, b"1\nnan\n", "x.txt"), "1 NaN and 0 infinite values, the first at index 1;")

    def test_keep(self, tmp_path):
        found = load(npy(tmp_path, np.array([1.0, np.nan])), nonfinite="keep")
        assert not found.finite and not found.meta.finite and np.isnan(found.array[1])
        assert found.origin["steps"] == [{"step": "nonfinite", "rule": "keep", "nan": 1, "infinite": 0}]

    def test_zero(self, tmp_path):
        found = load(npy(tmp_path, np.array([1, -np.inf, np.nan], np.float32)), nonfinite="zero")
        assert found.finite and found.array.tolist() == [1, 0, 0] and found.array.dtype == np.float32
        assert found.origin["steps"] == [{"step": "nonfinite", "rule": "zero", "nan": 1, "infinite": 1}]

    def test_finite_files_record_nothing(self, tmp_path):
        assert load(npy(tmp_path, np.ones(3)), nonfinite="zero").origin["steps"] == []


class TestWav:
    @pytest.mark.parametrize(
        ("subtype", "dtype"),
        [("PCM_U8", "float32"), ("PCM_16", "float32"), ("ULAW", "float32"), ("FLOAT", "float32"),
         ("PCM_24", "float64"), ("PCM_32", "float64"), ("DOUBLE", "float64")],
    )  # fmt: skip
    @pytest.mark.parametrize("shape", [(50,), (50, 2), (50, 5)])
    def test_encodings(self, tmp_path, subtype, dtype, shape):
        array = np.round(np.random.default_rng(1).uniform(-0.9, 0.9, shape) * 64) / 64
        soundfile.write(tmp_path / "x.wav", array, 8000, subtype)
        found = load(tmp_path / "x.wav")
        assert (found.kind, found.rate, found.array.dtype, found.array.shape) == ("signal", 8000.0, dtype, shape)
        assert found.axes == ("t" if len(shape) == 1 else "tc")
        np.testing.assert_allclose(found.array, array, atol=0.02 if subtype == "ULAW" else 0)

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("shape", [(9,), (9, 3)])
    def test_round_trip(self, tmp_path, dtype, shape):
        array = np.random.default_rng(2).standard_normal(shape).astype(dtype) * 5
        save(tmp_path / "x.wav", array, rate=360)
        found = load(tmp_path / "x.wav")
        assert (found.rate, found.array.dtype) == (360.0, dtype)
        np.testing.assert_array_equal(found.array, array)

    def test_default_rate(self, tmp_path):
        save(tmp_path / "x.wav", np.zeros(4, np.float32))
        assert load(tmp_path / "x.wav").rate == 44100.0

    def test_is_no_image(self, tmp_path):
        soundfile.write(tmp_path / "x.wav", np.zeros((50, 2)), 8000)
        refused(tmp_path / "x.wav", "holds sound, which is a signal and no image; leave the kind out", kind="image")

    def test_limit_counts_all_channels(self, tmp_path):
        soundfile.write(tmp_path / "x.wav", np.zeros((50, 2)), 8000)
        assert load(tmp_path / "x.wav", limit=100).array.size == 100
        refused(tmp_path / "x.wav", "holds 100 values, over the limit of 99", limit=99)

    def test_cut_anywhere(self, tmp_path):
        path = tmp_path / "x.wav"
        soundfile.write(path, np.zeros(50), 8000, "FLOAT")
        content = path.read_bytes()
        for length in range(12, len(content), 5):
            path.write_bytes(content[:length])
            refused(path, "is cut short")

    def test_damaged(self, tmp_path):
        path = tmp_path / "x.wav"
        soundfile.write(path, np.zeros(50), 8000)
        content = bytearray(path.read_bytes())
        content[20:22] = b"\xaa\xaa"  # the encoding
        path.write_bytes(content)
        refused(path, "damaged or unusual WAV file")

    def test_no_samples(self, tmp_path):
        soundfile.write(tmp_path / "x.wav", np.zeros(0), 8000)
        refused(tmp_path / "x.wav", "is empty")

    def test_many_channels(self, tmp_path):
        path = tmp_path / "x.wav"
        soundfile.write(path, np.zeros((2, 256)), 8000)
        assert load(path).array.shape == (2, 256)
        soundfile.write(path, np.zeros((2, 257)), 8000)
        refused(path, r"has 257 channels, and a signal \(N, C\) has at most 256; save fewer of them")
        os.truncate(path, path.stat().st_size - 1)
        with open(path, "r+b") as file:  # as long as it says, and nothing is made of it
            file.seek(40)
            file.write(struct.pack("<I", 2**32 - 1))
        refused(path, "has 257 channels")

    def test_chunks_without_end(self, tmp_path):
        chunks = b"LIST\0\0\0\0" * 100_000
        path = write(tmp_path, b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks, "x.wav")
        refused(path, "has more than 1000 chunks before its sound")

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("shape", [(7,), (7, 1), (7, 3), (7, 256)])
    def test_another_reader_hears_the_same(self, tmp_path, shape, dtype):
        array = np.random.default_rng(3).standard_normal(shape).astype(dtype)
        save(tmp_path / "x.wav", array[::-1], rate=48000)
        with soundfile.SoundFile(tmp_path / "x.wav") as file:
            assert (file.samplerate, file.frames, file.format) == (48000, 7, "WAV")
            assert (file.channels, file.subtype) == (array[0].size, {"float32": "FLOAT", "float64": "DOUBLE"}[dtype])
            np.testing.assert_array_equal(file.read(dtype=dtype), array[::-1].squeeze())

    @pytest.mark.parametrize(
        ("array", "rate", "pattern"),
        [(np.zeros(3, np.int16), None, "cannot hold int16; convert to float32 or float64"),
         (np.zeros((2, 2, 2)), None, r"a WAV file is \(N,\) or \(N, C\)"),
         (np.zeros(3), 0.5, "a WAV file takes whole hertz"), (np.zeros(3), 0, "whole hertz"),
         (np.zeros(3), float("nan"), "whole hertz"), (np.zeros((2, 5000)), None, "cannot hold 5,000 channels")],
    )  # fmt: skip
    def test_save_refuses(self, tmp_path, array, rate, pattern):
        with pytest.raises(InputError, match=pattern):
            save(tmp_path / "x.wav", array, rate=rate)
        assert list(tmp_path.iterdir()) == []


class TestNames:
    def test_missing(self, tmp_path):
        refused(tmp_path / "none.png", "does not exist; check the name")

    def test_folder(self, tmp_path):
        (tmp_path / "x.png").mkdir()
        refused(tmp_path / "x.png", "is a folder without images; name a file in it")

    @pytest.mark.parametrize("suffix", BY_SUFFIX)
    def test_empty(self, tmp_path, suffix):
        refused(write(tmp_path, b"", f"x{suffix}"), "is empty, 0 bytes")

    @pytest.mark.parametrize("suffix", BY_SUFFIX)
    def test_only_regular_files(self, tmp_path, suffix):
        path = tmp_path / f"x{suffix}"
        os.mkfifo(path)
        refused(path, "is a pipe, and an input must be a file; save its content to a file first")
        path.unlink()
        path.symlink_to("/dev/zero")
        refused(path, "is a device, and an input must be a file")
        path.unlink()
        with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(tmp_path):  # its name must be short
            server.bind(path.name)
        refused(path, "is a socket, and an input must be a file")

    def test_a_link_to_a_regular_file(self, tmp_path):
        write(tmp_path, b"1\n", "x.txt")
        (tmp_path / "y.txt").symlink_to("x.txt")
        require_regular(tmp_path / "y.txt", "a kernel")
        with pytest.raises(InputError, match="is a device, and a kernel must be a file"):
            require_regular(Path("/dev/null"), "a kernel")
        with pytest.raises(InputError, match=r"^x\\x00y is no file name"):
            require_regular(Path("x\0y"), "a kernel")

    def test_what_the_system_refuses(self, tmp_path):
        with pytest.raises(InputError, match=r"…x*\.png cannot be read .File name too long."):
            load(tmp_path / ("x" * 300 + ".png"))
        with pytest.raises(InputError, match="null character"):
            load("x\0.png")

    def test_no_permission(self, tmp_path, monkeypatch):
        path = write(tmp_path, b"1\n", "x.txt")

        def deny(*arguments, **options):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", deny)
        with pytest.raises(InputError, match=r"cannot be read .Permission denied.; check its name and permissions"):
            load(path)

    def test_unknown_ending(self, tmp_path):
        message = refused(write(tmp_path, b"1\n2\n", "x.abc"), "unknown file type '.abc'")
        assert all(suffix in message for suffix in BY_SUFFIX) and "it holds text: rename it to end in .txt" in message
        refused(write(tmp_path, b"ID3\3....", "x.abc"), "unknown file type '.abc'.*convert it to one of these")
        refused(write(tmp_path, b"1\n", "x"), "unknown file type ''")

    @pytest.mark.parametrize(
        ("name", "content", "pattern"),
        [("x.jpg", b"\x89PNG\r\n\x1a\n", "holds a PNG image, not a JPEG image .*rename it to end in .png"),
         ("x.png", b"\xff\xd8\xff\xe0", "holds a JPEG image, not a PNG image .*rename it to end in .jpg"),
         ("x.npy", b"1\n2\n", "holds text, not a NumPy array .*rename it to end in .txt"),
         ("x.txt", b"\x93NUMPY\1\0", "holds a NumPy array, not text .*rename it to end in .npy"),
         ("x.txt", b"RIFF\0\0\0\0WAVE", "holds WAV sound, not text .*rename it to end in .wav"),
         ("x.wav", b"RIFF\0\0\0\0AVI ", "holds a video, not WAV sound .*rename it to end in .mp4"),
         ("x.npy", b"PK\x03\x04", "holds a ZIP archive .*, not a NumPy array .*convert it to a NumPy array first"),
         ("x.png", b"GIF89a", "holds a GIF image, not a PNG image .*rename it to end in .gif"),
         ("x.jpg", b"II*\0", "holds a TIFF image, not a JPEG image .*rename it to end in .tif"),
         ("x.tif", b"RIFF\0\0\0\0WEBP", "holds a WebP image, not a TIFF image .*rename it to end in .webp"),
         ("x.gif", b"\0" * 128 + b"DICM", "holds a DICOM image, not a GIF image .*rename it to end in .dcm"),
         ("x.tiff", b"\x1f\x8b\0", "holds a gzip archive, not a TIFF image .*convert it to a TIFF image first"),
         ("x.csv", b"\xff\xfe1\0\n\0", "holds UTF-16 text, not text .*convert it to text first"),
         ("x.dat", b"1\n\0\0", "holds binary data, not text")],
    )  # fmt: skip
    def test_wrong_ending(self, tmp_path, name, content, pattern):
        refused(write(tmp_path, content, name), pattern)

    def test_arguments(self, tmp_path):
        path = write(tmp_path, b"1\n", "x.txt")
        with pytest.raises(ParamError, match="kind must be one of image, signal, stack, not 'sound'"):
            load(path, kind="sound")
        with pytest.raises(ParamError, match="nonfinite must be one of refuse, keep, zero, not 'drop'"):
            load(path, nonfinite="drop")
        with pytest.raises(ParamError, match="limit must be an integer of at least 1, not 0"):
            load(path, limit=0)

    @pytest.mark.skipif(sys.platform != "linux", reason="names are any bytes there alone")
    @pytest.mark.parametrize("suffix", [".png", ".tif", ".npy", ".wav", ".txt"])
    def test_a_name_that_is_no_utf8(self, tmp_path, suffix):
        path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9" + suffix.encode())
        array = np.arange(6, dtype=np.uint8).reshape(2, 3) if suffix in (".png", ".tif") else np.arange(6.0)
        save(path, array)
        found = load(path)
        np.testing.assert_array_equal(found.array, array)
        assert found.name == f"caf\\udce9{suffix}" and found.origin["path"] == path
        np.testing.assert_array_equal(from_origin(found.origin).array, array)
        with pytest.raises(InputError, match=r"caf\\udce9.* exists already") as error:
            save(path, array, overwrite=False)
        str(error.value).encode()

    def test_a_name_with_line_breaks(self, tmp_path):
        path = write(tmp_path, b"nan\n", "a\nb\x1b[2J\u202e.txt")
        with pytest.raises(InputError, match=r"a\\nb\\x1b\[2J\\u202e.txt holds 1 NaN") as error:
            load(path)
        assert str(error.value).isprintable()
        assert load(path, nonfinite="keep").name == r"a\nb\x1b[2J\u202e.txt"

    def test_relative_and_accented_names(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        save("größe 1.WAV", np.zeros(3, np.float32))
        found = load("größe 1.WAV")
        assert (found.name, found.origin["path"]) == ("größe 1.WAV", "größe 1.WAV")


class TestOrigin:
    def test_of_a_file(self, tmp_path):
        path = npy(tmp_path, np.arange(6.0).reshape(3, 2))
        found = load(path, kind="signal")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert found.origin == {"path": str(path), "hash": digest, "kind": "signal", "steps": []}
        assert from_origin(found.origin).axes == "tc"

    def test_with_a_rule(self, tmp_path):
        path = write(tmp_path, b"1\ninf\n", "x.txt")
        for rule in ("keep", "zero"):
            found = load(path, nonfinite=rule)
            again = from_origin(found.origin)
            assert again.origin == found.origin and again.finite == found.finite
            np.testing.assert_array_equal(again.array, found.array)

    def test_changed_file(self, tmp_path):
        found = load(write(tmp_path, b"1\n2\n", "x.txt"))
        write(tmp_path, b"1\n3\n", "x.txt")
        with pytest.raises(InputError, match="has changed since; bring the old file back or load it again"):
            from_origin(found.origin)

    def test_limit_is_passed_on(self, tmp_path):
        found = load(write(tmp_path, b"1\n2\n", "x.txt"))
        with pytest.raises(InputError, match="over the limit of 1"):
            from_origin(found.origin, limit=1)


class TestWhole:
    """A file appears whole or not at all."""

    @pytest.fixture
    def old(self, tmp_path):
        return write(tmp_path, b"old", "x.txt")

    def check_untouched(self, old):
        assert old.read_bytes() == b"old" and list(old.parent.iterdir()) == [old]

    def test_replaces(self, old):
        save(old, np.array([1.0]))
        assert old.read_text() == "1.0000000000000000\n" and list(old.parent.iterdir()) == [old]

    def test_overwrite_must_be_allowed(self, old):
        with pytest.raises(InputError, match="exists already; choose another name"):
            save(old, np.array([1.0]), overwrite=False)
        self.check_untouched(old)

    def test_error_while_writing(self, old):
        with pytest.raises(InputError, match="text takes real numbers"):
            save(old, np.zeros((2, 2)))
        self.check_untouched(old)

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
    def test_error_at_the_end(self, old, monkeypatch, error):
        def fail(*arguments):
            raise error

        monkeypatch.setattr(os, "fsync", fail)
        sentence = {
            OSError: "cannot be written (No space left on device); free some space, or choose another folder",
            MemoryError: "does not fit in memory; save a smaller array",
        }.get(type(error))
        with pytest.raises(InputError if sentence else type(error)) as raised:
            save(old, np.array([1.0]))
        assert sentence is None or sentence in str(raised.value)
        self.check_untouched(old)

    @pytest.mark.parametrize("suffix", [".png", ".tif", ".npy", ".wav", ".txt"])
    def test_a_full_disk(self, tmp_path, suffix, capfd):
        """A limit of the system's on the size of files fails like a full disk, in the middle of writing."""
        resource = pytest.importorskip("resource")
        random = np.random.default_rng(4)
        array = random.integers(0, 255, (300, 300), np.uint8) if suffix in (".png", ".tif") else random.random(40_000)
        old = write(tmp_path, b"old", f"x{suffix}")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
        try:
            with pytest.raises(InputError) as raised:
                save(old, array)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert str(raised.value).endswith(
            "cannot be written (File too large); free some space, or choose another folder."
        )
        self.check_untouched(old)
        assert capfd.readouterr().err == ""

    def test_link_stays_a_link(self, old):
        link = old.with_name("link.txt")
        link.symlink_to(old)
        save(link, np.array([2.0]))
        assert link.is_symlink() and old.read_text() == "2.0000000000000000\n"

    def test_new_file_has_usual_permissions(self, old, tmp_path):
        save(tmp_path / "new.txt", np.array([1.0]))
        assert (tmp_path / "new.txt").stat().st_mode == old.stat().st_mode

    @pytest.mark.parametrize("name", ["none/x.npy", "x.txt/y.npy"])
    def test_no_such_folder(self, old, name):
        with pytest.raises(InputError, match=r"cannot be written .*choose a folder you may write to"):
            save(old.parent / name, np.zeros(3))
        self.check_untouched(old)

    def test_folder_and_device_are_refused(self, tmp_path):
        (tmp_path / "x.npy").mkdir()
        os.mkfifo(tmp_path / "pipe.npy")
        for name in ("x.npy", "pipe.npy"):
            with pytest.raises(InputError, match="is a folder or device"):
                save(tmp_path / name, np.zeros(3))

    @pytest.mark.parametrize("suffix", [".png", ".tif", ".npy", ".wav", ".txt"])
    def test_empty_array(self, tmp_path, suffix):
        with pytest.raises(InputError, match="would be empty"):
            save(tmp_path / f"x{suffix}", np.zeros(0, np.float32))


class TestMemory:
    """NumPy's own error, wherever it comes from, is a sentence."""

    @pytest.fixture(autouse=True)
    def none_left(self, monkeypatch):
        def fail(*arguments, **options):
            raise np._core._exceptions._ArrayMemoryError((2**40,), np.dtype("f8"))

        self.take = lambda name: monkeypatch.setattr(np, name, fail)

    @pytest.mark.parametrize("name", ["empty", "isfinite", "ascontiguousarray"])
    def test_load(self, tmp_path, name):
        path = npy(tmp_path, np.zeros(3))
        self.take(name)
        refused(path, "does not fit in memory; load a smaller file")

    def test_threads(self, tmp_path, monkeypatch):
        path = write(tmp_path, b"1\n", "x.txt")
        for sentence, expected, found in (
            ("can't start new thread", InputError, "does not fit in memory; load a smaller file"),
            ("another mistake", RuntimeError, "another mistake"),
        ):

            def fail(*arguments, sentence=sentence):
                raise RuntimeError(sentence)

            monkeypatch.setattr(threading.Thread, "start", fail)
            with pytest.raises(expected, match=found):
                load(path)

    def test_arrays(self):
        self.take("isfinite")
        with pytest.raises(InputError, match="array does not fit in memory; use a smaller array"):
            from_array(np.zeros(3))

    def test_convert(self, monkeypatch):
        given = from_array(np.zeros(3))
        self.take("errstate")
        with pytest.raises(InputError, match="array as float32 does not fit in memory; use a smaller input, or a type"):
            convert(given, "float32")

    def test_save(self, tmp_path):
        self.take("ascontiguousarray")
        with pytest.raises(InputError, match="does not fit in memory; save a smaller array"):
            save(tmp_path / "x.txt", np.zeros(3))
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [("größe", 9, "größe"), ("a\nb\x1b\u202e\udce9", 99, r"a\nb\x1b\u202e\udce9"), ("x" * 9, 9, "x" * 9),
     ("0123456789", 9, "0123…6789"), ("a" * 10**6 + "z", 4, "a…az"), ("\n" * 50, 7, r"\n\…n\n"), ((1, 2), 9, "(1, 2)")],
)  # fmt: skip
def test_text_from_outside_is_shown_short_and_plain(text, most, shown):
    assert plain(text, most) == shown and len(shown) <= most


def test_importing_loads_no_decoder():
    code = (
        "import sys, gpu_ops.io; print([m for m in ('numba', 'scipy', 'cv2', 'pywt', 'imageio', 'soundfile') "
        "if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
