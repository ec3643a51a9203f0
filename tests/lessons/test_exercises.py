"""Folders of exercises: what students get, what they send, and what a teacher counts again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_ops.cli import main
from gpu_ops.cli.learning import exercises as command
from gpu_ops.counters import counter_name
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.errors import InputError, KernelscopeError, ParamError
from gpu_ops.explaining.xray import xray
from gpu_ops.filters import FILTERS
from gpu_ops.lessons.exercises import (
    Exercise,
    differs,
    find_exercise,
    make_folder,
    read_exercise,
    read_submission,
    shipped_exercises,
    submission_of,
)
from gpu_ops.own_kernels import checking
from gpu_ops.own_kernels.checking import COMPARED, Check, Verdict, counted_launch
from gpu_ops.own_kernels.gate import broken, conditions
from gpu_ops.own_kernels.template import template_text
from gpu_ops.report.rows import Report, Row
from gpu_ops.run_key import hash_of_edits

EXERCISES = {exercise.id: exercise for exercise in shipped_exercises()}
SIMPLER = {
    "mean_shared": "naive",
    "mean2d_shared": "naive",
    "reduce_sequential": "strided",
    "histogram_shared": "global",
}
"""The variant that is not enough for an exercise."""
SHARED = read_source("mean1d/3_shared.cu")


@pytest.fixture
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    real = checking.covering_cases
    monkeypatch.setattr(checking, "covering_cases", lambda *args, **how: real(*args, **how)[:2])
    monkeypatch.setattr(checking, "long_cases", lambda *args, **how: [])


@pytest.fixture
def here(few_cases: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are checked in this process, which saves the start of others."""

    def verdicts(check: Check, texts: Mapping[str, str], jobs: int = 0) -> Iterator[Verdict]:
        return (check.verdict(name, text) for name, text in texts.items())

    monkeypatch.setattr(command, "check_files", verdicts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_folder(EXERCISES["mean_shared"], tmp_path / "class")
    return tmp_path / "class"


def unmet(exercise: Exercise, variant: str) -> int:
    """How many conditions another variant's kernels do not meet."""
    filter, check = FILTERS.find(exercise.check.filter), exercise.check
    input, params, knobs = counted_launch(filter, filter.variant(check.variant), check.architecture)
    ray = xray(filter, filter.variant(variant), input, params, knobs, check.architecture)
    return len(broken(ray, conditions(check.gate)))


@pytest.mark.parametrize(("id", "simpler"), SIMPLER.items())
def test_the_shipped_kernel_meets_what_a_simpler_one_does_not(id: str, simpler: str) -> None:
    exercise = EXERCISES[id]
    assert unmet(exercise, exercise.check.variant) == 0 < unmet(exercise, simpler)


def test_every_shipped_exercise_is_tried_above() -> None:
    assert SIMPLER.keys() == EXERCISES.keys()


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)
def test_a_template_is_wrong_until_it_is_filled_in(exercise: Exercise, few_cases: None) -> None:
    variant = FILTERS.find(exercise.check.filter).variant(exercise.check.variant)
    verdict = exercise.check.verdict("mine.cu", template_text(variant.kernels[0]))
    assert verdict.status == "wrong" and "does not compile" not in verdict.text


def test_a_folder_has_what_a_student_needs(folder: Path, tmp_path: Path) -> None:
    assert (folder / "task.md").read_text().startswith("# Reuse: the mean in shared memory\n")
    template = (folder / "template.cu").read_text()
    assert "mean.cuh, in headers" in template
    assert "finish(" in (folder / "headers" / "mean.cuh").read_text()
    assert read_exercise(folder).check == EXERCISES["mean_shared"].check
    with pytest.raises(InputError, match="class is not empty; name a new folder"):
        make_folder(EXERCISES["mean_shared"], folder)
    assert find_exercise("mean-shared") == EXERCISES["mean_shared"]
    with pytest.raises(ParamError, match="no exercise 'none'; choose from histogram_shared, mean2d_shared"):
        find_exercise("none")
    with pytest.raises(InputError, match="has no exercise.toml; make one with kernelscope exercise make"):
        read_exercise(tmp_path)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ('filter = "none"', "There is no filter 'none'"),
        ('variant = "none"', "none"),
        ('variant = "serial"', "serial has no kernel to replace; name one of naive"),
        ('gate = "sectors < 1"', "sectors"),
        ("deadline = -1", "--deadline and --memory are numbers above 0"),
        ('more = "x"', "has more, which is not known"),
        ("filter = 1", "filter is 1; it must be a text"),
    ],
)
def test_a_teachers_file_is_refused_with_what_is_allowed(tmp_path: Path, wrong: str, sentence: str) -> None:
    right = {"title": '"t"', "filter": '"mean1d"', "variant": '"shared"', "task": '"t"'}
    name, value = wrong.split(" = ")
    (tmp_path / "mine.toml").write_text("\n".join(f"{n} = {v}" for n, v in {**right, name: value}.items()))
    with pytest.raises(KernelscopeError, match=sentence):
        read_exercise(tmp_path / "mine.toml")


def test_a_submission_is_counted_again(folder: Path, few_cases: None) -> None:
    exercise = read_exercise(folder)
    verdict = exercise.check.verdict("mine.cu", SHARED)
    path = folder / "submissions" / "ada.json"
    path.write_text(json.dumps(submission_of(exercise, "Ada", SHARED, verdict)))
    one = read_submission(path)
    assert (one.student, one.text) == ("Ada", SHARED) and one.claimed is not None
    assert differs(one.claimed, verdict) == ""
    assert differs(replace(one.claimed, counters={}), verdict) == "says other counters"
    assert differs(one.claimed, replace(verdict, status="wrong")) == "says right"
    odd = replace(one.claimed, status="\x1b[31mright")  # type: ignore[arg-type]
    assert "\x1b" not in differs(odd, verdict)
    assert "another version" in differs(one.claimed, replace(verdict, hash="0"))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"schema": "kernelscope-submission/1", "kernel": 1}', "[" * 10000])
def test_another_file_is_no_submission(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError, match="x.json is no submission of an exercise; write it with"):
        read_submission(tmp_path / "x.json")


def students(page: str) -> list[dict[str, str]]:
    """The first table of a page, by headings."""
    table = page[page.index("<table>") : page.index("</table>")]
    head, *lines = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
    return [dict(zip(head, line, strict=True)) for line in lines]


def test_a_class_by_the_command(folder: Path, here: None, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The best first, then the wrong one, then what cannot be read."""
    (tmp_path / "bob.cu").write_text(SHARED.replace("__syncthreads();", ""))
    assert main(["exercise", "submit", str(folder), str(tmp_path / "bob.cu"), "--student", "Bob"]) == 3
    (tmp_path / "bob.json").rename(folder / "submissions" / "bob.json")
    (folder / "submissions" / "x.json").write_text("{}")
    capsys.readouterr()
    page, results = tmp_path / "class.html", tmp_path / "class.json"
    assert main(["exercise", "check", str(folder), "--html", str(page), "--json", str(results)]) == 3
    text = capsys.readouterr().out
    assert "Bob.cu:32: read-after-write hazard" in text and text.endswith(
        "0 of 2 right (Reuse: the mean in shared memory)\n"
    )
    rows = json.loads(results.read_text())["students"]
    assert [(r["student"], r["status"], r["handed_in"]) for r in rows] == [
        ("Bob", "wrong", "agrees"),
        ("x.json", "failed", "–"),
    ]
    assert "Bob" in page.read_text() and "read-after-write hazard" in page.read_text()
    bob, unread = students(page.read_text())
    assert (bob["student"], bob["handed in"]) == ("Bob", "agrees") and unread["handed in"] == "–"


def test_nothing_has_come_back_yet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exercise", "check", str(folder)]) == 2
    assert "class/submissions has no .cu and no .json" in capsys.readouterr().err


def test_the_page_of_a_class_has_the_unit_of_its_limits_and_measured_shares(
    folder: Path, here: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The numbers that a student sees are those that the conditions are about; a template as it was given is not run;
    a share of the roof is the largest of rows with the very same kernel."""
    (folder / "submissions" / "ada.cu").write_text(SHARED)
    (folder / "submissions" / "eve.cu").write_text(f"// mine\n{(folder / 'template.cu').read_text()}")
    rows = [
        Row("mean1d", "shared", "cuda:0", {}, {}, (4096,), "float32", "stream", edits=edits, ok=ok, share=share)
        for edits, ok, share in (
            ("0" * 16, True, 0.99),
            (hash_of_edits({"mean1d/3_shared.cu": SHARED}), True, 0.72),
            (hash_of_edits({"mean1d/3_shared.cu": SHARED}), True, 0.61),
            (hash_of_edits({"mean1d/3_shared.cu": SHARED}), False, 0.98),
        )
    ]
    report = tmp_path / "rows.json"
    report.write_text(json.dumps(Report({"devices": {"cuda:0": {"model": "a GPU"}}}, tuple(rows)).to_json()))
    page = tmp_path / "class.html"
    assert main(["exercise", "check", str(folder), "--html", str(page), "--measured", str(report)]) == 3
    shown, text = page.read_text(), capsys.readouterr().out
    totals = EXERCISES["mean_shared"].check.verdict("a.cu", SHARED).totals
    counted = totals["global_load_sectors"]
    assert 512 < counted <= 700 and f" {counted} " in text
    ada, eve = students(shown)
    assert list(ada)[:2] == ["student", "verdict"] and (ada["student"], ada["verdict"]) == ("ada", "right")
    wanted = {name: f"{n:,}" if isinstance(n, int) else f"{n:.3g}" for name in COMPARED for n in [totals[name]]}
    assert {name: ada[counter_name(name)] for name in COMPARED} == wanted and len(set(wanted.values())) > 2
    assert totals["warp_instructions"] > 1000, "a number with a separator"
    assert (ada["of the roof"], eve["of the roof"]) == ("72% (a GPU)", "not measured")
    assert eve["verdict"] == "wrong" and {eve[counter_name(name)] for name in COMPARED} == {"–"}
    assert "one launch on 4,096 float32 values" in shown and "global_load_sectors &lt;= 700" in shown
    assert "handed in" not in shown and "handed in" not in text, "nobody has handed in a verdict"
    assert "the template is unchanged; write the kernel between its braces" in shown
    capsys.readouterr()
    assert main(["exercise", "submit", str(folder), str(folder / "template.cu"), "--student", "Eve"]) == 3
    assert "the template is unchanged" in capsys.readouterr().out
