"""Files of a batch that are too large for the memory: they go in bands, as a single one does."""

from __future__ import annotations

import hashlib
import io
import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from gpu_ops.batch import all_frames, file_bands
from gpu_ops.batch.files import result_facts
from gpu_ops.cli import main
from gpu_ops.io import load, save
from gpu_ops.io.known import hashed_meanwhile, noting_hashes
from gpu_ops.io.rows import writing_rows

RANDOM = np.random.default_rng(4)
IMAGE = RANDOM.integers(0, 2**16, (700, 300), np.uint16)
SOUND = RANDOM.uniform(-1, 1, 60_000).astype(np.float32)
MIB = ("--memory", "1")
"""Less than a result of these needs as a whole, 3.4 and 1.9 MB."""

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An image as NPY and as TIFF, a sound, and a small picture that is decoded as a whole."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    np.save("in/a.npy", IMAGE)
    save("in/b.tif", IMAGE)
    save("in/c.wav", SOUND, rate=8000)
    save("in/d.png", IMAGE[:9, :7])


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*args: str, filter: str = "mean", output: str = "out") -> tuple[int, str, str]:
        code = main(["run", filter, "--device", "cpu", "--variant", "serial", "--output-dir", output, *args])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def rows(folder: str = "out") -> dict[str, Any]:
    content = json.loads((Path(folder) / "kernelscope-batch.json").read_text())
    return {one["name"]: one for one in content["files"]}


def in_bands(row: dict[str, Any]) -> bool:
    return any(re.match("in [0-9]+ bands of ", note) for note in row["notes"])


def test_results_are_those_of_whole_files(call: Call) -> None:
    assert call("--input", "in", "--format", "npy", "--window", "5", output="whole")[0] == 0
    code, _, err = call("--input", "in", "--format", "npy", "--window", "5", *MIB)
    assert code == 0, err
    ours, theirs = rows(), rows("whole")
    assert [in_bands(ours[name]) for name in "abcd"] == [True, True, True, False]
    assert not any(in_bands(row) for row in theirs.values())
    for name in ("a.npy", "b.npy", "d.npy"):
        assert Path("out", name).read_bytes() == Path("whole", name).read_bytes()
    np.testing.assert_allclose(np.load("out/c.npy"), np.load("whole/c.npy"), atol=1e-6)
    same = ("sha256", "kind", "dtype", "shape", "filter", "variant", "device", "params", "knobs", "status", "bytes")
    for name in "abcd":
        assert {key: ours[name][key] for key in same} == {key: theirs[name][key] for key in same}
    assert "each was compared with samples of the reference" in ours["a"]["notes"][0]
    assert "in/d.png: it is read as a whole, whatever --memory says; NPY, TIFF and WAV go in bands." in err


def test_a_tiff_grows_row_by_row_and_says_so(call: Call) -> None:
    assert call("--input", "in/b.tif", "--format", "tif", *MIB)[0] == 0
    assert call("--input", "in/b.tif", "--format", "tif", output="whole")[0] == 0
    assert np.array_equal(load("out/b.tif").array, load("whole/b.tif").array)
    assert in_bands(rows()["b"]) and rows()["b"]["status"] == "right"


def test_what_is_written_as_a_whole_becomes_npy_or_a_sentence(call: Call) -> None:
    code, _, err = call("--input", "in/a.npy", "in/c.wav", *MIB)
    assert code == 0
    assert "in/a.npy: it goes in bands, and PNG files are written as a whole: a.npy it is." in err
    assert "in/c.wav: it goes in bands, and WAV files are written as a whole: c.npy it is." in err
    assert np.load("out/a.npy").shape == IMAGE.shape and np.load("out/c.npy").shape == SOUND.shape
    code, out, _ = call("--input", "in/a.npy", "in/c.wav", "in/d.png", "--format", "png", *MIB, output="named")
    assert code == 2 and "1 right, 2 failed" in out
    images, sound = rows("named")["a"]["sentence"], rows("named")["c"]["sentence"]
    assert images.endswith(
        "and PNG files are written as a whole; take --format npy or --format tif or --format zarr or --format h5."
    )
    assert sound.endswith("and PNG files are written as a whole; take --format npy or --format h5.")


@pytest.mark.parametrize(
    ("more", "bands"),
    [(["--format", "npy"], True), ([], False), (["--format", "npy", "--step", "invert"], False)],
    ids=["npy", "png", "a step"],
)
def test_what_needs_more_than_a_quarter_of_the_memory(
    call: Call, monkeypatch: pytest.MonkeyPatch, more: list[str], bands: bool
) -> None:
    """By default bands are taken where they do all that is asked for."""
    monkeypatch.setattr(file_bands, "free_memory", lambda: 8_000_000)
    assert call("--input", "in/a.npy", *more)[0] == 0
    assert in_bands(rows()["a"]) == bands


def test_a_file_of_which_the_whole_does_not_fit(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_bands, "free_memory", lambda: 3_000_000)
    assert call("--input", "in/a.npy")[0] == 0 and Path("out/a.npy").exists()
    assert in_bands(rows()["a"])


def test_counts_are_merged(call: Call) -> None:
    assert call("--input", "in/a.npy", "in/c.wav", *MIB, filter="histogram")[0] == 0
    assert call("--input", "in/a.npy", "in/c.wav", filter="histogram", output="whole")[0] == 0
    for name in "ac":
        merged, whole = (Path(at, f"{name}.csv").read_text().splitlines() for at in ("out", "whole"))
        assert [x for x in merged if not x.startswith("#")] == [x for x in whole if not x.startswith("#")]
        assert in_bands(rows()[name])


def test_checks(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    real = all_frames.run_experiment

    def run(experiment: Any, *args: Any, **more: Any) -> Any:
        checked.append(experiment.checks)
        return real(experiment, *args, **more)

    monkeypatch.setattr(all_frames, "run_experiment", run)
    for checks, status in (("off", "unverified"), ("sample", "right"), ("full", "right")):
        checked.clear()
        assert call("--input", "in/a.npy", "--format", "npy", "--checks", checks, *MIB)[0] == 0
        assert rows()["a"]["status"] == status and len(checked) > 2
        middle = {"sample"} if checks == "full" else {"off"}
        assert set(checked[1:-1]) == middle and checked[0] == checked[-1] == ("off" if checks == "off" else "sample")


def test_a_wrong_band_leaves_no_result(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    real = all_frames.run_experiment
    monkeypatch.setattr(
        all_frames, "run_experiment", lambda *a, **more: (replace(run, ok=False) for run in real(*a, **more))
    )
    assert call("--input", "in/a.npy", "in/d.png", "--format", "npy", *MIB)[0] == 3
    assert rows()["a"]["status"] == "wrong" and "gave a wrong result" in rows()["a"]["sentence"]
    assert rows()["d"]["status"] == "right" and not Path("out/a.npy").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--step", "invert"], "without --step; leave it out"),
        (["--noise", "3"], "without --noise; leave it out"),
        (["--map", "scale"], "without --map; leave it out"),
    ],
)
def test_what_bands_cannot_do_is_a_sentence(call: Call, more: list[str], words: str) -> None:
    assert call("--input", "in/a.npy", *more, *MIB)[0] == 2
    assert words in rows()["a"]["sentence"]


def test_resume_and_workers(call: Call) -> None:
    assert call("--input", "in", "--workers", "3", *MIB)[0] == 0
    first = rows()
    assert [first[name]["status"] for name in "abcd"] == ["right"] * 4
    code, out, _ = call("--input", "in", "--resume", *MIB)
    assert code == 0 and "4 done before" in out


def test_a_line_says_how_far_frames_and_bands_are(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr("gpu_ops.batch.run.WITHIN_S", 0.0)
    monkeypatch.setattr("gpu_ops.cli.batch.PRINT_S", 0.0)
    tifffile.imwrite("in/stack.tif", IMAGE[:90, :20].reshape(9, 10, 20))
    call = ["run", "mean2d", "--device", "cpu", "--variant", "scipy", "--output-dir", "out", "--input"]
    assert main([*call, "in/stack.tif", "--frames", "all"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if " of 9 frames" in line]
    assert lines == [f"kernelscope: in/stack.tif: {k} of 9 frames" for k in range(1, 9)]
    assert main([*call, "in/a.npy", *MIB]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if re.search(r"\d of \d+ bands", line)]
    count = int(lines[0].split()[-2])
    assert lines == [f"kernelscope: in/a.npy: {k} of {count} bands" for k in range(1, count)] and count > 2


@pytest.mark.parametrize(("name", "frames"), [("a.npy", None), ("a.npy", 3), ("a.tif", None), ("a.tif", 3)])
def test_a_result_is_hashed_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, frames: int | None
) -> None:
    path, rows = tmp_path / name, np.random.default_rng(3).integers(0, 255, (8, 300), np.uint8)
    with noting_hashes() as noted, writing_rows(path, (8, 300), rows.dtype, None, "a note", frames) as write:
        for part in [rows[:5], rows[5:]] * (frames or 1):
            write(part)
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    assert [*noted.values()] == [expected]
    with monkeypatch.context() as patch:
        patch.setattr(hashlib, "file_digest", None)  # the file is not read once more
        assert result_facts(path, noted) == {"output_bytes": path.stat().st_size, "output_sha256": expected}
    later = tmp_path / "later"
    later.write_bytes(path.read_bytes()[:-1] + b"x")
    later.replace(path)
    changed = hashlib.sha256(path.read_bytes()).hexdigest()
    assert result_facts(path, noted)["output_sha256"] == changed != expected, "another file of this name is read"


def test_a_hash_that_lacks_bytes_is_not_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open

    def short(file: Any, *args: Any, **how: Any) -> Any:
        return io.BytesIO(b"short") if how.get("buffering") == 0 else opened(file, *args, **how)

    monkeypatch.setattr("builtins.open", short)
    rows = np.ones((4, 30), np.uint8)
    with noting_hashes() as noted, writing_rows(tmp_path / "a.npy", (4, 30), rows.dtype, None, "") as write:
        write(rows)
    assert noted == {} and np.array_equal(np.load(tmp_path / "a.npy"), rows)


@pytest.mark.parametrize(
    "array", [IMAGE, IMAGE.astype(np.complex64)[:, ::2], np.float32(3)], ids=["plain", "gaps", "one"]
)
def test_an_array_is_hashed_as_its_file(tmp_path: Path, array: Any) -> None:
    path = tmp_path / "a.npy"
    with noting_hashes() as noted:
        save(path, array)
    assert [*noted.values()] == [hashlib.sha256(path.read_bytes()).hexdigest()]
    assert result_facts(path, noted) == result_facts(path)
    assert np.array_equal(np.load(path), array)


def test_bytes_that_are_not_final_are_not_hashed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with noting_hashes() as noted, open(path, "xb") as file:
        file.truncate(40)  # as a TIFF has its size before its values
        with hashed_meanwhile(file, file.write) as write:
            for k in range(1, 5):
                write(bytes([k]) * 10)
                time.sleep(0.01)
    assert [*noted.values()] == [hashlib.sha256(path.read_bytes()).hexdigest()]


@pytest.mark.thorough
def test_no_result_is_read_again(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashlib, "file_digest", None)
    assert call("--input", "in/a.npy", *MIB)[0] == 0
    assert call("--input", "in/a.npy", "--format", "npy")[0] == 0
    save("in/stack.npy", RANDOM.integers(0, 255, (3, 20, 30), np.uint8))
    assert call("--input", "in/stack.npy", "--frames", "all", "--format", "npy")[0] == 0
