"""Lectures: the shipped one can be shown, wrong ones are refused by file and scene, and the handout has everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_ops.cli import main
from gpu_ops.errors import InputError
from gpu_ops.lessons.lecture import check_lecture, read_lecture, shipped_lectures

HEAD = 'title = "<b>Own</b>"\nabout = "A"\nminutes = 5\n'
SETUP = 'setup = {sample = "noise", options = {length = 64}, filter = "mean", variants = ["scipy", "naive"]}\n'
SCENE = '[[scene]]\ntitle = "One"\ntext = """First.\n\n<script>x</script>"""\n'
COMPUTED = 'computed = ["naive.samples < 64", "naive.samples == 64"]\n'
POLL = '[scene.question]\nask = "Which?"\nchoices = ["one", "two"]\nanswer = "two"\n'


def own(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_lecture_has_ten_scenes_that_can_be_shown() -> None:
    (lecture,) = shipped_lectures()
    assert len(lecture.scenes) == 10 and sum(scene.poll is not None for scene in lecture.scenes) >= 3
    assert all(scene.notes and scene.text for scene in lecture.scenes)
    assert check_lecture(lecture) == []
    parts = [scene.part for scene in lecture.scenes[1:5]]
    assert parts == ["xray", "xray", "tabs", "xray"], "addresses need the whole screen; no scene begins with its answer"


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        (HEAD, "own.toml (line 1) has no scene"),
        (HEAD + SCENE, "scene 1 (line 4) needs either a setup"),
        (HEAD + SCENE + SETUP + 'session = "a.kernelscope"\n', "scene 1 (line 4) needs either a setup"),
        (HEAD + SCENE + 'session = "a.json"\n', "it must end in .kernelscope"),
        (HEAD + SCENE + SETUP + "sound = 1\n", "scene 1 (line 10) has sound"),
        (HEAD + SCENE + SETUP + POLL.replace('answer = "two"', 'answer = "three"'), "must be one of one, two"),
        ("title = ", "is not TOML"),
    ],
)
def test_a_file_that_is_no_lecture_is_refused(tmp_path: Path, wrong: str, found: str) -> None:
    with pytest.raises(InputError, match=r"own\.toml") as refused:
        read_lecture(own(tmp_path, wrong))
    assert found in str(refused.value)


@pytest.mark.parametrize(
    ("scene", "found"),
    [
        (SETUP.replace("scipy", "fastest"), "mean1d has no variant 'fastest'"),
        (SETUP.replace('"mean"', '"median"'), "median"),
        (SETUP.replace('"noise"', '"picture"'), "There is no sample 'picture'; choose from"),
        (SETUP.replace("]}", '], steps = ["blur"]}'), "blur"),
        ('session = "gone.kernelscope"\n', "gone.kernelscope; move the file there, or name its new place."),
    ],
)
def test_a_scene_that_cannot_be_shown_is_named(tmp_path: Path, scene: str, found: str, capsys) -> None:
    path = own(tmp_path, HEAD + SCENE + SETUP + SCENE.replace("One", "Two") + scene)
    (fault,) = check_lecture(read_lecture(path))
    assert fault.startswith("own.toml, scene 2 (Two, line 10): ") and found in fault
    assert main(["lecture", "check", str(path)]) == 3
    assert found in capsys.readouterr().out


def test_all_faults_of_a_lecture_are_named_with_their_lines(tmp_path: Path) -> None:
    """The number of conditions is no fault where only the choices are missing."""
    poll = POLL.replace('choices = ["one", "two"]\n', "") + COMPUTED
    text = HEAD.replace("5", '"5"') + SCENE + SETUP + poll + SCENE.replace('"One"', "2") + SETUP + "sound = 1\n"
    with pytest.raises(InputError) as refused:
        read_lecture(own(tmp_path, text))
    assert str(refused.value).splitlines() == [
        "own.toml (line 3): minutes is '5'; it must be a whole number.",
        "own.toml, scene 1, question (line 10) has no choices; add it.",
        "own.toml, scene 2 (line 15): title is 2; it must be a text.",
        "own.toml, scene 2 (line 20) has sound, which is not known; "
        "it may have notes, question, runs, session, setup, text, title.",
    ]


def test_a_question_to_the_class_is_computed(tmp_path: Path) -> None:
    right = HEAD + SCENE + SETUP + POLL + COMPUTED
    assert check_lecture(read_lecture(own(tmp_path, right))) == []
    runs = '[scene.runs.naive]\noptions = {length = 32}\nvariant = "naive"\n'
    for text, found in (
        (right + runs, "the answer says 'two', and what holds is 'one'."),
        (right.replace("naive.samples < 64", "naive.samples <= 64"), "says 'two', and what holds is 'one' and 'two'."),
        (right.replace("naive.samples == 64", "naive.samples"), "says 'two', and what holds is none."),
        (HEAD + SCENE + SETUP + POLL + runs.replace('"naive"', '"fastest"'), "mean1d has no variant 'fastest'"),
    ):
        (fault,) = check_lecture(read_lecture(own(tmp_path, text)))
        assert fault.startswith("own.toml, scene 1 (One, line 4): ") and found in fault
    for wrong, found in (
        (right.replace('"naive.samples < 64", ', ""), "computed has 1 expressions, of 2 that it must have"),
        (right.replace(SETUP, 'session = "a.kernelscope"\n'), "computed needs a setup"),
    ):
        with pytest.raises(InputError, match=found):
            read_lecture(own(tmp_path, wrong))


@pytest.mark.thorough
def test_the_handout_has_pictures_counts_and_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = own(tmp_path, HEAD + (SCENE + SETUP + POLL) * 2), tmp_path / "page.html"
    assert main(["lecture", "handout", str(path), "--output", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert html.count("image/svg+xml") == 2 and "<svg" not in html, "the same pictures are not repeated"
    assert html.count("<h2>") == 3 and "global load sectors" in html and "mean1d" not in html.split("<style>")[0]
    assert "Input: " in html and "Result: " in html and "by serial on the CPU" in html
    assert "Counts, simulated on the whole input." in html
    assert "&lt;b&gt;Own&lt;/b&gt;" in html and "<script" not in html and "default-src 'none'" in html
    assert html.index("<li>two</li>") < html.index("Answers") < html.rindex("One: two")
    naive = next(row for row in html.split("<tr>") if "naive" in row)
    assert any(cell.strip("</td>\n").isdigit() for cell in naive.split("<td>"))
    assert main(["lecture", "handout", str(path), "--output", str(tmp_path / "page.txt")]) == 2
    assert "must end in .html or .pdf" in capsys.readouterr().err
    assert main(["lecture", "handout", str(path), "--output", str(tmp_path / "page.pdf")]) == 2
    assert "name an .html file and print it" in capsys.readouterr().err
    assert main(["lecture", "list"]) == 0 and "Why a GPU is fast" in capsys.readouterr().out
    assert main(["lecture", "check"]) == 2 and "why_fast" in capsys.readouterr().err
