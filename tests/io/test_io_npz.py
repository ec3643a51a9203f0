"""NPZ archives: one array of many, in its own type, and false headers that are refused before anything is
decompressed."""

import io
import struct
import zipfile

import numpy as np
import pytest

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import from_origin, load, survey

ARRAYS = {"before": np.arange(12.0).reshape(3, 4), "after": np.arange(9, dtype=">i2"), "one": np.float64(3)}


@pytest.fixture(params=[np.savez, np.savez_compressed])
def archive(request, tmp_path):
    request.param(tmp_path / "x.npz", **ARRAYS)
    return tmp_path / "x.npz"


def refused(path, words, **choices):
    with pytest.raises((InputError, ParamError), match=words) as error:
        load(path, **choices)
    assert str(error.value).isprintable()


def header(shape, descr="<f8"):
    np.lib.format.write_array_header_1_0(
        file := io.BytesIO(), {"descr": descr, "fortran_order": False, "shape": shape}
    )  # fmt: skip
    return file.getvalue()


def test_a_member_is_chosen(archive):
    refused(archive, "holds 3 arrays: before, after, one; add --member=before")
    found = load(archive, member="before")
    assert np.array_equal(found.array, ARRAYS["before"]) and found.kind == "image"
    again = from_origin(found.origin)
    assert np.array_equal(again.array, found.array)
    after = load(archive, member="after.npy", rate=10)
    assert after.array.tolist() == list(range(9)) and after.rate == 10
    refused(archive, "has no array 'x'; choose one of before, after, one", member="x")
    refused(archive, "array one is a single number|holds a stack with 0|single number", member="one")


def test_one_array_needs_no_choice(tmp_path):
    values = np.asfortranarray(np.random.default_rng(0).random((4, 5, 3)))
    np.savez_compressed(tmp_path / "x.npz", values)
    assert np.array_equal(load(tmp_path / "x.npz").array, values)
    found = survey(tmp_path / "x.npz")
    assert not found.asks and found.found == {"member": "arr_0"}


def test_a_survey_names_the_arrays(archive):
    found = survey(archive)
    assert found.asks and found.allowed == {"member": ("before", "after", "one")}
    assert found.rows == (("before", "3 × 4", "float64"), ("after", "9", ">i2"), ("one", "one number", "float64"))
    assert not survey(archive, member="after").asks


def test_pickles_are_never_opened(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.array([print, "x"], object), b=np.ones(3))
    refused(tmp_path / "x.npz", "array a holds pickled Python objects", member="a")
    assert load(tmp_path / "x.npz", member="b").array.tolist() == [1, 1, 1]
    assert survey(tmp_path / "x.npz").rows[0] == ("a", "", "cannot be read")


def test_a_bomb_is_refused_by_its_header(tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.npy", header((2**40,)) + bytes(10**6))
    refused(path, f"holds {2**40:,} values, over the limit")
    refused(path, f"asks for {2**43:,} bytes, and the archive has", limit=2**41)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.npy", header((2**17,)) + bytes(2**20))
    refused(path, "over the limit of 100", limit=100)


@pytest.mark.parametrize("size", [0, 8, 2**31 - 1])
def test_a_member_that_lies_about_its_size(tmp_path, size):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a.npy", header((4,)) + bytes(32))
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = struct.pack("<I", size)
    path.write_bytes(data)
    refused(path, "damaged")


def test_damage(archive):
    whole = archive.read_bytes()
    for cut in (40, len(whole) // 2, len(whole) - 3):
        archive.write_bytes(whole[:cut])
        refused(archive, "damaged archive|is damaged", member="before")
    flipped = bytearray(whole)
    flipped[120] ^= 255
    archive.write_bytes(flipped)
    refused(archive, "is damaged", member="before")


def test_more_bytes_than_the_header_says(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as file:
        file.writestr("a.npy", header((4,)) + bytes(40))
    refused(tmp_path / "x.npz", "has 32 of 32 bytes, or more")


def test_other_archives(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as file:
        file.writestr("a.txt", "hello")
    refused(tmp_path / "x.npz", "holds a ZIP archive without NumPy arrays")
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("a.npy", header((4,)) + bytes(32))
    refused(tmp_path / "x.npz", "compressed in a way that NumPy does not use")
