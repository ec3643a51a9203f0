"""The engine's process: it answers, stops on request, and whatever kills it, each job is answered, the next works."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import is_dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_ops import progress
from gpu_ops.devices.cpu import cpu_model
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.engine import client as clients
from gpu_ops.engine import jobs, messages, region_numba, segments, statistics_numba
from gpu_ops.engine import shared as shared_types
from gpu_ops.engine import statistics as statistics_module
from gpu_ops.engine.about import segments_of_answer
from gpu_ops.engine.child import Child
from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.job_channel import JobChannel
from gpu_ops.engine.live.messages import LiveFrame, LiveRequest
from gpu_ops.engine.messages import (
    PROTOCOL,
    Answer,
    DoctorAnswer,
    DoctorRequest,
    Failed,
    Finished,
    Loaded,
    LoadRequest,
    OccupancyAnswer,
    Progress,
    Ready,
    Request,
    ResultRequest,
    RunRequest,
    RunUpdate,
    SampleRequest,
    SaveRequest,
    Stepped,
    StepsRequest,
    Surveyed,
    SurveyRequest,
)
from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray, SharedInput, Statistics
from gpu_ops.engine.statistics import PERCENTILES, statistics
from gpu_ops.errors import NonFiniteError
from gpu_ops.filters import FILTERS
from gpu_ops.filters.own import OwnVariant
from gpu_ops.io import add_noise, apply_steps, sample, save
from gpu_ops.io.live.source import LiveSource
from gpu_ops.output_kinds import colours, whole_array
from gpu_ops.report.provenance import source_tree
from gpu_ops.running.runner import run_experiment
from gpu_ops.running.timing import QUICK, Cancelled, measure_interleaved
from gpu_ops.types import Experiment, Pick

PATIENCE = 60.0
"""Seconds; generous, for busy machines."""
PARAMS = {"window": 5, "border": "reflect"}
SERIAL, SCIPY = Pick("serial", "cpu"), Pick("scipy", "cpu")
"""The first computes in steps and needs Numba; the second starts sooner, where any will do."""


class Talk:
    """A client and what it answered. `do` waits for the last word on a job and releases what it was given."""

    def __init__(self, **how: Any) -> None:
        self.answers: queue.Queue[Answer] = queue.Queue()
        self.client = EngineClient(self.answers.put, **how)

    def job(self) -> int:
        return self.client.next_job()

    def until(self, kind: type | tuple[type, ...], job: int | None = None) -> list[Answer]:
        """Everything up to the first answer of that kind, of that job if one is named."""
        found = []
        while not found or not isinstance(found[-1], kind) or (job is not None and found[-1].job != job):
            found.append(self.answers.get(timeout=PATIENCE))
        return found

    def do(self, request: Request, release: bool = True) -> list[Answer]:
        self.client.submit(request)
        found = [a for a in self.until((Finished, Failed), request.job) if not isinstance(a, Ready)]
        assert {a.job for a in found} == {request.job}
        for answer in found if release else ():
            self.release(answer)
        return found

    def release(self, answer: Answer) -> None:
        for name in segments_of_answer(answer):
            self.client.pool.release(name)

    def sample(self, id: str = "noise", **options: Any) -> SharedInput:
        options = options or {"size": "50x40", "seed": 3}
        found = self.do(SampleRequest(self.job(), id, options), release=False)
        assert isinstance(found[-2], Loaded), found[-1]
        return found[-2].input

    def request(self, input: SharedInput, picks: tuple[Pick, ...] = (SCIPY,), **how: Any) -> RunRequest:
        return RunRequest(self.job(), 7, input, "mean2d", PARAMS, picks, **{"protocol": "none", **how})

    def kill(self) -> None:
        """Kill the engine as somebody else would. Raises ProcessLookupError while there is none."""
        pid = self.client.pid
        if pid is None:
            raise ProcessLookupError
        os.kill(pid, signal.SIGKILL)


def _halt(pid: int) -> None:
    """Stop a process. It stops when one of its threads takes the signal; on a busy machine others go on until then."""
    os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + PATIENCE
    while {stat.read_text().rpartition(")")[2].split()[0] for stat in Path(f"/proc/{pid}/task").glob("*/stat")} - {"T"}:
        assert time.monotonic() < end
        time.sleep(0.01)


def _left() -> list[str]:
    """Segments of this process that are still there."""
    names = (p.name for place in segments.directories() for p in place.glob(f"kernelscope-{os.getpid()}-*"))
    return sorted(names)


@pytest.fixture(scope="module")
def shared() -> Iterator[Talk]:
    talk = Talk()
    yield talk
    talk.client.close()
    assert _left() == []


@pytest.fixture(scope="module")
def small(shared: Talk) -> SharedInput:
    return shared.sample()


@pytest.fixture
def talk() -> Iterator[Talk]:
    """A client of the test's own, for what kills engines."""
    pools = SegmentPool()
    talk = Talk(pool=pools)
    yield talk
    talk.client.close()
    pools.close()
    assert not talk.client.running


# Answers.


def test_a_file_is_loaded_with_its_meaning(shared: Talk, tmp_path: Path) -> None:
    array = np.linspace(-1, 1, 500)
    save(tmp_path / "tone.npy", array)
    request = LoadRequest(shared.job(), str(tmp_path / "tone.npy"), {"kind": "signal", "dtype": "float32"})
    found = shared.do(request, release=False)
    assert isinstance(found[0], Progress) and "tone.npy" in found[0].text
    loaded = found[-2].input
    assert (loaded.kind, loaded.axes, loaded.name, loaded.rate) == ("signal", "t", "tone.npy", None)
    assert loaded.origin["steps"] == [{"step": "convert", "dtype": "float32"}]
    np.testing.assert_array_equal(shared.client.pool.array(loaded.array), array.astype(np.float32))
    assert loaded.statistics == statistics(array.astype(np.float32))
    shared.release(found[-2])


def test_a_live_source_gives_its_newest_frame_and_then_its_end(shared: Talk, tmp_path: Path) -> None:
    writer = cv2.VideoWriter(str(tmp_path / "film.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 50, (32, 16))
    for k in range(4):
        writer.write(np.full((16, 32, 3), 40 * k + 40, np.uint8))
    writer.release()
    source, number, seen = LiveSource("video", str(tmp_path / "film.avi")), -1, []
    while True:
        found = shared.do(LiveRequest(shared.job(), source, number), release=False)
        answer = found[-2]
        assert isinstance(answer, LiveFrame) and isinstance(found[-1], Finished), found[-1]
        if answer.input is None:
            break
        array = shared.client.pool.array(answer.input.array)
        assert (answer.input.kind, array.shape, answer.rate) == ("image", (16, 32), 50)
        assert abs(float(array.mean()) - 40 * answer.number - 40) < 4 and answer.number > number
        assert answer.input.origin["hash"] and answer.input.statistics == statistics(array)
        assert answer.waited < 10
        seen.append(number := answer.number)
        shared.release(answer)
        if number == 0:
            assert [type(a) for a in shared.do(LiveRequest(shared.job(), source, number, "hold"))] == [Finished]
    assert seen[-1] == 3
    gone = shared.do(LiveRequest(shared.job(), LiveSource("video", str(tmp_path / "gone.avi"))))[-1]
    assert isinstance(gone, Failed) and "does not exist" in gone.sentence and gone.kind == "input"
    assert [type(a) for a in shared.do(LiveRequest(shared.job(), source, do="close"))] == [Finished]


def test_a_live_source_rests_and_is_given_back_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    live = SimpleNamespace(hold=lambda: done.append("hold"), close=lambda: done.append("close"))
    monkeypatch.setattr(jobs, "_LIVE", live)
    for do in ("hold", "close"):
        jobs._live(None, LiveRequest(1, LiveSource("video", "x.avi"), do=do))
    assert done == ["hold", "close"], "and nothing is read"


def test_a_picture_of_the_screen_becomes_an_input_of_its_own(shared: Talk) -> None:
    picture = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    held = SharedArray(shared.client.pool.take(picture.nbytes), picture.shape, "uint8")
    shared.client.pool.array(held, writeable=True)[...] = picture
    request = LiveRequest(shared.job(), LiveSource("screen", rate=10), 6, frame=held)
    answer = shared.do(request, release=False)[-2]
    assert isinstance(answer, LiveFrame) and answer.input is not None and (answer.number, answer.rate) == (7, 10)
    shared.client.pool.array(held, writeable=True)[...] = 0
    np.testing.assert_array_equal(shared.client.pool.array(answer.input.array), picture)
    shared.client.pool.release(held.segment)
    shared.release(answer)


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
@pytest.mark.parametrize("id", ["noise", "camera"])
def test_a_sample_is_the_same_here_and_there(shared: Talk, id: str, dtype: str) -> None:
    found = shared.sample(id, dtype=dtype)
    expected = sample(id, dtype=dtype)
    assert (found.kind, found.origin, found.rate) == (expected.kind, expected.origin, expected.rate)
    np.testing.assert_array_equal(shared.client.pool.array(found.array), expected.array)
    shared.client.pool.release(found.array.segment)


def test_a_variant_that_a_person_makes_reaches_every_engine(talk: Talk) -> None:
    """One that runs already, and one that takes its place."""

    def failure(*variants: str) -> list[str]:
        picks = tuple(Pick(variant, "sim") for variant in variants)
        found = talk.do(talk.request(input, picks))
        return [u.row.failure for u in found if isinstance(u, RunUpdate) and u.stage == "verified"]

    input = talk.sample()
    try:
        text = read_source("mean2d/1_naive.cu")
        FILTERS.set_own([OwnVariant("mean2d", "naive", "mine", "mine", text)])
        assert failure("mine") == [""]
        talk.kill()
        assert failure("mine") == [""]
        FILTERS.set_own([OwnVariant("mean2d", "naive", "other", "other", text)])
        assert failure("other") == [""]
        assert isinstance(talk.do(talk.request(input, (Pick("mine", "sim"),)))[-1], Failed)
    finally:
        FILTERS.set_own(())


def test_a_run_is_what_it_is_in_process(shared: Talk, small: SharedInput) -> None:
    picks = (SERIAL, Pick("parallel", "cpu"))
    request = shared.request(small, picks)
    found = shared.do(request, release=False)
    updates = [a for a in found if isinstance(a, RunUpdate)]
    runs = list(run_experiment(Experiment("mean2d", sample("noise", size="50x40", seed=3), PARAMS, picks, "none")))
    assert [(u.row.variant, u.stage, u.row.ok) for u in updates] == [(r.pick.variant, r.stage, r.ok) for r in runs]
    assert [bool(u.outputs) for u in updates] == [True, True, False, False], "all results, then all verdicts"
    for update, run in zip(updates, runs, strict=True):
        assert update.generation == 7
        for name, array in update.outputs.items():
            np.testing.assert_array_equal(shared.client.pool.array(array.array), run.outputs[name])
            assert update.outputs[name].statistics == statistics(run.outputs[name])
        shared.release(update)
    compiled = "compiling"  # where no test has run these loops before
    told = (a for a in found if isinstance(a, Progress) and compiled not in a.text)
    said = dict.fromkeys((a.text, a.done, a.total) for a in told)
    expected = {
        "preparing CPU, one core": 0,
        "copying noise to cpu": 0,
        "computing CPU, one core": 0,
        "summarising the outputs of CPU, one core": 0,
        "preparing CPU, all cores": 1,
        "computing CPU, all cores": 1,
        "summarising the outputs of CPU, all cores": 1,
        "verifying CPU, one core": 2,
        "verifying CPU, all cores": 3,
    }
    first: dict[str, int] = {}
    for text, done, total in said:
        if total:
            first.setdefault(text, done)
    assert list(first) == list(expected)
    # A quarter each; a step that takes a while reports its parts, and the next one continues from there.
    assert all(1000 * expected[text] <= done <= 1000 * (expected[text] + 1) for text, done in first.items()), first
    assert [done for _, done, _ in said] == sorted(done for _, done, _ in said)
    assert {total for _, _, total in said} <= {0, 4000}


def test_a_quick_run_has_times_and_no_shares_of_roofs(shared: Talk, small: SharedInput) -> None:
    found = shared.do(shared.request(small, protocol="quick"))
    last = found[-2].row
    assert (found[-2].stage, last.ok) == ("timed", True) and found[-2].key == last.key
    assert last.stages["kernel"].n >= 3
    assert last.gbps > 0 and last.share is None and last.roof is None
    assert "timing SciPy" in [a.text for a in found if isinstance(a, Progress)]


def test_the_first_news_of_a_device_says_what_machine_it_is(talk: Talk) -> None:
    input = talk.sample()
    events = [[a.provenance for a in talk.do(talk.request(input)) if isinstance(a, RunUpdate)] for _ in range(2)]
    first, again = events[0][0], events[1]
    assert first["devices"] == {"cpu": {"device": "cpu", "model": cpu_model(), "threads": os.cpu_count()}}
    assert first["source_tree"] == source_tree() and first["libraries"]["numpy"] == np.__version__
    assert again == [{}] * len(again) and "roofs" not in str(first)


def test_a_pick_that_cannot_run_has_its_reason_and_the_others_go_on(shared: Talk, small: SharedInput) -> None:
    wide = {**PARAMS, "window": 63}
    request = RunRequest(shared.job(), 1, small, "mean2d", wide, (Pick("opencv", "cpu"), SERIAL), "none", checks="off")
    updates = [a for a in shared.do(request) if isinstance(a, RunUpdate)]
    assert updates[-1].row.variant == "serial" and updates[-1].outputs


def test_a_result_is_saved(shared: Talk, small: SharedInput, tmp_path: Path) -> None:
    path = tmp_path / "noise.npy"
    found = shared.do(SaveRequest(shared.job(), str(path), small.result, None))
    assert isinstance(found[-1], Finished)
    np.testing.assert_array_equal(np.load(path), shared.client.pool.array(small.array))


def test_the_doctor_answers(shared: Talk) -> None:
    found = shared.do(DoctorRequest(shared.job()))
    assert isinstance(found[-2], DoctorAnswer)
    assert found[-2].content["devices"][0]["name"] == "cpu"
    assert "roofs" not in found[-2].content


def test_ready_names_the_devices() -> None:
    with_two = [Talk(), Talk()]
    for talk in with_two:
        talk.client.start()
        talk.client.start()
    for talk in with_two:
        ready = talk.until(Ready)
        assert len(ready) == 1 and ready[0].devices[0].name == "cpu"
        assert talk.client.running and not talk.client.busy
    first, second = (talk.sample() for talk in with_two)
    assert first.array.segment != second.array.segment
    assert with_two[0].client.pid != with_two[1].client.pid
    with_two[0].client.close()
    assert with_two[1].do(with_two[1].request(second))[-1] == Finished(2)
    with_two[1].client.close()


def test_jobs_are_done_in_the_order_they_came(shared: Talk, small: SharedInput) -> None:
    requests = [shared.request(small, checks="off") for _ in range(5)]
    for request in requests:
        shared.client.submit(request)
    assert shared.client.busy
    done = [a for a in shared.until(Finished, requests[-1].job) if isinstance(a, Finished)]
    assert [a.job for a in done] == [r.job for r in requests]


def test_nobody_changes_a_message_that_others_hold() -> None:
    kinds = [one for module in (messages, shared_types) for one in vars(module).values() if is_dataclass(one)]
    assert len(kinds) > 20
    assert [one.__name__ for one in kinds if not one.__dataclass_params__.frozen] == []


def test_segments_are_reused(shared: Talk, small: SharedInput) -> None:
    shared.do(shared.request(small))
    before = shared.client.pool.nbytes
    names = set()
    for _ in range(5):
        for answer in shared.do(shared.request(small)):
            names.update(segments_of_answer(answer))
    assert len(names) < 5, "several may be free, where earlier tests needed them"
    assert shared.client.pool.nbytes == before


# Errors.


def test_occupancy_comes_first_and_needs_no_run(shared: Talk, small: SharedInput) -> None:
    held = (Pick("naive", "cuda:99", {"block": 64}), Pick("naive", "sim", {"block": 1024}))
    alone, both = (
        shared.do(shared.request(small, picks, occupancy_for=held[:1], architecture="sm_90"))
        for picks in ((), (SERIAL,))
    )
    (answer,) = (a for a in alone if isinstance(a, OccupancyAnswer))
    full = answer.variants["naive"].occupancy
    assert (answer.variants["naive"].threads, full.most, full.warps <= 64) == (64, 64, True) and not answer.reasons
    assert isinstance(alone[-1], Finished) and not any(isinstance(a, RunUpdate) for a in alone)
    kinds = [type(a) for a in both if isinstance(a, OccupancyAnswer | RunUpdate)]
    assert kinds[0] is OccupancyAnswer and RunUpdate in kinds[1:]
    unknown = shared.do(shared.request(small, (), occupancy_for=held, architecture="sm_110"))
    assert [a.variants for a in unknown if isinstance(a, OccupancyAnswer)] == [{}], (
        "the figures of that GPU are not published"
    )


def test_errors_are_sentences_of_their_kind(shared: Talk, small: SharedInput, tmp_path: Path) -> None:
    def failed(request: Request) -> Failed:
        answer = shared.do(request)[-1]
        assert isinstance(answer, Failed)
        return answer

    pid = shared.client.pid
    missing = failed(LoadRequest(shared.job(), str(tmp_path / "no.png")))
    assert (missing.kind, "does not exist" in missing.sentence) == ("input", True)
    assert failed(SampleRequest(shared.job(), "moon")).kind == "input"
    assert failed(SampleRequest(shared.job(), "noise", {"length": 0})).kind == "input"
    assert failed(RunRequest(shared.job(), 1, small, "mean2d", {"window": 4}, (SERIAL,))).kind == "input"
    assert failed(shared.request(small, (Pick("naive", "cuda:99"),))).kind == "device"
    assert failed(SaveRequest(shared.job(), str(tmp_path / "x.gif"), small.result, None)).kind == "input"
    gone = replace(small.result, array=SharedArray("kernelscope-1-1", (1,), "uint8"))
    assert "no longer in memory" in failed(SaveRequest(shared.job(), str(tmp_path / "x.npy"), gone, None)).sentence
    assert shared.client.pid == pid


def test_what_is_not_finite_offers_its_choices(shared: Talk, tmp_path: Path) -> None:
    save(tmp_path / "holes.npy", np.array([1.0, np.nan, -np.inf, np.nan]))

    def answers(**options: Any) -> list[Answer]:
        return shared.do(LoadRequest(shared.job(), str(tmp_path / "holes.npy"), options))

    refused = answers()[-1]
    assert isinstance(refused, Failed) and refused.kind == "input"
    assert refused.nonfinite == messages.NonFinite(2, 1, ("keep", "zero"))
    assert refused.sentence.endswith("holes.npy holds 2 NaN and 1 infinite values, the first at index 1.")
    for rule, finite in (("keep", False), ("zero", True)):
        assert rule in refused.nonfinite.choices
        loaded = answers(nonfinite=rule)[-2]
        assert isinstance(loaded, Loaded) and loaded.input.finite is finite
        assert loaded.input.origin["steps"] == [{"step": "nonfinite", "rule": rule, "nan": 2, "infinite": 1}]


def test_the_choices_survive_a_channel() -> None:
    error = pickle.loads(pickle.dumps(NonFiniteError("x holds 2 NaN and 1 infinite values", 2, 1)))
    assert (error.nan, error.infinite, error.choices) == (2, 1, ("keep", "zero"))
    assert str(error).startswith("x holds 2 NaN and 1 infinite values; add --nonfinite keep")


def test_a_large_file_is_read_into_the_windows_memory(shared: Talk, tmp_path: Path) -> None:
    array = np.random.default_rng(0).random((1100, 4001), dtype=np.float32)
    for wanted in (array, np.asfortranarray(array), array.astype(">f4")):
        np.save(tmp_path / "large.npy", wanted)
        loaded = shared.do(LoadRequest(shared.job(), str(tmp_path / "large.npy")), release=False)[-2]
        assert isinstance(loaded, Loaded)
        np.testing.assert_array_equal(shared.client.pool.array(loaded.input.array), array)
        shared.release(loaded)


@pytest.mark.parametrize("options", [{"length": 70_000}, {"size": "270x300"}], ids=["signal", "image"])
def test_the_axes_of_a_simulated_middle_begin_where_it_lies(shared: Talk, options: dict[str, Any]) -> None:
    made = shared.sample(**options)
    filter, params = ("mean1d" if "length" in options else "mean2d"), {"window": 5, "border": "reflect"}
    request = RunRequest(shared.job(), 1, made, filter, params, (Pick("naive", "sim"),), protocol="none", checks="off")
    update = next(a for a in shared.do(request) if isinstance(a, RunUpdate))
    (result,) = update.outputs.values()
    assert update.place and all(start > 0 for start in update.place)
    assert tuple(axis.start for axis in result.form.axes) == update.place


def test_an_odd_name_is_said_in_one_line(shared: Talk, tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9\n.npy")
    found = shared.do(LoadRequest(shared.job(), path))
    texts = [getattr(a, "text", getattr(a, "sentence", "")) for a in found]
    assert all(t.isprintable() for t in texts) and "caf\\udce9\\n.npy does not exist" in texts[-1]


def test_a_mistake_of_ours_comes_with_its_traceback_and_the_engine_lives(shared: Talk) -> None:
    pid = shared.client.pid
    found = shared.do(SampleRequest(shared.job(), "camera", {3: 2}))[-1]  # type: ignore[dict-item]
    assert isinstance(found, Failed) and found.kind == "engine"
    assert "TypeError" in found.sentence and "keywords" in found.details and "Traceback" in found.details
    assert "\n" not in found.sentence
    assert shared.client.pid == pid


def test_full_memory_is_a_sentence_and_nothing_is_lost(
    shared: Talk, small: SharedInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shared.client.pool.array(small.array).copy()
    with monkeypatch.context() as patch:
        patch.setattr(segments, "_create", lambda size: None)
        shared.client.pool._drop_free(0)  # nor may it use what others left
        found = shared.do(SampleRequest(shared.job(), "noise", {"size": "1000x3000"}))[-1]
        assert isinstance(found, Failed) and found.kind == "device"
        assert "bytes more; close results or free space" in found.sentence
    np.testing.assert_array_equal(shared.client.pool.array(small.array), before)
    assert shared.do(shared.request(small))[-1].cancelled is False


def test_an_input_lives_until_its_run_is_answered(shared: Talk) -> None:
    made = shared.sample(size="64x64", seed=1)
    request = shared.request(made, checks="off")
    shared.client.submit(request)
    shared.client.pool.release(made.array.segment)  # the window has moved on
    found = shared.until((Finished, Failed), request.job)
    expected = sample("noise", size="64x64", seed=1)
    run = next(run_experiment(Experiment("mean2d", expected, PARAMS, (SCIPY,), "none", checks="off")))
    update = next(a for a in found if isinstance(a, RunUpdate))
    np.testing.assert_array_equal(shared.client.pool.array(update.outputs["image"].array), run.outputs["image"])
    shared.release(update)


def test_a_bad_listener_does_not_stop_the_answers(capsys: pytest.CaptureFixture[str]) -> None:
    answers: queue.Queue[Answer] = queue.Queue()

    def listen(answer: Answer) -> None:
        answers.put(answer)
        raise RuntimeError("a bug of the window's")

    with EngineClient(listen) as client:
        client.submit(SampleRequest(client.next_job(), "noise", {"length": 10}))
        while not isinstance(answers.get(timeout=PATIENCE), Finished):
            pass
    assert "a bug of the window's" in capsys.readouterr().err


# Cancelling.


def test_a_run_is_cancelled_between_steps(talk: Talk) -> None:
    talk.client._cancel_grace = PATIENCE  # it must stop by itself
    made = talk.sample(size="300x300")
    talk.do(talk.request(made))
    pid = talk.client.pid
    request = talk.request(made, (SERIAL, Pick("parallel", "cpu")), protocol="careful")
    talk.client.submit(request)
    waiting = talk.request(made)
    talk.client.submit(waiting)
    talk.client.cancel(waiting.job)
    assert talk.until(Finished)[-1] == Finished(waiting.job, cancelled=True)
    while "timing" not in talk.until(Progress)[-1].text:
        pass
    talk.client.cancel(request.job)
    assert talk.until(Finished)[-1] == Finished(request.job, cancelled=True)
    talk.client.cancel(request.job)
    talk.client.cancel(12345)
    assert talk.do(talk.request(made))[-1].cancelled is False
    assert talk.client.pid == pid


def test_timing_stops_between_samples() -> None:
    class Sampler:
        clock, mode, calls = "wall", "hot", 0

        def sample(self) -> float:
            self.calls += 1
            return 1e-3

    sampler = Sampler()
    with pytest.raises(Cancelled):
        list(measure_interleaved({0: sampler}, QUICK, stop=lambda: sampler.calls >= 2))
    assert sampler.calls == 2


def _faulty(talk: Talk, fault: str, monkeypatch: pytest.MonkeyPatch) -> RunRequest:
    """The next engine behaves well; this one does not."""
    made = talk.sample()
    monkeypatch.setenv("KERNELSCOPE_FAULT", fault)
    talk.kill()
    talk.until(Ready)
    monkeypatch.delenv("KERNELSCOPE_FAULT")
    return talk.request(made)


def test_a_job_that_does_not_stop_is_killed_and_the_next_works(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    request = _faulty(talk, "hang", monkeypatch)
    talk.client.submit(request)
    talk.until(Progress)
    pid = talk.client.pid
    talk.client.cancel(request.job)
    assert talk.until((Finished, Failed))[-1] == Finished(request.job, cancelled=True)
    assert isinstance(talk.do(talk.request(request.input))[-1], Finished)
    assert talk.client.pid != pid


def test_a_survey_is_answered_beside_a_run_and_outlives_its_engine(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("time,value\n0,1\n1,3\n")
    request = _faulty(talk, "hang", monkeypatch)
    talk.client.submit(request)
    talk.until(Progress)
    first = talk.do(SurveyRequest(talk.job(), str(tmp_path / "a.csv")))
    assert isinstance(first[-2], Surveyed) and "value" in str(first[-2].survey)
    refused = talk.do(SurveyRequest(talk.job(), str(tmp_path / "none.csv")))[-1]
    assert isinstance(refused, Failed) and refused.kind == "input" and talk.client.busy
    cancelled, kept = (SurveyRequest(talk.job(), str(tmp_path / "a.csv")) for _ in range(2))
    _halt(talk.client.pid or 0)
    for survey in (cancelled, kept):
        talk.client.submit(survey)
    talk.client.cancel(cancelled.job)
    assert talk.until(Finished)[-1] == Finished(cancelled.job, cancelled=True), "at once, although the engine stands"
    talk.client.cancel(request.job)
    assert talk.until(Finished, request.job)[-1] == Finished(request.job, cancelled=True)
    assert talk.until((Finished, Failed), kept.job)[-1] == Finished(kept.job), "the next engine does it"
    assert not talk.client.busy


# Deaths.


@pytest.mark.parametrize(
    "fault, words", [("crash", "ended with code 1"), ("segfault", "was killed by signal 11 (SIGSEGV)")]
)
def test_a_crash_is_a_sentence_and_waiting_jobs_go_on(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, fault: str, words: str
) -> None:
    request = _faulty(talk, fault, monkeypatch)
    waiting = talk.request(request.input)
    talk.client.submit(request)
    talk.client.submit(waiting)
    failed = talk.until(Failed)[-1]
    assert (failed.job, failed.kind) == (request.job, "engine")
    assert failed.sentence == f"The engine {words} while it ran mean2d; the next run starts it anew."
    assert talk.until((Finished, Failed), waiting.job)[-1] == Finished(waiting.job)


def test_silence_ends_at_the_deadline(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    request = _faulty(talk, "mute", monkeypatch)
    talk.client._deadline = 0.5
    failed = talk.do(request)[-1]
    talk.client._deadline = PATIENCE
    assert isinstance(failed, Failed) and failed.kind == "engine"
    assert "said nothing for 0.5 s" in failed.sentence
    assert isinstance(talk.do(talk.request(request.input))[-1], Finished)


def test_a_kill_from_outside_is_a_sentence_and_nothing_is_lost(talk: Talk) -> None:
    made = talk.sample(size="300x300")
    request = talk.request(made, protocol="careful")
    talk.client.submit(request)
    updates = [a for a in talk.until(RunUpdate) if isinstance(a, RunUpdate)]
    talk.kill()
    failed = talk.until((Failed, Finished))[-1]
    assert failed.job == request.job
    assert "was killed by signal 9 (SIGKILL) while it ran mean2d" in failed.sentence
    kept = talk.client.pool.array(updates[0].outputs["image"].array).copy()
    again = talk.do(talk.request(made), release=False)
    update = next(a for a in again if isinstance(a, RunUpdate))
    np.testing.assert_array_equal(talk.client.pool.array(update.outputs["image"].array), kept)


@pytest.mark.thorough
def test_kills_at_any_moment_leave_every_job_answered(talk: Talk) -> None:
    made = talk.sample(size="200x200")
    random = np.random.default_rng(5)
    requests = [talk.request(made) for _ in range(12)]
    for request in requests:
        talk.client.submit(request)
    ends: dict[int, Answer] = {}
    kills = 0
    while len(ends) < len(requests):
        answer = talk.answers.get(timeout=PATIENCE)
        if isinstance(answer, Finished | Failed):
            assert answer.job not in ends
            ends[answer.job] = answer
        elif kills < 4 and random.random() < 0.3:
            time.sleep(float(random.random()) * 0.03)
            with suppress(ProcessLookupError):
                talk.kill()
                kills += 1
        talk.release(answer)
    assert kills == 4
    assert set(ends) == {r.job for r in requests}
    assert isinstance(talk.do(talk.request(made))[-1], Finished)
    assert not talk.client.busy


def test_an_engine_that_dies_idle_is_replaced(talk: Talk) -> None:
    made = talk.sample()
    talk.kill()
    talk.until(Ready)
    assert isinstance(talk.do(talk.request(made))[-1], Finished)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no such signal")
def test_a_stopped_process_is_ended_as_well(talk: Talk) -> None:
    made = talk.sample()
    assert talk.client.pid is not None
    _halt(talk.client.pid)
    talk.client._deadline = 0.5
    assert "said nothing" in talk.do(talk.request(made))[-1].sentence


def test_another_protocol_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "PROTOCOL", 99)
    with_old = Talk()
    with_old.client.start()
    idle = with_old.until(Failed)[-1]
    assert (idle.job, idle.kind) == (0, "engine")
    assert f"speaks protocol {PROTOCOL}, the window 99" in idle.sentence
    found = with_old.do(SampleRequest(with_old.job(), "noise"))[-1]
    assert f"speaks protocol {PROTOCOL}, the window 99" in found.sentence
    monkeypatch.undo()
    assert with_old.sample().name == "noise"
    with_old.client.close()


def test_an_engine_that_does_not_start_fails_its_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Talk(start_deadline=0.0)
    found = slow.do(SampleRequest(slow.job(), "noise"))[-1]
    assert found.kind == "engine" and "did not start within 0 s" in found.sentence
    slow.client.close()

    def refuse(receive: Any) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(clients, "Child", refuse)
    none = Talk()
    assert (
        "Resource temporarily unavailable); start the program again."
        in none.do(SampleRequest(none.job(), "noise"))[-1].sentence
    )
    none.client.close()


# Closing.


def test_closing_while_a_job_hangs_ends_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELSCOPE_FAULT", "hang")
    talk = Talk()
    talk.client.submit(SampleRequest(talk.job(), "noise"))
    talk.until(Progress)
    pid = talk.client.pid
    talk.client.close()
    talk.client.close()
    assert talk.answers.empty()
    assert pid is not None and not Path(f"/proc/{pid}").exists()
    talk.client.submit(SampleRequest(talk.job(), "noise"))
    talk.client.start()
    assert (talk.client.pid, talk.client.running, talk.client.busy) == (None, False, False)


@pytest.mark.parametrize(("grace", "ending"), [(PATIENCE, "ended with code 0"), (0.0, "was stopped")])
def test_an_engine_ends_without_an_error_when_it_has_time_and_at_once_without(grace: float, ending: str) -> None:
    said: queue.Queue[Any] = queue.Queue()
    child = Child(lambda child, message: said.put(message))
    assert isinstance(said.get(timeout=PATIENCE), Ready)
    if grace:
        child.send(None)
    assert child.end(grace) == ending


def test_closing_before_anything_was_started() -> None:
    before = threading.active_count()
    for _ in range(50):
        EngineClient(lambda answer: None).close()
    assert threading.active_count() == before


def test_closing_from_the_listener() -> None:
    threads: queue.Queue[threading.Thread] = queue.Queue()

    def listen(answer: Answer) -> None:
        client.close()
        threads.put(threading.current_thread())

    client = EngineClient(listen)
    client.start()
    thread = threads.get(timeout=PATIENCE)
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert client.pid is None


FORGETS = """
import sys
from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.messages import Ready, SampleRequest
import threading
heavy = {"numba", "scipy", "cv2", "pywt", "cupy"} & set(sys.modules)
assert not heavy, heavy
said = threading.Event()
client = EngineClient(lambda answer: said.set() if not isinstance(answer, Ready) else None)
client.submit(SampleRequest(client.next_job(), "noise"))
assert said.wait(60)
name = client.pool.take(10)
print(name, client.pid, flush=True)
if "dies" in sys.argv:
    import os
    os._exit(1)
"""


@pytest.mark.parametrize("how", ["ends", "dies"])
def test_a_window_that_forgets_to_close_or_dies_leaves_no_engine(tmp_path: Path, how: str) -> None:
    """The engine does not run the script again, which has no `if __name__ == "__main__":`."""
    script = tmp_path / "window.py"
    script.write_text(FORGETS)
    environment = {**os.environ, "KERNELSCOPE_FAULT": "hang", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, str(script), how], env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stderr == ""
    name, pid = done.stdout.split()
    end = time.monotonic() + PATIENCE
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
    segments.clean_stale()
    assert not [p for place in segments.directories() for p in place.glob(name)]


# On a GPU.


@pytest.mark.gpu
def test_a_gpu_run_reads_pinned_segments_and_lets_go_of_them(cuda: str) -> None:
    pool = SegmentPool(cache_bytes=0)  # what is released goes at once
    talk = Talk(pool=pool)
    for seed in range(3):
        made = talk.sample(size="1024x1024", seed=seed)
        found = talk.do(talk.request(made, (Pick("naive", cuda), SERIAL)))
        # All pictures come before the first verdict.
        assert [a.row.ok for a in found if isinstance(a, RunUpdate)] == [None, None, True, True]
        pool.release(made.array.segment)
    assert pool.nbytes == 0
    talk.client.close()
    pool.close()


def _edited(line: str) -> dict[str, str]:
    name = "mean2d/1_naive.cu"
    return {name: read_source(name).replace("    const int channel", f"    {line}\n    const int channel", 1)}


@pytest.mark.gpu
def test_a_kernel_that_dies_is_a_sentence_and_the_next_run_works(talk: Talk, cuda: str) -> None:
    made = talk.sample()
    pick = Pick("naive", cuda, edits=_edited("*(volatile int*)8 = column;"))
    failed = talk.do(talk.request(made, (pick,)))[-1]
    assert isinstance(failed, Failed) and failed.kind == "kernel"
    assert "A kernel failed with" in failed.sentence
    found = talk.do(talk.request(made, (Pick("naive", cuda),)))
    assert found[-2].row.ok is True


@pytest.mark.gpu
def test_an_endless_kernel_is_cancelled_and_the_next_run_works(talk: Talk, cuda: str) -> None:
    made = talk.sample()
    talk.do(talk.request(made, (Pick("naive", cuda),)))
    pick = Pick("naive", cuda, edits=_edited("for (volatile int i = 0; i < 1; ) i = 0;"))
    request = talk.request(made, (pick,))
    talk.client.submit(request)
    talk.until(Progress)
    time.sleep(2)  # it compiles and spins
    talk.client.cancel(request.job)
    assert talk.until((Finished, Failed))[-1] == Finished(request.job, cancelled=True)
    assert talk.do(talk.request(made, (Pick("naive", cuda),)))[-2].row.ok is True


# Statistics.


def _same(found: Statistics, array: np.ndarray) -> None:
    values = array[np.isfinite(array)].astype(np.float64).reshape(-1)
    scale = max(abs(values.min()), abs(values.max()), 1e-300)
    assert (found.minimum, found.maximum) == (values.min(), values.max())
    assert found.mean == pytest.approx(values.mean(), rel=1e-12, abs=1e-12 * scale)
    expected = np.percentile(values, PERCENTILES)
    np.testing.assert_allclose(list(found.percentiles.values()), expected, rtol=1e-12, atol=1e-15 * scale)
    assert tuple(found.percentiles) == PERCENTILES
    assert len(found.histogram) == 256 and sum(found.histogram) == values.size
    assert found.nan == np.count_nonzero(np.isnan(array))
    assert found.infinite == np.count_nonzero(np.isinf(array))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 3000),
    st.sampled_from(["uint8", "uint16", "int64", "float32", "float64"]),
    st.sampled_from(["uniform", "normal", "heavy", "few"]),
    st.integers(0, 2**32 - 1),
    st.floats(0, 0.9),
)
def test_statistics_are_numpys(count: int, dtype: str, law: str, seed: int, bad: float) -> None:
    random = np.random.default_rng(seed)
    values = {
        "uniform": lambda: random.random(count) * 250,
        "normal": lambda: np.abs(random.standard_normal(count)) * 40,
        "heavy": lambda: np.minimum(random.pareto(0.3, count), 250 if dtype == "uint8" else 6e4),
        "few": lambda: random.integers(0, 3, count) * 100.0,
    }[law]()
    array = values.astype(dtype)
    if array.dtype.kind == "f":
        array[1:][random.random(count - 1) < bad] = random.choice([np.nan, np.inf, -np.inf])
    _same(statistics(array.reshape(-1, 1)), array)


@pytest.mark.parametrize("dtype, most", [("uint8", 256), ("uint16", 60_000)])
def test_statistics_of_many_whole_numbers_count_each(dtype: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.random.default_rng(3).integers(3, most, (1000, 500, 3)).astype(dtype)
    monkeypatch.setattr(statistics_module, "PIECE", (1 << 20) + 1)  # no whole number of rows
    monkeypatch.setattr(statistics_module, "MANY", 1 << 19)  # so that the last piece is a small one
    _same(statistics(array), array)


def test_statistics_of_long_arrays_take_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    array = random.standard_normal((3, 100_003)).astype(np.float32)
    array[1, 5], array[2, 7] = np.nan, np.inf
    monkeypatch.setattr(progress, "EVERY", 0.0)
    events: list[float] = []
    with progress.listening(None, events.append):
        found = statistics(array)
    _same(found, array)
    assert len(events) >= 3 and events == sorted(events) and events[0] >= 0 and events[-1] <= 1
    counts, _ = np.histogram(array[np.isfinite(array)].astype(np.float64), 256)
    assert np.abs(counts - found.histogram).sum() <= 4  # NumPy rounds a value at an edge its own way


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("law", ["normal", "few", "bad", "huge", "same"])
def test_statistics_of_very_many_floats(dtype: str, law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    array = random.standard_normal((401, 503)).astype(dtype)
    if law == "few":
        array = random.integers(0, 3, (401, 503)).astype(dtype)
    elif law == "bad":
        array[random.random(array.shape) < 0.2] = np.nan
        array[3, 4:9] = np.inf
    elif law == "huge":
        array *= np.finfo(dtype).max / (8 if dtype == "float32" else 1e9)
    elif law == "same":
        array[:] = 7
    monkeypatch.setattr(statistics_module, "MANY_FLOATS", 1)
    monkeypatch.setattr(statistics_module, "FLOATS", 1 << 14)
    slow, extremes = [], statistics_module._extremes
    monkeypatch.setattr(statistics_module, "_extremes", lambda flat: slow.append(flat) or extremes(flat))
    _same(statistics(array), array)
    assert bool(slow) == (law == "same"), "all others are done in compiled passes"


@pytest.mark.parametrize("module", [region_numba, statistics_numba])
def test_compiled_passes_let_other_threads_run(module: Any) -> None:
    """They share an array between them, and the window goes on meanwhile."""
    compiled = {name: f.targetoptions for name, f in vars(module).items() if hasattr(f, "targetoptions")}
    assert len(compiled) >= 4 and [name for name, options in compiled.items() if not options.get("nogil")] == []


@pytest.mark.parametrize("value", [0.0, 7.0, -1e300, 5e-324])
def test_a_constant_has_one_bin(value: float) -> None:
    found = statistics(np.full(1000, value))
    assert (found.minimum, found.maximum, found.mean) == (value, value, pytest.approx(value))
    assert set(found.percentiles.values()) == {value}
    assert found.histogram == (1000,) + (0,) * 255


def test_where_nothing_is_finite_all_is_0() -> None:
    found = statistics(np.array([np.nan, np.inf, -np.inf, np.nan]))
    assert (found.nan, found.infinite) == (2, 2)
    assert (found.minimum, found.maximum, found.mean, sum(found.histogram)) == (0, 0, 0, 0)
    assert set(found.percentiles.values()) == {0.0}


def test_the_widest_and_the_narrowest_spans() -> None:
    largest = np.finfo(np.float64).max
    wide = statistics(np.array([-largest, 0.0, largest, largest]))
    assert (wide.minimum, wide.maximum, wide.percentiles[50]) == (-largest, largest, largest / 2)
    assert wide.mean == pytest.approx(largest / 4)
    narrow = statistics(np.array([0.0, 5e-324, 1e-323]))
    assert narrow.percentiles[50] == 5e-324
    assert sum(narrow.histogram) == 3


def test_alpha_is_no_brightness() -> None:
    rng = np.random.default_rng(2)
    image = rng.integers(0, 100, (701, 503, 4)).astype(np.uint16)
    image[..., 3] = 65535
    found = statistics(colours(image))
    assert found.maximum == 99 and sum(found.histogram) == 701 * 503 * 3
    _same(found, np.ascontiguousarray(image[..., :3]))
    assert whole_array(image) is image


def test_the_noise_free_original_reaches_the_engine_and_its_parts(shared: Talk) -> None:
    noisy = shared.sample("tones", length=100_000, seed=2)
    known = sample("tones", length=100_000, seed=2)
    assert noisy.clean is not None and known.clean is not None
    np.testing.assert_array_equal(shared.client.pool.array(noisy.clean), known.clean)
    channel = JobChannel(None)  # type: ignore[arg-type]
    whole = channel.input(noisy)
    part, (start,) = channel.middle(whole)
    np.testing.assert_array_equal(whole.clean, known.clean)
    np.testing.assert_array_equal(part.clean, known.clean[start : start + 65536])
    for segment in noisy.segments:
        channel.forget(segment)
        shared.client.pool.release(segment)


def test_noise_is_added_to_an_input_and_the_clean_one_is_not_copied(shared: Talk) -> None:
    original = shared.sample("camera", dtype="uint8")
    found = shared.do(
        StepsRequest(shared.job(), original, ({"step": "noise", "sigma": 20.0, "seed": 3},)), release=False
    )
    noisy = found[-2].input
    expected = add_noise(sample("camera"), 20, 3)
    assert isinstance(found[-2], Stepped) and noisy.origin == expected.origin and noisy.name == "camera"
    np.testing.assert_array_equal(shared.client.pool.array(noisy.array), expected.array)
    assert noisy.clean == original.array and noisy.statistics == statistics(expected.array)
    assert list(segments_of_answer(found[-2])) == [noisy.array.segment]
    events = [a.text for a in found if isinstance(a, Progress)]
    assert events[0] == "changing camera"
    updates = [a for a in shared.do(shared.request(noisy)) if isinstance(a, RunUpdate)]
    assert [(u.stage, bool(u.row.quality), bool(u.outputs)) for u in updates] == [
        ("computed", False, True),
        ("verified", False, False),
        ("verified", True, False),
    ]
    plain = [a for a in shared.do(shared.request(original)) if isinstance(a, RunUpdate)]
    assert [bool(u.row.quality) for u in plain] == [False, False] and plain[-1].row.ok
    for segment in {*noisy.segments, *original.segments}:
        shared.client.pool.release(segment)


def test_noise_on_an_input_that_has_a_clean_original_keeps_that_one(shared: Talk) -> None:
    tones = shared.sample("tones", length=500)
    noisy = shared.do(StepsRequest(shared.job(), tones, ({"step": "noise", "sigma": 0.5},)), release=False)[-2].input
    assert noisy.clean == tones.clean
    for segment in {*noisy.segments, *tones.segments}:
        shared.client.pool.release(segment)
    lost = replace(tones, array=replace(tones.array, segment="gone"))
    gone = shared.do(StepsRequest(shared.job(), lost, ({"step": "noise"},)))
    assert isinstance(gone[-1], Failed) and gone[-1].sentence == "The array is no longer in memory; load it again."


def test_steps_make_an_input_of_another_shape_with_its_own_clean_original(shared: Talk) -> None:
    tones = shared.sample("tones", length=500)
    steps = ({"step": "noise", "sigma": 0.5}, {"step": "crop", "start": [9], "shape": [100]})
    found = shared.do(StepsRequest(shared.job(), tones, steps), release=False)[-2]
    expected = apply_steps(sample("tones", length=500), steps)
    assert found.input.origin == expected.origin and set(found.segments) == set(found.input.segments)
    np.testing.assert_array_equal(shared.client.pool.array(found.input.array), expected.array)
    np.testing.assert_array_equal(shared.client.pool.array(found.input.clean), expected.clean)
    bad = shared.do(StepsRequest(shared.job(), tones, ({"step": "crop", "start": [9], "shape": [1000]},)))
    assert isinstance(bad[-1], Failed) and "choose a part inside" in bad[-1].sentence and bad[-1].kind == "input"
    for segment in {*found.segments, *tones.segments}:
        shared.client.pool.release(segment)


def test_a_result_becomes_an_input(shared: Talk) -> None:
    camera = shared.sample("camera", dtype="uint8")
    updates = [a for a in shared.do(shared.request(camera), release=False) if isinstance(a, RunUpdate)]
    result = next(u.outputs["image"] for u in updates if u.outputs)
    origin = {"result": "mean2d", "of": dict(camera.origin)}
    request = ResultRequest(shared.job(), result, "mean of camera", origin)
    loaded = next(a for a in shared.do(request, release=False) if isinstance(a, Loaded)).input
    np.testing.assert_array_equal(shared.client.pool.array(loaded.array), shared.client.pool.array(result.array))
    assert loaded.kind == "image" and loaded.name == "mean of camera"
    assert loaded.origin == {**origin, "steps": []} and loaded.array.segment != result.array.segment
    signed = replace(result, array=replace(result.array, dtype="int8"))
    answers = shared.do(ResultRequest(shared.job(), signed, "signed", origin), release=False)
    taken = next(a for a in answers if isinstance(a, Loaded)).input
    expected = shared.client.pool.array(result.array).view(np.int8)
    np.testing.assert_array_equal(shared.client.pool.array(taken.array), expected)
    assert taken.array.dtype == "int8" and taken.statistics.minimum == expected.min() < 0
    odd = replace(result, kind="bars")
    bad = shared.do(ResultRequest(shared.job(), odd, "counts", origin))[-1]
    assert isinstance(bad, Failed) and "an input is an image or a signal." in bad.sentence
    for segment in {*loaded.segments, *taken.segments, result.array.segment, *camera.segments}:
        shared.client.pool.release(segment)


# A simulated GPU


def test_a_simulated_run_takes_the_middle_and_says_so(shared: Talk) -> None:
    noise = shared.sample(size="500x300")
    request = shared.request(noise, (Pick("parallel", "cpu"), Pick("shared", "sim")))
    updates = [a for a in shared.do(request, release=False) if isinstance(a, RunUpdate)]
    cpu, sim = (next(u for u in updates if u.row.device == device and u.outputs) for device in ("cpu", "sim"))
    reach = PARAMS["window"] // 2
    top, left, side = 22 + reach, 122 + reach, 256 - 2 * reach
    assert cpu.place == () and sim.place == (top, left) and cpu.exact and sim.exact
    whole, part = (shared.client.pool.array(u.outputs["image"].array) for u in (cpu, sim))
    assert part.shape == (side, side)
    np.testing.assert_allclose(part, whole[top : top + side, left : left + side], rtol=1e-6)
    assert sim.outputs["image"].statistics.maximum == float(part.max())
    last = [u.row for u in updates if u.row.device == "sim"][-1]
    assert last.ok and last.clock == "simulated" and last.stages.keys() <= {"compile"}
    assert last.counters["warp_instructions"] > 1000 and last.findings == ()
    first = next(u.row for u in updates if u.place)
    assert first.notes[0].startswith("simulated on the centre 256 x 256 of 500 x 300; the 25")
    assert sim.part == ((22, 278), (122, 378)) and first.shape == (256, 256)
    if not updates[-1].place:  # it was predicted to be short
        assert last.shape == (300, 500) and not any("simulated on" in note for note in last.notes)
    for update in (cpu, sim):
        shared.release(update)
    shared.client.pool.release(noise.array.segment)
