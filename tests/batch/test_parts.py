"""The loop over parts, its executors, and a batch that is asked for from Python."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_ops.batch import overlap
from gpu_ops.batch.run import Batch, BatchSpec
from gpu_ops.cli import main
from gpu_ops.errors import ParamError
from gpu_ops.io import load, save
from gpu_ops.io.reading import Reading
from gpu_ops.progress import Cancelled, advance, listening
from gpu_ops.running.parts import Parts, serial, threads

EXECUTORS = pytest.mark.parametrize("executor", [serial, threads(1), threads(3)], ids=["serial", "one", "three"])


@EXECUTORS
def test_results_come_in_the_order_of_the_parts(executor: Any) -> None:
    taken: list[tuple[int, int]] = []
    reports: list[tuple[int, int]] = []

    def square(part: int) -> int:
        time.sleep(0.02 if part == 0 else 0)  # the first one is the last to end
        return part * part

    parts = Parts(range(9), square, lambda part, result: taken.append((part, result)))
    found = list(parts.each(lambda *place: reports.append(place), executor))
    assert found == [k * k for k in range(9)] and taken == [(k, k * k) for k in range(9)]
    assert reports == [(k, 9) for k in range(9)]


def test_threads_work_beside_one_another() -> None:
    meeting = threading.Barrier(3, timeout=10)
    assert (
        list(Parts(range(3), lambda part: meeting.wait() >= 0, lambda *_: None).each(executor=threads(3))) == [True] * 3
    )


def test_a_part_that_takes_long_does_not_stop_those_after_it() -> None:
    later = threading.Event()

    def work(part: int) -> int:
        if part == 0:
            assert later.wait(5), "it was waited for"
        if part == 3:
            later.set()
        return part

    assert list(threads(2)(work, range(9))) == [*range(9)]


def test_no_more_than_some_parts_begin_while_the_first_is_awaited() -> None:
    begun: list[int] = []

    def work(part: int) -> int:
        begun.append(part)
        if part == 0:
            time.sleep(0.05)
        return part

    results = threads(2)(work, range(50))
    assert next(results) == 0 and len(begun) <= 5
    assert list(results) == [*range(1, 50)]


def test_threads_have_as_many_parts_as_fit_together() -> None:
    sizes, at_work, most = [1, 1, 1, 5, 1, 9, 1, 1], list[int](), list[int]()

    def work(part: int) -> int:
        at_work.append(sizes[part])
        most.append(sum(at_work))
        time.sleep(0.002)
        at_work.remove(sizes[part])
        return part

    executor = threads(3, lambda parts: len(parts) == 1 or sum(sizes[part] for part in parts) <= 6)
    assert list(executor(work, range(8))) == [*range(8)]
    assert max(most) == 9 and 2 <= max(total for total in most if total < 9) <= 6, "the largest one is alone"


@EXECUTORS
def test_no_part_begins_after_a_stop_and_those_that_began_are_taken(executor: Any) -> None:
    begun: list[int] = []
    taken: list[int] = []

    def work(part: int) -> int:
        begun.append(part)
        return part

    parts = Parts(range(50), work, lambda part, result: taken.append(result))
    for _ in parts.each(executor=executor, stop=lambda: len(taken) >= 2):
        pass
    assert taken == sorted(begun) and 2 <= len(taken) < 10


@EXECUTORS
def test_an_error_ends_the_work(executor: Any) -> None:
    taken: list[int] = []

    def work(part: int) -> int:
        if part == 3:
            raise ValueError("part 3")
        return part

    with pytest.raises(ValueError, match="part 3"):
        list(Parts(range(50), work, lambda part, result: taken.append(result)).each(executor=executor))
    assert taken == [0, 1, 2]


def test_threads_that_nobody_waits_for_stop_where_they_advance() -> None:
    ended: list[str] = []

    def work(part: int) -> int:
        if part == 0:
            return 0
        try:
            for _ in range(1000):
                advance(0, 1)
                time.sleep(0.01)
        except Cancelled:
            ended.append("stopped")
            raise
        return part

    with listening(lambda: False):
        results = Parts(range(9), work, lambda *_: None).each(lambda *_: None, threads(2))
        assert next(results) == 0
        results.close()
    assert ended and set(ended) == {"stopped"}


def test_the_last_result_is_returned_and_no_other_is_kept() -> None:
    alive = 0

    class Large:
        def __init__(self, part: int) -> None:
            nonlocal alive
            assert alive == 0, "the result before is still there"
            self.part, alive = part, 1

        def __del__(self) -> None:
            nonlocal alive
            alive = 0

    assert Parts(range(5), Large, lambda *_: None).run().part == 4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    random = np.random.default_rng(5)
    for k in range(7):
        save(f"in/{k}.png", random.integers(0, 256, (20 + k, 30), np.uint8))
    Path("in/bad.png").write_bytes(b"no picture")
    return tmp_path


def without_times(report: dict[str, Any]) -> list[dict[str, Any]]:
    # the PNG tells the time at which it was made, so its hash is another one
    return [{k: v for k, v in row.items() if k not in ("seconds", "output_sha256")} for row in report["files"]]


def test_a_batch_of_two_workers_is_that_of_one_process(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "mean", "--device", "cpu", "--input", "in", "--output-dir", "out", "--window", "5"]) == 2
    report = json.loads(Path("out/kernelscope-batch.json").read_text())
    expected = {path.name: load(path).array for path in Path("out").glob("*.png")}
    for path in Path("out").iterdir():
        path.unlink()
    told: list[str] = []
    spec = BatchSpec(["in"], "out", "mean", {"window": "5"}, devices=["cpu"], reading=Reading(), workers=2)
    batch = Batch(spec, told.append)
    done = list(batch.run())
    assert sorted(one.row["name"] for one in done) == [*"0123456", "bad"] and batch.complete and batch.exit_code == 2
    assert without_times(batch.content()) == without_times(report) and len(expected) == 7
    assert json.loads(Path("out/kernelscope-batch.json").read_text())["command"] == report["command"], "it resumes"
    for name, array in expected.items():
        assert np.array_equal(load(f"out/{name}").array, array)
    assert told[0].startswith("2 workers at tcp://127.0.0.1:") and (batch.pace.done, batch.pace.left) == (8, 0)


def test_workers_of_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["run", "mean", "--device", "cpu", "--input", "in", "--output-dir", "out", "--workers"]
    assert main([*flags, "0"]) == 2 and "workers must be at least 1, not 0" in capsys.readouterr().err
    assert main([*flags, "2", "--gpus", "all"]) == 2 and "each choose the workers" in capsys.readouterr().err
    assert main([*flags, "1", "--gpus", "all"]) == 2 and "leave --device out" in capsys.readouterr().err


def test_a_batch_that_is_left_early_has_a_report_to_go_on_with(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were at work beside those that were taken are in it if they ended."""
    monkeypatch.setattr(overlap, "cores", lambda: 2)
    spec = BatchSpec(["in"], "out", "mean2d", devices=["cpu"], resume=True)
    batch = Batch(spec)
    run = batch.run()
    next(run), next(run)
    run.close()
    left = json.loads(Path("out/kernelscope-batch.json").read_text())
    names = [row["name"] for row in left["files"]]
    assert not left["complete"] and names[:2] == ["0", "1"] and len(names) <= 2 + 3 + 1
    again = [one.row for one in Batch(spec).run()]
    assert len(again) == 8 and [row["name"] for row in again if row.get("skipped")] == names


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"values": {"windw": 3}}, "is called windw"),
        ({"values": {"window": 4}}, "window"),
        ({"variant": "fast"}, "has no variant 'fast'"),
        ({"values": {"block_y": 3}, "variant": "serial"}, "is called block_y"),
        ({"preset": "nothing"}, "nothing"),
    ],
)
def test_what_no_filter_takes_is_refused_before_a_file_is_read(folder: Path, how: dict[str, Any], words: str) -> None:
    with pytest.raises(ParamError, match=words):
        Batch(BatchSpec(["in"], "out", "mean", devices=["cpu"], **how))
    assert not Path("out").exists()


def test_how_files_are_read_is_checked_at_once() -> None:
    with pytest.raises(ParamError, match="no step 'bogus'"):
        Reading(steps=("bogus",))
    with pytest.raises(ParamError, match="add some with --noise"):
        Reading(values={"noise_seed": 3})
