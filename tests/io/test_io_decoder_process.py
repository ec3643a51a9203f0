"""Decoders in a process of their own: one that crashes, hangs or takes too much is a sentence, and the next is fine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from bad_decoders import TOY

from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import decoder_process, formats, load, survey
from gpu_ops.progress import Cancelled, listening


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file of a format whose reader does what the file says, in a process of its own."""
    decoder_process.close()
    monkeypatch.setattr(decoder_process, "here", False)
    monkeypatch.setitem(formats.BY_SUFFIX, ".toy", TOY)
    monkeypatch.setattr(formats, "SIGNATURES", (*formats.SIGNATURES, (b"TOY", ".toy")))
    yield tmp_path / "a.toy"
    decoder_process.close()


def _pid() -> int:
    child = decoder_process._child
    assert child is not None
    return child.pid


def test_an_array_and_all_that_is_said_of_it_arrive(toy: Path) -> None:
    toy.write_text("TOYplain")
    input = load(toy)
    np.testing.assert_array_equal(input.array, np.arange(6).reshape(2, 3))
    assert (input.array.dtype, input.rate) == (np.dtype("uint16"), 8.0)
    assert (input.facts.frames, input.facts.pixel, input.facts.labels) == (3, (0.5, 0.25, "µm"), ("a", "b"))
    assert input.origin["steps"] == [{"step": "toy"}]
    found = survey(toy)
    assert (found.title, found.frames, found.allowed, found.found) == ("a toy", 3, {"frame": (0, 1)}, {"frame": 1})
    assert (found.asks, found.heading, found.rows) == (True, ("x",), (("1",),))
    assert not list(Path(decoder_process._folder()).glob(f"{decoder_process.PREFIX}*"))


@pytest.mark.parametrize(
    "what, words",
    [
        ("crash", "its decoder crashed (by signal 11)"),
        ("exit", "its decoder crashed (with code 7)"),
        ("explode", "does not fit in memory"),
        ("wrong", "cannot be read (RuntimeError: moon)"),
    ],
)
def test_a_bad_file_is_a_sentence_and_the_next_is_read(
    toy: Path, what: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder_process, "_free_bytes", lambda: 1 << 28)
    toy.write_text(f"TOY{what}")
    with pytest.raises(InputError) as error:
        load(toy)
    assert words in str(error.value) and str(toy) in str(error.value) and "\n" not in str(error.value)
    toy.write_text("TOYplain")
    assert load(toy).array.shape == (2, 3)


def test_a_wrong_choice_is_the_users(toy: Path) -> None:
    toy.write_text("TOYframe")
    with pytest.raises(ParamError, match="no frame 4"):
        load(toy, frame=4)


def test_a_decoder_that_is_silent_is_ended(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder_process, "DEADLINE", 0.3)
    toy.write_text("TOYhang")
    with pytest.raises(InputError, match="did not respond for 0.3 s"):
        load(toy)
    monkeypatch.setattr(decoder_process, "DEADLINE", 30.0)
    toy.write_text("TOYplain")
    assert load(toy).array.size == 6


def test_a_user_who_cancels_need_not_wait(toy: Path) -> None:
    toy.write_text("TOYslow")
    events: list[float] = []
    with pytest.raises(Cancelled), listening(lambda: len(events) > 3, events.append):
        load(toy)
    assert len(events) > 3 and events[-1] < 1, "the decoder was not waited for"
    toy.write_text("TOYplain")
    assert load(toy).array.size == 6


def test_one_process_reads_all_files_and_ends_with_us(toy: Path) -> None:
    toy.write_text("TOYplain")
    load(toy)
    pid = _pid()
    load(toy)
    assert _pid() == pid
    decoder_process.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_all_but_our_own_decoders_run_there() -> None:
    ours = [format.suffixes[0] for format in formats.FORMATS if not format.foreign]
    assert ours == [".npy", ".npz", ".txt", ".edf", ".hea"]


def test_a_picture_is_the_same_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = np.random.default_rng(0).integers(0, 65536, (37, 53, 3)).astype(np.uint16)
    cv2.imwrite(str(tmp_path / "ü.png"), picture)
    here = load(tmp_path / "ü.png")
    monkeypatch.setattr(decoder_process, "here", False)
    there = load(tmp_path / "ü.png")
    np.testing.assert_array_equal(there.array, here.array)
    assert there.array.flags.c_contiguous and there.origin == here.origin
    decoder_process.close()


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_is_for_the_one_who_asks(toy: Path) -> None:
    toy.write_text("TOYplain")
    load(toy)
    pid = _pid()
    os.kill(pid, signal.SIGINT)
    load(toy)
    assert _pid() == pid
