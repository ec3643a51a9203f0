"""A filter over all frames of a stack, from Python and from the command line."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tifffile
from scipy.ndimage import uniform_filter

from gpu_ops import Input, add_noise, load, save
from gpu_ops.batch import all_frames
from gpu_ops.batch.all_frames import Wanted, write_frames
from gpu_ops.cli import main
from gpu_ops.errors import InputError, KernelError, WrongResult
from gpu_ops.filters import find_filter
from gpu_ops.io import from_origin
from gpu_ops.io import rows as rows_module
from gpu_ops.io.origins import of_frame
from gpu_ops.progress import Cancelled, listening
from gpu_ops.task import Meta, Task
from gpu_ops.types import Facts, FrameAxes, Pick, Pixel

MEAN = Wanted("mean2d", {"window": 3}, Pick("scipy", "cpu"), "image")


@pytest.fixture
def stored() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 60000, (7, 20, 30)).astype(np.uint16)


@pytest.fixture
def stack(tmp_path: Path, stored: np.ndarray) -> Path:
    np.save(tmp_path / "stack.npy", stored)
    return tmp_path / "stack.npy"


def left(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def means(stored: np.ndarray) -> np.ndarray:
    """Exact means of 3 × 3, halves rounded up."""
    sums = np.stack([np.rint(uniform_filter(f.astype(float), 3, mode="reflect") * 9) for f in stored]).astype(int)
    return ((2 * sums + 9) // 18).astype(np.uint16)


def test_every_frame_is_filtered(tmp_path, stack, stored):
    events = []
    written = write_frames(
        lambda k: load(stack, frame=k), 7, MEAN, tmp_path / "out.npy", lambda *part: events.append(part)
    )
    result = np.load(tmp_path / "out.npy")
    assert np.array_equal(result, means(stored)) and result.dtype == np.uint16
    assert written == ((7, 20, 30), "uint16", True) and events == [(k, 7) for k in range(7)]
    assert load(tmp_path / "out.npy", frame=6).facts.frames == 7, "it opens as a stack again"


@pytest.mark.parametrize("name, shape", [("uint16", (20, 30)), ("uint8", (9, 7, 3)), ("float64", (6, 11))])
def test_pages_of_a_tiff_are_the_results_with_the_size_of_a_pixel(tmp_path, name, shape):
    array = (np.random.default_rng(5).random((4, *shape)) * 200).astype(name)
    save(tmp_path / "in.npy", array)

    def read(frame: int) -> Input:
        return replace(load(tmp_path / "in.npy", frame=frame), facts=Facts(4, Pixel(0.5, 0.25, "mm")))

    for path in ("out.npy", "out.tif"):
        write_frames(read, 4, MEAN, tmp_path / path)
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        assert [page.shape for page in file.pages] == [shape] * 4
        found, tags = file.asarray(), file.pages[2].tags
        assert found.dtype == name and np.array_equal(found, np.load(tmp_path / "out.npy"))
        assert tags[282].value == (40, 1) and tags[283].value == (20, 1) and tags[296].value == 3, "pixels a centimetre"
        events = tags[270].value.splitlines()
    for line in ("input: in.npy", "filter: mean2d", "parameter window: 3", "frames: all 4", "kernelscope"):
        assert any(line in t for t in events), line
    assert any(t.startswith("verdict: frame 0 right") for t in events)
    again = load(tmp_path / "out.tif", frame=3)
    assert again.facts == Facts(4, Pixel(0.5, 0.25, "mm")) and np.array_equal(again.array, found[3])


@pytest.mark.parametrize("side, unit", [(0.5, "unit=cm"), (1e-300, None)])
def test_frames_of_a_tiff_name_a_unit_only_where_it_has_a_resolution(tmp_path, stack, side, unit):
    facts = Facts(7, Pixel(side, side, "mm"), frame_axes=FrameAxes("T", (7,), 0.5))
    write_frames(lambda k: replace(load(stack, frame=k), facts=facts), 7, MEAN, tmp_path / "out.tif")
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        lines = file.pages[0].description.splitlines()
        assert "finterval=0.5" in lines and [line for line in lines if line.startswith("unit=")] == [unit] * bool(unit)
        assert (file.pages[0].tags[296].value == 3) == bool(unit), "centimetres"


def test_a_full_disk_keeps_the_old_tiff(tmp_path, stack, monkeypatch):
    (tmp_path / "out.tif").write_bytes(b"old")
    write, done = all_frames._write, []

    def full(frames, result):
        done.append(1)
        if len(done) == 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(frames, result)

    monkeypatch.setattr(all_frames, "_write", full)
    with pytest.raises(InputError, match="out.tif cannot be written .No space left on device.; free some space"):
        write_frames(lambda k: load(stack, frame=k), 7, MEAN, tmp_path / "out.tif")
    assert (tmp_path / "out.tif").read_bytes() == b"old" and left(tmp_path) == ["out.tif", "stack.npy"]


def test_a_tiff_holds_images_only(tmp_path, stack):
    counts = Wanted("histogram2d", {}, Pick("numpy", "cpu"), "counts")
    with pytest.raises(InputError, match="out.tif cannot hold a stack of results, each a bars; .* ends in .npy[.]"):
        write_frames(lambda k: load(stack, frame=k), 7, counts, tmp_path / "out.tif")
    assert left(tmp_path) == ["stack.npy"]


def test_steps_of_the_input_are_those_of_every_frame(tmp_path, stack, stored):
    origin = add_noise(load(stack, project="max"), 5.0, 2).origin
    frames = [from_origin(of_frame(origin, k)) for k in range(7)]
    assert all(np.array_equal(f.array, add_noise(load(stack, frame=k), 5.0, 2).array) for k, f in enumerate(frames))
    assert frames[3].origin["steps"] == [{"step": "noise", "sigma": 5.0, "seed": 2}]


@pytest.mark.parametrize("after", [0, 3, 6])
def test_what_is_cancelled_leaves_the_old_file_and_no_half_one(tmp_path, stack, after):
    (tmp_path / "out.npy").write_bytes(b"old")
    done = []

    def report(frame: int, count: int) -> None:
        done.append(frame)

    with pytest.raises(Cancelled), listening(lambda: len(done) > after):
        write_frames(lambda k: load(stack, frame=k), 7, MEAN, tmp_path / "out.npy", report)
    assert (tmp_path / "out.npy").read_bytes() == b"old" and left(tmp_path) == ["out.npy", "stack.npy"]
    assert done == list(range(after + 1))


def test_a_frame_that_cannot_be_read_is_named_and_nothing_is_written(tmp_path, stored):
    floats = stored.astype(np.float32)
    floats[4, 2, 3] = np.nan
    np.save(tmp_path / "holed.npy", floats)
    with pytest.raises(InputError, match="Frame 4: .*holds 1 NaN .* open the stack so that these are kept or become 0"):
        write_frames(lambda k: load(tmp_path / "holed.npy", frame=k), 7, MEAN, tmp_path / "out.npy")
    assert left(tmp_path) == ["holed.npy"]


def test_results_of_other_sizes_are_refused(tmp_path, stack):
    def read(frame: int) -> Input:
        return from_origin({**of_frame(load(stack).origin, frame), "steps": steps if frame == 2 else []})

    steps = [{"step": "crop", "start": [0, 0], "shape": [5, 6]}]
    with pytest.raises(InputError, match="result of frame 2 is .5, 6. of uint16 and that of frame 0 is .20, 30."):
        write_frames(read, 7, MEAN, tmp_path / "out.npy")
    assert left(tmp_path) == ["stack.npy"]


def test_a_variant_that_cannot_do_it(tmp_path, stack):
    wanted = MEAN._replace(params={"window": 3, "border": "wrap"}, pick=Pick("opencv", "cpu"))
    with pytest.raises(KernelError, match="Frame 0 of stack.npy: opencv on cpu fails: "):
        write_frames(lambda k: load(stack, frame=k), 7, wanted, tmp_path / "out.npy")
    assert left(tmp_path) == ["stack.npy"]


def test_a_wrong_result_of_the_first_frame_stops_it(tmp_path, stack, monkeypatch):
    run_experiment = all_frames.run_experiment

    def wrong(*args, **more):
        from dataclasses import replace

        for run in run_experiment(*args, **more):
            yield replace(run, ok=None if run.ok is None else False)

    monkeypatch.setattr(all_frames, "run_experiment", wrong)
    with pytest.raises(WrongResult, match="scipy on cpu gave a wrong result; choose another variant"):
        write_frames(lambda k: load(stack, frame=k), 7, MEAN, tmp_path / "out.npy")
    assert left(tmp_path) == ["stack.npy"]


def test_a_disk_without_room_is_known_after_the_first_frame(tmp_path, stack, monkeypatch):
    monkeypatch.setattr(rows_module.shutil, "disk_usage", lambda folder: type("", (), {"free": 8399}))
    with pytest.raises(InputError, match="results of 7 frames need 8,400 bytes, and the disk of .* has 8,399 free"):
        write_frames(lambda k: load(stack, frame=k), 7, MEAN, tmp_path / "out.npy")
    assert left(tmp_path) == ["stack.npy"]


class TestCommandLine:
    def run(self, *words: object) -> int:
        return main(["run", "mean", "--device", "cpu", "--frames", "all", *map(str, words)])

    def test_it_writes_all_and_says_so(self, tmp_path, stack, stored, capsys):
        assert self.run("--input", stack, "--window", 3, "--output", tmp_path / "out.npy") == 0
        assert np.array_equal(np.load(tmp_path / "out.npy"), means(stored))
        assert self.run("--input", stack, "--window", 3, "--output", tmp_path / "out.tif") == 0
        assert np.array_equal(tifffile.imread(tmp_path / "out.tif"), means(stored))
        said = capsys.readouterr().out
        assert "holds the output image for 7 frames of stack.npy, 30 x 20 uint16 each, by parallel on cpu" in said
        assert "frame 0 was compared with the reference" in said

    def test_flags_of_the_input_hold_for_every_frame(self, tmp_path, stack, stored):
        flags = "--input", stack, "--dtype", "float32", "--variant", "scipy", "--window", 3
        assert self.run(*flags, "--output", tmp_path / "out.npy") == 0
        result = np.load(tmp_path / "out.npy")
        assert result.dtype == np.float32 and np.abs(result - means(stored)).max() < 1

    def test_a_folder(self, tmp_path, stored):
        (tmp_path / "film").mkdir()
        for k, frame in enumerate(stored):
            save(tmp_path / "film" / f"{k}.png", frame)
        assert self.run("--input", tmp_path / "film", "--window", 3, "--output", tmp_path / "out.npy") == 0
        assert np.array_equal(np.load(tmp_path / "out.npy"), means(stored))

    @pytest.mark.parametrize(
        "words, said",
        [
            (["--frame", "2"], "leave --frame out"),
            (["--project", "max"], "leave --project out"),
            (["--json", "-"], "leave --json out"),
            (["--output", "other.npy"], "name them with --input and one --output"),
            (["--variant", "serial", "parallel"], "runs one variant, not serial on cpu, parallel"),
        ],
    )
    def test_what_does_not_go_with_it(self, tmp_path, stack, capsys, words, said):
        assert self.run("--input", stack, "--output", tmp_path / "out.npy", *words) == 2
        assert said in capsys.readouterr().err and left(tmp_path) == ["stack.npy"]

    def test_no_stack_and_no_npy(self, tmp_path, stack, stored, capsys):
        assert self.run("--input", stack, "--output", tmp_path / "out.png") == 2
        assert (
            "cannot hold a stack of results, each an image; choose a name that ends in .npy or .tif"
            in capsys.readouterr().err
        )
        save(tmp_path / "one.png", stored[0])
        assert self.run("--input", tmp_path / "one.png", "--output", tmp_path / "out.npy") == 2
        assert "one.png is one picture and no stack of frames; leave --frames out" in capsys.readouterr().err


class TestMerged:
    def test_counts_and_figures_are_those_of_one_large_picture(self, tmp_path, stack, stored, capsys):
        flags = ["--input", str(stack), "--frames", "merged", "--device", "cpu"]
        assert main(["run", "histogram", *flags, "--bins", "16", "--output", str(tmp_path / "counts.csv")]) == 0
        assert "frames all 7, merged" in (tmp_path / "counts.csv").read_text()
        assert main(["run", "histogram", *flags, "--bins", "16", "--output", str(tmp_path / "counts.npy")]) == 0
        assert np.array_equal(np.load(tmp_path / "counts.npy"), np.histogram(stored, 16, (0, 65536))[0])
        capsys.readouterr()
        assert main(["run", "reduce", *flags, "--statistic", "all"]) == 0
        events = capsys.readouterr().out
        assert f"sum {stored.sum():.6g}, min {stored.min()}, max {stored.max()}" in events
        assert f"variance {stored.var():.6g}" in events and "all 7 frames" in events

    def test_counts_that_32_bits_do_not_hold_have_64(self):
        counts = {"counts": np.full(16, 2**31, np.uint32), "outside": np.zeros(3, np.uint32)}
        merge = find_filter("histogram2d").locality.merge
        task = Task.of(Meta("image", (9, 9), "uint8"), {"result": "counts", "bins": 16})
        once, twice = merge(task, [counts], [9]), merge(task, [counts, counts], [9, 9])
        assert once["counts"].dtype == np.uint32 and twice["counts"].tolist() == [2**32] * 16
        assert merge(task, [twice, counts], [18, 9])["counts"].tolist() == [3 * 2**31] * 16

    @pytest.mark.parametrize(
        "filter, flags, words",
        [
            ("mean", (), "cannot be merged; those of histogram1d"),
            ("histogram", ("--result", "equalised"), "depends on the counts of all samples"),
            ("histogram", ("--dtype", "float32"), "each frame has a range of its own"),
            ("reduce", ("--statistic", "variance"), "says nothing without their means"),
        ],
    )
    def test_what_cannot_be_merged_is_a_sentence(self, stack, filter, flags, words, capsys):
        assert main(["run", filter, "--input", str(stack), "--frames", "merged", "--device", "cpu", *flags]) == 2
        assert words in capsys.readouterr().err
