"""One filter over many files from the command line: good ones, bad ones, a report, and going on with it."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_ops.batch import overlap
from gpu_ops.batch import work as batch
from gpu_ops.batch.file_lock import locked
from gpu_ops.cli import main, streams
from gpu_ops.io import load, save
from gpu_ops.progress import advance

CPU = ("--device", "cpu")
SCIPY = "--variant", "scipy"
"""Takes every type of samples and compiles nothing."""
RANDOM = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four good files of both kinds and two that cannot be opened; paths are relative to it."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    save("in/a.png", RANDOM.integers(0, 256, (12, 14), np.uint8))
    save("in/b.png", RANDOM.integers(0, 2**16, (9, 11, 3), np.uint16))
    save("in/c.npy", RANDOM.normal(size=(8, 9)).astype(np.float32))
    save("in/d.wav", RANDOM.normal(size=50).astype(np.float32), rate=8000)
    return tmp_path


Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*args: str, output: str = "out") -> tuple[int, str, str]:
        code = main(["run", "mean", *CPU, *(() if "--variant" in args else SCIPY), "--output-dir", output, *args])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def report(path: str = "out/kernelscope-batch.json") -> dict[str, Any]:
    return json.loads(Path(path).read_text())


def by_name(path: str = "out/kernelscope-batch.json") -> dict[str, Any]:
    return {one["name"]: one for one in report(path)["files"]}


def test_every_file_of_a_folder_gets_its_result(call: Call) -> None:
    code, out, err = call("--input", "in", "--window", "3")
    assert code == 0, err
    assert sorted(os.listdir("out")) == ["a.png", "b.png", "c.npy", "d.wav", "kernelscope-batch.json"]
    expected = np.asarray(load("in/c.npy").array, np.float64)
    padded = np.pad(expected, 1, mode="symmetric")
    mean = sum(padded[y : y + 8, x : x + 9] for y in range(3) for x in range(3)) / 9
    assert np.allclose(np.load("out/c.npy"), mean, atol=1e-6) and np.load("out/c.npy").dtype == np.float32
    assert load("out/b.png").array.dtype == np.uint16 and load("out/d.wav").rate == 8000
    rows = by_name()
    assert rows["a"]["status"] == "right" and rows["a"]["filter"] == "mean2d" and rows["d"]["filter"] == "mean1d"
    assert rows["b"] | {"shape": [9, 11, 3], "dtype": "uint16", "output": "out/b.png"} == rows["b"]
    assert rows["a"]["sha256"] == load("in/a.png").origin["hash"]
    assert rows["a"]["params"] == {"window": 3, "border": "reflect"} and rows["a"]["knobs"] == {}
    assert rows["a"]["output_bytes"] == os.path.getsize("out/a.png") and len(rows["a"]["output_sha256"]) == 64
    assert report()["complete"] and report()["provenance"]["cpu"]
    assert "4 files in" in out and "4 right. Report: out/kernelscope-batch.json" in out
    assert [line.partition(": ")[2].partition(":")[0] for line in err.splitlines()] == [
        f"{k}/4 in/{name}" for k, name in enumerate(("a.png", "b.png", "c.npy", "d.wav"), start=1)
    ]


def test_a_bad_file_does_not_stop_the_others(call: Call) -> None:
    Path("in/bad.png").write_bytes(b"no picture")
    holed = np.ones((4, 4), np.float32)
    holed[1, 2] = np.nan
    np.save("in/holed.npy", holed)
    code, out, err = call("--input", "in", "in/missing.png")
    assert code == 2
    rows = by_name()
    assert {name for name, one in rows.items() if one["status"] == "failed"} == {"bad", "holed", "missing"}
    assert "rename it to end in .txt" in rows["bad"]["sentence"] and "does not exist" in rows["missing"]["sentence"]
    assert "1 NaN and 0 infinite" in rows["holed"]["sentence"] and not Path("out/holed.npy").exists()
    assert "7 files in" in out and "4 right, 3 failed" in out and "bad.png" in err
    assert sum(one["status"] == "right" for one in rows.values()) == 4


def test_a_filter_of_one_kind_says_which_files_it_cannot_take(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", "mean2d", *CPU, "--variant", "serial", "--input", "in/*.*", "--output-dir", "out"])
    assert code == 2 and "a.png" in capsys.readouterr().out
    assert "signal" in by_name()["d"]["sentence"] and by_name()["a"]["status"] == "right"


def test_resume_leaves_out_what_is_done_and_nothing_else(call: Call) -> None:
    call("--input", "in", "--window", "3")
    made = {name: Path("out", name).stat().st_mtime_ns for name in os.listdir("out")}
    code, out, err = call("--input", "in", "--window", "3", "--resume")
    assert code == 0 and "4 done before" in out and err.count("done before") == 4
    assert all(Path("out", n).stat().st_mtime_ns == t for n, t in made.items() if n[0] != "k")

    save("in/a.png", RANDOM.integers(0, 256, (12, 14), np.uint8))  # another content
    Path("out/b.png").unlink()
    later = Path("in/c.npy").stat().st_mtime + 1000
    os.utime("in/c.npy", (later, later))
    _, out, err = call("--input", "in", "--window", "3", "--resume")
    assert "1 done before, 3 right" in out and "d.wav: done before" in err
    _, out, _ = call("--input", "in", "--window", "5", "--resume")
    assert "4 right" in out and "before" not in out, "another parameter makes other results"
    _, out, _ = call("--input", "in", "--window", "5")
    assert "4 right" in out and "before" not in out, "without --resume everything is made again"


def test_resume_makes_again_what_another_command_or_a_crash_left_in_the_place_of_a_result(call: Call) -> None:
    call("--input", "in", "--window", "3")
    names = ("a.png", "b.png", "c.npy", "d.wav")
    expected = [load(f"out/{name}").array for name in names]
    call("--input", "in", "--window", "5", "--json", "other.json")
    Path("out/c.npy").write_bytes(b"x")
    damaged = bytearray(Path("out/d.wav").read_bytes())
    damaged[-1] ^= 1
    Path("out/d.wav").write_bytes(damaged)
    code, out, err = call("--input", "in", "--window", "3", "--resume")
    assert code == 0 and "before" not in out and "4 right" in out, err
    for name, array in zip(names, expected, strict=True):
        np.testing.assert_array_equal(load(f"out/{name}").array, array)
    code, out, _ = call("--input", "in", "--window", "3", "--resume")
    assert code == 0 and "4 done before" in out


def test_resume_compares_all_that_decides_the_results(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    images = ("--input", "in/a.png", "in/c.npy", "--format", "npy")
    call(*images, "--step", "crop start=0,0 shape=4,5")
    _, out, _ = call(*images, "--step", "crop start=0,0 shape=5,4", "--resume")
    assert "2 right" in out and np.load("out/c.npy").shape == (5, 4)
    _, out, _ = call(*images, "--step", "crop start=0,0 shape=5,4", "--resume", "--device-memory", "100")
    assert "2 done before" in out
    rows = report()
    rows["files"][0]["params"]["border"] = "wrap"  # as where another version has another default
    Path("out/kernelscope-batch.json").write_text(json.dumps(rows))
    _, out, _ = call(*images, "--step", "crop start=0,0 shape=5,4", "--resume")
    assert "1 done before, 1 right" in out


def test_two_batches_do_not_write_to_one_folder(call: Call) -> None:
    code, _, _ = call("--input", "in")
    link = Path("link")
    link.symlink_to("out", target_is_directory=True)
    with locked(Path("out").resolve() / "kernelscope-batch"):
        code, _, err = call("--input", "in", "--json", "other.json", output="link")
    assert code == 2 and "Another Kernelscope is writing link now" in err and "another --output-dir" in err
    assert not Path("other.json").exists() and call("--input", "in", "--json", "other.json")[0] == 0
    assert [name for name in os.listdir("out") if name.startswith(".")] == []


def test_resume_knows_files_that_this_call_does_not_come_to(
    call: Call, monkeypatch: pytest.MonkeyPatch, one_by_one: None
) -> None:
    call("--input", "in")
    stop_in(monkeypatch, "a", times=2)
    code, _, _ = call("--input", "in/a.png", "in/b.png", "--resume", "--window", "7")
    assert code == 130
    assert set(by_name()) == {"a", "b", "c", "d"} and not report()["complete"]


ENDS = pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """One file at a time."""
    monkeypatch.setattr(overlap, "cores", lambda: 0)


def stop_in(
    monkeypatch: pytest.MonkeyPatch, name: str, times: int, end: signal.Signals = signal.SIGINT
) -> threading.Event:
    """Press Ctrl-C, or send another signal, so often while the file of this name is worked on; the second one ends it.
    Returns what is set once the first one was heard."""
    compute, say, heard = batch._compute, streams.say, threading.Event()

    def pressed(own: Any, item: Any, *rest: Any) -> int:
        if item.name == name:
            os.kill(os.getpid(), end)
            assert heard.wait(10)
        if item.name == name and times == 2:
            os.kill(os.getpid(), end)
            go_on()
        return compute(own, item, *rest)

    def said(words: str) -> None:
        say(words)
        if "press Ctrl-C again" in words:
            heard.set()

    monkeypatch.setattr(batch, "_compute", pressed)
    monkeypatch.setattr(streams, "say", said)
    return heard


def go_on() -> None:
    """Work until it is cancelled."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        advance(0, 1)
        time.sleep(0.002)


@ENDS
def test_ctrl_c_ends_after_the_present_file_with_a_summary(
    call: Call, monkeypatch: pytest.MonkeyPatch, one_by_one: None, end: signal.Signals
) -> None:
    handler = signal.getsignal(end)
    with monkeypatch.context() as patch:
        stop_in(patch, "b", times=1, end=end)
        code, out, err = call("--input", "in")
    assert code == 130 and "It ends after the files at work" in err
    assert "2 right, 2 not reached" in out and Path("out/b.png").exists() and not Path("out/c.npy").exists()
    assert not report()["complete"] and set(by_name()) == {"a", "b"}
    assert signal.getsignal(end) is handler
    code, out, _ = call("--input", "in", "--resume")
    assert code == 0 and "2 done before, 2 right" in out and report()["complete"]


@ENDS
def test_ctrl_c_twice_ends_at_once_with_a_summary(
    call: Call, monkeypatch: pytest.MonkeyPatch, one_by_one: None, end: signal.Signals
) -> None:
    stop_in(monkeypatch, "b", times=2, end=end)
    code, out, _ = call("--input", "in")
    assert code == 130 and "1 right, 3 not reached" in out and not Path("out/b.png").exists()


def test_ctrl_c_while_three_files_are_at_work_lets_them_end(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "cores", lambda: 2)
    heard, meeting = stop_in(monkeypatch, "b", times=1), threading.Barrier(3, timeout=10)
    compute = batch._compute

    def together(own: Any, item: Any, *rest: Any) -> int:
        meeting.wait()
        code = compute(own, item, *rest)
        assert heard.wait(10)
        return code

    monkeypatch.setattr(batch, "_compute", together)
    code, out, _ = call("--input", "in")
    assert code == 130 and "3 right, 1 not reached" in out and set(by_name()) == {"a", "b", "c"}


def test_ctrl_c_twice_leaves_the_row_of_each_file_that_has_ended(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the third one, while the two before it are at work."""
    monkeypatch.setattr(overlap, "cores", lambda: 2)
    stop_in(monkeypatch, "b", times=2)
    ended, one, compute = threading.Event(), batch.Work.one, batch._compute

    def worked(own: Any, item: Any, *rest: Any) -> int:
        if item.name in "ad":
            go_on()
        assert item.name == "c" or ended.wait(10)
        return compute(own, item, *rest)

    def noted(own: Any, item: Any, *rest: Any, **more: Any) -> Any:
        done = one(own, item, *rest, **more)
        ended.set()
        return done

    monkeypatch.setattr(batch, "_compute", worked)
    monkeypatch.setattr(batch.Work, "one", noted)
    code, out, _ = call("--input", "in")
    assert code == 130 and "1 right, 3 not reached" in out
    assert set(by_name()) == {"c"} and set(os.listdir("out")) == {"c.npy", "kernelscope-batch.json"}


def test_a_wrong_result_is_not_saved_and_counts_most(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    ran = batch.run_experiment

    def wrong(experiment: Any) -> Any:
        for one in ran(experiment):
            yield replace(one, ok=False) if experiment.input.name == "b.png" else one

    monkeypatch.setattr(batch, "run_experiment", wrong)
    Path("in/bad.png").write_bytes(b"no picture")
    code, out, _ = call("--input", "in")
    assert code == 3 and "1 wrong, 1 failed" in out and "WRONG" in out
    assert by_name()["b"]["status"] == "wrong" and not Path("out/b.png").exists()


def test_formats_and_mappings(call: Call) -> None:
    code, out, _ = call("--input", "in/c.npy", "--format", "png", "--map", "scale")
    assert code == 0 and "became 0…65535" in by_name()["c"]["mapping"] and load("out/c.png").array.dtype == np.uint16
    code, _, _ = call("--input", "in/c.npy", "--map", "levels", "--map-levels", "-1", "1")
    assert code == 0 and load("out/c.png").array.dtype == np.uint8
    code, _, _ = call("--input", "in/c.npy", "--format", "png")
    assert code == 2 and "--map scale or --map clip or --map levels" in by_name()["c"]["sentence"]
    code, _, _ = call("--input", "in/a.png", "--format", "wav")
    assert code == 2 and "cannot hold an image as '.wav'" in by_name()["a"]["sentence"]


def test_the_same_stem_gets_two_names_and_no_input_is_replaced(call: Call) -> None:
    save("in/a.npy", np.ones((4, 4), np.uint8))
    Path("more").mkdir()
    save("more/a.png", np.ones((4, 4), np.uint8))
    assert call("--input", "in", "more", "in/a.png")[0] == 0
    assert {"in_a_png.png", "more_a_png.png", "a_npy.png", "b.png"} <= set(os.listdir("out"))
    before = Path("in/b.png").read_bytes()
    there = sorted(os.listdir("in"))
    for names in (["in"], ["more/../in/b.png", "--format", "npy"], ["in/*.png"]):
        code, _, said = call("--input", *names, output="in")
        assert code == 2 and "in has inputs itself, such as" in said and "write the results to another folder" in said
    assert Path("in/b.png").read_bytes() == before and sorted(os.listdir("in")) == there


def test_files_of_many_folders_have_names_of_their_own(call: Call) -> None:
    for day in ("1", "2"):
        for part in ("in", "in/left"):
            Path("days", day, part).mkdir(parents=True, exist_ok=True)
            save(f"days/{day}/{part}/a.png", np.full((4, 4), int(day), np.uint8))
    assert call("--input", "days/**/*.png")[0] == 0
    assert {f"{day}_in_{part}a_png.png" for day in "12" for part in ("", "left_")} <= set(os.listdir("out"))
    assert load("out/2_in_left_a_png.png").array[1, 1] == 2


def test_a_pattern_finds_a_zarr_and_not_its_parts(call: Call) -> None:
    pytest.importorskip("zarr")
    save("in/deep.zarr", np.ones((4, 4), np.uint8))
    assert len([path for path in Path("in/deep.zarr").rglob("*") if path.is_file()]) > 1
    code, out, _ = call("--input", "in/**/*")
    assert code == 0 and "5 files in" in out and "5 right" in out and by_name()["deep"]["status"] == "right"


def test_of_a_stack_one_frame_is_taken_and_this_is_said(call: Call) -> None:
    save("in/stack.npy", np.stack([np.full((4, 5), k, np.uint8) for k in range(3)]))
    words = "Of 1 stack the first frame was taken; --frames all takes all frames."
    _, out, _ = call("--input", "in/a.png", "in/stack.npy")
    assert words in out and "1 of 3 frames, 5 x 4 uint8" in out
    assert by_name()["stack"]["of_frames"] == 3 and "of_frames" not in by_name()["a"]
    for how in (("--frame", "1"), ("--project", "max"), ("--frames", "all")):
        _, out, _ = call("--input", "in/stack.npy", *how)
        assert words not in out
    assert "3 frames of 5 x 4 uint8" in out


def test_several_outputs_are_saved_by_their_first_and_tables_as_csv(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["run", "histogram", *CPU, "--bins", "16", "--input", "in/a.png", "in/d.wav", "--output-dir", "out"]) == 0
    )
    lines = [line for line in Path("out/a.csv").read_text().splitlines() if not line.startswith("#")]
    assert lines[0].startswith("from,to,") and len(lines) == 17
    assert "# input: a.png" in Path("out/a.csv").read_text() and Path("out/d.csv").exists()


def test_one_variant_and_its_checks(call: Call) -> None:
    assert call("--input", "in/a.png", "--variant", "serial", "--checks", "off")[0] == 0
    assert (by_name()["a"]["variant"], by_name()["a"]["status"]) == ("serial", "unverified")
    code, out, _ = call("--input", "in/a.png", "--variant", "serial", "--checks", "off", "--resume", "--json", "-")
    assert code == 0 and json.loads(out)["files"][0]["skipped"]
    assert json.loads(out)["schema"] == "kernelscope-batch/1"
    assert call("--input", "in/a.png", "--json", "own.json")[0] == 0 and by_name("own.json")["a"]["status"] == "right"


REFUSED = [
    (["--input", "in", "--output", "x.png"], "--output is for one input"),
    (["--input", "in", "--variant", "serial", "scipy"], "saves the results of one variant"),
    (["--input", "in", "--variant", "fast"], "mean1d has no variant 'fast'"),
    (["--input", "in", "--window", "4"], "window"),
    (["--input", "in", "--map", "levels"], "belong together"),
    (["--input", "nothing*.png"], "No file is called like nothing"),
    (["--input", "empty"], "has no file that can be read"),
    ([], "--output-dir needs files"),
    (["--input", "in", "--resume", "--json", "in/a.png"], "is no report of many files"),
]


@pytest.mark.parametrize(("args", "words"), REFUSED, ids=lambda v: v if isinstance(v, str) else "")
def test_what_is_wrong_for_every_file_is_said_before_any_is_read(call: Call, args: list[str], words: str) -> None:
    Path("empty").mkdir()
    before = Path("in/a.png").read_bytes()
    code, out, err = call(*args)
    assert code == 2 and words in err and err.count("\n") == 1 and not out
    assert Path("in/a.png").read_bytes() == before


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"schema":' * 50_000, '{"files": [[]], "schema": "kernelscope-batch/1"}']
)
def test_a_nested_or_odd_report_is_a_sentence(call: Call, text: str) -> None:
    Path("odd.json").write_text(text)
    code, out, err = call("--input", "in/a.png", "--resume", "--json", "odd.json")
    assert code == 2 and "odd.json is no report of many files" in err and not out
    assert Path("odd.json").read_text() == text


def test_a_folder_that_cannot_be_made_is_a_sentence(call: Call) -> None:
    code, _, err = call("--input", "in", output="in/a.png")
    assert code == 2 and "cannot be the folder of the results" in err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--resume"], "--resume is for many files"),
        (["--format", "npy"], "--format is for many files"),
        (["--input", "in/a.png", "in/b.png"], "names several files; name a folder"),
        (["--input", "in/a.png", "--output-dir", "out", "--frames", "merged"], "--frames merged is for one input"),
        (["--input", "in/a.png", "--map", "scale"], "--map scale is for a saved result"),
        (["--input", "in/c.npy", "--output", "x.png"], "with --map scale or --map clip or --map levels"),
    ],
)
def test_flags_of_many_files_and_of_one(args: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "mean", *CPU, *args]) == 2
    assert words in capsys.readouterr().err and not Path("x.png").exists()


def test_a_mapping_is_said_when_one_result_is_saved(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--input", "in/c.npy", "mean", *CPU, "--map", "scale", "--output", "x.png"]) == 0
    assert "became 0…65535" in capsys.readouterr().err and load("x.png").array.dtype == np.uint16
