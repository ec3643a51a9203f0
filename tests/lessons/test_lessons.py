"""Lessons: every shipped answer is what is counted, and a wrong lesson is found out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from gpu_ops.cli import main
from gpu_ops.engine.job_channel import JobChannel
from gpu_ops.errors import InputError, ParamError
from gpu_ops.lessons import checking
from gpu_ops.lessons.checking import check_lesson
from gpu_ops.lessons.experiments import input_of
from gpu_ops.lessons.expressions import evaluate
from gpu_ops.lessons.lesson import Lesson, Setup, Trial
from gpu_ops.lessons.reading import SHIPPED, read_lesson, shipped_lessons
from gpu_ops.types import Input

LESSONS = shipped_lessons()
HEAD = 'title = "T"\nabout = "A"\nminutes = 1\n'
SETUP = 'setup = {sample = "noise", options = {length = 64}, filter = "mean", variants = ["naive"]}\n'
PAGE = HEAD + '[[page]]\ntitle = "P"\ntext = "X"\n' + SETUP
NUMBER = '[page.question]\nkind = "number"\nask = "?"\nanswer = %s\ncomputed = ["%s"]\nwhy = "."\n'
LOADS = "naive.global_load_threads / naive.outputs"


def lesson(tmp_path: Path, text: str) -> Lesson:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    return read_lesson(path)


def test_there_are_twelve_in_order() -> None:
    assert [one.number for one in LESSONS] == list(range(1, 13))
    assert len({one.id for one in LESSONS}) == 12 == len(list((SHIPPED / "en").glob("*.toml")))
    assert all(10 <= one.minutes <= 20 and any(page.question for page in one.pages) for one in LESSONS)
    assert sum(page.exercise is not None for one in LESSONS for page in one.pages) >= 2


@pytest.mark.parametrize("one", LESSONS, ids=[one.id for one in LESSONS])
def test_every_answer_is_what_is_counted(one: Lesson) -> None:
    assert check_lesson(one) == []


@pytest.mark.parametrize(
    ("question", "found"),
    [
        (NUMBER % (11, LOADS), "the answer says 11, and naive.global_load_threads / naive.outputs is 10"),
        (NUMBER % (10, "naive.loads"), "no figure 'loads'"),
        (NUMBER % (10, "ring.samples"), "no run 'ring'"),
        (NUMBER % (10, "naive.samples / naive.findings"), "divides by zero"),
        (NUMBER % (10, "naive.samples."), "no expression"),
        (NUMBER % (10, "naive.kernel_us_h100"), "No recorded row"),
        (
            '[page.question]\nkind = "choice"\nask = "?"\nchoices = ["a", "b"]\nanswer = "b"\n'
            'computed = ["naive.samples == 64", "naive.samples != 64"]\nwhy = "."\n',
            "what holds is 'a'",
        ),
        (
            '[page.question]\nkind = "order"\nask = "?"\nchoices = ["a", "b"]\nanswer = ["b", "a"]\n'
            'computed = ["naive.samples", "naive.global_load_threads"]\nwhy = "."\n',
            "the right order is a, b",
        ),
        ('[page.action]\nask = "?"\nparams = {window = 5}\n', "done before it begins"),
        ('[page.action]\nask = "?"\nvariants = ["other"]\n', "other"),
        ('[page.exercise]\nvariant = "naive"\nfind = "nothing"\nask = "?"\n', "no 'nothing' to replace"),
        (
            '[page.exercise]\nvariant = "naive"\nfind = "y[e] = finish"\nreplace = "y[e]  = finish"\nask = "?"\n',
            "nothing finds the fault",
        ),
    ],
)
def test_a_wrong_lesson_is_found_out(tmp_path: Path, question: str, found: str) -> None:
    faults = check_lesson(lesson(tmp_path, PAGE + question))
    assert len(faults) == 1 and found in faults[0] and faults[0].startswith("own, page 1 (P, line 4): "), faults


def test_a_right_lesson_and_one_with_wrong_names(tmp_path: Path) -> None:
    assert check_lesson(lesson(tmp_path, PAGE + NUMBER % (10, LOADS))) == []
    for wrong, word in (('"naive"', "fastest"), ('"noise"', "picture"), ('"mean"', "median")):
        faults = check_lesson(lesson(tmp_path, PAGE.replace(wrong, f'"{word}"')))
        assert len(faults) == 1 and word in faults[0], faults


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("title =", "is not TOML"),
        (HEAD, "has no page"),
        (PAGE + "sound = 1\n", "page 1 (line 8) has sound"),
        (PAGE.replace("minutes = 1", "minutes = -1"), "minutes is -1; it must be a whole number"),
        (PAGE + NUMBER % ("nan", LOADS), "it must be a number"),
        (PAGE + NUMBER % (1, LOADS) + 'choices = "x"\n', "question (line 14) has choices, which is not known"),
        (PAGE + '[page.action]\nask = "?"\n', "has no end"),
        (PAGE + NUMBER % (1, LOADS) + '[page.action]\nask = "?"\nparams = {window = 3}\n', "at most one of them"),
        (PAGE.replace(SETUP, "") + '[page.action]\nask = "?"\nparams = {window = 3}\n', "needs a setup"),
        ("number = " + "[" * 5000, "is not TOML"),
    ],
)
def test_a_file_that_is_no_lesson_is_refused(tmp_path: Path, text: str, found: str) -> None:
    with pytest.raises(InputError, match=r"own\.toml") as refused:
        lesson(tmp_path, text)
    assert found in str(refused.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_bytes(b"title = '\xff'")
    with pytest.raises(InputError, match="UTF-8"):
        read_lesson(tmp_path / "own.toml")
    with pytest.raises(InputError, match="cannot be read"):
        read_lesson(tmp_path)
    (tmp_path / "own.toml").write_bytes(b"#" * (1 << 20) + b"##")
    with pytest.raises(InputError, match="1 MiB"):
        read_lesson(tmp_path / "own.toml")


@pytest.mark.parametrize(
    "text", ["__import__('os')", "a.b.c", "'a'", "a.b[0]", "a", "True", "1 if 1 else 2", "-" * 500]
)
def test_expressions_are_numbers_and_figures_only(text: str) -> None:
    with pytest.raises(ParamError, match="no expression"):
        evaluate(text, lambda trial, figure: 1.0)


def test_expressions() -> None:
    values = {("a", "x"): 6.0, ("b", "y"): 2.0}

    def figure(trial: str, name: str) -> float:
        return values[trial, name]

    assert evaluate("a.x / b.y - 1 * -2", figure) == 5
    assert evaluate("1 < b.y <= 2 and a.x == 6", figure) is True
    assert evaluate("a.x < 1 or b.y > 3", figure) is False


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.toml"
    path.write_text(PAGE + NUMBER % (11, LOADS))
    assert main(["lesson", "check", str(path)]) == 3
    assert "the answer says 11" in capsys.readouterr().out
    path.write_text(PAGE + NUMBER % (10, LOADS))
    assert main(["lesson", "check", str(path)]) == 0
    assert capsys.readouterr().out == "own: right, 1 page, 1 question\n"
    assert main(["lesson", "show", str(path)]) == 0
    assert "## Answers\n\n1. 10. ." in capsys.readouterr().out
    assert main(["lesson", "list"]) == 0
    shown = capsys.readouterr().out
    assert all(one.title in shown for one in LESSONS)
    assert main(["lesson", "check", "nothing"]) == 2
    assert "choose from first_steps" in capsys.readouterr().err


COUNTED = PAGE.replace('["naive"]}', '["naive"], panel = "xray", counter = "global_load_sectors"}')


def test_the_counter_of_a_page_is_one_that_its_kernel_has(tmp_path: Path) -> None:
    one = lesson(tmp_path, COUNTED)
    assert one.pages[0].setup is not None and one.pages[0].setup.counter == "global_load_sectors"
    assert check_lesson(one) == []
    faults = check_lesson(lesson(tmp_path, COUNTED.replace("global_load_sectors", "shared_wavefronts")))
    assert faults == ["own, page 1 (P, line 4): naive has no shared_wavefronts; name one that it has."]
    for wrong, found in (
        (COUNTED.replace("global_load_sectors", "global_load_sector"), "did you mean global_load_sectors?"),
        (COUNTED.replace('panel = "xray", ', ""), 'add panel = "xray"'),
    ):
        with pytest.raises(InputError, match=r"own\.toml, page 1, setup \(line 7\): ") as refused:
            lesson(tmp_path, wrong)
        assert found in str(refused.value)


def test_answers_are_counted_on_the_part_that_the_window_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The X-ray of a large picture in the window has the counts of its centre: so has the answer of every lesson."""
    counted: list[Input] = []
    monkeypatch.setattr(checking, "xray", lambda filter, variant, input, *more, **options: counted.append(input))
    trials = [trial for one in LESSONS for page in one.pages for trial in page.trials]
    inputs = {repr((trial.setup.sample, trial.setup.options, trial.setup.steps)): trial for trial in trials}
    window = JobChannel(cast(Any, None))
    for trial in inputs.values():
        whole = input_of(trial.setup)
        checking.ray_of(trial)
        assert np.array_equal(counted[-1].array, window.middle(whole)[0].array), trial
    assert any(one.array.shape == (256, 256) for one in counted)
    ring = Trial("ring", "ring", Setup("camera", "mean", ("ring",), params={"window": 3}))
    assert checking.Figures([ring], {}).value("ring", "whole_least_bytes") == 2 * 512 * 512, "of the whole picture"


def test_all_faults_of_a_file_are_named_with_their_lines(tmp_path: Path) -> None:
    """Also behind texts of several lines, and none that only follows from another."""
    order = '[page.question]\nkind = "order"\nask = "?"\nchoices = ["a", "b"]\nanswer = ["a", "c"]\nwhy = "."\n'
    text = HEAD.replace("1", '"one"') + PAGE[len(HEAD) :].replace('"X"', '"""\ntitle = 1\n[[page]]\n"""')
    text += order + "computed = ['1']\n" + PAGE[len(HEAD) :].replace('"P"', "''") + "sound = 1\n"
    with pytest.raises(InputError) as refused:
        lesson(tmp_path, text)
    assert str(refused.value).splitlines() == [
        "own.toml (line 3): minutes is 'one'; it must be a whole number.",
        "own.toml, page 1, question (line 15): the answer must have each choice once: a, b.",
        "own.toml, page 2 (line 19): title is ''; it must be a text.",
        "own.toml, page 2 (line 22) has sound, which is not known; "
        "it may have action, exercise, question, runs, setup, text, title.",
    ]
