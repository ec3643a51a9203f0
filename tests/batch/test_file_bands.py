"""Files larger than memory: their rows, what goes in bands from file to file, and how much memory that takes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
import tifffile
from lanes import few

from gpu_ops import from_array, load, save
from gpu_ops.batch import file_bands
from gpu_ops.batch.all_frames import Wanted
from gpu_ops.batch.file_bands import FileRun, merge_bands, write_bands
from gpu_ops.cli import main
from gpu_ops.errors import InputError, KernelError, NonFiniteError, ParamError
from gpu_ops.io import decoder_process, memory
from gpu_ops.io import rows as rows_module
from gpu_ops.io.rows import check_fits, open_rows
from gpu_ops.progress import Cancelled, listening
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import BORDERS, Experiment, Pick

RNG = np.random.default_rng(7)
IMAGE = RNG.integers(0, 65536, (61, 47)).astype(np.uint16)
COLOUR = RNG.integers(0, 256, (50, 33, 3)).astype(np.uint8)
SERIAL = Pick("serial", "cpu")


def whole(filter: str, array: np.ndarray, params: dict, kind=None) -> dict[str, np.ndarray]:
    *_, last = run_experiment(Experiment(filter, from_array(array, kind), params, (SERIAL,), "none"))
    return dict(last.outputs)


def job(path: Path, filter: str, params: dict, memory: int, output: str = "image", **more) -> FileRun:
    source = open_rows(path)
    assert source is not None
    return FileRun(source, Wanted(filter, params, SERIAL, output), memory, **more)


def left(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def stored(path: Path, name: str) -> None:
    """A file of some form: what it holds is what load() gives."""
    tiffs = {
        "plain.tif": (IMAGE, {}),
        "strips.tif": (IMAGE, {"rowsperstrip": 7, "compression": "zlib"}),
        "tiles.tif": (IMAGE, {"tile": (16, 32), "compression": "zlib"}),
        "colour.tif": (COLOUR, {"tile": (16, 16), "photometric": "rgb"}),
        "planes.tif": (COLOUR.transpose(2, 0, 1), {"planarconfig": "separate", "photometric": "rgb"}),
        "planar_tiles.tif": (
            COLOUR.transpose(2, 0, 1),
            {"planarconfig": "separate", "photometric": "rgb", "tile": (16, 16), "compression": "zlib"},
        ),
        "big.tif": (IMAGE.astype(np.float32), {"byteorder": ">"}),
        "white.tif": (COLOUR[..., 0], {"photometric": "miniswhite", "rowsperstrip": 9}),
        "stack.tif": (np.stack([IMAGE, IMAGE[::-1]]), {"photometric": "minisblack"}),
    }
    if name in tiffs:
        array, how = tiffs[name]
        tifffile.imwrite(path, array, **how)
    elif name == "sound.wav":
        soundfile.write(path, RNG.uniform(-1, 1, (5000, 2)), 8000, "PCM_16")
    else:
        np.save(path, {"image.npy": IMAGE.astype(">u2"), "record.npy": RNG.normal(size=(900, 3))}[name])


FILES = (
    *("plain.tif", "strips.tif", "tiles.tif", "colour.tif", "planes.tif", "planar_tiles.tif", "big.tif", "white.tif"),
    *("stack.tif", "sound.wav", "image.npy", "record.npy"),
)


@pytest.mark.parametrize("name", FILES)
def test_rows_are_those_of_the_whole(tmp_path, name):
    path, kind = tmp_path / name, "signal" if name == "record.npy" else None
    stored(path, name)
    frame = {"frame": 1} if name == "stack.tif" else {}
    expected, rows = load(path, kind=kind, **frame), open_rows(path, kind, **frame)
    assert (rows.kind, rows.shape, rows.dtype.name) == (expected.kind, expected.array.shape, expected.array.dtype.name)
    assert rows.rate == expected.rate and not rows.whole_reason and rows.origin["hash"] == expected.origin["hash"]
    for start, stop in ((0, 1), (0, len(expected.array)), (5, 31), (len(expected.array) - 1, len(expected.array))):
        found = rows.read(start, stop)
        assert np.array_equal(found, expected.array[start:stop]) and found.dtype == expected.array.dtype


@pytest.mark.parametrize("name, piece", [("image.npy", 0), ("plain.tif", 0), ("strips.tif", 7 * IMAGE[0].nbytes)])
def test_bytes_that_are_decoded_at_once(tmp_path, name, piece):
    stored(tmp_path / name, name)
    assert open_rows(tmp_path / name).piece_bytes == piece


def test_files_whose_rows_cannot_be_read_alone(tmp_path):
    tifffile.imwrite(tmp_path / "turned.tif", IMAGE, extratags=[(274, "H", 1, 6, True)])
    assert "rotated" in open_rows(tmp_path / "turned.tif").whole_reason
    np.save(tmp_path / "fortran.npy", np.asfortranarray(IMAGE))
    assert "columns lie together" in open_rows(tmp_path / "fortran.npy").whole_reason
    np.save(tmp_path / "stack.npy", np.zeros((4, 5, 6)))
    save(tmp_path / "one.png", IMAGE)
    assert open_rows(tmp_path / "stack.npy") is None and open_rows(tmp_path / "one.png") is None
    (tmp_path / "cut.npy").write_bytes((tmp_path / "fortran.npy").read_bytes()[:-1])
    with pytest.raises(InputError, match="is cut short"):
        open_rows(tmp_path / "cut.npy")


def test_a_damaged_strip_is_a_sentence(tmp_path):
    path = tmp_path / "damaged.tif"
    stored(path, "strips.tif")
    data = bytearray(path.read_bytes())
    with tifffile.TiffFile(path) as opened:
        place = opened.pages[0].dataoffsets[3]
    data[place : place + 8] = bytes(8)
    path.write_bytes(bytes(data))
    rows = open_rows(path)
    assert np.array_equal(rows.read(0, 21), IMAGE[:21]), "the strips before it are whole"
    with pytest.raises(InputError, match="damaged TIFF"):
        rows.read(20, 30)


@pytest.mark.parametrize("name", ["plain.tif", "image.npy", "sound.wav"])
def test_a_file_that_memory_has_no_room_for_is_refused_before_it_is_read(tmp_path, name, monkeypatch):
    stored(tmp_path / name, name)
    monkeypatch.setattr(memory, "LARGE", 0)
    monkeypatch.setattr(memory, "free_memory", lambda: 5000)
    monkeypatch.setattr(decoder_process, "here", True)
    with pytest.raises(InputError, match=r"needs [0-9,]+ bytes, and this machine has 5,000 free; filter it in bands"):
        load(tmp_path / name)


def test_a_window_says_what_to_do_with_a_file_that_is_too_large(tmp_path, monkeypatch):
    stored(tmp_path / "image.npy", "image.npy")
    check_fits(tmp_path / "image.npy"), check_fits(tmp_path / "none.npy"), check_fits(tmp_path)
    monkeypatch.setattr(rows_module, "SMALL", 0)
    check_fits(tmp_path / "image.npy")
    advice = "filter it in bands, in a shell: kernelscope run FILTER --input image.npy --output OUT.npy."
    monkeypatch.setattr(rows_module, "LIMIT", 2000)
    with pytest.raises(
        InputError, match=r"image.npy has 2,867 values \(5,734 bytes; .* and at most 2,000 are"
    ) as error:
        check_fits(tmp_path / "image.npy")
    assert str(error.value).endswith(advice)
    monkeypatch.setattr(rows_module, "free_memory", lambda: 5000)
    with pytest.raises(InputError, match="image.npy needs 5,734 bytes, and this machine has 5,000 free") as error:
        check_fits(tmp_path / "image.npy")
    assert str(error.value).endswith(advice)


class TestFromFileToFile:
    @pytest.mark.parametrize("border", BORDERS)
    @pytest.mark.parametrize("name", ["image.npy", "tiles.tif"])
    def test_images(self, tmp_path, border, name):
        stored(tmp_path / name, name)
        params, suffix = {"radius": 8, "border": border}, Path(name).suffix
        done = write_bands(
            job(tmp_path / name, "box", params, 34_000 + 2 * 32 * 47 * 2 * (name == "tiles.tif")),
            tmp_path / f"out{suffix}",
        )
        result = load(tmp_path / f"out{suffix}").array
        assert np.array_equal(result, whole("box", IMAGE, params)["image"]) and result.dtype == np.uint16
        assert done.bands > 3 and done.last.ok, "the last band was compared"

    @pytest.mark.parametrize("border", BORDERS)
    def test_records_of_several_channels(self, tmp_path, border):
        values = RNG.integers(0, 256, (900, 3)).astype(np.uint8)
        np.save(tmp_path / "in.npy", values)
        params, source = {"window": 301, "border": border}, open_rows(tmp_path / "in.npy", "signal")
        done = write_bands(FileRun(source, Wanted("mean1d", params, SERIAL, "signal"), 20_000), tmp_path / "out.npy")
        result = np.load(tmp_path / "out.npy")
        assert np.array_equal(result, whole("mean1d", values, params, "signal")["signal"]) and done.bands > 4

    def test_types_are_converted_band_by_band(self, tmp_path):
        np.save(tmp_path / "in.npy", IMAGE)
        write_bands(job(tmp_path / "in.npy", "mean2d", {}, 20_000, dtype="float32"), tmp_path / "out.tif")
        expected = whole("mean2d", IMAGE.astype(np.float32), {})["image"]
        np.testing.assert_allclose(load(tmp_path / "out.tif").array, expected, rtol=1e-6)

    def test_histograms_have_the_range_of_the_whole(self, tmp_path):
        values = (np.arange(4000.0) - 1700) ** 3
        values[100:900] = np.nan
        np.save(tmp_path / "in.npy", values)
        params = {"result": "statistics", "bins": 16}
        done = merge_bands(job(tmp_path / "in.npy", "histogram1d", params, 9000, "counts", nonfinite="keep"))
        *_, last = run_experiment(
            Experiment("histogram1d", load(tmp_path / "in.npy", nonfinite="keep"), params, (SERIAL,), "none")
        )
        assert done.bands > 10 and all(np.array_equal(a, done.last.outputs[n]) for n, a in last.outputs.items())

    @pytest.mark.parametrize("kind", ["image", "signal"])
    def test_reductions_weigh_every_band_by_its_rows(self, tmp_path, kind):
        """Values that grow, so that a wrong weight of any band moves mean and variance; the last band is shorter."""
        values = np.cumsum(RNG.random((101, 3) if kind == "signal" else (67, 47)), axis=0)
        np.save(tmp_path / "in.npy", values)
        filter = "reduce1d" if kind == "signal" else "reduce2d"
        params = {"statistic": "all"}
        source = open_rows(tmp_path / "in.npy", kind)
        done = merge_bands(
            FileRun(source, Wanted(filter, params, SERIAL, "figures"), 3000 if kind == "signal" else 40_000)
        )
        assert done.bands > 3 and (len(values) % done.rows) != 0
        expected = whole(filter, values, params, kind)["figures"]
        np.testing.assert_allclose(done.last.outputs["figures"], expected, rtol=1e-12)

    def test_the_input_may_be_replaced(self, tmp_path):
        np.save(tmp_path / "in.npy", IMAGE)
        write_bands(job(tmp_path / "in.npy", "mean2d", {}, 20_000), tmp_path / "in.npy")
        assert np.array_equal(np.load(tmp_path / "in.npy"), whole("mean2d", IMAGE, {})["image"])
        assert left(tmp_path) == ["in.npy"]

    @pytest.mark.parametrize("after", [0, 2])
    def test_what_is_cancelled_leaves_the_old_file(self, tmp_path, after):
        np.save(tmp_path / "in.npy", IMAGE)
        (tmp_path / "out.npy").write_bytes(b"old")
        events: list[int] = []
        with pytest.raises(Cancelled), listening(lambda: len(events) > after):
            write_bands(
                job(tmp_path / "in.npy", "mean2d", {}, 20_000),
                tmp_path / "out.npy",
                lambda done, total: events.append(done),
            )
        assert events == list(range(after + 1))
        assert (tmp_path / "out.npy").read_bytes() == b"old" and left(tmp_path) == ["in.npy", "out.npy"]

    def test_a_disk_without_room_is_known_before_the_first_band(self, tmp_path, monkeypatch):
        np.save(tmp_path / "in.npy", IMAGE)
        monkeypatch.setattr(rows_module.shutil, "disk_usage", lambda folder: type("", (), {"free": 5733}))
        with pytest.raises(InputError, match="out.npy needs 5,734 bytes, and its disk has 5,733 free"):
            write_bands(job(tmp_path / "in.npy", "mean2d", {}, 20_000), tmp_path / "out.npy")
        assert left(tmp_path) == ["in.npy"]

    def test_a_file_that_changes_meanwhile(self, tmp_path):
        np.save(tmp_path / "in.npy", IMAGE)
        with pytest.raises(InputError, match="in.npy changed while it was read; run it again"):
            write_bands(
                job(tmp_path / "in.npy", "mean2d", {}, 20_000),
                tmp_path / "out.npy",
                lambda done, total: os.utime(tmp_path / "in.npy", ns=(done, done)),
            )
        assert left(tmp_path) == ["in.npy"]

    def test_nan_is_named_with_its_band(self, tmp_path):
        values = np.zeros((60, 40), np.float32)
        values[50, 3] = np.nan
        np.save(tmp_path / "in.npy", values)
        with pytest.raises(NonFiniteError, match=r"Rows \d+ to \d+ with their halo: .* holds 1 NaN .*--nonfinite keep"):
            write_bands(job(tmp_path / "in.npy", "mean2d", {}, 20_000), tmp_path / "out.npy")
        assert left(tmp_path) == ["in.npy"]

    def test_a_variant_that_does_not_take_it(self, tmp_path):
        np.save(tmp_path / "in.npy", IMAGE)
        wanted = Wanted("mean2d", {"border": "wrap"}, Pick("opencv", "cpu"), "image")
        with pytest.raises(KernelError, match="Rows 0 to .* of .*in.npy: opencv on cpu fails: "):
            write_bands(FileRun(open_rows(tmp_path / "in.npy"), wanted, 20_000), tmp_path / "out.npy")


class TestRefusals:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        np.save(tmp_path / "in.npy", IMAGE)
        return tmp_path / "in.npy"

    def test_what_cannot_go_in_bands_says_why(self, tmp_path, path):
        out = tmp_path / "out.npy"
        with pytest.raises(InputError, match="does not fit in memory: .* 9,999 may be used of .* each value of its"):
            write_bands(job(path, "wavelet2d", {"levels": 1}, 9_999, dtype="float32"), out)
        with pytest.raises(InputError, match="the narrowest band needs 39,480: allow more memory"):
            write_bands(job(path, "box", {"radius": 17}, 9_999), out)
        with pytest.raises(ParamError, match="box takes uint8, .*in.npy is int32; convert it"):
            np.save(path, IMAGE.astype(np.int32))
            write_bands(job(path, "box", {}, 9_999), out)
        with pytest.raises(InputError, match="cannot go in bands, because its columns lie together"):
            np.save(path, np.asfortranarray(IMAGE))
            write_bands(job(path, "box", {}, 9_999), out)
        assert left(tmp_path) == ["in.npy"]

    def test_both_memories_are_named(self, path):
        source = open_rows(path)
        pick = Pick("global", "sim")
        with pytest.raises(InputError, match="free in this machine, with [0-9,]+ free on sim; it cannot go in bands"):
            write_bands(FileRun(source, Wanted("fft2d", {}, pick, "x"), 9_999, "float32"), "out.npy")

    def test_formats_that_are_not_written_row_by_row(self, tmp_path, path):
        with pytest.raises(
            InputError,
            match=r"out.png cannot be written in bands; choose .* \.npy, \.tif, \.tiff, \.zarr, \.h5 or \.hdf5",
        ):
            write_bands(job(path, "box", {}, 20_000), tmp_path / "out.png")


class TestCommandLine:
    def run(self, *words: object) -> int:
        return main(["run", *map(str, words), "--device", "cpu"])

    def test_a_stated_limit(self, tmp_path, capsys):
        np.save(tmp_path / "in.npy", np.tile(IMAGE, (10, 20)))
        flags = "--input", tmp_path / "in.npy", "--output", tmp_path / "out.npy", "--memory", 1
        assert self.run("mean", *flags, "--variant", "serial", "--window", 5) == 0
        said = capsys.readouterr().out
        assert "940 x 610 uint16, by serial on cpu in " in said and " bands of " in said
        assert "1,048,576 may be used; the first and the last were compared with the reference" in said
        expected = whole("mean2d", np.tile(IMAGE, (10, 20)), {"window": 5})["image"]
        assert np.array_equal(np.load(tmp_path / "out.npy"), expected)
        for words, reason in (
            (["--step", "rotate"], "without --step"),
            (["--noise", "3"], "without --noise"),
            (["--json", "-"], "without --json"),
            (["--variant", "serial", "parallel"], "by one variant, not by"),
            (["--output", "counts=x.npy"], "has no output"),
        ):
            assert self.run("mean", *flags, *words) == 2
            assert reason in capsys.readouterr().err

    @pytest.mark.parametrize("more", [[], ["--frames", "all", "--input", "x.npy", "--output", "y.npy"]])
    def test_a_limit_that_nothing_keeps_is_no_flag(self, more, capsys):
        assert self.run("mean", "--memory", 5, *more) == 2
        assert "leave --memory out" in (said := capsys.readouterr().err) or "leave it out here" in said

    def test_more_values_than_are_loaded_at_once(self, tmp_path, capsys, monkeypatch):
        np.save(tmp_path / "in.npy", IMAGE)
        monkeypatch.setattr(file_bands, "LIMIT", 2000)
        monkeypatch.setattr(file_bands, "SMALL", 0)
        assert self.run("histogram", "--input", tmp_path / "in.npy", "--output", tmp_path / "out.csv") == 0
        said = capsys.readouterr()
        assert "histogram2d of" in said.out and "2867 samples" in said.out and "in one band of 61 rows" in said.out
        assert "# parts: one band of 61 rows" in (tmp_path / "out.csv").read_text()
        assert self.run("fft", "--input", tmp_path / "in.npy", "--limit", 2000) == 2
        assert "over the limit of 2,000" in capsys.readouterr().err, "a stated limit stays one"

    @pytest.fixture
    def little_memory(self, monkeypatch):
        """Little is free: the whole fits, and takes more than a quarter of it."""
        monkeypatch.setattr(file_bands, "free_memory", lambda: 3_000_000)

    @pytest.mark.parametrize("name", ["in.npy", "in.tif"])
    def test_what_takes_more_than_a_quarter_of_memory_goes_in_bands(self, tmp_path, capsys, little_memory, name):
        array = np.tile(IMAGE, (4, 5))
        save(tmp_path / name, array)
        target = tmp_path / f"out{Path(name).suffix}"
        flags = "--input", tmp_path / name, "--output", target, "--variant", "serial"
        assert self.run("mean", *flags, "--window", 5) == 0
        said = capsys.readouterr().out
        assert re.search(r" in [2-9] bands of [0-9]+ rows, because the whole needs 1,376,160 bytes and 750,000", said)
        assert "may be used, a quarter of what is free (--memory MIB allows more); the first and the last were" in said
        assert np.array_equal(load(target).array, whole("mean2d", array, {"window": 5})["image"])
        if name == "in.tif":
            with tifffile.TiffFile(target) as opened:
                words = opened.pages[0].description
            assert "parameter window: 5" in words and "parts: " in words and "output: image" in words
        assert self.run("mean", *flags, "--memory", 100) == 0
        assert "bands" not in capsys.readouterr().out

    def test_sound_and_parts_that_are_merged_go_in_bands_as_well(self, tmp_path, capsys, little_memory):
        save(tmp_path / "in.wav", RNG.uniform(-1, 1, 40_000).astype(np.float32), rate=8000)
        expected = load(tmp_path / "in.wav").array
        flags = "--input", tmp_path / "in.wav", "--output", tmp_path / "out.npy", "--variant", "serial"
        assert self.run("mean", *flags) == 0
        assert " bands of " in capsys.readouterr().out
        np.testing.assert_allclose(np.load(tmp_path / "out.npy"), whole("mean1d", expected, {})["signal"], atol=1e-6)
        assert self.run("histogram", "--input", tmp_path / "in.wav") == 0
        assert " bands of " in capsys.readouterr().out

    WHOLE = (
        *(["--json", "-", "--output", "out.npy"], ["--output", "out.png"], []),
        ["--output", "out.npy", "--variant", "serial", "parallel"],
        *(["--output", "out.npy", "--step", "invert"], ["--output", "out.npy", "--noise", "3"]),
    )

    @pytest.mark.parametrize("more", WHOLE, ids=" ".join)
    def test_what_bands_cannot_do_is_done_as_a_whole(self, tmp_path, capsys, little_memory, monkeypatch, more):
        monkeypatch.chdir(tmp_path)
        save("in.npy", np.tile(IMAGE, (4, 5)))
        assert self.run("mean", "--input", "in.npy", *more) == 0
        assert "bands of" not in capsys.readouterr().out

    @pytest.mark.parametrize("filter, dtype", [("fft", "float32"), ("box", "int32")])
    def test_a_filter_that_needs_the_whole_gets_it_while_it_fits(self, tmp_path, capsys, monkeypatch, filter, dtype):
        monkeypatch.setattr(file_bands, "free_memory", lambda: 6_000_000)
        save(tmp_path / "in.npy", np.tile(IMAGE, (4, 5)).astype(dtype))
        code = self.run(filter, "--input", tmp_path / "in.npy", "--output", tmp_path / "out.npy")
        said = capsys.readouterr()
        assert (code == 0) == (filter == "fft") and "bands" not in said.out and "does not fit" not in said.err

    def test_a_device_with_less_memory(self, tmp_path, capsys):
        np.save(tmp_path / "in.npy", np.tile(IMAGE, (10, 20)))
        flags = "--input", tmp_path / "in.npy", "--variant", "serial", "--device-memory", 1
        assert self.run("mean", *flags, "--output", tmp_path / "out.npy") == 0
        assert "bands of" in capsys.readouterr().out
        assert np.array_equal(np.load(tmp_path / "out.npy"), whole("mean2d", np.tile(IMAGE, (10, 20)), {})["image"])


LARGE = """
import resource, sys
import numpy as np
from gpu_ops.cli import main
def run(name, memory):
    return main(["run", "mean", "--input", name, *sys.argv[1:], "--memory", memory, "--device", "cpu"])
np.save("small.npy", np.zeros((500, 400), np.float32))
assert run("small.npy", "2") == 0  # loads and compiles what every run needs
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert run("large.npy", "150") == 0
print("added", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is in KiB on Linux only")
@pytest.mark.parametrize(
    "target, to",
    few(
        [("out.npy", ("--output", "out.npy")), ("out/large.npy", ("--output-dir", "out"))],
        ("out.npy", ("--output", "out.npy")),
    ),
    ids=["one", "many"],
)
def test_256_mb_under_150_mb(tmp_path, target, to):
    """A file with holes costs no disk; every value of it is computed all the same."""
    large = np.lib.format.open_memmap(tmp_path / "large.npy", "w+", np.float32, (8000, 8000))
    large[4000, 4000] = 25
    del large
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", LARGE, *to],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.rpartition("added ")[2]) <= 150, "MiB"
    result = np.load(tmp_path / target, mmap_mode="r")
    assert result.shape == (8000, 8000) and result[4001, 4001] > 2.7 and result[4003, 4000] == 0
