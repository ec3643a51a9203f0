"""HDF5 and Zarr: what is read and written, whole, by frames and by rows, and what is wrong with such files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import load, save
from gpu_ops.io.files import survey
from gpu_ops.io.rows import open_rows, writing_rows

h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
RANDOM = np.random.default_rng(8)
IMAGE = RANDOM.integers(0, 2**16, (700, 530), np.uint16)
COLOURS = RANDOM.integers(0, 256, (600, 17, 3), np.uint8)
STACK = RANDOM.normal(size=(5, 30, 40)).astype(np.float32)
SOUND = RANDOM.normal(size=900).astype(np.float32)
SUFFIXES = pytest.mark.parametrize("suffix", [".h5", ".zarr"])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@SUFFIXES
@pytest.mark.parametrize("array", [IMAGE, COLOURS, STACK[0]], ids=["image", "colours", "floats"])
def test_an_image_comes_back_as_it_was(suffix: str, array: np.ndarray) -> None:
    save(f"x{suffix}", array, note="what it is")
    found = load(f"x{suffix}")
    assert found.kind == "image" and found.array.dtype == array.dtype
    np.testing.assert_array_equal(found.array, array)


@SUFFIXES
def test_a_stack_has_frames(suffix: str) -> None:
    save(f"x{suffix}", STACK)
    assert load(f"x{suffix}").facts.frames == 5
    np.testing.assert_array_equal(load(f"x{suffix}", frame=3).array, STACK[3])
    np.testing.assert_array_equal(load(f"x{suffix}", project="max").array, STACK.max(0))
    with pytest.raises(ParamError, match="5 frames; choose one from 0 to 4, not 5"):
        load(f"x{suffix}", frame=5)
    found = survey(f"x{suffix}")
    assert found.frames == 5 and not found.asks and "5 × 30 × 40" in found.rows[0][1]


def test_a_signal_has_its_rate() -> None:
    save("x.h5", SOUND, rate=8000.0)
    found = load("x.h5")
    assert (found.kind, found.rate) == ("signal", 8000.0)
    np.testing.assert_array_equal(found.array, SOUND)
    assert load("x.h5", rate=50.0).rate == 50.0


def test_the_array_is_chosen_among_several() -> None:
    with h5py.File("x.hdf5", "w") as file:
        file["deep/one"], file["two"], file["words"] = IMAGE, SOUND, "no numbers"
    with pytest.raises(InputError, match="holds 2 arrays: deep/one, two; add --member=deep/one"):
        load("x.hdf5")
    np.testing.assert_array_equal(load("x.hdf5", member="deep/one").array, IMAGE)
    with pytest.raises(ParamError, match="has no array 'three'; choose one of deep/one, two"):
        load("x.hdf5", member="three")
    assert survey("x.hdf5").asks and survey("x.hdf5").allowed["member"] == ("deep/one", "two")


def test_an_ome_zarr_of_five_axes_is_a_stack_of_its_full_resolution() -> None:
    values = RANDOM.integers(0, 99, (2, 2, 3, 20, 30), np.uint8)
    group = zarr.open_group("x.ome.zarr", mode="w", zarr_format=2)
    group.create_array("s0", data=values, chunks=(1, 1, 1, 8, 8))
    group.create_array("s1", data=values[..., ::2, ::2], chunks=(1, 1, 1, 8, 8))
    names = [("t", "time"), ("c", "channel"), ("z", "space"), ("y", "space"), ("x", "space")]
    axes = [{"name": n, "type": t, **({"unit": "micrometer"} if t == "space" else {})} for n, t in names]
    scale = {"type": "scale", "scale": [1.0, 1.0, 2.0, 0.5, 0.25]}
    sets = [{"path": "s0", "coordinateTransformations": [scale]}, {"path": "s1"}]
    group.attrs["multiscales"] = [{"version": "0.4", "axes": axes, "datasets": sets}]
    found = load("x.ome.zarr", frame=7)
    np.testing.assert_array_equal(found.array, values[1, 0, 1])
    assert found.facts.frames == 12
    assert found.facts.pixel is not None and tuple(found.facts.pixel) == (0.5, 0.25, "µm")


def test_what_we_write_is_an_ome_zarr_for_its_own_library() -> None:
    reader = pytest.importorskip("ome_zarr.reader")
    from ome_zarr.io import parse_url

    save("x.zarr", COLOURS)
    (node,) = list(reader.Reader(parse_url("x.zarr"))())
    np.testing.assert_array_equal(np.moveaxis(np.asarray(node.data[0]), 0, -1), COLOURS)
    assert [axis["name"] for axis in node.metadata["axes"]] == ["c", "y", "x"]


@pytest.mark.parametrize("suffix", [".h5", ".zarr"])
@pytest.mark.parametrize("array", [IMAGE, COLOURS], ids=["image", "colours"])
def test_rows_are_written_as_they_come_and_read_by_themselves(suffix: str, array: np.ndarray) -> None:
    with writing_rows(f"x{suffix}", array.shape, array.dtype, None, "") as write:
        for start in range(0, len(array), 97):
            part = array[start : start + 97].copy()
            write(part)
            part[:] = 0  # the memory may be used again
    np.testing.assert_array_equal(load(f"x{suffix}").array, array)
    rows = open_rows(f"x{suffix}")
    assert rows is not None and rows.shape == array.shape
    np.testing.assert_array_equal(rows.read(101, 599), array[101:599])
    rows.check_unchanged()
    save(f"x{suffix}", array)
    with pytest.raises(InputError, match="changed while it was read"):
        rows.check_unchanged()


def test_tiles_are_on_the_disk_before_all_rows_are_there() -> None:
    with writing_rows("x.zarr", IMAGE.shape, IMAGE.dtype, None, "") as write:
        write(IMAGE[:600])
        assert len(list(Path().rglob("c/0/*"))) == 2 and not list(Path().rglob("c/1/*"))
        assert not Path("x.zarr").exists()
        write(IMAGE[600:])
    assert [path.name for path in Path().iterdir()] == ["x.zarr"]


@SUFFIXES
def test_a_failure_leaves_the_old_file_and_nothing_else(suffix: str) -> None:
    save(f"x{suffix}", STACK[0])
    with pytest.raises(ZeroDivisionError), writing_rows(f"x{suffix}", (9, 9), np.dtype("u1"), None, "") as write:
        write(np.ones((5, 9), np.uint8))
        raise ZeroDivisionError
    assert [path.name for path in Path().iterdir()] == [f"x{suffix}"]
    np.testing.assert_array_equal(load(f"x{suffix}").array, STACK[0])


@pytest.mark.parametrize("version", [2, 3])
def test_an_unknown_codec_is_a_sentence(version: int) -> None:
    group = zarr.open_group("x.zarr", mode="w", zarr_format=version)
    group.create_array("0", data=IMAGE, chunks=(64, 64))
    about = Path("x.zarr/0/.zarray" if version == 2 else "x.zarr/0/zarr.json")
    content = json.loads(about.read_text())
    content |= {"compressor": {"id": "nosuch"}} if version == 2 else {"codecs": [{"name": "nosuch"}]}
    about.write_text(json.dumps(content))
    with pytest.raises(InputError, match="nosuch.*install the package that has this codec"):
        load("x.zarr")


@SUFFIXES
def test_damaged_files_are_sentences(suffix: str) -> None:
    save(f"x{suffix}", IMAGE)
    if suffix == ".h5":
        Path("x.h5").write_bytes(Path("x.h5").read_bytes()[:3000])
    else:
        Path("x.zarr/0/c/0/0").write_bytes(b"no tile")
    with pytest.raises(InputError, match="cannot be decoded"):
        load(f"x{suffix}")
    Path("empty.zarr").mkdir()
    with pytest.raises(InputError, match=r"empty\.zarr"):
        load("empty.zarr")


def test_a_full_disk_is_said_in_a_line() -> None:
    """HDF5's own words have several lines; here a file may have so many bytes only."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(InputError) as caught:
            save("x.h5", np.zeros((100, 100)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert str(caught.value) == ("x.h5 cannot be written (File too large); free some space, or choose another folder.")


def test_a_folder_that_is_no_zarr_is_not_replaced() -> None:
    Path("x.zarr").mkdir()
    Path("x.zarr/mine.txt").write_text("keep")
    with pytest.raises(InputError, match="no Zarr that can be replaced"):
        save("x.zarr", IMAGE)
    assert Path("x.zarr/mine.txt").read_text() == "keep"


@pytest.mark.parametrize("library", ["h5py", "zarr"])
def test_without_the_library_a_sentence_says_what_to_install(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    suffix = ".h5" if library == "h5py" else ".zarr"
    save(f"x{suffix}", STACK[0])
    monkeypatch.setitem(__import__("sys").modules, library, None)
    for call in (lambda: open_rows(f"x{suffix}"), lambda: save(f"y{suffix}", STACK[0])):
        with pytest.raises(InputError, match=f"needs the library {library}.*kernelscope.science"):
            call()
    assert [path.name for path in Path().iterdir()] == [f"x{suffix}"]
